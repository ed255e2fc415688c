"""An index that is loaded natively, against one that Python builds row by row."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from load_oracles import has_its_text, is_index_row, is_link, loaded_slowly
from records.samples import NOW, memory, plain_sql

from ebbmem import _core
from ebbmem.analysis import Analyzer
from ebbmem.columns import _SELDOM, _TYPES
from ebbmem.errors import CorruptStore, InvalidType
from ebbmem.graph import LINK_KINDS
from ebbmem.index import ScopeIndex
from ebbmem.records import memory_rows
from ebbmem.records import statements as sql
from ebbmem.records.base import LinkRow, MemoryRow
from ebbmem.records.sqlite import SqliteRecords

LEAST, MOST = -(2**63), 2**63 - 1
ANALYZER = Analyzer()
_INDEXED = [MemoryRow._fields.index(name) for name in memory_rows.INDEX_COLUMNS]

integer = st.one_of(st.integers(-3, 3), st.integers(LEAST, MOST), st.sampled_from([LEAST, MOST]))
moment = st.one_of(st.none(), st.none(), st.integers(LEAST + 1, MOST - 1))
"""The two that are left out mean always and never: as good as none."""
real = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 5e-324, float("inf"), -1e308]), st.floats(allow_nan=False)
)
words = st.lists(st.sampled_from(["dog", "running", "straße", "ﬁsh", "犬", "🐕", "w1"]), max_size=9)
text = st.one_of(
    words.map(" ".join),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=80),
)
memories = st.builds(
    memory,
    text,
    memory_type=st.sampled_from(["episodic", "episodic", "turn", "semantic", ""]),
    importance=real,
    emotional_valence=st.one_of(st.just(0.0), real),
    emotional_intensity=real,
    storage_strength=real,
    r_anchor=real,
    anchored_at=integer,
    access_count=integer,
    created_at=integer,
    valid_from=moment,
    valid_to=moment,
    expires_at=moment,
    pinned=st.sampled_from([0, 0, 1]),
    tier=st.integers(0, 3),
    run_id=st.one_of(st.none(), st.sampled_from(["a", "b", "ü", "episodic"])),
    keywords=st.one_of(st.just(""), words.map("\n".join)),
)


def new_store(path: str = ":memory:") -> SqliteRecords:
    store = SqliteRecords(path)
    store.migrate()
    return store


def same(one: ScopeIndex, other: ScopeIndex, asked: list[str]) -> None:
    """Fail unless two indexes are equal in everything they keep."""
    ours, theirs = one.columns, other.columns
    assert (len(ours), ours._names) == (len(theirs), theirs._names)
    assert ours._arrays.keys() == theirs._arrays.keys()
    assert (ours.any_superseded, ours._bounded) == (theirs.any_superseded, theirs._bounded)
    assert (ours.bytes, one.postings.bytes) == (theirs.bytes, other.postings.bytes)
    for name in (*_TYPES, *_SELDOM):
        column = getattr(ours, name)
        assert column.dtype == getattr(theirs, name).dtype
        assert column.tobytes() == getattr(theirs, name).tobytes()
    if len(ours):
        terms = np.unique(ANALYZER.terms(asked)[0])
        slots = np.arange(len(ours), dtype=np.int64)
        scores = [index.postings.bm25(terms, 1.2, 0.75, slots) for index in (one, other)]
        assert scores[0].tolist() == scores[1].tolist()
    assert len(one.links) == len(other.links)
    for slot in range(len(ours)):
        assert one.links.graph.links(slot) == other.links.graph.links(slot)


@settings(max_examples=60)
@given(
    st.lists(memories, max_size=12),
    st.lists(
        st.tuples(
            st.integers(0, 11),
            st.integers(0, 11),
            st.sampled_from(LINK_KINDS),
            st.floats(0, 1e30),
        ),
        max_size=12,
    ),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=3),
)
def test_a_loaded_index_is_the_one_that_python_builds(
    held: list[MemoryRow],
    joined: list[tuple[int, int, str, float]],
    replaced: list[tuple[int, int]],
) -> None:
    with closing(new_store()) as store:
        with store.write() as writer:
            other = writer.open_scope("other", NOW).scope_id
            scope_id = writer.open_scope("ann", NOW).scope_id
            writer.insert_memories(other, [memory("of another scope")])
            rows = [row.row_id for row in writer.insert_memories(scope_id, held)]
            links = [
                LinkRow(rows[a], rows[b], kind, weight, NOW)
                for a, b, kind, weight in joined
                if a != b and max(a, b) < len(rows)
            ]
            writer.insert_links(scope_id, links)
            for old, new in replaced:
                if old != new and max(old, new) < len(rows):
                    state = {"superseded_by": rows[new], "superseded_at": NOW}
                    writer.update_state(scope_id, rows[old], **state)
        with store.read() as reader:
            scope = reader.scope("ann")
            assert scope is not None
            fast = ScopeIndex.load(reader, scope, ANALYZER)
            slow = loaded_slowly(reader, scope, ANALYZER)
    same(fast, slow, [row.summary for row in held])


@pytest.mark.parametrize("count", [0, 1, 999, 1_000, 1_001, 9_000])
def test_scopes_of_any_size_are_loaded_alike(count: int) -> None:
    with closing(new_store()) as store:
        with store.write() as writer:
            scope_id = writer.open_scope("ann", NOW).scope_id
            made = [
                memory(f"fact {i} of {i % 7}", run_id=f"run {i // 3}" if i % 5 else None)
                for i in range(count)
            ]
            rows = [row.row_id for row in writer.insert_memories(scope_id, made)]
            links = [LinkRow(*ends, "next_turn", 0.3, NOW) for ends in pairwise(rows)]
            writer.insert_links(scope_id, links)
        with store.read() as reader:
            scope = reader.scope("ann")
            assert scope is not None
            fast = ScopeIndex.load(reader, scope, ANALYZER)
            slow = loaded_slowly(reader, scope, ANALYZER)
    same(fast, slow, ["fact 3 of 5"])


def test_a_loaded_index_takes_in_what_comes_later() -> None:
    with closing(new_store()) as store:
        with store.write() as writer:
            scope_id = writer.open_scope("ann", NOW).scope_id
            writer.insert_memories(scope_id, [memory("one"), memory("two", run_id="a", pinned=1)])
        with store.read() as reader:
            scope = reader.scope("ann")
            assert scope is not None
            fast = ScopeIndex.load(reader, scope, ANALYZER)
            slow = loaded_slowly(reader, scope, ANALYZER)
        with store.write() as writer:
            more = [memory("three", memory_type="turn", run_id="b"), memory("four", valid_to=NOW)]
            new = writer.insert_memories(scope_id, more)
        with store.read() as reader:
            kept = reader.index_rows(scope_id)[2:]
    for index in (fast, slow):
        index.columns.append(kept)
        index._append_terms([f"{row.summary}\n{row.keywords}" for row in new])
        index.columns.drop([0])
    same(fast, slow, ["one two three four"])


ROW_DAMAGES = ("tier = 2", "checksum = checksum + 4294967296", "summary = 'other'")


# --- rows that are not as they were written ------------------------------------------------


def new_row(row: MemoryRow) -> tuple:
    """Return a memory as SELECT_NEW has it."""
    sealed = memory_rows.sealed(row)
    index = [row[place] for place in _INDEXED]
    return (*index, sealed[-1], row.summary, row.keywords, sealed[-2])


cell = st.one_of(
    st.none(),
    integer,
    st.floats(),
    st.text(max_size=12),
    st.binary(max_size=12),
    st.just("\ud800"),
    st.just(2**64),
)


@settings(max_examples=400)
@given(memories, st.integers(0, 21), cell)
def test_a_changed_memory_is_told_from_one_that_was_written(
    row: MemoryRow, place: int, value: object
) -> None:
    written = new_row(row._replace(row_id=5 << 32 | 7, seq=3))
    changed = (*written[:place], value, *written[place + 1 :])
    if value == 2**64 and place in range(2, 7):
        return  # no REAL that SQLite hands over is one
    rows = _core.MemoryRows()
    right = is_index_row(changed) and has_its_text(changed)
    assert rows.take([written, changed, written]) == len(rows) == (3 if right else 1)
    assert len(rows.texts) == len(rows)
    assert rows.checksum_xor == (changed[18] if right else written[18])


@settings(max_examples=200)
@given(
    st.sampled_from(LINK_KINDS), st.lists(integer, min_size=4, max_size=4), real,
    st.integers(0, 6), cell,
)  # fmt: skip
def test_a_changed_link_is_told_from_one_that_was_written(
    kind: str, numbers: list[int], weight: float, place: int, value: object
) -> None:
    source, target, created_at, seq = numbers
    link = (source, target, kind, weight, created_at, seq)
    written = (*link, memory_rows.link_checksum(link))
    changed = (*written[:place], value, *written[place + 1 :])
    if value == 2**64 and place == 3:
        return
    rows = _core.LinkRows()
    assert rows.take([written, changed, written]) == (3 if is_link(changed) else 1)


@settings(max_examples=100)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_texts_of_every_length_have_the_checksum_of_zlib(summary: str) -> None:
    rows = _core.MemoryRows()
    assert rows.take([new_row(memory(summary, keywords=summary[::-1]))]) == 1


@pytest.mark.parametrize("rows", [(), None, [None], [()], [(1,) * 21], [[1] * 22]])
def test_what_is_no_list_of_rows_is_refused(rows: object) -> None:
    for kind in (_core.MemoryRows, _core.LinkRows):
        with pytest.raises(InvalidType, match="rows"):
            kind().take(rows)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE memories SET importance = 9 WHERE number = 3",
        "UPDATE memories SET tier = 2 WHERE number = 2",
        "UPDATE memories SET run_id = 'x' WHERE number = 4",
        "UPDATE memories SET checksum = checksum + 1 WHERE number = 3",
        "UPDATE memories SET summary = 'other' WHERE number = 2",
        "UPDATE memories SET keywords = 'other' WHERE number = 4",
        "UPDATE memories SET text_checksum = 5 WHERE number = 4",
        "DELETE FROM memories WHERE number = 5",
        "DELETE FROM scopes",
        "UPDATE links SET weight = 0.75",
        "UPDATE links SET kind = 'causes'",
    ],
)
def test_damage_is_told_as_by_reading_row_by_row(tmp_path, damage: str) -> None:
    path = tmp_path / "memory.sqlite"
    with closing(new_store(path)) as store:
        with store.write() as writer:
            scope_id = writer.open_scope("ann", NOW).scope_id
            rows = writer.insert_memories(scope_id, [memory(f"fact {i}") for i in range(5)])
            link = LinkRow(rows[0].row_id, rows[1].row_id, "related", 0.5, NOW)
            writer.insert_links(scope_id, [link])
        with store.read() as reader:
            scope = reader.scope("ann")
            assert scope is not None
    plain_sql(path, damage)
    told = []
    for load in (ScopeIndex.load, loaded_slowly):
        with closing(SqliteRecords(path)) as store, store.read() as reader:
            with pytest.raises(CorruptStore) as raised:
                load(reader, scope, ANALYZER)
            told.append(str(raised.value))
    assert told[0] == told[1]


@pytest.mark.parametrize("first", [1, 2, 5])
@pytest.mark.parametrize("second", [3, 1_004])
@pytest.mark.parametrize("damages", [*permutations(ROW_DAMAGES, 2)])
def test_the_first_damaged_memory_is_told(
    tmp_path: Path, damages: tuple[str, str], first: int, second: int
) -> None:
    path = tmp_path / "memory.sqlite"
    with closing(new_store(path)) as store, store.write() as writer:
        scope_id = writer.open_scope("ann", NOW).scope_id
        writer.insert_memories(scope_id, [memory(f"fact {i}") for i in range(1_010)])
    for number, damage in zip((first, second), damages, strict=True):
        plain_sql(path, f"UPDATE memories SET {damage} WHERE number = {number}")
    told = rf"#{min(first, second)} of"
    with closing(SqliteRecords(path)) as store, store.read() as reader:
        with pytest.raises(CorruptStore, match=told):
            reader.loaded_memories(scope_id)
        if all(damage in ROW_DAMAGES[:2] for damage in damages):
            with pytest.raises(CorruptStore, match=told):
                reader.index_rows(scope_id)


def test_statements_have_the_columns_that_are_taken() -> None:
    names = [name.strip('"') for name in sql.SELECT_NEW.split(" FROM ")[0][7:].split(", ")]
    assert names == [*memory_rows.INDEX_COLUMNS, "checksum", "summary", "keywords", "text_checksum"]
    names = [name.strip('"') for name in sql.SELECT_LINKS.split(" FROM ")[0][7:].split(", ")]
    assert names == ["source", "target", "kind", "weight", "created_at", "seq", "checksum"]
