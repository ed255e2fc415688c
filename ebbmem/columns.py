"""What the index keeps of every memory in RAM: one numpy column per quantity, by slot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem.clock import US_PER_H, US_PER_S
from ebbmem.decay import Traces
from ebbmem.models import Tier
from ebbmem.records.base import IndexRow, StrengthRow

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
BoolRows = NDArray[np.bool_]
Told = bytes  # which `Columns.bytes` hides

NEVER_US = np.iinfo(np.int64).max
ALWAYS_US = np.iinfo(np.int64).min
_TYPES = {
    "row": np.int64,
    "created_us": np.int64,
    "anchored_us": np.int64,
    "valid_from_us": np.int64,
    "valid_to_us": np.int64,
    "expires_us": np.int64,
    "successor": np.int64,
    "access_count": np.int64,
    "importance": np.float64,
    "intensity": np.float64,
    "valence": np.float64,
    "strength": np.float64,
    "anchor": np.float64,
    "tier": np.int8,
    "kind": np.int32,
    "run": np.int32,
    "pinned": np.bool_,
    "alive": np.bool_,
}


class Columns:
    """Growing columns of one scope.  A slot is a position in them; row ids ascend with slots.

    ``successor`` is the row id of the memory that replaced this one, or 0.
    """

    def __init__(self) -> None:
        self._size = 0
        self._arrays: dict[str, NDArray[Any]] = {
            name: np.empty(64, dtype) for name, dtype in _TYPES.items()
        }
        self._names: dict[str, int] = {}
        self._bounded = False
        self._fading: _core.Fading | None = None
        self._plain_mask: BoolRows | None = None
        self.any_superseded = False
        """Whether some memory was ever replaced by another."""
        self.gone = 0
        """Memories whose slots are no longer of use."""

    def __len__(self) -> int:
        return self._size

    def __getattr__(self, name: str) -> Any:  # a column has the dtype that _TYPES gives it
        """Return a column, without its spare room; kept at hand until memories are appended."""
        if name.startswith("_") or name not in _TYPES:
            raise AttributeError(name)
        column = self.__dict__[name] = self._arrays[name][: self._size]
        return column

    @property
    def last_row(self) -> int:
        """Return the row id of the last slot; 0 without any."""
        return int(self._arrays["row"][self._size - 1]) if self._size else 0

    @property
    def live(self) -> int:
        """Return how many memories there are, without those that are gone."""
        return int(np.count_nonzero(self.alive))

    @property
    def bytes(self) -> int:
        """Return the memory the columns take."""
        lines = 0 if self._fading is None else self._fading.bytes
        return sum(array.nbytes for array in self._arrays.values()) + lines

    def code(self, name: str | None) -> int:
        """Return the number under which a memory type or run is kept; -1 for none."""
        if name is None:
            return -1
        return self._names.setdefault(name, len(self._names))

    def append(self, rows: Sequence[IndexRow]) -> int:
        """Append memories, row ids ascending; return the first slot."""
        first = self._size
        self._reserve(first + len(rows))
        values = {
            "row": [r.row_id for r in rows],
            "created_us": [r.created_at for r in rows],
            "anchored_us": [r.anchored_at for r in rows],
            "valid_from_us": [ALWAYS_US if r.valid_from is None else r.valid_from for r in rows],
            "valid_to_us": [NEVER_US if r.valid_to is None else r.valid_to for r in rows],
            "expires_us": [NEVER_US if r.expires_at is None else r.expires_at for r in rows],
            "successor": [r.superseded_by or 0 for r in rows],
            "access_count": [r.access_count for r in rows],
            "importance": [r.importance for r in rows],
            "intensity": [r.emotional_intensity for r in rows],
            "valence": [r.emotional_valence for r in rows],
            "strength": [r.storage_strength for r in rows],
            "anchor": [r.r_anchor for r in rows],
            "tier": [r.tier for r in rows],
            "kind": [self.code(r.memory_type) for r in rows],
            "run": [self.code(r.run_id) for r in rows],
            "pinned": [bool(r.pinned) for r in rows],
            "alive": [True] * len(rows),
        }
        self._size += len(rows)
        for name, column in values.items():
            self._arrays[name][first : self._size] = column
            self.__dict__.pop(name, None)
        self._plain_mask = None
        self.any_superseded = self.any_superseded or any(r.superseded_by for r in rows)
        self._bounded = self._bounded or any(
            r.valid_from is not None or r.valid_to is not None or r.expires_at is not None
            for r in rows
        )
        if self._fading is not None:
            self._fading.append(self.importance[first:], self.created_us[first:])
        return first

    def slot(self, row: int) -> int | None:
        """Return the slot of a row id, or None."""
        at = int(np.searchsorted(self.row, row))
        if at < self._size and self._arrays["row"][at] == row and self._arrays["alive"][at]:
            return at
        return None

    def slots(self, rows: Sequence[int] | I64) -> I64:
        """Return the slot of each row id, or -1."""
        wanted = np.array(rows, dtype=np.int64)
        if self._size == 0:
            return np.full(wanted.shape, -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.row, wanted), self._size - 1)
        found: I64 = np.where((self.row[at] == wanted) & self.alive[at], at, -1)
        return found

    def traces(self) -> Traces:
        """Return what laws may look at; views, not copies."""
        return Traces(
            self.importance,
            self.strength,
            self.anchor,
            self.intensity,
            self.created_us,
            self.anchored_us,
        )

    def fading(self) -> _core.Fading:
        """Return how each memory fades from its creation on; made when it is first asked for."""
        if self._fading is None:
            fading = _core.Fading(US_PER_S)
            fading.append(self.importance, self.created_us)
            fading.tombstone(np.flatnonzero(~self.alive).astype(np.int64, copy=False))
            self._fading = fading
        return self._fading

    def update_strengths(self, rows: Iterable[StrengthRow | IndexRow]) -> None:
        """Take over what was written of some memories."""
        for row in rows:
            slot = self.slot(row.row_id)
            if slot is None:
                continue
            self._arrays["strength"][slot] = row.storage_strength
            self._arrays["anchor"][slot] = row.r_anchor
            self._arrays["anchored_us"][slot] = row.anchored_at
            self._arrays["access_count"][slot] = row.access_count

    def succeed(
        self, slots: I64, counted: BoolRows | None, now_us: int, rate_per_h: float, gain: float
    ) -> Told:
        """Let memories succeed whose ``counted`` is true (None: all).

        Returns what all of them were like before: `reconsolidation.traced` reads it.
        """
        return _core.succeed(
            slots,
            counted,
            self.row,
            self.strength,
            self.anchor,
            self.intensity,
            self.anchored_us,
            self.access_count,
            now_us,
            US_PER_H,
            rate_per_h,
            gain,
        )

    def set(self, slot: int, **values: int) -> None:
        """Change ``tier``, ``kind`` or ``successor`` of one memory."""
        self._plain_mask = None
        self.any_superseded = self.any_superseded or bool(values.get("successor"))
        for name, value in values.items():
            self._arrays[name][slot] = value

    def drop(self, slots: Sequence[int]) -> None:
        """Mark memories as gone."""
        self._plain_mask = None
        self.gone += len(slots)
        self._arrays["alive"][list(slots)] = False
        if self._fading is not None:
            self._fading.tombstone(np.array(slots, dtype=np.int64))

    def mask(
        self, now_us: int, *, as_of_us: int | None, run: str | None, archive: bool
    ) -> BoolRows:
        """Return which memories recall may bring back.

        Left out are the archive (unless asked for), what has expired by ``now_us``, what is not
        valid at ``as_of_us`` (default: now), and other runs than ``run`` when one is named.  The
        array may be kept and handed out again; then it is read-only.
        """
        if not (self._bounded or archive or as_of_us is not None or run is not None):
            if self._plain_mask is None:
                self._plain_mask = self.alive & (self.tier != Tier.ARCHIVE)
                self._plain_mask.setflags(write=False)
            return self._plain_mask
        allowed: BoolRows = np.array(self.alive, dtype=np.bool_)
        if not archive:
            allowed &= self.tier != Tier.ARCHIVE
        if self._bounded:
            moment = now_us if as_of_us is None else as_of_us
            allowed &= self.expires_us > now_us
            allowed &= (self.valid_from_us <= moment) & (self.valid_to_us > moment)
        if as_of_us is not None:
            allowed &= self.created_us <= as_of_us
        if run is not None:
            allowed &= self.run == self._names.get(run, -2)
        return allowed

    def _reserve(self, size: int) -> None:
        """Make room, doubling."""
        room = len(self._arrays["row"])
        if size <= room:
            return
        while room < size:
            room *= 2
        for name, array in self._arrays.items():
            grown = np.empty(room, array.dtype)
            grown[: self._size] = array[: self._size]
            self._arrays[name] = grown
