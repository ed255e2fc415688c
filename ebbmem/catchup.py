"""Bringing an index up to what other connections committed, without loading it anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem import reconsolidation
from ebbmem.analysis import Analyzer
from ebbmem.index import Indexed, ScopeIndex
from ebbmem.pending import PendingRecall, replay
from ebbmem.records.base import EMBEDDER_NAME, IndexRow, LinkRow, ScopeRow
from ebbmem.records.followable import TOUCHED, FollowReader, NewRow, touched_rows

LEAST_CHANGES = 64
SHARE = 4
"""An index is loaded anew where more than ``LEAST_CHANGES`` and a 4th of it has changed."""
NEXT_TURN = "next_turn"


@dataclass(frozen=True, slots=True)
class _Named:
    """Memories of an index that events name; of ``strengthened`` no more than strengths changed."""

    touched: set[int]
    strengthened: set[int]


@dataclass(frozen=True, slots=True)
class _Changes:
    """What the records say of everything that an index has to look at again."""

    gone: list[int]
    strengthened: list[IndexRow]
    touched: list[IndexRow]
    new: list[Indexed]
    new_links: list[LinkRow]
    sources: list[int]
    """Memories whose links are all among ``links``."""
    links: list[LinkRow]
    vectors_differ: bool


class Waiting(NamedTuple):
    """Recalls of a scope that count in RAM and wait for their commit; see `pending.replay`."""

    recalls: Sequence[PendingRecall]
    since: int


def brought_up(
    index: ScopeIndex | None,
    reader: FollowReader,
    scope: ScopeRow,
    analyzer: Analyzer,
    waiting: Waiting,
) -> ScopeIndex:
    """Return the index of a scope as the records have it: the one there is, or one loaded anew."""
    behind = index is not None and index.seq < scope.last_seq
    if index is not None and behind and catch_up(index, reader, scope, waiting):
        return index
    fresh = ScopeIndex.load(reader, scope, analyzer)
    replay(fresh.columns, fresh.seq, *waiting)
    return fresh


def catch_up(index: ScopeIndex, reader: FollowReader, scope: ScopeRow, waiting: Waiting) -> bool:
    """Let an index be as if it had been loaded now; False where loading it is the better way.

    Parameters
    ----------
    index : ScopeIndex
        Of the scope, as it was after a change that is committed.
    reader : FollowReader
        What is committed now.
    scope : ScopeRow
        The scope as the reader sees it.
    waiting : Waiting
        What counts in RAM alone.

    Raises
    ------
    CorruptStore
        If a row that changed does not match its checksum; the index is as it was.
    """
    # A scope that was erased, and one made later under its name, are two.
    same = index.scope.scope_id == scope.scope_id
    named = _named(index, reader) if same else None
    if named is None:
        return False
    held = {row for one in waiting.recalls for row in one.traced().before.row.tolist()}
    again = not held.isdisjoint(named.touched | named.strengthened)
    if again:
        # What waits counts once more, on top of what the records say now.
        named.strengthened.update(held - named.touched)
    changes = _read(index, reader, named)
    if changes is None:
        return False
    if _live_after(index, changes) != scope.memory_count:
        # Something was erased, which nothing names.
        there = set(reader.row_ids(scope.scope_id))
        changes.gone[:] = [row for row in index.columns.row.tolist() if row not in there]
    if _live_after(index, changes) != scope.memory_count:
        return False
    _apply(index, changes)
    if index.mostly_gone:
        return False
    index.scope, index.seq = scope, scope.last_seq
    if again:
        replay(index.columns, index.seq, *waiting)
    return True


def _most(index: ScopeIndex) -> int:
    """Return how many changes are worth following."""
    return LEAST_CHANGES + len(index) // SHARE


def _named(index: ScopeIndex, reader: FollowReader) -> _Named | None:
    """Return the memories that later events name, or None where there are too many."""
    most = _most(index)
    events = reader.changes(index.scope.scope_id, index.seq, most + 1)
    if len(events) > most:
        return None
    touched: set[int] = set()
    strengthened: set[int] = set()
    for event in events:
        if event.memory is not None:
            touched.add(event.memory)
        elif event.kind == TOUCHED:
            touched.update(touched_rows(event.payload or b""))
        elif event.kind in reconsolidation.PACKED_KINDS:
            strengthened.update(reconsolidation.packed_rows(event.payload or b""))
    touched, strengthened = (
        {row for row in rows if row <= index.last_row} for rows in (touched, strengthened - touched)
    )
    return None if len(touched) + len(strengthened) > most else _Named(touched, strengthened)


def _read(index: ScopeIndex, reader: FollowReader, named: _Named) -> _Changes | None:
    """Read everything that changed before any of it is taken over; None where it is too much."""
    scope_id, last = index.scope.scope_id, index.last_row
    new = reader.rows_after(scope_id, last)
    if len(new) > _most(index):
        return None
    wanted = named.touched | named.strengthened
    known = reader.index_rows_of(list(wanted))
    touched = [known[row] for row in named.touched if row in known]
    sources = _sources(index, reader, [one.row_id for one in touched])
    return _Changes(
        [row for row in wanted if row not in known],
        [known[row] for row in named.strengthened if row in known],
        touched,
        _indexed(index, reader, new),
        reader.links_after(scope_id, last) if new else [],
        sources,
        reader.links_around(sources) if sources else [],
        index.stores_vectors and reader.any_vector_after(list(named.touched), index.seq),
    )


def _sources(index: ScopeIndex, reader: FollowReader, touched: Sequence[int]) -> list[int]:
    """Return the memories whose links may have changed: one to the next turn leads back as well."""
    sources = set(touched)
    for row in touched:
        sources.update(index.linked_turns(row))
        sources.update(one.target for one in reader.links_from(row) if one.kind == NEXT_TURN)
    return sorted(sources)


def _indexed(index: ScopeIndex, reader: FollowReader, new: Sequence[NewRow]) -> list[Indexed]:
    """Return new memories with their vectors, where a lane keeps stored ones."""
    space: str | None = None
    vectors: dict[int, NDArray[np.float32]] = {}
    if new and index.stores_vectors:
        space = reader.meta(EMBEDDER_NAME)
        found = reader.vectors_after(index.scope.scope_id, index.last_row)
        vectors = {row: np.frombuffer(vector, np.float32) for row, vector in found}
    made = []
    for row, summary, keywords in new:
        vector = vectors.get(row.row_id)
        made.append(Indexed(row, summary, keywords, vector, None if vector is None else space))
    return made


def _live_after(index: ScopeIndex, changes: _Changes) -> int:
    """Return how many memories the index will have."""
    gone = sum(index.columns.slot(row) is not None for row in changes.gone)
    return index.columns.live - gone + len(changes.new)


def _apply(index: ScopeIndex, changes: _Changes) -> None:
    """Take over what was read."""
    index.drop(changes.gone)
    index.columns.update_strengths(changes.strengthened)
    index.refresh(changes.touched)
    index.append(changes.new)
    index.add_links(changes.new_links)
    index.replace_links(changes.sources, changes.links)
    if changes.vectors_differ:
        index.forget_stored_lanes()
