"""One engine per store and process: records, and the indexes derived from them.

Locks, in the order they are taken: the lock of a scope, that of writing, that of the records.
Embedders and other slow callbacks run under none, except where a lane is built for the first time.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from ebbmem import lanes
from ebbmem.analysis import Analyzer
from ebbmem.embedders.base import Embedder, stores_vectors
from ebbmem.errors import ForkedStore, LockTimeout, StorageFailed, StoreClosed, StoreError
from ebbmem.index import Indexed, ScopeIndex
from ebbmem.loaded import LoadedIndexes
from ebbmem.pending import CorruptShare, PendingRecall, PendingRecalls, Written, replay
from ebbmem.records.base import LinkRow, Reader, RecordStore, ScopeRow, StrengthRow, Writer
from ebbmem.shelf import Shelved, fetched
from ebbmem.spaces import Lane

STORE_KEY = "store_key"


@dataclass(slots=True)
class Change:
    """One write transaction of a scope, and what the index has to take over after it."""

    writer: Writer
    scope: ScopeRow
    memories: list[Indexed] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    strengths: list[StrengthRow] = field(default_factory=list)
    superseded: list[tuple[int, int]] = field(default_factory=list)
    """Old and new row id."""
    tiers: list[tuple[int, int]] = field(default_factory=list)
    """Row id and tier."""
    dropped: list[int] = field(default_factory=list)
    rebuild: bool = False
    """Whether the change is of a kind that the index does not take over in place."""


class Engine:
    """The records of one store and an LRU of scope indexes.

    Parameters
    ----------
    records : RecordStore
        Opened and migrated.
    index_budget : int
        Bytes that indexes may take in all; the least recently used are dropped beyond it, but
        never the one in use.
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
        self._indexes = LoadedIndexes(index_budget)
        self._lock = threading.Lock()
        self._scope_locks: dict[str, threading.RLock] = {}
        self._writing = threading.RLock()
        self._in_change = False
        self.closed = False
        self._store_key = _store_key(records)

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
        lock = self._scope_lock(scope)
        if write and self._pending.due:
            try:
                self.flush()
            except (LockTimeout, StorageFailed):
                self._pending.postpone()
        self._pending.require_kept(scope)
        return lock

    @contextmanager
    def change(self, scope: str, now_us: int) -> Iterator[Change]:
        """Hold a scope's lock and yield a write transaction; the index follows its commit.

        Recalls that wait, of any scope, are part of the transaction.
        """
        with self._scope_lock(scope):
            with self._write() as writer:
                before = writer.open_scope(scope, now_us)
                change = Change(writer, before)
                yield change
                after = writer.last_seq(before.scope_id)
            self._follow(scope, change, before.last_seq, after)
            index = self._indexes.get(scope)
            if index is not None:
                self._indexes.weigh(index)

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

    # --- recalls that wait --------------------------------------------------------------

    def keep(self, index: ScopeIndex, recall: PendingRecall) -> None:
        """Let a recall wait for its commit; its strengths count already.

        Where too many wait and they cannot be written, the index is as it was before this one.
        """
        self._pending.add(recall)
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
        with self._writing:
            if not self._pending.withdraw(recall):
                return False
        index.update_strengths(recall.before()[0].rows())
        return True

    def flush(self, scope: str | None = None) -> None:
        """Write the recalls that wait; on any error they go on waiting.

        Raises
        ------
        CorruptStore
            Once, if recalls of the scope that is named could not be written and were given up.
        """
        self.records.require_own()
        if self._pending:
            with self._writing:
                # Inside a change they are part of it already.
                if not self._in_change:
                    with self._write():
                        pass
        if scope is not None:
            self._pending.require_kept(scope)

    @contextmanager
    def _write(self) -> Iterator[Writer]:
        """Yield a write transaction in which the recalls that wait were written."""
        self.records.require_own()
        with self._writing:
            with ExitStack() as transaction:
                writer, count, written = self._begin(transaction)
                self._in_change = True
                try:
                    yield writer
                finally:
                    self._in_change = False
            self._settle(count, written)

    def _begin(self, transaction: ExitStack) -> tuple[Writer, int, list[Written]]:
        """Begin a write transaction with the recalls that wait; return it and what it wrote."""
        while True:
            waiting = self._pending.waiting()
            try:
                with ExitStack() as attempt:
                    writer = attempt.enter_context(self.records.write())
                    written = self._pending.write(writer, waiting)
                    transaction.push(attempt.pop_all())
                    return writer, len(waiting), written
            except CorruptShare as exc:
                # Its share is given up, and no longer counts in RAM: begun again without it.
                self._indexes.drop(exc.scope)

    def _settle(self, count: int, written: list[Written]) -> None:
        """Let recalls go that were committed, and their indexes be as new as the records."""
        self._pending.settle(count)
        for scope, before, after, as_in_ram in written:
            index = self._indexes.get(scope)
            if index is not None and as_in_ram and index.seq == before:
                index.seq = after
            else:
                self._indexes.drop(scope)

    def index_bytes(self, scope: str | None = None) -> int:
        """Return the bytes that one scope's index takes, or all of them."""
        self.records.require_own()
        return self._indexes.bytes(scope)

    def loaded_scopes(self) -> int:
        """Return how many scopes have an index in RAM."""
        return len(self._indexes)

    def digest(self, scope: str, text: str) -> bytes:
        """Return the keyed digest of a text: HMAC-SHA-256 over scope and NFC text."""
        message = f"{scope}\0{unicodedata.normalize('NFC', text)}".encode()
        return hmac.digest(self._store_key, message, hashlib.sha256)

    def close(self) -> None:
        """Write what waits, close the records and drop the indexes.  Idempotent.

        Where what waits cannot be written the store stays open and keeps it, unless no write can
        succeed until it is opened anew.
        """
        try:
            self.records.require_own()
        except ForkedStore:
            # The file, and what waits, are the parent's.
            self.closed = True
            return
        with self._writing:
            self.closed = True
            try:
                self.flush()
            except BaseException:
                self.closed = not self.records.writable
                raise
            finally:
                if self.closed:
                    self._indexes.clear()
                    self.records.close()

    # --- embedders ----------------------------------------------------------------------

    def require_embedder(self, embedder: Embedder) -> None:
        """Refuse an embedder other than the one whose vectors are stored."""
        with self.records.read() as reader:
            lanes.require_embedder(reader, self.records.path, embedder)

    def bind_embedder(self, writer: Writer, embedder: Embedder) -> None:
        """Bind the store to the embedder whose first vectors are about to be stored."""
        lanes.bind_embedder(writer, self.records.path, embedder)

    def lane(self, index: ScopeIndex, embedder: Embedder) -> Lane:
        """Return the lane of an embedder, built on first use."""
        if stores_vectors(embedder):
            # Another handle may have bound the store since this one was opened.
            self.require_embedder(embedder)
        lane = index.lane(embedder)
        if lane is None:
            lane = lanes.built(self.records, self._write, index, embedder)
            self._indexes.weigh(index)
        return lane

    # --- keeping indexes current --------------------------------------------------------

    def _scope_lock(self, scope: str) -> threading.RLock:
        """Return the lock of a scope."""
        # Before any lock: in a forked child a thread of the parent may seem to hold it for ever.
        self.records.require_own()
        lock = self._scope_locks.get(scope)
        if lock is None:
            with self._lock:
                lock = self._scope_locks.setdefault(scope, threading.RLock())
        return lock

    def current(self, scope: str) -> ScopeIndex | None:
        """Return the index of a scope, loaded or reloaded where another process wrote to it.

        None for a scope to which nothing was ever written.  The caller holds its lock.
        """
        # Read before anything is loaded: what is committed after it is looked for next time.
        version = self.records.data_version()
        index = self._indexes.get(scope)
        if index is not None and self._indexes.used(scope, version):
            return index
        # Alone with writing, so that what waits is not committed between the two looks.
        with self._writing, self.records.read() as reader:
            row = reader.scope(scope)
            if row is None:
                return None
            if index is None or index.seq != row.last_seq:
                index = ScopeIndex.load(reader, row, self.analyzer)
                # Inside a change the records have it already.
                if not self._in_change:
                    replay(index.columns, index.seq, self._pending.waiting(scope))
        self._indexes.put(scope, index, version)
        return index

    def loaded(self, scope: str) -> ScopeIndex | None:
        """Return the index of a scope where it is in RAM, current or not."""
        return self._indexes.get(scope)

    def is_current(self, index: ScopeIndex) -> bool:
        """Return whether no other process wrote since an index was brought up to date."""
        return self._indexes.used(index.scope.name, self.records.data_version())

    def rows(self, index: ScopeIndex, slots: Sequence[int]) -> dict[int, Shelved]:
        """Return the rows of memories by slot; the index was current a moment ago."""
        there = index.shelf.take(slots)
        if len(there) == len(slots):
            return there
        return there | self.rows_now(index, [slot for slot in slots if slot not in there])

    def rows_now(self, index: ScopeIndex, slots: Sequence[int]) -> dict[int, Shelved]:
        """Return the rows of memories by slot as the records have them, without erased ones."""
        by_row = dict(zip(index.columns.row[slots].tolist(), slots, strict=True))
        with self.records.read() as reader:
            read = {by_row[row]: one for row, one in fetched(reader, list(by_row)).items()}
        # A row that another process changed since the index was brought up to date goes with the
        # index, at the next look at the version.
        for slot, one in read.items():
            index.shelf.put(slot, one)
        self._indexes.weigh(index)
        return read

    def _follow(self, scope: str, change: Change, before: int, after: int) -> None:
        """Bring the index up to a committed change, or drop it to be loaded anew."""
        index = self._indexes.get(scope)
        if index is None:
            return
        if change.rebuild or index.seq != before:
            self._indexes.drop(scope)
            return
        try:
            index.append(change.memories)
            index.add_links(change.links)
            index.update_strengths(change.strengths)
            index.update_states(change.superseded, change.tiers)
            index.drop(change.dropped)
            index.seq = after
        except BaseException:
            # The records have it; a half-followed index must not answer.
            self._indexes.drop(scope)
            raise


def _store_key(records: RecordStore) -> bytes:
    """Return the key of a store's digests, made when the store is new."""
    with records.read() as reader:
        known = reader.meta(STORE_KEY)
    if known is None:
        with records.write() as writer:
            # Another process may have been first since the look above.
            known = writer.meta(STORE_KEY)
            if known is None:
                known = os.urandom(32).hex()
                writer.set_meta(STORE_KEY, known)
    return bytes.fromhex(known)
