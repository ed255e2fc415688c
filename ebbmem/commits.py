"""Group commit: of the callers that wait to write, one writes for all of them.

There is no writer thread.  The first who waits becomes the leader: it writes what waits, its own
part included, in one transaction, and lets the others go.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Final, Generic, Protocol, TypeVar, cast

from ebbmem.changes import Change
from ebbmem.errors import EbbmemError, StoreError
from ebbmem.records.base import Writer

T = TypeVar("T")

PATIENCE_S: Final = 0.25
"""After which one who waits looks for itself, should whoever had to wake it have been stopped."""
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


class Job(Generic[T]):
    """One caller's part of a commit.

    Parameters
    ----------
    work : callable
        Writes it.  It may be called again in a new transaction after a rollback, in any thread.
    """

    __slots__ = ("_wake", "came_s", "error", "gone", "result", "within", "work")

    def __init__(self, work: Callable[[Transaction], T]) -> None:
        self.work = work
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

    def wait(self) -> None:
        """Wait to be woken, but not for ever."""
        self._wake.acquire(timeout=PATIENCE_S)

    def wake(self) -> None:
        """Let its caller look how things are."""
        with suppress(RuntimeError):  # woken before
            self._wake.release()


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
    nobody is woken in vain.  An interrupted caller takes its part back where no transaction has
    taken it yet; an interrupted leader rolls back, and another of those who wait leads.
    """

    def __init__(self, transaction: Callable[[float], AbstractContextManager[Transaction]]) -> None:
        self._transaction = transaction
        self._waiting: list[Job[object]] = []
        self._mutex = threading.Lock()
        self.lock = threading.RLock()
        """Held by whoever writes."""

    def run(self, job: Job[T]) -> T:
        """Write one part, together with what else waits; return its result once committed."""
        one = cast("Job[object]", job)
        try:
            with self._mutex:
                self._waiting.append(one)
            while not one.done:
                if self._waiting[:1] == [one] or one.waited_s > PATIENCE_S:
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
        with self._transaction(own.waited_s) as transaction:
            self._take(taken, own)
            written = 0
            while written < len(taken):
                taken[written].write(transaction)
                written += 1
                if written == len(taken):
                    self._take(taken)

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


def nested() -> StoreError:
    """Return the error of who writes inside a write of its own."""
    return StoreError("a write cannot be nested in another of the same thread")
