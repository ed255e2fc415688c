"""One engine per store and process: records, and the indexes derived from them.

Locks, in the order they are taken: the lock of a scope, that of writing, that of the records,
that of settling.  What is committed reaches a scope's index by way of its desk, so a writer takes
no lock of a scope: it waits for no recall, and no recall waits for it.
Embedders and other slow callbacks run under none, except where a lane is built for the first time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from ebbmem import _core, lanes, workers
from ebbmem.analysis import Analyzer
from ebbmem.catchup import Waiting, brought_up
from ebbmem.changes import Change
from ebbmem.commits import Joined, Transaction
from ebbmem.desks import Desks
from ebbmem.digests import store_key
from ebbmem.embedders.base import Embedder, stores_vectors
from ebbmem.errors import ForkedStore, StorageFailed, StoreClosed, StoreError
from ebbmem.index import ScopeIndex
from ebbmem.loaded import IndexUse, LoadedIndexes, beside_bytes
from ebbmem.metering import Meter
from ebbmem.pending import PendingRecall, PendingRecalls
from ebbmem.records.base import MemoryRow, Reader, ScopeRow, Writer
from ebbmem.records.digests import keyed_digest
from ebbmem.records.followable import FollowReader
from ebbmem.records.store import RecordStore
from ebbmem.shelf import Shelved, fetched
from ebbmem.spaces import Lane
from ebbmem.writes import Writes

T = TypeVar("T")


class Engine:
    """The records of one store and an LRU of scope indexes.

    Parameters
    ----------
    records : RecordStore
        Opened and migrated.
    index_budget : int
        Bytes that indexes may take in all; the least recently used are dropped beyond it, but
        never one in use.
    analyzer : Analyzer
        Makes the terms of the lexical lane.
    pending : PendingRecalls
        Where recalls wait for the next commit.
    """

    def __init__(
        self,
        records: RecordStore,
        *,
        index_budget: int,
        analyzer: Analyzer,
        pending: PendingRecalls,
    ) -> None:
        self.records = records
        self.analyzer = analyzer
        self._pending = pending
        self._indexes = LoadedIndexes(index_budget, beside_bytes(index_budget))
        self._desks = Desks(self._indexes)
        self._writes = Writes(records, pending, self._desks)
        self.closed = False
        self.meter = Meter()
        self._store_key = store_key(records)
        self.binding = lanes.Binding(records)
        self.workers = workers.pool()
        """The threads that help this store's callers; none before one asks for help."""

    # --- scopes -------------------------------------------------------------------------

    @contextmanager
    def use(self, scope: str) -> Iterator[ScopeIndex | None]:
        """Hold a scope's lock and yield its index, current with every committed change.

        Yields None for a scope to which nothing was ever written.  Recalls that have waited too
        long are written first.
        """
        with self.alone(scope):
            yield self.current(scope)

    def alone(self, scope: str, *, write: bool = True) -> threading.RLock:
        """Return the lock of a scope, to be held around everything done with its index.

        With ``write``, recalls that have waited too long are written first; those that cannot be
        go on waiting.

        Raises
        ------
        CorruptStore
            Once, if recalls of this scope could not be written and were given up.
        """
        # Before any lock: in a forked child a thread of the parent may seem to hold it for ever.
        self.records.require_own()
        lock = self._desks.lock(scope)
        if write and self._pending.due:
            self._writes.flush_if_free()
        self._pending.require_kept(scope)
        return lock

    def commit(self, scope: str, now_us: int, work: Callable[[Change], T]) -> T:
        """Let ``work`` write to one scope; see `commit_many`."""
        return self.commit_many((scope,), lambda opened: work(opened.change(scope, now_us)))

    def commit_many(
        self,
        scopes: Iterable[str],
        work: Callable[[Transaction], T],
        joined: Joined[T] | None = None,
    ) -> T:
        """Let ``work`` write to scopes, in one transaction with what other callers write now.

        Parameters
        ----------
        scopes : iterable of str
            Those it writes to.
        work : callable
            Given the transaction, makes a `Change` of each scope, writes by them and returns what
            this is to return.  It may run in another caller's thread, and again in a new
            transaction, so it does nothing but that, and nothing slow.
        joined : callable, optional
            Writes several such works at once; see `commits.Job`.

        Notes
        -----
        Once this returns it is committed; if it raises, nothing of it is, except that an
        interrupt (such as Ctrl-C) may come after the commit.  What is committed together is
        written in the order it came.  What one caller's ``work`` raises keeps no other from
        being committed.
        """
        done = self._writes.together(work, joined)
        for scope in scopes:
            self._desks.tidy(scope)
        return done

    @contextmanager
    def change(self, scope: str, now_us: int) -> Iterator[Change]:
        """Yield a write transaction of a scope; the index follows its commit.

        Recalls that wait, of any scope, are part of the transaction.
        """
        with self._writes.alone() as transaction:
            yield transaction.change(scope, now_us)
        self._desks.tidy(scope)

    @contextmanager
    def read(self, scope: str | None = None) -> Iterator[Reader]:
        """Yield a view of the records with every recall of this process in it.

        Raises
        ------
        CorruptStore
            Once, if recalls of the scope could not be written and were given up.
        """
        self.flush(scope)
        with self.records.read() as reader:
            yield reader

    @contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """Yield a view as `read` does, which may last: nobody waits for its end."""
        self.flush()
        with self.records.snapshot() as reader:
            yield reader

    # --- recalls that wait --------------------------------------------------------------

    def keep(self, index: ScopeIndex, recall: PendingRecall) -> None:
        """Let a recall wait for its commit; its strengths count already.

        Where too many wait and they cannot be written, the index is as it was before this one.
        """
        too_many = self._pending.add(recall)
        if not (too_many or self.closed):
            return
        try:
            self._make_room()
        except BaseException as exc:
            # Another thread may have written it meanwhile; then it counts.
            if self._withdrawn(index, recall) or not isinstance(exc, StoreError):
                raise

    def _make_room(self) -> None:
        """Write what waits where it is more than may."""
        if self.closed:
            # Closing may have overtaken the newest.
            raise StoreClosed(f"{self.records.path}: the store was closed")
        if self._pending.too_many:
            self.flush()

    def _withdrawn(self, index: ScopeIndex, recall: PendingRecall) -> bool:
        """Undo a recall that still waits; return whether it did.  The caller holds its scope."""
        with self._writes.lock:
            if not self._pending.withdraw(recall):
                return False
        index.update_strengths(recall.traced().before.rows())
        return True

    def doubt(self, index: ScopeIndex, failure: BaseException) -> None:
        """Load a scope anew, where nobody may have kept what a recall strengthened in its index."""
        if not isinstance(failure, StoreError):  # of which `keep` left the index as it was
            self._indexes.drop(index.scope.name)

    def flush(self, scope: str | None = None) -> None:
        """Write the recalls that wait; on any error they go on waiting.

        Raises
        ------
        CorruptStore
            Once, if recalls of the scope that is named could not be written and were given up.
        """
        self.records.require_own()
        self._writes.flush()
        if scope is not None:
            self._pending.require_kept(scope)

    def index_bytes(self, scope: str | None = None) -> int:
        """Return the bytes that one scope's index takes, or all of them."""
        self.records.require_own()
        return self._indexes.bytes(scope)

    def budget_share(self, scope: str) -> float:
        """Return the part of the budget of indexes that one scope's takes."""
        return self._indexes.share(scope)

    def index_use(self) -> IndexUse:
        """Return what the indexes take in RAM, and how often one was found there."""
        self.records.require_own()
        return self._indexes.use()

    def digest(self, scope: str, text: str) -> bytes:
        """Return the keyed digest of a text of a scope."""
        return keyed_digest(self._store_key, scope, text)

    def close(self) -> None:
        """Write what waits, close the records and drop the indexes.  Idempotent.

        Where what waits cannot be written the store stays open and keeps it, unless no write can
        succeed until it is opened anew: then it is lost, which the error tells.
        """
        try:
            self.records.require_own()
        except ForkedStore:
            # The file, and what waits, are the parent's.
            self.closed = True
            return
        with self._writes.lock:
            self.closed = True
            try:
                self.flush()
            except BaseException as exc:
                self.closed = not self.records.writable
                if self.closed and self._pending and isinstance(exc, StorageFailed):
                    lost = f"lost, with what they strengthened: {len(self._pending)} recalls"
                    raise StorageFailed(f"{exc}; {lost} that waited to be written") from exc
                raise
            finally:
                if self.closed:
                    self._indexes.clear()
                    try:
                        self.records.close()
                    finally:
                        self.workers.close()

    # --- embedders ----------------------------------------------------------------------

    def bind_embedder(self, writer: Writer, embedder: Embedder) -> None:
        """Refuse another embedder than the store's; one that stores vectors binds a store to it."""
        lanes.bind_embedder(writer, self.records.path, embedder)

    def lane(self, index: ScopeIndex, embedder: Embedder) -> Lane:
        """Return the lane of an embedder, built on first use."""
        # Another handle may have bound the store since this one was opened.
        stored = stores_vectors(embedder)
        epoch = self.binding.require(embedder) if stored else self.binding.fit(embedder)
        lane = index.lane(embedder, epoch)
        if lane is None:
            lane = lanes.built(
                self.records, partial(self.change, index.scope.name, 0), index, embedder
            )
            self._indexes.weigh(index)
        return lane

    # --- keeping indexes current --------------------------------------------------------

    def current(self, scope: str) -> ScopeIndex | None:
        """Return the index of a scope, loaded or reloaded where another process wrote to it.

        None for a scope to which nothing was ever written.  The caller holds its lock.
        """
        index = self._desks.taken(scope)
        if index is not None and self.is_current(index):
            return index
        while True:
            # Held until it is taken: nobody drops it for want of room before.
            loaded = self._loaded(scope)
            if loaded is None:
                return None
            # What was committed while it was loaded is at the desk.
            index = self._desks.taken(scope)
            if index is not None:
                self._indexes.missed()
                return index

    def _loaded(self, scope: str) -> ScopeIndex | None:
        """Keep and return an index as the records have it; None for a scope without memories."""
        # Read before anything is loaded: what is committed after it is looked for next time.
        version, owed = self.records.data_version(), self._desks.owed(scope)
        with self.records.read() as reader:
            self.binding.look(reader)
            # So that nothing is committed between the looks, and word of all before was left.
            with self._writes.settling:
                row = reader.scope(scope)
                desk = self._desks.opened(scope)
                waiting = self._pending.waiting(scope)
            if row is None:
                self._indexes.drop(scope)  # erased by another process
                return None
            index = self._desks.taken(scope)
            if index is None or index.seq < row.last_seq:
                index = self._brought_up(reader, row, waiting)
        self._desks.put(scope, index, desk, version, owed)
        return index

    def _brought_up(
        self, reader: FollowReader, row: ScopeRow, waiting: Sequence[PendingRecall]
    ) -> ScopeIndex:
        """Return the index as the records have it, with the recalls that wait."""
        if self._writes.inside:
            # The records have them already, and are rolled back perhaps: nothing that stays.
            return ScopeIndex.load(reader, row, self.analyzer)
        in_ram = Waiting(waiting, self._pending.since(row.name, row.last_seq))
        try:
            return brought_up(self._indexes.get(row.name), reader, row, self.analyzer, in_ram)
        except BaseException:
            self._indexes.drop(row.name)  # it may have followed half-way
            raise

    def loaded(self, scope: str) -> ScopeIndex | None:
        """Return the index of a scope in RAM; another process may have written since."""
        return self._desks.taken(scope)

    def is_current(self, index: ScopeIndex) -> bool:
        """Return whether an index, with what lies at its desk, has all that was committed.

        What lies there was committed since the index was last asked for.
        """
        version = self.records.data_version()
        scope = index.scope.name
        if self._indexes.used(scope, version):
            return True
        with self.records.read() as reader:
            self.binding.look(reader)
            row = reader.scope(scope)
        if row is None or row.last_seq > self._desks.newest(index):
            return False
        self._indexes.note(scope, version)
        return True

    def rows(self, index: ScopeIndex, slots: Sequence[int]) -> dict[int, Shelved]:
        """Return the rows of memories by slot; the index was current a moment ago."""
        if index.columns.grown:
            self._indexes.weigh(index)
        there = index.shelf.take(slots)
        if len(there) == len(slots):
            return there
        return there | self.rows_now(index, [slot for slot in slots if slot not in there])

    def shelved(self, index: ScopeIndex, found: _core.FoundProducts) -> tuple[Shelved, ...] | None:
        """Return the row of each that was found; None where a memory was erased meanwhile."""
        there = None if index.columns.grown else index.shelf.take_found(found)
        return found.values_of(self.rows(index, found.slot_list)) if there is None else there

    def memories(self, rows: Sequence[int]) -> dict[int, MemoryRow]:
        """Return memories by row id as the records have them, without erased ones."""
        with self.records.read() as reader:
            return reader.memories(rows)

    def rows_now(self, index: ScopeIndex, slots: Sequence[int]) -> dict[int, Shelved]:
        """Return the rows of memories by slot as the records have them, without erased ones."""
        by_row = dict(zip(index.columns.row[slots].tolist(), slots, strict=True))
        with self.records.read() as reader:
            read = {by_row[row]: one for row, one in fetched(reader, list(by_row)).items()}
        # One that another process has changed since goes with the index, at the next look.
        index.shelf.put(read)
        self._indexes.weigh(index)
        return read
