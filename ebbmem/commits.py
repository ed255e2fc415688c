"""Group commit: of the callers that wait to write, one writes for all of them.

There is no writer thread.  The first who waits becomes the leader: it writes what waits, its own
part included, in one transaction, and lets the others go.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import takewhile
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar, cast

from ebbmem.changes import Change
from ebbmem.errors import EbbmemError, StoreError
from ebbmem.records.base import Writer

T = TypeVar("T")

PATIENCE_S: Final = 0.25
"""After which one who waits looks for itself, should whoever had to wake it have been stopped."""
MOST_GATHERING_S: Final = 0.002
"""For how long a leader waits at most for those whom the last commit let go."""
MOST_TOGETHER: Final = 256
"""Parts that one transaction takes at most."""


class Transaction(Protocol):
    """One write transaction, in which several parts are written."""

    @property
    def finished(self) -> bool:
        """Whether it was committed, and everybody who has to know of it knows."""

    @property
    def writer(self) -> Writer:
        """What is of no one scope is written by."""

    def change(self, scope: str, now_us: int) -> Change:
        """Return the change of a scope that a part is to make."""


Joined = Callable[[Transaction, Sequence[Any]], Sequence[T]]


class Job(Generic[T]):
    """One caller's part of a commit.

    Parameters
    ----------
    work : callable
        Writes it.  It may be called again in a new transaction after a rollback, in any thread.
    joined : callable, optional
        Writes several works at once and returns their results: those of jobs that follow each
        other and have the same ``joined``.
    """

    __slots__ = ("_wake", "came_s", "error", "gone", "joined", "result", "within", "work")

    def __init__(self, work: Callable[[Transaction], T], joined: Joined[T] | None = None) -> None:
        self.work = work
        self.joined = joined
        self.result: T | None = None
        self.error: Exception | None = None
        self.within: Transaction | None = None
        """The transaction that it was last written in."""
        self.gone = False
        """Whether its caller was interrupted and waits no longer."""
        self.came_s = time.monotonic()
        self._wake = threading.Lock()
        self._wake.acquire()

    @property
    def done(self) -> bool:
        """Return whether it is committed, or refused."""
        return self.error is not None or (self.within is not None and self.within.finished)

    @property
    def waited_s(self) -> float:
        """Return for how long it has waited, in seconds."""
        return time.monotonic() - self.came_s

    def write(self, transaction: Transaction) -> None:
        """Write it within a transaction."""
        self.result = self.work(transaction)
        self.within = transaction

    def wait(self, at_most_s: float = PATIENCE_S) -> None:
        """Wait to be woken, but not for ever."""
        self._wake.acquire(timeout=at_most_s)

    def wake(self) -> None:
        """Let its caller look how things are."""
        with suppress(RuntimeError):  # woken before
            self._wake.release()


class Last(NamedTuple):
    """The last commit: its parts, and until when those it let go may be waited for."""

    parts: int
    until_s: float

    @classmethod
    def of(cls, parts: int, began_s: float) -> Last:
        """Return what is kept of a commit that ends now."""
        now_s = time.monotonic()
        return cls(parts, now_s + min(now_s - began_s, MOST_GATHERING_S) if parts > 1 else 0.0)


class GroupCommit:
    """The callers that wait to write, in the order they came.

    Parameters
    ----------
    transaction : callable
        Opens a write transaction, given the seconds that were already waited for one; committed
        at the end of its context, rolled back on any exception.

    Notes
    -----
    Only the first who waits blocks on ``lock``; each of the others has a lock of its own, so that
    nobody is woken in vain.  It first lets those come back whom the last commit let go: while they
    are about, each call into SQLite, which gives up the interpreter's lock, would have it fight for
    that lock with them.  An interrupted caller takes its part back where no transaction has
    taken it yet; an interrupted leader rolls back, and another of those who wait leads.
    """

    def __init__(self, transaction: Callable[[float], AbstractContextManager[Transaction]]) -> None:
        self._transaction = transaction
        self._waiting: list[Job[object]] = []
        self._mutex = threading.Lock()
        self.lock = threading.RLock()
        """Held by whoever writes."""
        self.last = Last(0, 0.0)

    def run(self, job: Job[T]) -> T:
        """Write one part, together with what else waits; return its result once committed."""
        one = cast("Job[object]", job)
        try:
            with self._mutex:
                self._waiting.append(one)
            self._tell_who_gathers()
            while not one.done:
                if self._waiting[:1] == [one] or one.waited_s > PATIENCE_S:
                    self._gather(one)
                    with self.lock:
                        if not one.done:
                            self._lead(one)
                else:
                    one.wait()
        except BaseException:
            self._withdraw(one)
            raise
        if job.error is not None:
            raise job.error
        return cast(T, job.result)

    def _gather(self, own: Job[object]) -> None:
        """Wait for those whom the last commit let go, for as long as it took at most.

        Callers that write one memory after the other are back by then, and share one commit again.
        Who comes alone waits for nobody.
        """
        while (left_s := self.last.until_s - time.monotonic()) > 0.0:
            if own.done or len(self._waiting) >= self.last.parts or self._waiting[:1] != [own]:
                return
            own.wait(left_s)

    def _tell_who_gathers(self) -> None:
        """Wake the first who waits, once as many wait as the last commit took."""
        if len(self._waiting) == self.last.parts > 1:
            self._call_next()

    def expect_one_less(self) -> None:
        """Let nobody wait for one of those whom the last commit let go: it has other work first."""
        parts, until_s = self.last
        self.last = Last(parts - 1, until_s)
        self._call_next()

    def _withdraw(self, one: Job[object]) -> None:
        """Take a part back, and let the next of those who wait lead."""
        one.gone = True
        with self._mutex:
            if one in self._waiting:
                self._waiting.remove(one)
        self._call_next()

    def _call_next(self) -> None:
        """Wake the first who waits: it leads."""
        for one in self._waiting[:1]:
            one.wake()

    def _lead(self, own: Job[object]) -> None:
        """Write what waits; raise what keeps the leader's own part from being written."""
        taken: list[Job[object]] = []
        try:
            self._together(own, taken)
        except Exception as error:
            others = [one for one in taken if one is not own and not one.gone]
            if not others:
                raise
            self._one_by_one(own, others, error)
        finally:
            self._give_back(own, taken)

    def _together(self, own: Job[object], taken: list[Job[object]]) -> None:
        """Write what waits in one transaction, also what comes while it is open."""
        began_s = time.monotonic()
        with self._transaction(own.waited_s) as transaction:
            self._take(taken, own)
            written = 0
            while written < len(taken):
                written += write_first(taken[written:], transaction)
                if written == len(taken):
                    self._take(taken)
        self.last = Last.of(len(taken), began_s)

    def _take(self, taken: list[Job[object]], own: Job[object] | None = None) -> None:
        """Take the longest waiting parts into a transaction, the leader's own among them."""
        with self._mutex:
            room = MOST_TOGETHER - len(taken)
            more = self._waiting[:room]
            if own is not None and own not in more:
                more = [own, *more[: room - 1]]
            # In this order: what an interrupt leaves in both is not lost.
            taken += more
            self._waiting = [one for one in self._waiting if one not in more]

    def _one_by_one(
        self, own: Job[object], others: Sequence[Job[object]], error: Exception
    ) -> None:
        """Write each part in a transaction of its own, so that each caller gets its own error.

        An error that none of the others brings again, and that is none of the store's, may have
        come from outside, such as from a signal's handler: it is the leader's.
        """
        again = isinstance(error, EbbmemError)
        for one in others:
            self._try(one)
            again |= type(one.error) is type(error)
        if not again:
            raise error
        with self._transaction(own.waited_s) as transaction:
            own.write(transaction)

    def _try(self, one: Job[object]) -> None:
        """Write one part in a transaction of its own; its error is for its caller."""
        try:
            with self._transaction(one.waited_s) as transaction:
                one.write(transaction)
        except Exception as error:  # noqa: BLE001
            one.error = error

    def _give_back(self, own: Job[object], taken: Sequence[Job[object]]) -> None:
        """Let those wait again whose parts are not done, in their order; wake the others."""
        left = [one for one in taken if one is not own and not one.done and not one.gone]
        if left:
            with self._mutex:
                self._waiting = left + [one for one in self._waiting if one not in left]
        for one in taken:
            if one is not own and one.done:
                one.wake()
        self._call_next()


def write_first(jobs: Sequence[Job[object]], transaction: Transaction) -> int:
    """Write the first of some parts, with those behind it that join it; return how many."""
    joined = jobs[0].joined
    if joined is None:
        jobs[0].write(transaction)
        return 1
    alike = list(takewhile(lambda one: one.joined is joined, jobs))
    results = joined(transaction, [one.work for one in alike])
    for one, result in zip(alike, results, strict=True):
        one.result, one.within = result, transaction
    return len(alike)


def nested() -> StoreError:
    """Return the error of who writes inside a write of its own."""
    return StoreError("a write cannot be nested in another of the same thread")
