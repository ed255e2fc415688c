"""One SQLite connection: how it is opened, its write-ahead log, and how it is left."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final

import apsw

from ebbmem import _core
from ebbmem.errors import StoreError
from ebbmem.records.failures import REFUSALS, translated
from ebbmem.records.filesystems import remote_filesystem
from ebbmem.records.forks import Inherited, Use, let_forks_go_first, notice_fork, opening, watch
from ebbmem.records.handles import file_address, log_address
from ebbmem.records.opened import MEMORY_PATH, open_alone, opened, require_safe_sqlite
from ebbmem.records.transactions import Transactions

_PRAGMAS: Final = (
    "PRAGMA page_size = 4096",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA synchronous = FULL",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -16384",
    "PRAGMA journal_size_limit = 33554432",
)
_READ_PRAGMAS: Final = (
    "PRAGMA query_only = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -4096",
)
_STEPS_BETWEEN_SIGNALS: Final = 100_000
_PAGES_PER_STEP: Final = 4096


class Connection(Transactions):
    """An open SQLite database whose errors are ebbmem's.

    Parameters
    ----------
    path : str
        Absolute path, or ``":memory:"``.
    busy_wait_s : float
        Seconds to wait for a lock of another connection before LockTimeout.
    reads : bool
        Whether it only reads, beside another that writes.
    """

    def __init__(self, path: str, busy_wait_s: float, *, reads: bool = False) -> None:
        require_safe_sqlite(apsw.sqlite_lib_version(), path)
        super().__init__(path, busy_wait_s)
        self._reads = reads
        self._log: _core.LogIndex | None = None
        self._version_at: tuple[bytes, int] = (b"", 0)
        """The data version, and what the log's index said before it was asked for."""
        self.kept_from_others = None if path == MEMORY_PATH else remote_filesystem(path)
        """The type of a file system on which only one process at a time may have the file open."""
        pragmas = _READ_PRAGMAS if reads else _PRAGMAS
        if self.kept_from_others is None:
            self._open(pragmas)
        else:
            attempt = partial(self._open, pragmas, alone=True)
            open_alone(path, self.kept_from_others, busy_wait_s, attempt)

    def _open(self, pragmas: Iterable[str], *, alone: bool = False) -> None:
        with opening(self.path):
            try:
                self._apsw = opened(self.path, self._busy, alone=alone)
                for pragma in pragmas:
                    self._apsw.execute(pragma).fetchall()
            except apsw.Error as exc:
                raise translated(exc, self.path) from exc
            self._asking = self._apsw.cursor()
            watch(self)

    def data_version(self) -> int:
        """Return a number that changes when another connection commits.

        A connection that only reads asks SQLite, which locks and unlocks the log by system calls,
        only where the log's index has another header than it had then.
        """
        header = b"" if self._log is None else self._log.header()
        seen, version = self._version_at
        if header and header == seen:
            return version
        version = self._asked_version()
        self._version_at = header, version
        if self._reads and self._log is None:
            # Asking has opened the log, for as long as the connection is open.
            self._log = _core.LogIndex(file_address(self._apsw))
        return version

    def _asked_version(self) -> int:
        """Ask SQLite for the data version."""
        notice_fork()
        try:
            # `get` takes all rows, so that the statement ends: until then it sees nothing newer.
            version: int = self._asking.execute("PRAGMA data_version").get
        except REFUSALS as exc:
            raise self._failure(exc) from exc
        except BaseException:
            # An interrupt came before all rows were taken: nothing else would end the statement,
            # and no write could begin beside what it sees once another process has written.
            # Replaced before it is closed: another interrupt may come between the two.
            ended, self._asking = self._asking, self._apsw.cursor()
            ended.close(True)
            raise
        return version

    @property
    def busy_wait_s(self) -> float:
        """Return how many seconds a lock of another connection is waited for."""
        return self._busy.limit_s

    def truncate_log(self, wait_s: float) -> bool:
        """Move the write-ahead log into the database and empty it; return whether that worked.

        Pages in RAM are let go: they may hold leftovers of rows that the next write would put
        into the log again.  What keeps it from working (a reader elsewhere, a full disk) may pass.
        """
        try:
            with self._waiting_at_most(wait_s):
                blocked = self.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
                self.rows("PRAGMA shrink_memory")
        except StoreError:
            return False
        return not blocked

    @contextmanager
    def _waiting_at_most(self, wait_s: float) -> Iterator[None]:
        """Wait no longer for locks of other connections, nor longer than usual."""
        usual, self._busy.limit_s = self._busy.limit_s, min(wait_s, self._busy.limit_s)
        try:
            yield
        finally:
            self._busy.limit_s = usual

    def count_log(self) -> bool:
        """Count the log's frames, no longer moving it in commits; or return that it cannot be."""
        self._asked_version()  # which opens the log
        log = _core.LogIndex(file_address(self._apsw))
        if not log.header():
            return False
        self._log = log
        self.rows("PRAGMA wal_autocheckpoint = 0")
        return True

    def gather_frames(self) -> None:
        """Let what a commit appends to the write-ahead log be written in one piece."""
        self._asked_version()  # which opens the log
        _core.gather_frames(log_address(self._apsw), self.rows("PRAGMA page_size")[0][0])

    def log_frames(self) -> int:
        """Return how many frames the write-ahead log has; 0 where that cannot be told."""
        return 0 if self._log is None else self._log.frames()

    def move_log(self, alone_within_s: float | None = None) -> bool:
        """Move what is committed into the database, as far as no reader needs what is there.

        With ``alone_within_s`` no process writes meanwhile, so that the log may begin anew; who
        writes or reads what is old just now is waited for so many seconds at most.  Returns False
        where another connection is moving it.
        """
        let_forks_go_first()
        mode = "PASSIVE" if alone_within_s is None else "FULL"
        with self._waiting_at_most(alone_within_s or 0.0):
            return bool(self.rows(f"PRAGMA wal_checkpoint({mode})")[0][2] >= 0)

    def copy_into(self, path: str) -> None:
        """Write a compact copy of what is committed now to a file that is empty or not there."""
        # Called now and then, so that Ctrl-C ends a long copy.
        self._apsw.set_progress_handler(lambda: False, _STEPS_BETWEEN_SIGNALS)
        try:
            self.run("VACUUM INTO ?", (path,))
        finally:
            self._apsw.set_progress_handler(None)

    def replace_with(self, other: Connection) -> None:
        """Let this database hold what another does, in one transaction."""
        try:
            with self._apsw.backup("main", other._apsw, "main") as copy:
                while not copy.done:
                    # A piece at a time, so that Ctrl-C ends it; the last one commits.
                    copy.step(_PAGES_PER_STEP)
        except REFUSALS as exc:
            raise self._failure(exc) from exc

    def remove_log(self) -> None:
        """Let closing move the write-ahead log into the database and remove it."""
        self._apsw.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)

    def close(self) -> None:
        """Close the connection."""
        self._log = None
        try:
            self._apsw.close()
        except REFUSALS as exc:
            raise self._failure(exc) from exc

    def use(self) -> Use:
        """Return what the connection is doing; asked by a thread that is about to fork."""
        try:
            return Use.TRANSACTION if self._apsw.in_transaction else Use.NONE
        except apsw.ThreadingViolationError:
            return Use.CALL
        except REFUSALS:
            return Use.NONE  # closed

    def leave(self, *, close: bool) -> None:
        """Never use the connection again: it belongs to the process that forked this one."""
        inherited, self._log = self._apsw, None
        self._apsw = self._asking = Inherited(self.path)  # type: ignore[assignment]
        if close:
            with suppress(*REFUSALS):
                # Without a checkpoint: the log is the parent's as well.
                inherited.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                inherited.close(True)
        else:
            # It outlives even the interpreter's shutdown, which would close it.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(inherited))
