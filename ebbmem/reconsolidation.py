"""Recall as a write: what was recalled is strengthened, and the history keeps what was before."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem.clock import US_PER_H
from ebbmem.decay import F64, I64, RATE_PER_H
from ebbmem.recipes import Recipe
from ebbmem.records.base import MemoryRow, Reader, StrengthRow
from ebbmem.records.followable import TOUCHED
from ebbmem.reinforcement import failure, success

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
        ("similarity", "=f8"),
        ("succeeded", "=i8"),
    ]
)
"""What a memory was like when it was recalled, and whether it succeeded: ebb::Trace of the core."""
TRACE_BYTES: Final = _TRACE.itemsize
_trace_at: Final = struct.Struct("=q3d2q").unpack_from
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
        # What the index does at a recall without hits: the same bits.
        columns = (self.row, self.storage, self.anchor, self.intensity)
        accesses = (self.anchored_us, self.access_count)
        strengths = _core.Strengths(*columns, *accesses, US_PER_H, RATE_PER_H)
        count = len(self.row)
        traces = strengths.succeed(np.arange(count), np.zeros(count), 0, now_us, 0.0)
        return traced([traces]).r

    def where(self, chosen: NDArray[np.bool_] | I64 | slice) -> Held:
        """Return some of the memories."""
        return Held._make(column[chosen] for column in self)

    def rows(self) -> list[StrengthRow]:
        """Return the rows that say so."""
        columns = (self.row, self.storage, self.anchor, self.anchored_us, self.access_count)
        return Outcome(*columns).rows()


class Traced(NamedTuple):
    """What some memories were like when they were recalled, and which of them succeeded."""

    before: Held
    r: F64
    similarity: F64
    succeeded: NDArray[np.bool_]


def traced(traces: Iterable[bytes]) -> Traced:
    """Return what `Strengths.succeed` told, one call after the other."""
    told = np.frombuffer(b"".join(traces), _TRACE)
    before = Held._make(told[name] for name in Held._fields)
    return Traced(before, told["retrievability"], told["similarity"], told["succeeded"] != 0)


def strengths_at(traces: bytes, place: int) -> StrengthRow:
    """Return one memory's strengths out of what `Strengths.succeed` told."""
    row, storage, anchor, _, anchored_us, access_count = _trace_at(traces, place * TRACE_BYTES)
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


def recalled(
    strengths: _core.Strengths, found: tuple[I64, F64], hits: int, now_us: int, recipe: Recipe
) -> bytes:
    """Strengthen the first ``hits`` of what a recall found, as `counted` says of each.

    ``found`` are slots and their similarities; returns the traces of all, for `traced`.
    """
    return strengths.succeed(*found, hits, now_us, *_rule(recipe))


def recalled_products(
    strengths: _core.Strengths, found: _core.FoundProducts, now_us: int, by: Recipe | None
) -> bytes:
    """Do the same with all that a product ranking found; ``by`` None strengthens nothing."""
    if by is None:
        return strengths.succeed_products(found, 0, now_us, 0.0)
    return strengths.succeed_products(found, len(found), now_us, *_rule(by))


def _rule(recipe: Recipe) -> tuple[float] | tuple[float, float, int]:
    """Return the gain of a success, and what guards it where something does."""
    guard, gain = recipe.guard, recipe.reinforcement.beta
    return (gain,) if guard is None else (gain, guard.evidence, guard.refractory_us)


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
