"""Recall as a write: what was recalled is strengthened, and the history keeps what was before."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from ebbmem.clock import US_PER_H
from ebbmem.columns import Columns
from ebbmem.decay import StorageStrength
from ebbmem.index import ScopeIndex
from ebbmem.recall import Found
from ebbmem.recipes import Recipe
from ebbmem.records.base import MemoryRow, StrengthRow
from ebbmem.reinforcement import Reinforcement, Strength

_LAW = StorageStrength()
_PACKED = struct.Struct("<qdd")
"""Row id, S and R before, per memory; little-endian."""


def recalled(
    index: ScopeIndex, hits: Iterable[Found], recipe: Recipe, now_us: int
) -> list[StrengthRow]:
    """Return the strengths after a recall of these hits.

    A recipe's guard leaves out hits with too little evidence, and those whose last access is so
    recent that another would only pump S.
    """
    guard = recipe.guard
    slots = [
        hit.slot
        for hit in hits
        if guard is None
        or (
            hit.similarity >= guard.evidence
            and now_us - int(index.columns.anchored_us[hit.slot]) >= guard.refractory_us
        )
    ]
    return succeeded(index, slots, recipe.reinforcement, now_us)


def succeeded(
    index: ScopeIndex, slots: Sequence[int], reinforcement: Reinforcement, now_us: int
) -> list[StrengthRow]:
    """Return the strengths after a success of each memory."""
    return [
        _row(index.columns, slot, reinforcement.succeed(current(index, slot, now_us)), now_us)
        for slot in slots
    ]


def failed(
    index: ScopeIndex, slots: Sequence[int], reinforcement: Reinforcement, now_us: int
) -> list[StrengthRow]:
    """Return the strengths after a failure of each memory."""
    return [
        _row(index.columns, slot, reinforcement.fail(current(index, slot, now_us)), now_us)
        for slot in slots
    ]


def repeated(memory: MemoryRow, now_us: int) -> StrengthRow:
    """Return the strengths of a memory that was told again."""
    idle_h = max(now_us - memory.anchored_at, 0) / US_PER_H
    strength = memory.storage_strength
    r = _LAW.effective(memory.r_anchor, strength, memory.emotional_intensity, idle_h)
    after = Reinforcement().succeed(Strength(strength, r))
    return StrengthRow(
        memory.row_id,
        after.storage,
        after.retrievability,
        max(now_us, memory.anchored_at),
        memory.access_count + 1,
    )


def current(index: ScopeIndex, slot: int, now_us: int) -> Strength:
    """Return S, and R as it is now."""
    columns = index.columns
    idle_h = max(now_us - int(columns.anchored_us[slot]), 0) / US_PER_H
    strength = float(columns.strength[slot])
    intensity = float(columns.intensity[slot])
    return Strength(
        strength, _LAW.effective(float(columns.anchor[slot]), strength, intensity, idle_h)
    )


def packed(index: ScopeIndex, slots: Iterable[int], now_us: int) -> bytes:
    """Return the event payload: which memories, and their S and R before."""
    rows = index.columns.row
    return b"".join(_PACKED.pack(int(rows[slot]), *current(index, slot, now_us)) for slot in slots)


def unpacked(payload: bytes) -> list[tuple[int, Strength]]:
    """Return what `packed` wrote."""
    return [(row, Strength(s, r)) for row, s, r in _PACKED.iter_unpack(payload)]


def without(payload: bytes, rows: set[int]) -> bytes:
    """Return a payload without some memories."""
    kept = [entry for entry in unpacked(payload) if entry[0] not in rows]
    return b"".join(_PACKED.pack(row, *strength) for row, strength in kept)


def _row(columns: Columns, slot: int, after: Strength, now_us: int) -> StrengthRow:
    """Return the row to write; a clock that stepped back never moves the last access back."""
    return StrengthRow(
        int(columns.row[slot]),
        after.storage,
        after.retrievability,
        max(now_us, int(columns.anchored_us[slot])),
        int(columns.access_count[slot]) + 1,
    )
