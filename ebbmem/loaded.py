"""The scope indexes that are in RAM: which are current, and which go when room is short."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple
from weakref import ref

from ebbmem import _core
from ebbmem.index import ScopeIndex

GIVEN_BACK_PART = 16
"""Memory is given back once more than such a part of the budget was dropped."""
BESIDE_BYTES = 8 << 20
"""What a store takes in RAM beside its indexes: forms of words, pages of the file, counts."""
BESIDE_PART = 8
"""It takes no more than such a part of the budget of indexes from them."""


def beside_bytes(budget_bytes: int) -> int:
    """Return how much of the budget of indexes goes to what a store has in RAM beside them."""
    return min(BESIDE_BYTES, budget_bytes // BESIDE_PART)


class IndexUse(NamedTuple):
    """What indexes take in RAM by scope, and how often one was found there, or made room."""

    bytes_by_scope: Mapping[str, int]
    budget_bytes: int
    hits: int
    misses: int
    evictions: int


class LoadedIndexes:
    """Indexes by scope, the least recently used first.  Safe to call from threads.

    Parameters
    ----------
    budget_bytes : int
        What they may take in all; beyond it the least recently used go, but never one in use.
    beside_bytes : int
        How much of that is left to what the store has in RAM beside them.
    """

    def __init__(self, budget_bytes: int, beside_bytes: int = 0) -> None:
        self._budget_bytes = budget_bytes
        self._room_bytes = budget_bytes - beside_bytes
        self._lock = threading.Lock()
        self._indexes: OrderedDict[str, ScopeIndex] = OrderedDict()
        self._versions: dict[str, int] = {}
        """The data version at which each was last known to be current."""
        self._bytes: dict[str, int] = {}
        self._total_bytes = 0
        self._left_bytes = 0
        """What those took that were dropped since memory was given back."""
        self._hits = self._misses = self._evictions = 0

    def __len__(self) -> int:
        return len(self._indexes)

    def get(self, scope: str) -> ScopeIndex | None:
        """Return the index of a scope."""
        return self._indexes.get(scope)

    def used(self, scope: str, version: int) -> bool:
        """Return whether an index is known to be current at a data version, and note its use."""
        with self._lock:
            if self._versions.get(scope) != version:
                return False
            self._indexes.move_to_end(scope)
            self._hits += 1
            return True

    def note(self, scope: str, version: int) -> None:
        """Note that an index proved current at a data version: that is a use of it."""
        with self._lock:
            self._hits += 1
            if scope in self._indexes:
                self._versions[scope] = version
                self._indexes.move_to_end(scope)

    def put(self, scope: str, index: ScopeIndex, version: int) -> None:
        """Keep an index that is current at a data version."""
        with self._lock:
            self._indexes[scope] = index
            self._indexes.move_to_end(scope)
            self._versions[scope] = version
        self.weigh(index)

    def missed(self) -> None:
        """Note that an index was asked for that was not here, or not current."""
        with self._lock:
            self._misses += 1

    def weigh(self, in_use: ScopeIndex) -> None:
        """Count what an index takes now, and drop others beyond the budget.

        Now and then the memory of those that were dropped is given back to the system: of several
        threads, none may use what another one's index leaves.
        """
        own = in_use.scope.name
        in_use.columns.grown = False
        with self._lock:
            if self._indexes.get(own) is not in_use:
                return
            taken = in_use.bytes
            self._total_bytes += taken - self._bytes.get(own, 0)
            self._bytes[own] = taken
            self._make_room()
            much = self._left_bytes * GIVEN_BACK_PART > self._budget_bytes
            self._left_bytes = 0 if much else self._left_bytes
        if much:
            _core.give_back_free_pages()

    def _make_room(self) -> None:
        """Drop the indexes used longest ago that nobody uses now; the caller holds the lock."""
        for _ in range(len(self._indexes)):
            if self._total_bytes <= self._room_bytes:
                return
            scope = next(iter(self._indexes))
            version = self._versions.pop(scope, None)
            # Before it goes, which may take a while: an interrupt comes as soon as it has.
            taken = self._bytes.pop(scope, 0)
            self._total_bytes -= taken
            alive = ref(self._indexes.pop(scope))
            # Who uses it keeps it alive: to drop it would only hide what it takes.
            if (used := alive()) is not None:
                self._indexes[scope] = used
                self._bytes[scope] = taken
                self._total_bytes += taken
                if version is not None:
                    self._versions[scope] = version
                continue
            self._left_bytes += taken
            self._evictions += 1

    def drop(self, scope: str) -> None:
        """Forget an index."""
        with self._lock:
            self._forget(scope)

    def clear(self) -> None:
        """Forget every index."""
        with self._lock:
            for scope in list(self._indexes):
                self._forget(scope)

    def share(self, scope: str) -> float:
        """Return the part of the budget that one index takes, as it was last counted."""
        return self._bytes.get(scope, 0) / self._budget_bytes

    def use(self) -> IndexUse:
        """Return what they take, as it was last counted, and the counts since the first."""
        with self._lock:
            counts = (self._budget_bytes, self._hits, self._misses, self._evictions)
            return IndexUse(dict(self._bytes), *counts)

    def bytes(self, scope: str | None) -> int:
        """Return what one scope's index takes, or all of them."""
        with self._lock:
            held = [i for name, i in self._indexes.items() if scope in (None, name)]
        return sum(index.bytes for index in held)

    def _forget(self, scope: str) -> None:
        """Take an index out; the caller holds the lock."""
        self._versions.pop(scope, None)
        self._total_bytes -= self._bytes.pop(scope, 0)
        self._indexes.pop(scope, None)
