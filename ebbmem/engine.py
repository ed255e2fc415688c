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
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from ebbmem.analysis import Analyzer
from ebbmem.embedders.base import Embedder, stores_vectors
from ebbmem.errors import EmbedderMismatch, StoreClosed, StoreError
from ebbmem.index import DenseLane, Indexed, ScopeIndex, embedded
from ebbmem.pending import PendingRecall, PendingRecalls, Written
from ebbmem.records.base import LinkRow, Reader, RecordStore, ScopeRow, StrengthRow, Writer

STORE_KEY = "store_key"
EMBEDDER_NAME = "embedder_name"
EMBEDDER_DIM = "embedder_dim"


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
        self._index_budget = index_budget
        self._lock = threading.Lock()
        self._writing = threading.RLock()
        self._in_change = False
        self.closed = False
        self._scope_locks: dict[str, threading.RLock] = {}
        self._indexes: OrderedDict[str, ScopeIndex] = OrderedDict()
        self._checked: dict[str, int] = {}
        """The data version at which each index was last known to be current."""
        self._bytes: dict[str, int] = {}
        self._total_bytes = 0
        self._store_key = _store_key(records)

    # --- scopes -------------------------------------------------------------------------

    @contextmanager
    def use(self, scope: str) -> Iterator[ScopeIndex | None]:
        """Hold a scope's lock and yield its index, current with every committed change.

        Yields None for a scope to which nothing was ever written.  Recalls that have waited too
        long are written first.
        """
        if self._pending.due:
            self.flush()
        with self._scope_lock(scope):
            index = self._current(scope)
            yield index
            self._evict(scope, index)

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
            with self._lock:
                index = self._indexes.get(scope)
            self._evict(scope, index)

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Yield a view of the records with every recall of this process in it."""
        self.flush()
        with self.records.read() as reader:
            yield reader

    # --- recalls that wait --------------------------------------------------------------

    def keep(self, recall: PendingRecall) -> None:
        """Let an answered recall wait for its commit, and its strengths count at once.

        The caller holds the lock of its scope.  On an error of the commit it goes on waiting.
        """
        self._pending.add(recall)
        with self._lock:
            index = self._indexes.get(recall.scope)
        try:
            if index is not None:
                index.update_strengths(recall.after)
        except BaseException:
            self._drop(recall.scope)  # loaded anew, it has them from the records
            raise
        if self.closed:
            # Closing may have overtaken this recall.
            raise StoreClosed(f"{self.records.path}: the store was closed")
        if self._pending.too_many:
            self.flush()

    def flush(self) -> None:
        """Write the recalls that wait; on any error they go on waiting."""
        if not self._pending:
            return
        with self._writing:
            # Inside a change they are part of it already.
            if not self._in_change:
                with self._write():
                    pass

    @contextmanager
    def _write(self) -> Iterator[Writer]:
        """Yield a write transaction in which the recalls that wait were written."""
        with self._writing:
            waiting = self._pending.waiting()
            with self.records.write() as writer:
                written = self._pending.write(writer, waiting)
                self._in_change = True
                try:
                    yield writer
                finally:
                    self._in_change = False
            self._settle(len(waiting), written)

    def _settle(self, count: int, written: list[Written]) -> None:
        """Let recalls go that were committed, and their indexes be as new as the records."""
        self._pending.settle(count)
        for scope, before, after, as_in_ram in written:
            with self._lock:
                index = self._indexes.get(scope)
            if index is not None and as_in_ram and index.seq == before:
                index.seq = after
            else:
                self._drop(scope)

    def index_bytes(self, scope: str | None = None) -> int:
        """Return the bytes that one scope's index takes, or all of them."""
        with self._lock:
            held = [i for name, i in self._indexes.items() if scope in (None, name)]
        return sum(index.bytes for index in held)

    def loaded_scopes(self) -> int:
        """Return how many scopes have an index in RAM."""
        with self._lock:
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
        with self._writing:
            self.closed = True
            try:
                self.flush()
            except StoreError:
                self.closed = not self.records.writable
                raise
            finally:
                if self.closed:
                    with self._lock:
                        self._indexes.clear()
                    self.records.close()

    # --- embedders ----------------------------------------------------------------------

    def require_embedder(self, embedder: Embedder) -> None:
        """Refuse an embedder other than the one whose vectors are stored."""
        with self.records.read() as reader:
            self._require_bound(reader, embedder)

    def bind_embedder(self, writer: Writer, embedder: Embedder) -> None:
        """Bind the store to the embedder whose first vectors are about to be stored."""
        if writer.meta(EMBEDDER_NAME) is None:
            writer.set_meta(EMBEDDER_NAME, embedder.name)
            writer.set_meta(EMBEDDER_DIM, str(embedder.dim))
        self._require_bound(writer, embedder)

    def _require_bound(self, reader: Reader, embedder: Embedder) -> None:
        """Refuse an embedder other than the one that the store is bound to."""
        bound = (reader.meta(EMBEDDER_NAME), reader.meta(EMBEDDER_DIM))
        if bound[0] is not None and bound != (embedder.name, str(embedder.dim)):
            raise EmbedderMismatch(
                f"{self.records.path}: holds vectors of embedder {bound[0]!r} (dim {bound[1]}), "
                f"used with {embedder.name!r} (dim {embedder.dim})"
            )

    def lane(self, index: ScopeIndex, embedder: Embedder) -> DenseLane:
        """Return the dense lane of an embedder, built on first use."""
        if stores_vectors(embedder):
            # Another handle may have bound the store since this one was opened.
            self.require_embedder(embedder)
        lane = index.lane(embedder)
        if lane is not None:
            return lane
        if stores_vectors(embedder):
            return self._stored_lane(index, embedder)
        with self.records.read() as reader:
            texts = reader.texts(None, index.scope.scope_id)
        by_row = {row: summary for row, summary, _ in texts}
        summaries = [by_row.get(row, "") for row in index.columns.row.tolist()]
        return index.build_lane(embedder, embedded(embedder, summaries))

    def _stored_lane(self, index: ScopeIndex, embedder: Embedder) -> DenseLane:
        """Build a lane from stored vectors; memories that still wait for theirs get it now."""
        scope_id = index.scope.scope_id
        with self.records.read() as reader:
            stored = {
                row: np.frombuffer(blob, dtype=np.float32) for row, blob in reader.vectors(scope_id)
            }
            waiting = [r for r in index.columns.row.tolist() if r not in stored]
            texts = reader.texts(waiting, scope_id) if waiting else []
        if texts:
            fresh = embedded(embedder, [summary for _, summary, _ in texts])
            rows = [row for row, _, _ in texts]
            with self._write() as writer:
                before = writer.last_seq(scope_id)
                self.bind_embedder(writer, embedder)
                writer.insert_vectors(
                    (row, vector.tobytes()) for row, vector in zip(rows, fresh, strict=True)
                )
                after = writer.last_seq(scope_id)
            if index.seq == before:
                index.seq = after
            stored.update(zip(rows, fresh, strict=True))
        blank = np.zeros(embedder.dim, dtype=np.float32)  # of what was erased meanwhile
        vectors = [stored.get(row, blank) for row in index.columns.row.tolist()]
        return index.build_lane(
            embedder,
            np.stack(vectors) if vectors else np.empty((0, embedder.dim), dtype=np.float32),
        )

    # --- keeping indexes current --------------------------------------------------------

    def _scope_lock(self, scope: str) -> threading.RLock:
        """Return the lock of a scope."""
        with self._lock:
            return self._scope_locks.setdefault(scope, threading.RLock())

    def _current(self, scope: str) -> ScopeIndex | None:
        """Return the index of a scope, loaded or reloaded where another process wrote to it."""
        # Read before anything is loaded: what is committed after it is looked for next time.
        version = self.records.data_version()
        with self._lock:
            index = self._indexes.get(scope)
            if index is not None and self._checked.get(scope) == version:
                self._indexes.move_to_end(scope)
                return index
        # An index that is loaded has all that was recalled from the records.
        with self.read() as reader:
            row = reader.scope(scope)
            if row is None:
                return None
            if index is None or index.seq != row.last_seq:
                index = ScopeIndex.load(reader, row, self.analyzer)
        with self._lock:
            self._indexes[scope] = index
            self._indexes.move_to_end(scope)
            self._checked[scope] = version
        return index

    def _follow(self, scope: str, change: Change, before: int, after: int) -> None:
        """Bring the index up to a committed change, or drop it to be loaded anew."""
        with self._lock:
            index = self._indexes.get(scope)
        if index is None:
            return
        if change.rebuild or index.seq != before:
            self._drop(scope)
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
            self._drop(scope)
            raise

    def _drop(self, scope: str) -> None:
        """Forget the index of a scope."""
        with self._lock:
            self._forget(scope)

    def _evict(self, in_use: str, index: ScopeIndex | None) -> None:
        """Drop the least recently used indexes beyond the budget."""
        with self._lock:
            if index is None or in_use not in self._indexes:
                return
            self._total_bytes += index.bytes - self._bytes.get(in_use, 0)
            self._bytes[in_use] = index.bytes
            for name in list(self._indexes):
                if self._total_bytes <= self._index_budget:
                    return
                if name != in_use:
                    self._forget(name)

    def _forget(self, scope: str) -> None:
        """Drop an index; the caller holds the engine's lock."""
        self._indexes.pop(scope, None)
        self._checked.pop(scope, None)
        self._total_bytes -= self._bytes.pop(scope, 0)


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
