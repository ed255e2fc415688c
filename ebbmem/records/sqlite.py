"""The record store in one SQLite file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from math import isfinite

from ebbmem.clock import Clock, SystemClock
from ebbmem.errors import InvalidArgument, StorageFailed, StoreClosed, StoreError
from ebbmem.records.backup import back_up
from ebbmem.records.base import Checked
from ebbmem.records.caches import MOST_BYTES, connected
from ebbmem.records.checks import check
from ebbmem.records.connection import Connection
from ebbmem.records.counters import Counters
from ebbmem.records.erasing import ERASING_KEY
from ebbmem.records.following import SqliteFollower
from ebbmem.records.forks import forked, this_process
from ebbmem.records.header import read_header
from ebbmem.records.journals import DURABILITIES, settle_journal
from ebbmem.records.logs import Log
from ebbmem.records.migrate import (
    apply_migrations,
    migrations,
    require_expected_schema,
    require_known_version,
    schema_version,
)
from ebbmem.records.opened import MEMORY_PATH
from ebbmem.records.places import Place
from ebbmem.records.readers import Readers
from ebbmem.records.writing import SqliteWriter


class SqliteRecords:
    """A ``RecordStore`` in one SQLite file, which any thread may use.

    Parameters
    ----------
    path : str or os.PathLike
        The file, or ``":memory:"``.  A missing file, or one of 0 bytes, becomes a new store with
        ``migrate``; its folder must exist.
    durability : {"process", "power"}
        ``"process"``: once ``write`` has ended, its changes outlive the process, and a power cut
        may drop the newest of them but leaves the store whole.  ``"power"``: they outlive a power
        cut too, at the price of a sync to disk per transaction.
    busy_wait_s : float
        Seconds to wait for another process's lock before LockTimeout.
    cache_bytes : int
        How much of the file the connection that writes may keep in RAM; those that read keep a
        quarter of it each.
    clock : Clock, optional
        Where the times of migrations come from.

    Raises
    ------
    NotAStore
        If the file is something else; it is not touched.
    StoreTooNew
        If a newer ebbmem wrote it; it is not touched.
    CorruptStore
        If its schema is not the one that ebbmem makes.
    StoreInUse
        If it is on a network file system and open elsewhere.
    StorageFailed
        If it cannot be opened for reading and writing.

    Notes
    -----
    One connection writes, and others read, so that who reads waits for no writer; where there is no
    write-ahead log (``":memory:"``, a network file system) one connection does all, and holds the
    kernel's exclusive lock on the file from opening to ``close``.

    No other copy of SQLite, such as Python's ``sqlite3``, may open the same file in the same
    process: closing it would drop the locks of this one.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durability: str = "process",
        busy_wait_s: float = 5.0,
        cache_bytes: int = MOST_BYTES,
        clock: Clock | None = None,
    ) -> None:
        self._place = Place(path)
        self.path = self._place.path
        if durability not in DURABILITIES:
            raise InvalidArgument.of("durability", f"one of {DURABILITIES}", durability)
        if not (isfinite(busy_wait_s) and busy_wait_s >= 0):
            raise InvalidArgument.of("busy_wait_s", "a number of at least 0", busy_wait_s)
        self._durability = durability
        self._busy_wait_s = busy_wait_s
        self._cache_bytes = cache_bytes
        self._clock = clock or SystemClock()
        self._lock = threading.RLock()
        self._process = this_process()
        self._views: dict[int, SqliteFollower] = {}
        """The open transaction of each thread that has one."""
        self._readers: Readers | None = None
        self._closed = False
        header = None if self.path == MEMORY_PATH else read_header(self.path)
        if header is not None:
            require_known_version(header.schema_version, self.path)
        self._connection = connected(self.path, busy_wait_s, cache_bytes)
        self._log = Log(self._connection, self._lock)
        self._counters = Counters(self._connection)
        self._ready = False
        try:
            self._look()
        except BaseException:
            self._connection.close()
            raise

    def _look(self) -> None:
        """See what the file holds now, its write-ahead log included; make it ready if it can be."""
        version = schema_version(self._connection)
        require_known_version(version, self.path)
        if version == len(migrations()):
            self._settle()

    def _settle(self) -> None:
        require_expected_schema(self._connection)
        if settle_journal(self._connection, self._durability):
            self._readers = Readers(partial(self._another, reads=True))
            self._connection.gather_frames()
            self._log.move_with(self._readers.mover)
            self._place.note()
        self._ready = True
        # A process that died may not have come to empty the log of what it had erased.
        mark = SqliteFollower(self._connection).meta(ERASING_KEY)
        if mark is not None:
            self._log.note_erasure(mark)
            self._log.scrub(0.0)

    @property
    def writable(self) -> bool:
        """Return whether a write may succeed before the store is opened anew."""
        return not self._closed and self._connection.lost is None

    def require_own(self) -> None:
        """Raise ForkedStore in a child process, forked since the store was opened."""
        if this_process() is not self._process:
            raise forked(self.path)

    def migrate(self) -> list[str]:
        """Apply the missing migrations, return their names.  Safe in many processes at once."""
        with self._alone() as connection:
            if self._view() is not None:
                raise StoreError("migrate() cannot run inside a transaction")
            require_known_version(schema_version(connection), self.path)
            applied = apply_migrations(connection, self._clock.now_us())
            if not self._ready:
                self._settle()
        return applied

    @contextmanager
    def read(self) -> Iterator[SqliteFollower]:
        """Open a consistent view.

        Inside another transaction of the same thread it is that transaction's view.
        """
        self.require_own()
        view = self._view()
        if view is not None:
            yield view
            return
        with self._reading() as connection:
            reader = SqliteFollower(connection)
            with self._transaction(connection, reader, "DEFERRED"):
                yield reader

    @contextmanager
    def snapshot(self) -> Iterator[SqliteFollower]:
        """Open a consistent view that may last: no other read, and no write, waits for its end.

        Where one connection does all it is as `read`.
        """
        if self._readers is None:
            with self.read() as reader:
                yield reader
            return
        with self._beside() as connection:
            reader = SqliteFollower(connection)
            connection.begin("DEFERRED")
            try:
                reader.scope("")  # only now is it a view of one moment
                yield reader
            finally:
                connection.rollback()
                reader.end()

    @contextmanager
    def write(self, waited_s: float = 0.0) -> Iterator[SqliteWriter]:
        """Open a write transaction: committed at the end, rolled back on any exception.

        Parameters
        ----------
        waited_s : float
            Seconds of the busy wait that are over already.

        Raises
        ------
        LockTimeout
            If another process writes for longer than the busy wait.
        StoreError
            If this thread is inside a transaction of this store already.
        """
        self.require_own()
        if self._view() is not None:
            raise StoreError("write() cannot be nested in another read() or write()")
        with self._lock:
            self._require_open()
            self._require_ready()
            self._require_in_place()
            connection = self._connection
            writer = SqliteWriter(connection, self._counters, self._clock, self._log.done_mark)
            try:
                with self._transaction(connection, writer, "IMMEDIATE", waited_s):
                    self._counters.begin()
                    yield writer
                    writer.commit()
            finally:
                # Also where an interrupt came just after the commit.
                if writer.committed:
                    self._log.done_mark = None
                    self._log.note_erasure(writer.mark)
            self._log.scrub(0.0 if writer.mark is None else self._busy_wait_s)
            self._log.shorten_now()

    @property
    def log_is_long(self) -> bool:
        """Return whether `shorten_log` has work to do, which takes milliseconds."""
        return self._log.is_long

    def shorten_log(self, *, wait: bool = True) -> None:
        """Move what was committed from the log into the database, where it is time to.

        Others may write meanwhile; with ``wait`` that is moved too, which may mean to wait for
        them.  What keeps it from being moved may pass: it is no error.
        """
        self._log.shorten(wait=wait)

    def erasure(self) -> Callable[[], bool]:
        """Return a question: whether what was erased until now may still lie in some file."""
        return self._log.erasure()

    def scrub(self) -> None:
        """Try to take what was erased out of the files where it may still lie in one."""
        with self._alone():
            if self._view() is None:
                self._log.scrub(self._busy_wait_s)

    def check(self) -> Checked:
        """Return what is wrong in the records, and what was counted; nothing is changed."""
        with self._beside() as connection:
            connection.begin("DEFERRED")
            try:
                return check(connection)
            finally:
                connection.rollback()

    def back_up(self, target: str) -> int:
        """Copy what is committed to another file, return its bytes; see `records.backup`."""
        with self._beside() as connection:
            return back_up(connection, target)

    @contextmanager
    def _beside(self) -> Iterator[Connection]:
        """Open a connection for long reads, which keep nobody waiting; or use the only one."""
        self.require_own()
        self._require_open()
        self._require_ready()
        if self._readers is None:
            with self._alone() as connection:
                if self._view() is not None:
                    raise StoreError("it cannot run inside a transaction")
                yield connection
            return
        with closing(self._another()) as connection:
            yield connection

    def _another(self, *, reads: bool = False) -> Connection:
        """Open one more connection to the same file."""
        if moved := self._place.moved():
            # SQLite would take the log's shared memory from under the first: a SIGBUS.
            raise StorageFailed(moved)
        return connected(self.path, self._busy_wait_s, self._cache_bytes, reads=reads)

    def data_version(self) -> int:
        """Return a number that changes when another connection commits.

        Where others read than write, it changes with the commits of this store too.
        """
        # Asked at every recall, so without the generator of `_alone`.
        self.require_own()
        readers = self._readers
        if readers is not None:
            if self._closed:
                self._require_open()
            return readers.data_version()
        with self._lock:
            self._require_open()
            return self._connection.data_version()

    def close(self) -> None:
        """Close; later calls raise StoreClosed.  Idempotent.

        Waits for transactions of other threads to end; in a forked child it does nothing.
        """
        if self._closed or this_process() is not self._process:
            return
        if self._view() is not None:
            raise StoreError("close() cannot run inside a transaction")
        with self._lock:
            if not self._closed:
                self._log.scrub(0.0)
                self._closed = True
                # Those that read first: the last to close empties the log.
                if self._readers is not None:
                    self._readers.close()
                self._connection.close()

    def _view(self) -> SqliteFollower | None:
        """Return the open transaction of this thread."""
        return self._views.get(threading.get_ident())

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """Hold a connection to read from."""
        if self._readers is None:
            with self._alone() as connection:
                self._require_ready()
                yield connection
            return
        with self._readers.one() as connection:
            self._require_open()
            yield connection

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        """Hold the connection that writes for this thread."""
        # Before the lock: in a forked child a thread of the parent may seem to hold it for ever.
        self.require_own()
        with self._lock:
            self._require_open()
            yield self._connection

    def _require_open(self) -> None:
        if self._closed:
            raise StoreClosed(f"{self.path}: the store was closed")

    @contextmanager
    def _transaction(
        self, connection: Connection, view: SqliteFollower, mode: str, waited_s: float = 0.0
    ) -> Iterator[None]:
        # Should it end in another thread, as a generator may that nobody consumes.
        thread = threading.get_ident()
        try:
            connection.begin(mode, waited_s)
            self._views[thread] = view
            yield
            connection.end()
        except BaseException:
            connection.rollback()
            raise
        finally:
            self._views.pop(thread, None)
            view.end()

    def _require_ready(self) -> None:
        if not self._ready:
            raise StoreError(f"{self.path}: the schema is not complete; call migrate() first")

    def _require_in_place(self) -> None:
        """Let no write begin in a file that nobody will open again."""
        self._connection.lost = self._place.moved() or self._connection.lost
