"""Rows of new memories and their events: what the core makes is what Python makes row by row."""

from __future__ import annotations

import struct
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records.samples import memory
from records.test_checksums import memories

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.records import memory_rows

FIRST = 7 << 32 | 1
MOST = (1 << 63) - 1


@settings(max_examples=200)
@given(
    st.lists(memories, max_size=5),
    st.integers(1, (1 << 63) - 100),
    st.integers(0, (1 << 63) - 100),
    st.none() | st.sampled_from(["remembered", "größer", ""]),
)
def test_the_core_makes_what_python_makes(rows, row_id, seq, kind):
    made = _core.sealed_births(rows, row_id, seq, kind)
    expected = memory_rows.births_one_by_one(rows, row_id, seq, kind)
    assert made == expected
    assert memory_rows.births(rows, row_id, seq, kind) == expected


def test_numbers_follow_each_other_and_events_come_last():
    rows = [memory("a"), memory("b")]
    made = memory_rows.births(rows, FIRST, 20, "remembered")
    assert [row[:2] for row in made.memories] == [(FIRST, 20), (FIRST + 1, 21)]
    assert [row[2:30] for row in made.memories] == [row[2:] for row in rows]
    at = rows[0].recorded_at
    assert [row[:-1] for row in made.events] == [
        (22, 7, "remembered", at, FIRST, None),
        (23, 7, "remembered", at, FIRST + 1, None),
    ]
    assert made.checksum_xor == made.memories[0][-1] ^ made.memories[1][-1]


def test_the_checksum_of_an_event_is_that_of_its_bytes():
    (event,) = memory_rows.births([memory()], FIRST, 20, "remembered").events
    null_text = b"\xff\xfeNULL"
    numbers = struct.pack("<6q", 21, 7, event[3], FIRST, len("remembered"), len(null_text))
    assert event[-1] == crc32(b"events" + numbers + b"remembered" + null_text)


def test_without_a_kind_there_are_no_events():
    assert memory_rows.births([memory()], FIRST, 20, None).events == []


@pytest.mark.parametrize(
    "bad",
    [
        {"summary": "\ud83d"},
        {"detail": "\ud83d"},
        {"summary": None},
        {"id": "text"},
        {"digest": None},
        {"importance": "5"},
        {"recorded_at": None},
        {"tier": MOST + 1},
    ],
)
def test_a_value_that_no_column_holds_is_refused(bad):
    rows = [memory("fine"), memory()._replace(**bad)]
    assert _core.sealed_births(rows, FIRST, 20, "remembered") is None
    with pytest.raises(InvalidArgument, match="memory"):
        memory_rows.births(rows, FIRST, 20, "remembered")


@pytest.mark.parametrize("rows", [[(1, 2)], ["row"], [None]])
def test_rows_are_whole(rows):
    with pytest.raises(InvalidType, match="rows"):
        _core.sealed_births(rows, FIRST, 20, None)
