"""Rows as they are read, and events: what the core says of them is what Python says row by row."""

from __future__ import annotations

import struct
from functools import reduce
from operator import xor
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records.samples import memory
from records.test_checksums import memories

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.records import memory_rows
from ebbmem.records import rows as seals
from ebbmem.records.base import StrengthRow

MOST = (1 << 63) - 1
kinds = st.sampled_from(["recalled", "größer", ""])
told = st.lists(st.tuples(st.integers(-MOST - 1, MOST), st.binary(max_size=80)), max_size=5)


@settings(max_examples=200)
@given(st.integers(1, 1 << 31), st.integers(0, MOST - 100), kinds, told)
def test_events_are_what_python_makes(scope_id, seq, kind, events):
    expected = seals.sealed_one_by_one(scope_id, seq, kind, events)
    assert _core.sealed_events(scope_id, seq, kind, events) == expected
    assert seals.sealed_events(scope_id, seq, kind, events) == expected


@pytest.mark.parametrize("count", [2, 3])
def test_numbers_reach_the_largest_there_is_and_not_beyond(count):
    """The number behind the last was made, too: it has 65 bits, and to C++ no meaning."""
    events, rows = [(1, b"")] * count, [memory()] * count
    last = MOST - count + 1
    assert _core.sealed_events(7, last, "kept", events)[-1][0] == MOST
    made = _core.sealed_births(rows, last, last, None)
    assert made == _core.sealed_births(rows, last, last, None)
    assert made[0][-1][:2] == (MOST, MOST)
    told = _core.sealed_births(rows, 1, MOST - 2 * count + 1, "kept")
    assert [event[0] for event in told[1]] == [*range(last, MOST + 1)]
    assert _core.sealed_events(7, last + 1, "kept", events) is None
    assert _core.sealed_births(rows, last + 1, 1, None) is None
    assert _core.sealed_births(rows, 1, last, "kept") is None
    for refused in (
        lambda: seals.sealed_events(7, last + 1, "kept", events),
        lambda: memory_rows.births(rows, last + 1, 1, None),
        lambda: memory_rows.births(rows, 1, last, "kept"),
    ):
        with pytest.raises(InvalidArgument):
            refused()


def test_the_checksum_of_an_event_is_that_of_its_bytes():
    ((*row, checksum),) = seals.sealed_events(7, 20, "recalled", [(5, b"told")])
    assert row == [20, 7, "recalled", 5, None, b"told"]
    numbers = struct.pack("<6q", 20, 7, 5, -(2**63), len("recalled"), len(b"told"))
    assert checksum == crc32(b"events" + numbers + b"recalled" + b"told")


@pytest.mark.parametrize("bad", [(2**63, b""), (1.5, b""), (1, "text"), (1, 2)])
def test_an_event_that_no_column_holds_is_refused(bad):
    assert _core.sealed_events(7, 20, "recalled", [(1, b""), bad]) is None
    with pytest.raises(InvalidArgument, match="events"):
        seals.sealed_events(7, 20, "recalled", [(1, b""), bad])


@settings(max_examples=200)
@given(st.lists(memories, min_size=1, max_size=4), st.data())
def test_a_row_agrees_only_as_it_was_written(rows, data):
    written = [memory_rows.sealed(row) for row in rows]
    assert _core.agreeing_memories(written) == len(rows)
    at = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(written[at]) - 1))
    damaged = list(written[at])
    damaged[column] = changed(damaged[column])
    written[at] = tuple(damaged)
    assert _core.agreeing_memories(written) == at


def changed(value):
    """Return what a damaged file may say instead of a value."""
    if value is None:
        return "x"
    if isinstance(value, (str, bytes)):
        return value + value[:1] if value else None
    if isinstance(value, float):
        return 0.0 if value else 0.5
    return value ^ 1


@pytest.mark.parametrize("unfit", ["text", 1.5, 2**64, b"blob", None])
def test_a_value_of_another_type_does_not_agree(unfit):
    row = list(memory_rows.sealed(memory()))
    row[0] = unfit
    assert _core.agreeing_memories([tuple(row)]) == 0


def test_rows_are_whole():
    assert _core.agreeing_memories([]) == 0
    for row in [(1, 2), "row", None]:
        with pytest.raises(InvalidType, match="rows"):
            _core.agreeing_memories([row])
    with pytest.raises(InvalidType, match="events"):
        _core.sealed_events(7, 20, "recalled", [(1,)])


def written(row, strengths, seq):
    """Return what to write of one memory whose strengths changed, by the checksums in Python."""
    checksum = memory_rows.sealed(row)[-1]
    changed = row._replace(**strengths._asdict(), seq=seq)
    columns = [getattr(changed, name) for name in memory_rows.INDEX_COLUMNS]
    turned = memory_rows.index_checksum(columns) << 32 | checksum & 0xFFFF_FFFF
    return (*strengths[1:], seq, turned, row.row_id), checksum ^ turned


def index_row(row):
    """Return a memory as its index columns are read, with its checksum."""
    columns = [getattr(row, name) for name in memory_rows.INDEX_COLUMNS]
    return (*columns, memory_rows.sealed(row)[-1])


numbers = st.floats(0, 1)
changes = st.tuples(numbers, numbers, st.integers(-MOST - 1, MOST), st.integers(0, MOST))


@settings(max_examples=200)
@given(st.lists(st.tuples(memories, changes), max_size=4, unique_by=lambda one: one[0].row_id))
def test_strengths_are_sealed_as_python_does(cases):
    strengths = {row.row_id: StrengthRow(row.row_id, *told) for row, told in cases}
    wanted = [written(row, strengths[row.row_id], 50 + at) for at, (row, _) in enumerate(cases)]
    found = _core.sealed_strengths([index_row(row) for row, _ in cases], strengths, 50)
    assert found == ([row for row, _ in wanted], reduce(xor, (one for _, one in wanted), 0))


@settings(max_examples=100)
@given(memories, changes, st.integers(0, 18))
def test_strengths_of_a_damaged_row_are_not_sealed(row, told, column):
    strengths = {row.row_id: StrengthRow(row.row_id, *told)}
    damaged = list(index_row(row))
    # Of the checksum the upper half, which is the index's.
    damaged[column] = damaged[18] ^ 1 << 32 if column == 18 else changed(damaged[column])
    assert _core.sealed_strengths([tuple(damaged)], strengths, 50) is None


@pytest.mark.parametrize("column", range(1, 5))
@pytest.mark.parametrize("unfit", ["text", 2**64, None])
def test_a_strength_that_no_column_holds_is_refused(column, unfit):
    row = memory()
    told = [row.row_id, 0.5, 0.5, 5, 1]
    told[column] = unfit
    assert _core.sealed_strengths([index_row(row)], {row.row_id: tuple(told)}, 50) is None


def test_numbers_of_strengths_reach_the_largest_there_is_and_not_beyond():
    row = memory()
    rows, strengths = [index_row(row)] * 2, {row.row_id: StrengthRow(row.row_id, 0.5, 0.5, 5, 1)}
    sealed, _ = _core.sealed_strengths(rows, strengths, MOST - 1)
    assert [one[4] for one in sealed] == [MOST - 1, MOST]
    assert _core.sealed_strengths(rows, strengths, MOST) is None


def test_a_memory_without_new_strengths_is_a_mistake():
    row = memory()
    with pytest.raises(KeyError):
        _core.sealed_strengths([index_row(row)], {}, 50)
    with pytest.raises(InvalidType, match="strengths: expected tuples of 5 values"):
        _core.sealed_strengths([index_row(row)], {row.row_id: (0.5,)}, 50)
    with pytest.raises(InvalidType, match="rows: expected tuples of 19 values"):
        _core.sealed_strengths([index_row(row)[:-1]], {}, 50)
