"""Recall as a write: what was recalled is strengthened, and the history keeps what was before."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem.clock import US_PER_H
from ebbmem.decay import F64, I64, StorageStrength
from ebbmem.recipes import Recipe
from ebbmem.records.base import MemoryRow, Reader, StrengthRow
from ebbmem.records.followable import TOUCHED
from ebbmem.reinforcement import failure, success

RATE_PER_H: Final = StorageStrength().decay_rate
_PACKED: Final = np.dtype([("row", "<i8"), ("storage", "<f8"), ("retrievability", "<f8")])
"""A memory in an event's payload, with S and R before."""
ENTRY_BYTES: Final = _PACKED.itemsize
_TRACE: Final = np.dtype(
    [
        ("row", "=i8"),
        ("storage", "=f8"),
        ("anchor", "=f8"),
        ("intensity", "=f8"),
        ("anchored_us", "=i8"),
        ("access_count", "=i8"),
        ("retrievability", "=f8"),
    ]
)
"""What a memory was like when it was recalled: ebb::Trace of the core."""
TRACE_BYTES: Final = _TRACE.itemsize
_trace_at: Final = struct.Struct("=q3d2qd").unpack_from
PACKED_KINDS: Final = ("recalled", "used", "failed", TOUCHED)
"""The events whose payload packs memories."""


class Held(NamedTuple):
    """What strengths some memories had at their last access, in microseconds since 1970."""

    row: I64
    storage: F64
    anchor: F64
    intensity: F64
    anchored_us: I64
    access_count: I64

    def retrievability(self, now_us: int) -> F64:
        """Return R of each memory as it is now."""
        # What the index does at a recall, with nothing counted: the same bits.
        count = len(self.row)
        traces = _core.succeed(
            np.arange(count),
            np.zeros(count, dtype=np.bool_),
            self.row,
            self.storage,
            self.anchor,
            self.intensity,
            self.anchored_us,
            self.access_count,
            now_us,
            US_PER_H,
            RATE_PER_H,
            0.0,
        )
        return traced([traces])[1]

    def where(self, chosen: NDArray[np.bool_] | I64 | slice) -> Held:
        """Return some of the memories."""
        return Held._make(column[chosen] for column in self)

    def rows(self) -> list[StrengthRow]:
        """Return the rows that say so."""
        columns = (self.row, self.storage, self.anchor, self.anchored_us, self.access_count)
        return Outcome(*columns).rows()


def traced(traces: Iterable[bytes]) -> tuple[Held, F64]:
    """Return what `Columns.succeed` told, one call after the other: strengths and R before."""
    told = np.frombuffer(b"".join(traces), _TRACE)
    return Held._make(told[name] for name in Held._fields), told["retrievability"]


def strengths_at(traces: bytes, place: int) -> StrengthRow:
    """Return one memory's strengths out of what `Columns.succeed` told."""
    row, storage, anchor, _, anchored_us, access_count, _ = _trace_at(traces, place * TRACE_BYTES)
    return StrengthRow(row, storage, anchor, anchored_us, access_count)


class Outcome(NamedTuple):
    """What strengths memories have after a success or failure."""

    row: I64
    storage: F64
    anchor: F64
    anchored_us: I64
    access_count: I64

    def rows(self) -> list[StrengthRow]:
        """Return the rows to write."""
        columns = [column.tolist() for column in self]
        return [StrengthRow(*values) for values in zip(*columns, strict=True)]


def held(memories: Sequence[MemoryRow]) -> Held:
    """Return the strengths of rows as they were read."""
    return Held(
        np.array([one.row_id for one in memories], dtype=np.int64),
        np.array([one.storage_strength for one in memories], dtype=np.float64),
        np.array([one.r_anchor for one in memories], dtype=np.float64),
        np.array([one.emotional_intensity for one in memories], dtype=np.float64),
        np.array([one.anchored_at for one in memories], dtype=np.int64),
        np.array([one.access_count for one in memories], dtype=np.int64),
    )


def read(reader: Reader, rows: Sequence[int]) -> Held:
    """Return the strengths of memories as a transaction sees them; erased ones are left out."""
    return held(list(reader.memories(rows).values()))


def counted(
    anchored_us: I64, similarity: F64, recipe: Recipe, now_us: int
) -> NDArray[np.bool_] | None:
    """Return which hits a recall strengthens; None for all.

    A recipe's guard leaves out hits with too little evidence, and those whose last access is so
    recent that another would only pump S.
    """
    guard = recipe.guard
    if guard is None:
        return None
    rested = now_us - anchored_us >= guard.refractory_us
    chosen: NDArray[np.bool_] = rested & (similarity >= guard.evidence)
    return chosen


def succeeded(before: Held, r: F64, gain: F64 | float, now_us: I64 | int) -> Outcome:
    """Return the strengths after a success of each memory; ``gain`` is the rule's beta."""
    return _after(before, success(before.storage, r, gain), now_us)


def failed(before: Held, r: F64, loss: F64 | float, now_us: I64 | int) -> Outcome:
    """Return the strengths after a failure of each memory; ``loss`` is the rule's gamma."""
    return _after(before, failure(before.storage, r, loss), now_us)


def packed(before: Held, r: F64) -> bytes:
    """Return the event payload: which memories, and their S and R before."""
    payload = np.empty(len(r), _PACKED)
    payload["row"], payload["storage"], payload["retrievability"] = before.row, before.storage, r
    return payload.tobytes()


def named(row: int) -> bytes:
    """Return the bytes by which a payload names a memory; it may hold them by chance as well."""
    return row.to_bytes(8, "little")


def without(payloads: Mapping[int, bytes], rows: Collection[int]) -> dict[int, bytes]:
    """Return what is left of payloads that name any of some memories, by their keys."""
    entries = np.frombuffer(b"".join(payloads.values()), _PACKED)
    stays = ~np.isin(entries["row"], list(rows))
    ends = np.cumsum([len(one) // ENTRY_BYTES for one in payloads.values()], dtype=np.int64)
    left = {}
    for key, start, end in zip(payloads, [0, *ends.tolist()], ends.tolist(), strict=False):
        if not stays[start:end].all():
            left[key] = entries[start:end][stays[start:end]].tobytes()
    return left


def packed_rows(payload: bytes) -> list[int]:
    """Return the memories that a payload of `packed` names."""
    rows: list[int] = np.frombuffer(payload, _PACKED)["row"].tolist()
    return rows


def _after(before: Held, after: tuple[F64, F64], now_us: I64 | int) -> Outcome:
    """Return what to keep; a clock that stepped back never moves the last access back."""
    return Outcome(
        before.row,
        *after,
        np.maximum(before.anchored_us, now_us),
        before.access_count + 1,
    )
