"""Recall as a write: what was recalled is strengthened, and the history keeps what was before."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ebbmem.clock import US_PER_H
from ebbmem.columns import Columns
from ebbmem.decay import StorageStrength
from ebbmem.recipes import Recipe
from ebbmem.records.base import MemoryRow, Reader, StrengthRow
from ebbmem.reinforcement import Reinforcement, Strength

_LAW = StorageStrength()
_PACKED = struct.Struct("<qdd")
"""Row id, S and R before, per memory; little-endian."""


class Trace(NamedTuple):
    """What a memory's strengths were at its last access, in microseconds since 1970."""

    row: int
    storage: float
    anchor: float
    intensity: float
    anchored_us: int
    access_count: int

    def at(self, now_us: int) -> Strength:
        """Return S, and R as it is now."""
        idle_h = max(now_us - self.anchored_us, 0) / US_PER_H
        r = _LAW.effective(self.anchor, self.storage, self.intensity, idle_h)
        return Strength(self.storage, r)


def trace(memory: MemoryRow) -> Trace:
    """Return the trace of a memory."""
    return Trace(
        memory.row_id,
        memory.storage_strength,
        memory.r_anchor,
        memory.emotional_intensity,
        memory.anchored_at,
        memory.access_count,
    )


def traces(reader: Reader, rows: Sequence[int]) -> list[Trace]:
    """Return the traces of memories as a transaction sees them; erased ones are left out."""
    return [trace(memory) for memory in reader.memories(rows).values()]


def indexed(columns: Columns, rows: Sequence[int]) -> list[Trace]:
    """Return the traces of memories as the index has them; those it has not are left out."""
    return [
        Trace(
            int(columns.row[slot]),
            float(columns.strength[slot]),
            float(columns.anchor[slot]),
            float(columns.intensity[slot]),
            int(columns.anchored_us[slot]),
            int(columns.access_count[slot]),
        )
        for slot in columns.slots(rows).tolist()
        if slot >= 0
    ]


def strengthened(
    known: Iterable[Trace], similarity: Mapping[int, float], recipe: Recipe, now_us: int
) -> list[StrengthRow]:
    """Return the strengths after a recall; ``similarity`` is by row.

    A recipe's guard leaves out hits with too little evidence, and those whose last access is so
    recent that another would only pump S.
    """
    guard = recipe.guard
    counted = [
        one
        for one in known
        if guard is None
        or (
            similarity[one.row] >= guard.evidence
            and now_us - one.anchored_us >= guard.refractory_us
        )
    ]
    return succeeded(counted, recipe.reinforcement, now_us)


def succeeded(known: Iterable[Trace], rule: Reinforcement, now_us: int) -> list[StrengthRow]:
    """Return the strengths after a success of each memory."""
    return [_after(one, rule.succeed(one.at(now_us)), now_us) for one in known]


def failed(known: Iterable[Trace], rule: Reinforcement, now_us: int) -> list[StrengthRow]:
    """Return the strengths after a failure of each memory."""
    return [_after(one, rule.fail(one.at(now_us)), now_us) for one in known]


def packed(known: Iterable[Trace], now_us: int) -> bytes:
    """Return the event payload: which memories, and their S and R before."""
    return b"".join(_PACKED.pack(one.row, *one.at(now_us)) for one in known)


def unpacked(payload: bytes) -> list[tuple[int, Strength]]:
    """Return what `packed` wrote."""
    return [(row, Strength(s, r)) for row, s, r in _PACKED.iter_unpack(payload)]


def without(payload: bytes, rows: set[int]) -> bytes:
    """Return a payload without some memories."""
    kept = [entry for entry in unpacked(payload) if entry[0] not in rows]
    return b"".join(_PACKED.pack(row, *strength) for row, strength in kept)


def _after(one: Trace, after: Strength, now_us: int) -> StrengthRow:
    """Return the row to write; a clock that stepped back never moves the last access back."""
    return StrengthRow(
        one.row,
        after.storage,
        after.retrievability,
        max(now_us, one.anchored_us),
        one.access_count + 1,
    )
