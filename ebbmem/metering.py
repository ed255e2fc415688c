"""How often a process calls a store, and how long it takes: counts by scope and in all."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Final

from ebbmem.models import CallMetrics, ScopeMetrics

NS_PER_US: Final = 1_000
MOST_SCOPES: Final = 10_000
"""How many scopes are told apart: those called last."""
_STEPS: Final = 8
"""Classes of duration per doubling."""
_STEP_BITS: Final = 3


class Durations:
    """Counts of durations in classes an eighth of a doubling wide."""

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        """Calls by class."""

    @property
    def calls(self) -> int:
        """Return how many calls were counted."""
        return sum(self.counts.values())

    def add(self, took_ns: int) -> None:
        """Count one call."""
        self.count(class_of(took_ns))

    def count(self, at: int) -> None:
        """Count one call of a class."""
        self.counts[at] = self.counts.get(at, 0) + 1

    def quantile_us(self, share: float) -> float:
        """Return the duration that ``share`` of the calls did not exceed, in microseconds.

        It is the middle of its class, so within about 6 % of the exact one; 0.0 without calls.
        """
        left = share * self.calls
        for at in sorted(self.counts):
            left -= self.counts[at]
            if left <= 0:
                return _middle_ns(at) / NS_PER_US
        return 0.0

    def told(self) -> CallMetrics:
        """Return the counts as users see them."""
        return CallMetrics(self.calls, self.quantile_us(0.5), self.quantile_us(0.99))


class _Counts:
    """What is counted of one scope, or of all."""

    __slots__ = ("abstained", "degraded", "recalls", "remembers")

    def __init__(self) -> None:
        self.recalls = Durations()
        self.remembers = Durations()
        self.abstained = 0
        self.degraded = 0

    def take_recalls(self, other: _Counts) -> None:
        """Count another one's recalls as well."""
        for at, calls in other.recalls.counts.items():
            self.recalls.counts[at] = self.recalls.counts.get(at, 0) + calls
        self.abstained += other.abstained
        self.degraded += other.degraded

    def told(self, index_bytes: int) -> ScopeMetrics:
        recalls, remembers = self.recalls.told(), self.remembers.told()
        return ScopeMetrics(recalls, remembers, self.abstained, index_bytes, self.degraded)


class Meter:
    """Counts of calls.  Safe to call from threads.

    The totals are of every call; of single scopes the ``MOST_SCOPES`` called last are kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all = _Counts()
        """Every call that remembers; recalls of scopes that are told apart count only there."""
        self._scopes: OrderedDict[str, _Counts] = OrderedDict()

    def recalled(
        self, scope: str, took_ns: int, *, abstained: bool, degraded: bool = False
    ) -> None:
        """Count one recall."""
        at = class_of(took_ns)
        with self._lock:
            one = self._of(scope)
            counts = one.recalls.counts
            counts[at] = counts.get(at, 0) + 1
            if abstained:
                one.abstained += 1
            if degraded:
                one.degraded += 1

    def remembered(self, scopes: Iterable[str], took_ns: int) -> None:
        """Count one call that remembers, of one memory or several: in each scope, and in all."""
        at = class_of(took_ns)
        with self._lock:
            self._all.remembers.count(at)
            for scope in scopes:
                self._of(scope).remembers.count(at)

    def told(self, index_bytes: Mapping[str, int]) -> tuple[ScopeMetrics, dict[str, ScopeMetrics]]:
        """Return what was counted of all, and of each scope, the one called longest ago first.

        ``index_bytes`` is what each scope's index takes.
        """
        every = _Counts()
        with self._lock:
            by_scope = {
                scope: counts.told(index_bytes.get(scope, 0))
                for scope, counts in self._scopes.items()
            }
            for one in (self._all, *self._scopes.values()):
                every.take_recalls(one)
            every.remembers = self._all.remembers
            return every.told(sum(index_bytes.values())), by_scope

    def forget(self, scope: str) -> None:
        """Forget a scope by name: it was erased."""
        with self._lock:
            self._all.take_recalls(self._scopes.pop(scope, _Counts()))

    def _of(self, scope: str) -> _Counts:
        """Return the counts of a scope; the caller holds the lock."""
        counts = self._scopes.get(scope)
        if counts is None:
            counts = self._scopes[scope] = _Counts()
            if len(self._scopes) > MOST_SCOPES:
                self._all.take_recalls(self._scopes.popitem(last=False)[1])
        else:
            self._scopes.move_to_end(scope)
        return counts


def class_of(took_ns: int) -> int:
    """Return the class of a duration: its octave, and the three bits below the highest."""
    bits = took_ns.bit_length()
    if bits <= _STEP_BITS + 1:
        return max(took_ns, 0)
    shift = bits - _STEP_BITS - 1
    return shift * _STEPS + (took_ns >> shift)


def _middle_ns(at: int) -> float:
    """Return the middle of a class."""
    if at < 2 * _STEPS:
        return float(at)
    shift = at // _STEPS - 1
    least = (at - shift * _STEPS) << shift
    return least + ((1 << shift) - 1) / 2
