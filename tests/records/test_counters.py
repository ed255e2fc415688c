"""Counters kept between transactions are what a store opened anew reads."""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from records.samples import NOW, memory

from ebbmem.errors import StoreError
from ebbmem.records.sqlite import SqliteRecords

SCOPES = ("ann", "bob")
KINDS = ("insert", "insert two", "fail", "erase", "erase scope", "forget", "note", "nothing")
STEPS = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(KINDS), st.sampled_from(SCOPES)), max_size=10
)


class Undone(Exception):
    """Ends a transaction without a commit."""


def step(store, number, kind, scope):
    """Write one transaction; return what it told."""
    one = memory(f"fact {number}", id=number.to_bytes(16, "big"), keywords="")
    two = one._replace(id=(1 << 64 | number).to_bytes(16, "big"))
    with suppress(Undone), store.write() as writer:
        row = writer.open_scope(scope, NOW)
        if kind.startswith("insert"):
            made = writer.insert_memories(row.scope_id, [one, two][: 1 + (kind == "insert two")])
            writer.lift_erased(row.scope_id, [each.digest for each in made])
        if kind == "fail":
            writer.insert_memories(row.scope_id, [one])
            writer.lift_erased(row.scope_id, [one.digest])
            raise Undone
        if kind in ("erase", "forget"):
            rows = [each.row_id for each in writer.index_rows(row.scope_id)][:1]
            gone = writer.memories(rows).values()
            writer.erase_memories(row.scope_id, rows)
            if kind == "forget":
                kept = [(each.id, memory("fact 1").digest) for each in gone]
                writer.insert_erased(row.scope_id, kept, NOW)
        if kind == "note":
            following = memory(f"fact {number + 1}").digest
            writer.insert_erased(row.scope_id, [(one.id, following)], NOW)
        if kind == "erase scope":
            writer.erase_scope(row.scope_id)
        return row, writer.last_seq(row.scope_id)
    return None


def contents(path):
    """Return every row of the tables that a step writes."""
    with closing(SqliteRecords(path)) as store:
        assert not store.check().problems
        rows = store._connection.rows
        return [rows(f"SELECT * FROM {table} ORDER BY 1") for table in ("scopes", "memories")] + [
            rows("SELECT scope_id, id, digest, at, seq FROM erased ORDER BY 5"),
            rows("SELECT * FROM meta WHERE key = 'seq'"),
        ]


def opened(path):
    store = SqliteRecords(path)
    store.migrate()
    return store


@settings(max_examples=25)
@given(steps=STEPS)
@example(steps=[(0, "insert", "ann"), (0, "note", "ann"), (0, "insert", "ann")])
@example(steps=[(0, "insert", "ann"), (1, "note", "ann"), (0, "insert", "ann")])
@example(steps=[(0, "insert", "ann"), (0, "fail", "ann"), (0, "insert", "ann")])
@example(steps=[(0, "insert", "ann"), (0, "erase scope", "ann"), (0, "insert", "ann")])
def test_what_is_kept_is_what_is_read_anew(steps, tmp_path_factory):
    kept, anew = (tmp_path_factory.mktemp("counters") / name for name in ("kept.db", "anew.db"))
    with ExitStack() as stack:
        # Two connections write by turns, as two processes would.
        both = [stack.enter_context(closing(opened(kept))) for _ in range(2)]
        told = [step(both[who], n, kind, scope) for n, (who, kind, scope) in enumerate(steps)]
    expected = []
    for n, (_, kind, scope) in enumerate(steps):
        with closing(opened(anew)) as store:
            expected.append(step(store, n, kind, scope))
    opened(anew).close()
    assert told == expected
    assert contents(kept) == contents(anew)


@pytest.mark.parametrize(
    "late",
    [
        lambda writer: writer.insert_memories(1, [memory()]),
        lambda writer: writer.lift_erased(1, [memory().digest]),
        lambda writer: writer.last_seq(1),
        lambda writer: writer.open_scope("ann", NOW),
    ],
)
def test_a_writer_moves_none_after_its_end(store, late):
    with store.write() as writer:
        writer.open_scope("ann", NOW)
        writer.lift_erased(1, [memory().digest])
    with pytest.raises(StoreError, match="transaction"):
        late(writer)
    with store.write() as writer:
        (made,) = writer.insert_memories(1, [memory()])
    assert (made.row_id & 0xFFFF_FFFF, made.seq) == (1, 1)
