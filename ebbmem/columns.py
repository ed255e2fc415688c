"""What the index keeps of every memory in RAM: one numpy column per quantity, by slot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem.clock import US_PER_H, US_PER_S
from ebbmem.decay import RATE_PER_H, Traces
from ebbmem.models import Tier
from ebbmem.records.base import IndexRow, StrengthRow

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
BoolRows = NDArray[np.bool_]

NEVER_US = np.iinfo(np.int64).max
ALWAYS_US = np.iinfo(np.int64).min
_TYPES: dict[str, Any] = {
    "row": np.int64,
    "created_us": np.int64,
    "anchored_us": np.int64,
    "access_count": np.int64,
    "importance": np.float64,
    "intensity": np.float64,
    "strength": np.float64,
    "anchor": np.float64,
    "tier": np.int8,
    "alive": np.bool_,
}
_SELDOM: dict[str, Any] = {
    "valid_from_us": np.int64(ALWAYS_US),
    "valid_to_us": np.int64(NEVER_US),
    "expires_us": np.int64(NEVER_US),
    "successor": np.int64(0),
    "valence": np.float64(0.0),
    "kind": np.int32(0),
    "run": np.int32(-1),
    "pinned": np.bool_(False),
}
"""Columns that take memory only once some memory has another value than this one."""
_BOUNDS = ("valid_from_us", "valid_to_us", "expires_us")
_NAME_BYTES = 130
"""What the name of a memory type or run takes, and its place in a dict."""
_AT_ONCE = 1 << 16
"""Memories among which a type or run is looked for at a time."""
_COLUMN_BYTES = 250
"""What a column takes beside its values: the array, and the view of what is used of it."""


class Columns:
    """Growing columns of one scope.  A slot is a position in them; row ids ascend with slots.

    ``successor`` is the row id of the memory that replaced this one, or 0.
    """

    def __init__(self) -> None:
        self._size = 0
        self._room = 0
        self._arrays: dict[str, NDArray[Any]] = {
            name: np.empty(0, dtype) for name, dtype in _TYPES.items()
        }
        self._weigh()
        self._names: dict[str, int] = {}
        self._bounded = False
        self._fading: _core.Fading | None = None
        self._plain_mask: BoolRows | None = None
        self._strengths: _core.Strengths | None = None
        self._products: tuple[_core.WordVectors, _core.Products] | None = None
        self.grown = False
        """Whether a question made more than was there; `LoadedIndexes.weigh` takes it back."""
        self.any_superseded = False
        """Whether some memory was ever replaced by another."""
        self.gone = 0
        """Memories whose slots are no longer of use."""

    def __len__(self) -> int:
        return self._size

    def __getattr__(self, name: str) -> Any:  # a column has the dtype that is given above
        """Return a column, without its spare room; kept at hand until it grows.

        One that takes no memory is read-only, and has strides of 0.
        """
        if name in _SELDOM and name not in self._arrays:
            return np.broadcast_to(_SELDOM[name], self._size)
        if name.startswith("_") or name not in self._arrays:
            raise AttributeError(name)
        column = self.__dict__[name] = self._arrays[name][: self._size]
        return column

    @property
    def last_row(self) -> int:
        """Return the row id of the last slot; 0 without any."""
        return int(self._arrays["row"][self._size - 1]) if self._size else 0

    @property
    def names(self) -> Mapping[str, int]:
        """Return the number under which each memory type and run is kept, from 0 in order."""
        return self._names

    @property
    def live(self) -> int:
        """Return how many memories there are, without those that are gone."""
        return int(np.count_nonzero(self.alive))

    @property
    def bytes(self) -> int:
        """Return the memory the columns take."""
        lines = 0 if self._fading is None else self._fading.bytes
        mask = 0 if self._plain_mask is None else self._plain_mask.nbytes + _COLUMN_BYTES
        return self._array_bytes + lines + mask + _NAME_BYTES * len(self._names)

    def _weigh(self) -> None:
        """Note what the columns take: some came, or all of them grew."""
        self._array_bytes = sum(one.nbytes + _COLUMN_BYTES for one in self._arrays.values())

    def code(self, name: str | None) -> int:
        """Return the number under which a memory type or run is kept; -1 for none."""
        if name is None:
            return -1
        return self._names.setdefault(name, len(self._names))

    def load(self, memories: _core.MemoryRows) -> None:
        """Take over the memories of a scope, as the first; their columns go out of them."""
        self._size = self._room = len(memories)
        loaded = memories.columns()
        loaded["alive"] = np.ones(self._size, np.bool_)
        for name, meant in (("kind", memories.kinds), ("run", memories.runs)):
            # None comes last: its number is -1.
            codes = np.array([self.code(one) for one in (*meant, None)], dtype=np.int32)
            if name in loaded:
                loaded[name] = codes[loaded[name]]
        if "pinned" in loaded:
            loaded["pinned"] = loaded["pinned"].astype(np.bool_)
        self._arrays = loaded
        self._weigh()
        self._note_kept(name for name in _SELDOM if name in loaded)

    def append(self, rows: Sequence[IndexRow]) -> int:
        """Append memories, row ids ascending; return the first slot."""
        first, size = self._size, self._size + len(rows)
        if not rows:
            return first
        values = self._values(rows)
        self._reserve(size)
        for name, column in values.items():
            if column is not None or name in self._arrays:
                self._column(name)[first:size] = _SELDOM[name] if column is None else column
        self._size = size
        self._forget_views()
        self._note_kept(name for name in _SELDOM if values[name] is not None)
        if self._fading is not None:
            self._fading.append(self.importance[first:], self.created_us[first:])
        return first

    def _note_kept(self, seldom: Iterable[str]) -> None:
        """Note in which of the seldom columns new memories have other values than the usual."""
        kept = set(seldom)
        self.any_superseded = self.any_superseded or "successor" in kept
        self._bounded = self._bounded or not kept.isdisjoint(_BOUNDS)

    def _values(self, rows: Sequence[IndexRow]) -> dict[str, Sequence[Any] | None]:
        """Return what memories bring to each column; None where all have the usual value."""
        parts: Any = IndexRow._make(zip(*rows, strict=True))
        return {
            "row": parts.row_id,
            "created_us": parts.created_at,
            "anchored_us": parts.anchored_at,
            "access_count": parts.access_count,
            "importance": parts.importance,
            "intensity": parts.emotional_intensity,
            "strength": parts.storage_strength,
            "anchor": parts.r_anchor,
            "tier": parts.tier,
            "alive": [True] * len(rows),
            "valid_from_us": _filled(parts.valid_from, ALWAYS_US),
            "valid_to_us": _filled(parts.valid_to, NEVER_US),
            "expires_us": _filled(parts.expires_at, NEVER_US),
            "successor": _filled(parts.superseded_by, 0),
            "valence": parts.emotional_valence if any(parts.emotional_valence) else None,
            "kind": self._codes("kind", parts.memory_type),
            "run": self._codes("run", parts.run_id),
            "pinned": parts.pinned if any(parts.pinned) else None,
        }

    def _codes(self, column: str, names: Sequence[str | None]) -> Sequence[int] | None:
        """Return the codes of types or runs; None where all have the usual one."""
        codes = {name: self.code(name) for name in dict.fromkeys(names)}
        if all(code == _SELDOM[column] for code in codes.values()):
            return None
        return [codes[name] for name in names]

    def _column(self, name: str) -> NDArray[Any]:
        """Return a column with its spare room, to be written to."""
        column = self._arrays.get(name)
        if column is None:
            usual = _SELDOM[name]
            column = self._arrays[name] = np.full(self._room, usual, usual.dtype)
            self._weigh()
        return column

    def _forget_views(self) -> None:
        """Let columns and masks be made anew when they are next asked for."""
        self._plain_mask = self._products = self._strengths = None
        for name in self._arrays:
            self.__dict__.pop(name, None)

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
            self.grown = True
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

    def products(self, words: _core.WordVectors, mask: BoolRows) -> _core.Products:
        """Return what a product ranks of the vectors of these memories.

        Kept where the mask is, which recall is mostly asked with.
        """
        if mask is self._plain_mask and self._products is not None:
            of, made = self._products
            if of is words:
                return made
        fading = self.fading()
        made = _core.Products(words, fading, self.importance, self.created_us, mask, US_PER_S)
        if mask is self._plain_mask:
            self._products = words, made
        return made

    def plain_products(self, words: _core.WordVectors) -> _core.Products | None:
        """Return the same with the mask that recall is mostly asked with; None without that."""
        if self._bounded:
            return None
        if self._products is None or self._products[0] is not words:
            plain = self.mask(0, as_of_us=None, run=None, archive=False)
            return self.products(words, plain)
        return self._products[1]

    def strengths(self) -> _core.Strengths:
        """Return the columns of strengths, which a success changes; kept until they grow."""
        if self._strengths is None:
            self._strengths = _core.Strengths(
                self.row,
                self.strength,
                self.anchor,
                self.intensity,
                self.anchored_us,
                self.access_count,
                US_PER_H,
                RATE_PER_H,
            )
        return self._strengths

    def set(self, slot: int, **values: int) -> None:
        """Change ``tier``, ``kind`` or ``successor`` of one memory."""
        self._plain_mask = self._products = None
        self.any_superseded = self.any_superseded or bool(values.get("successor"))
        for name, value in values.items():
            if name in self._arrays or value != _SELDOM[name]:
                self._column(name)[slot] = value

    def drop(self, slots: Sequence[int]) -> None:
        """Mark memories as gone."""
        self._plain_mask = self._products = None
        self.gone += len(slots)
        self._arrays["alive"][list(slots)] = False
        if self._fading is not None:
            self._fading.tombstone(np.array(slots, dtype=np.int64))
        self._forget_names(list(slots))

    def _forget_names(self, slots: Sequence[int]) -> None:
        """Forget the types and runs that only gone memories had; their numbers stay taken."""
        left = np.zeros(len(self._names) + 1, np.bool_)  # the last place is that of none
        left[self.kind[slots]] = left[self.run[slots]] = True
        left[-1] = False
        # Most are found again among the newest.
        for end in range(self._size, 0, -_AT_ONCE):
            some = slice(max(end - _AT_ONCE, 0), end)
            for column in (self.kind, self.run):
                left[column[some][self.alive[some]]] = False
            if not left.any():
                return
        # With a lone surrogate: nothing that a user names is called that.
        self._names = {
            f"\ud800{code}" if left[code] else name: code for name, code in self._names.items()
        }

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
                self.grown = True
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
        """Make room: exactly for the first memories, which are all when a scope is loaded.

        Later a quarter more than there was.
        """
        if size <= self._room:
            return
        room = max(size, self._room + self._room // 4 + 8) if self._room else size
        grown = {name: np.empty(room, array.dtype) for name, array in self._arrays.items()}
        for name, array in grown.items():
            array[: self._size] = self._arrays[name][: self._size]
        self._arrays, self._room = grown, room
        self._weigh()
        self._forget_views()


def _filled(values: Sequence[int | None], missing: int) -> Sequence[int] | None:
    """Return values with another one for None; None where there are no others."""
    if values.count(None) == len(values):
        return None
    return [missing if value is None else value for value in values]
