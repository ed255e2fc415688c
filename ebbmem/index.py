"""The index of one scope: everything recall looks at, in RAM, derived from the records.

One slot number serves the columns, the postings, the links and every lane of vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem.analysis import Analyzer
from ebbmem.columns import Columns
from ebbmem.embedders.base import Embedder, stores_vectors
from ebbmem.facets import Coded, Facets
from ebbmem.graph import LinkTable, kind_code
from ebbmem.records.base import (
    IndexRow,
    LinkRow,
    MemoryRow,
    Reader,
    ScopeRow,
    StrengthRow,
    row_id,
)
from ebbmem.shelf import Shelf
from ebbmem.spaces import Lane, empty_lane

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
BoolRows = NDArray[np.bool_]

NEXT_TURN = kind_code("next_turn")
CONFLICTS = kind_code("conflicts")
BACKWARD = 0.5
SPARE_SLOTS = 1_000
"""How many more slots may be of no use than are of use."""
OWN_BYTES = 6_000
"""What an index takes besides its tables: objects, a lock, a desk, counts of calls."""


class Indexed(NamedTuple):
    """A new memory as the index takes it in.

    ``vector`` and ``space``, the name of its embedder, only where vectors are stored.
    """

    row: IndexRow
    summary: str
    keywords: str
    vector: F32 | None
    space: str | None


class ScopeIndex:
    """The derived state of one scope.  Its owner holds a lock around every call."""

    def __init__(self, scope: ScopeRow, analyzer: Analyzer) -> None:
        self.scope = scope
        self.seq = scope.last_seq
        self.columns = Columns()
        self.postings = _core.Postings()
        self.links = LinkTable()
        self.shelf = Shelf()
        self.any_conflicts = False
        """Whether some memory was ever linked to another as in conflict."""
        self._facets = Facets()
        self._analyzer = analyzer
        self._lanes: dict[str, Lane] = {}
        self._epoch = ""

    @classmethod
    def load(cls, reader: Reader, scope: ScopeRow, analyzer: Analyzer) -> ScopeIndex:
        """Build the index of a scope from its records."""
        index = cls(scope, analyzer)
        memories = reader.loaded_memories(scope.scope_id)
        texts = memories.texts
        index.columns.load(memories)
        index._append_terms(texts)
        index.shelf.fit(len(index))
        index._load_links(reader.loaded_links(scope.scope_id))
        return index

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def mostly_gone(self) -> bool:
        """Return whether so much was erased that it is better loaded anew than kept."""
        return self.columns.gone > SPARE_SLOTS + len(self) - self.columns.gone

    @property
    def last_row(self) -> int:
        """Return the greatest row id there ever was here; that of no memory when there was none."""
        return self.columns.last_row or row_id(self.scope.scope_id, 0)

    @property
    def stores_vectors(self) -> bool:
        """Return whether a lane keeps vectors that are stored in the records."""
        return any(stores_vectors(lane.embedder) for lane in self._lanes.values())

    @property
    def bytes(self) -> int:
        """Return the memory the index takes, in bytes."""
        lanes = sum(lane.bytes for lane in list(self._lanes.values()))
        tables = self.columns.bytes + self.postings.bytes + self.links.bytes
        return OWN_BYTES + tables + lanes + self.shelf.bytes + self._facets.bytes

    def append(self, memories: Sequence[Indexed]) -> None:
        """Take in new memories, row ids ascending and above all that are here."""
        if not memories:
            return
        self.columns.append([m.row for m in memories])
        self._append_terms([f"{m.summary}\n{m.keywords}" for m in memories])
        self.shelf.fit(len(self))
        summaries = [m.summary for m in memories]
        for name, lane in list(self._lanes.items()):
            if not stores_vectors(lane.embedder):
                lane.append(summaries, None)
            elif all(m.space == name and _long(m.vector) == lane.embedder.dim for m in memories):
                vectors = np.stack([m.vector for m in memories if m.vector is not None])
                lane.append(summaries, vectors)
            else:
                # Written without this embedder, or with another one of its name: the lane is
                # rebuilt, and fills them in.
                del self._lanes[name]

    def add_links(self, links: Sequence[LinkRow]) -> None:
        """Take in links whose ends are both here.

        A turn also brings up the one before it, less than the one after it.
        """
        if links:
            self.links.add_many(*self._edges(links))

    def replace_links(self, rows: Sequence[int], links: Sequence[LinkRow]) -> None:
        """Let the links of some memories be those given: all that leave or reach one of them."""
        if rows:
            slots = self.columns.slots(rows)
            slots = slots[slots >= 0]
            source, target, kind, weight = self._edges(links)
            leave = np.isin(source, slots)
            self.links.replace(slots, source[leave], target[leave], kind[leave], weight[leave])

    def in_conflict(self, slot: int, among: BoolRows) -> list[int]:
        """Return the memories among some that one is in conflict with, by row id, ascending."""
        linked = self.links.graph.links(slot)
        slots = sorted(to for to, kind, _ in linked if kind == CONFLICTS and among[to])
        rows: list[int] = self.columns.row[slots].tolist()
        return rows

    def linked_turns(self, row: int) -> list[int]:
        """Return the memories of the turns before and after one."""
        slot = self.columns.slot(row)
        if slot is None:
            return []
        turns = [target for target, kind, _ in self.links.graph.links(slot) if kind == NEXT_TURN]
        rows: list[int] = self.columns.row[turns].tolist()
        return rows

    def _load_links(self, links: _core.LinkRows) -> None:
        """Take over the links of a scope; their columns go out of them."""
        if len(links):
            codes = np.array([kind_code(one) for one in links.kinds], dtype=np.uint8)
            source, target, kind, weight = links.columns()
            self.links.add_many(*self._between(source, target, codes[kind], weight))

    def _edges(self, links: Sequence[LinkRow]) -> tuple[I64, I64, U8, F32]:
        """Return source, target, kind and weight by slot, what leads back behind all others."""
        return self._between(
            np.array([one.source for one in links], dtype=np.int64),
            np.array([one.target for one in links], dtype=np.int64),
            np.array([kind_code(one.kind) for one in links], dtype=np.uint8),
            np.array([one.weight for one in links], dtype=np.float64),
        )

    def _between(
        self, sources: I64, targets: I64, kind: U8, weights: F64
    ) -> tuple[I64, I64, U8, F32]:
        """Return the same of links whose ends are given by row id."""
        source, target = self.columns.slots(sources), self.columns.slots(targets)
        weight = weights.astype(np.float32)
        both = (source >= 0) & (target >= 0)
        self.any_conflicts = self.any_conflicts or bool((kind == CONFLICTS).any())
        back = both & (kind == NEXT_TURN)
        return (
            np.concatenate([source[both], target[back]]),
            np.concatenate([target[both], source[back]]),
            np.concatenate([kind[both], kind[back]]),
            np.concatenate([weight[both], weight[back] * np.float32(BACKWARD)]),
        )

    def refresh(self, rows: Sequence[IndexRow]) -> None:
        """Take over the strengths and the state of memories as they were read now."""
        self.columns.update_strengths(rows)
        for row in rows:
            slot = self.columns.slot(row.row_id)
            if slot is not None:
                self.columns.set(
                    slot,
                    tier=row.tier,
                    kind=self.columns.code(row.memory_type),
                    successor=row.superseded_by or 0,
                )
                self.shelf.remove([slot])

    def update_strengths(self, rows: Sequence[StrengthRow]) -> None:
        """Take over what recall changed."""
        self.columns.update_strengths(rows)

    def update_states(
        self, superseded: Iterable[tuple[int, int]], tiers: Iterable[tuple[int, int]]
    ) -> None:
        """Take over who replaced whom, and moves between tiers."""
        for name, changes in (("successor", superseded), ("tier", tiers)):
            for row, value in changes:
                slot = self.columns.slot(row)
                if slot is not None:
                    self.columns.set(slot, **{name: value})
                    self.shelf.remove([slot])

    def drop(self, rows: Iterable[int]) -> None:
        """Take memories out of every lane and of the links."""
        found = [slot for row in rows if (slot := self.columns.slot(row)) is not None]
        if not found:
            return
        slots = np.array(found, dtype=np.int64)
        self.columns.drop(found)
        self.shelf.remove(found)
        self._facets.forget()
        self.postings.tombstone(slots)
        self.links.drop_nodes(slots)
        for lane in self._lanes.values():
            lane.tombstone(slots)

    def facet(
        self, field: str, name: str, read: Callable[[Sequence[int]], Mapping[int, MemoryRow]]
    ) -> Coded:
        """Return what the records say of every memory; see `Facets.get`."""
        before = self._facets.bytes
        try:
            return self._facets.get(field, name, self.columns.row, read)
        finally:
            self.columns.grown |= self._facets.bytes > before

    def forget_stored_lanes(self) -> None:
        """Let the lanes of stored vectors be built anew when they are next asked."""
        for name, lane in list(self._lanes.items()):
            if stores_vectors(lane.embedder):
                del self._lanes[name]

    def lane(self, embedder: Embedder, epoch: str) -> Lane | None:
        """Return the lane of an embedder, or None where it is not built.

        Lanes of another epoch of the store's vectors are dropped.
        """
        if epoch != self._epoch:
            self._lanes.clear()
            self._epoch = epoch
        return self._lanes.get(embedder.name)

    def lanes(self) -> list[Lane]:
        """Return the lanes that are built."""
        return list(self._lanes.values())

    def build_lane(self, embedder: Embedder, summaries: Sequence[str], vectors: F32 | None) -> Lane:
        """Build the lane of an embedder from one summary per slot, or from vectors if given."""
        lane = empty_lane(embedder)
        lane.append(summaries, vectors)
        dead = np.flatnonzero(~self.columns.alive).astype(np.int64)
        if len(dead):
            lane.tombstone(dead)
        self._lanes[embedder.name] = lane
        return lane

    @property
    def language(self) -> str | None:
        """Return the language of the texts."""
        return self._analyzer.language

    def _append_terms(self, texts: list[str]) -> None:
        """Append the terms of new memories to the postings."""
        if texts:
            self.postings.append(*self._analyzer.terms(texts))


def _long(vector: F32 | None) -> int:
    """Return how many numbers a vector has."""
    return 0 if vector is None else len(vector)
