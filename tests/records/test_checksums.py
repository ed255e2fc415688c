from __future__ import annotations

import struct
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records.samples import NOW, memory

from ebbmem.errors import InvalidArgument
from ebbmem.records import memory_rows, rows
from ebbmem.records.base import MemoryRow
from ebbmem.records.rows import BLOB, INT, MAYBE, REAL, TEXT, checksum
from ebbmem.records.sqlite import SqliteRecords

INDEX_KINDS = {
    "row_id": INT, "anchored_at": INT, "access_count": INT, "created_at": INT, "pinned": INT,
    "tier": INT, "seq": INT, "valid_from": MAYBE, "valid_to": MAYBE, "expires_at": MAYBE,
    "superseded_by": MAYBE, "importance": REAL, "emotional_valence": REAL,
    "emotional_intensity": REAL, "storage_strength": REAL, "r_anchor": REAL, "memory_type": TEXT,
    "run_id": TEXT,
}  # fmt: skip
CONTENT_KINDS = {
    "row_id": INT, "recorded_at": INT, "verified": INT, "text_checksum": INT, "due_at": MAYBE,
    "superseded_at": MAYBE, "id": BLOB, "detail": TEXT, "key": TEXT, "digest": BLOB,
    "source": TEXT, "metadata": TEXT,
}  # fmt: skip
TEXT_KINDS = {"row_id": INT, "summary": TEXT, "keywords": TEXT}

hostile = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
maybe_text = st.none() | hostile
whole = st.integers(-(1 << 63) + 1, (1 << 63) - 1)
maybe_whole = st.none() | whole
real = st.floats(allow_nan=False)
memories = st.builds(
    MemoryRow,
    row_id=st.just(0), seq=st.just(0), id=st.binary(min_size=16, max_size=16), memory_type=hostile,
    summary=hostile, detail=maybe_text, keywords=hostile, importance=real, emotional_valence=real,
    emotional_intensity=real, storage_strength=real, r_anchor=real, anchored_at=whole,
    access_count=whole, created_at=whole, recorded_at=whole, valid_from=maybe_whole,
    valid_to=maybe_whole, expires_at=maybe_whole, due_at=maybe_whole, pinned=whole, verified=whole,
    tier=whole, superseded_by=maybe_whole, superseded_at=maybe_whole, key=maybe_text,
    digest=st.binary(max_size=32), source=maybe_text, run_id=maybe_text, metadata=maybe_text,
)  # fmt: skip


@pytest.fixture(scope="module")
def shared():
    store = SqliteRecords(":memory:")
    store.migrate()
    with store.write() as writer:
        writer.open_scope("ann", NOW)
    yield store
    store.close()


@settings(max_examples=200)
@given(memories)
def test_any_memory_comes_back_and_matches_its_checksum(shared, row):
    class Undo(Exception):
        pass

    with pytest.raises(Undo), shared.write() as writer:  # noqa: PT012
        (stored,) = writer.insert_memories(1, [row])
        assert writer.memories([stored.row_id]) == {stored.row_id: stored}
        assert stored[2:] == row[2:]
        assert len(writer.index_rows(1)) == len(writer.texts(None, 1)) == 1
        raise Undo


@given(memories)
def test_the_written_out_form_is_the_general_one(row):
    *_, text, both = memory_rows.sealed(row)
    columns = (*row, text)
    fields = memory_rows.MEMORY_COLUMNS
    assert text == checksum("memories.text", TEXT_KINDS, MemoryRow._fields)(row)
    assert both & 0xFFFF_FFFF == checksum("memories.content", CONTENT_KINDS, fields)(columns)
    assert both >> 32 == checksum("memories.index", INDEX_KINDS, fields)(columns) & 0x7FFF_FFFF


def test_every_column_of_a_memory_is_under_one_checksum():
    covered = [*INDEX_KINDS, *CONTENT_KINDS, *TEXT_KINDS]
    assert sorted(set(covered)) == sorted(memory_rows.MEMORY_COLUMNS)
    assert {name for name in covered if covered.count(name) > 1} == {"row_id"}


def test_the_form_is_the_documented_one():
    numbers = struct.pack("<qqdqq", 7, -(1 << 63), 0.5, 2, 6)
    wanted = crc32("é".encode() + b"\xff\xfeNULL", crc32(numbers, crc32(b"things")))
    kinds = {"a": TEXT, "b": INT, "c": REAL, "d": MAYBE, "e": TEXT}
    assert checksum("things", kinds)(("é", 7, 0.5, None, None)) == wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ab", "c"), ("a", "bc")),
        (("", None), (None, "")),
        (("a", None), ("a", "")),
        (("a", "b"), ("b", "a")),
    ],
)
def test_rows_that_differ_have_other_forms(one, other):
    form = checksum("things", {"a": TEXT, "b": TEXT})
    assert form(one) != form(other)


def test_the_same_values_differ_between_tables():
    assert checksum("a", {"x": INT})((1,)) != checksum("b", {"x": INT})((1,))


def test_numbers_are_sealed_as_sqlite_gives_them_back():
    form = checksum("things", {"a": REAL, "b": INT})
    assert form((-0.0, True)) == form((0, 1)) == form((0.0, 1))


@pytest.mark.parametrize("row", [("\ud800", 1), ("a", None), ("a", "1"), ("a", 1 << 63), (5, 1)])
def test_values_without_a_form_are_refused(row):
    with pytest.raises(InvalidArgument):
        checksum("things", {"a": TEXT, "b": INT})(row)


def test_a_greater_weight_changes_only_the_lower_half_of_a_link():
    one = memory_rows.link_checksum((1, 2, "related", 0.5, NOW, 1))
    other = memory_rows.link_checksum((1, 2, "related", 0.7, NOW, 2))
    assert one >> 32 == other >> 32
    assert one != other


def test_strengths_change_only_the_upper_half_of_a_memory():
    row = memory()
    one, other = (memory_rows.sealed(each)[-1] for each in (row, row._replace(r_anchor=0.9)))
    assert memory_rows.index_half(one) != memory_rows.index_half(other)
    assert one & 0xFFFF_FFFF == other & 0xFFFF_FFFF


def test_checksums_fit_a_signed_64_bit_column():
    assert all(0 <= memory_rows.sealed(memory(str(i)))[-1] < 1 << 63 for i in range(1000))
    assert 0 <= rows.meta_checksum(("a", "b")) < 1 << 32


@settings(max_examples=200)
@given(hostile, hostile, whole)
def test_a_keyword_has_the_checksum_of_the_form(keyword, role, row_id):
    form = checksum("keywords", {"keyword": TEXT, "role": TEXT, "row_id": INT})
    assert rows.keyword_checksum((keyword, role, row_id)) == form((keyword, role, row_id))


@pytest.mark.parametrize("bad", [("\ud800", "has", 1), ("a", "has", 1 << 63), (None, "has", 1)])
def test_a_keyword_that_no_column_can_hold_is_refused(bad):
    with pytest.raises(InvalidArgument, match="keywords"):
        rows.keyword_checksum(bad)


@settings(max_examples=200)
@given(whole, whole, hostile, whole, st.none() | whole, st.none() | st.binary(max_size=40))
def test_an_event_has_the_checksum_of_the_form(seq, scope_id, kind, at, memory, payload):
    kinds = {"seq": INT, "scope_id": INT, "kind": TEXT, "at": INT, "memory": MAYBE, "payload": BLOB}
    row = (seq, scope_id, kind, at, memory, payload)
    assert rows.event_checksum(row) == checksum("events", kinds)(row)


@pytest.mark.parametrize(
    "bad", [(1, 1, "\ud800", 1, None, None), (1 << 63, 1, "a", 1, None, None), (1, 1, 2, 1, 1, b"")]
)
def test_an_event_that_no_column_can_hold_is_refused(bad):
    with pytest.raises(InvalidArgument, match="events"):
        rows.event_checksum(bad)
