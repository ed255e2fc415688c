"""The writes of one store: one transaction at a time, and all that has to know of its commit."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from ebbmem.changes import OpenTransaction, Post
from ebbmem.commits import GroupCommit, Job, Joined, Transaction, nested
from ebbmem.desks import Desks
from ebbmem.errors import LockTimeout, StorageFailed
from ebbmem.pending import CorruptShare, PendingRecall, PendingRecalls, posts_of
from ebbmem.records.store import RecordStore

T = TypeVar("T")


class Writes:
    """What this process writes to a store.  Safe to call from threads.

    Parameters
    ----------
    records : RecordStore
        The store.
    pending : PendingRecalls
        Recalls that wait for the next commit; they are part of every transaction.
    desks : Desks
        Where word of every commit is left for the indexes.
    """

    def __init__(self, records: RecordStore, pending: PendingRecalls, desks: Desks) -> None:
        self._records = records
        self._pending = pending
        self._desks = desks
        self.commits = GroupCommit(self._transaction)
        self.lock = self.commits.lock
        """Held by whoever writes."""
        self.settling = threading.RLock()
        """Held from a commit until everybody who has to know of it knows."""
        self._thread: int | None = None

    @property
    def inside(self) -> bool:
        """Return whether this thread is inside a write transaction."""
        return self._thread == threading.get_ident()

    def together(self, work: Callable[[Transaction], T], joined: Joined[T] | None = None) -> T:
        """Let ``work`` write in one transaction with what other callers write now; see `Job`."""
        self._require_outside()
        done = self.commits.run(Job(work, joined))
        if self._records.log_is_long:
            self.commits.expect_one_less()
            self._records.shorten_log()
        return done

    @contextmanager
    def alone(self) -> Iterator[Transaction]:
        """Yield a transaction in which nobody else writes."""
        self._require_outside()
        with self.lock, self._transaction() as transaction:
            yield transaction
        self._records.shorten_log()

    def flush(self) -> None:
        """Write the recalls that wait; on any error they go on waiting."""
        # Inside a transaction they are part of it already.
        if self._pending and not self.inside:
            with self.lock:
                if self._pending:
                    with self._transaction():
                        pass
            self._records.shorten_log()

    def flush_if_free(self) -> None:
        """Write the recalls that wait, unless that would mean to wait for who writes.

        Who writes takes them along, or the next does.
        """
        if self._thread is not None:
            return  # perhaps this thread, which has the lock: not to be let go below
        try:
            if self.lock.acquire(blocking=False) and self._pending:
                with self._transaction(math.inf):
                    pass
        except (LockTimeout, StorageFailed):
            self._pending.postpone()
        finally:
            # Whether or not an interrupt let us note that it was acquired; and not by `suppress`,
            # in which one may come before the release.
            try:  # noqa: SIM105
                self.lock.release()
            except RuntimeError:
                pass
        self._records.shorten_log(wait=False)

    @contextmanager
    def _transaction(self, waited_s: float = 0.0) -> Iterator[OpenTransaction]:
        """Yield a write transaction in which the recalls that wait were written.

        The caller holds the lock of writing.  Of the busy wait, ``waited_s`` seconds are over.
        """
        self._thread = threading.get_ident()
        try:
            while not (yield from self._tried(waited_s)):
                pass
        finally:
            self._thread = None

    def _tried(self, waited_s: float) -> Generator[OpenTransaction, None, bool]:
        """Yield a transaction; return whether it was, or has to be begun again."""
        waiting = self._pending.waiting()
        try:
            with self._records.write(waited_s) as writer:
                writer.gather()
                written = self._pending.write(writer, waiting)
                opened = OpenTransaction(writer)
                yield opened
                self._commit(opened, waiting, opened.posts(posts_of(written)))
        except CorruptShare as exc:
            # Its share is given up, and no longer counts in RAM: begun again without it.
            self._desks.drop(exc.scope)
            return False
        return True

    def _commit(
        self, opened: OpenTransaction, waiting: Sequence[PendingRecall], posts: dict[str, Post]
    ) -> None:
        """Commit, and let all know of it before anybody looks."""
        with self.settling:
            try:
                opened.writer.commit()
            finally:
                # Also where an interrupt came just after the commit.
                if opened.writer.committed:
                    try:
                        self._settle(waiting, posts)
                    finally:
                        # Else whoever waits for it would write it once more.
                        opened.finished = True

    def _settle(self, waiting: Sequence[PendingRecall], posts: dict[str, Post]) -> None:
        """Let recalls go that were committed, and leave word for the indexes."""
        try:
            self._pending.settle(len(waiting), posts)
            for scope, post in posts.items():
                self._desks.leave(scope, post)
        except BaseException:
            # An interrupt: no recall is written once more, and the indexes are loaded anew.
            if waiting and any(one is waiting[0] for one in self._pending.waiting()):
                self._pending.settle(len(waiting))
            for scope in posts:
                self._desks.drop(scope)
            raise

    def _require_outside(self) -> None:
        """Refuse a write in a forked child, and inside a write of the same thread."""
        self._records.require_own()
        if self.inside:
            raise nested()
