"""SQLite connections as they are before anything is read through them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final

import apsw

from ebbmem.errors import LockTimeout, StorageFailed, StoreInUse
from ebbmem.records.busy import LONGEST_NAP_S, BusyWait
from ebbmem.records.leftovers import write_without_leftovers

MEMORY_PATH: Final = ":memory:"
_OLDEST_SQLITE: Final = (3, 51, 3)
_FLAGS: Final = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_EXRESCODE
_SETTINGS: Final = (
    (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
    (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
    (apsw.SQLITE_DBCONFIG_DQS_DDL, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
    # Until the file is known to be ours, closing it must not write to it.
    (apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1),
)
_PHASES: Final = 7


def opened(path: str, busy: BusyWait, *, alone: bool) -> apsw.Connection:
    """Open a file with the settings that every connection has.

    Parameters
    ----------
    path : str
        Absolute path, or ``":memory:"``.
    busy : BusyWait
        What waits for locks of others, but for the one of ``alone``.
    alone : bool
        Whether to lock the file against every other connection, of this process too, until this
        one is closed.

    Raises
    ------
    apsw.BusyError
        If ``alone`` and the file is open elsewhere.
    StorageFailed
        If the file is read-only.
    """
    connection = apsw.Connection(path, flags=_FLAGS, statementcachesize=200)
    try:
        for setting, value in _SETTINGS:
            connection.config(setting, value)
        _require_writable(connection, path)
        if path != MEMORY_PATH:
            write_without_leftovers(connection, path)
        if alone:
            _lock(connection)
        # Before what may need another lock, the switch to write-ahead logging above all.
        connection.set_busy_handler(busy)
    except BaseException:
        connection.close(True)
        raise
    return connection


def _require_writable(connection: apsw.Connection, path: str) -> None:
    if connection.readonly("main"):
        raise StorageFailed(f"{path}: the file is read-only")


def _lock(connection: apsw.Connection) -> None:
    """Lock a file against every other connection until this one is closed."""
    # Before the first look at the file: a write-ahead log that is there is then read without
    # memory shared with others.
    connection.pragma("locking_mode", "exclusive")
    # In that mode the lock, SQLite's own, stays when the transaction ends.  Committing would make a
    # new file a database that is not marked as ours.
    connection.execute("BEGIN EXCLUSIVE").fetchall()
    connection.execute("ROLLBACK").fetchall()


def open_alone(path: str, kind: str, wait_s: float, attempt: Callable[[], None]) -> None:
    """Try to open a file alone until it is open nowhere else.

    Parameters
    ----------
    path, kind : str
        The file, and the type of its file system, for the message.
    wait_s : float
        Seconds after which it is given up.
    attempt : callable
        Raises LockTimeout at once, and keeps nothing open, where the file is open elsewhere: of
        two that wait, each holding a part of the lock, neither would get all of it.

    Raises
    ------
    StoreInUse
        If it stays open elsewhere.
    """
    deadline = time.monotonic() + wait_s
    # Of two processes that try at one moment each comes back at another one.
    nap_s = LONGEST_NAP_S * (1 + os.getpid() % _PHASES) / _PHASES
    while True:
        try:
            return attempt()
        except LockTimeout as exc:
            if time.monotonic() >= deadline:
                raise in_use(path, kind) from exc
        time.sleep(nap_s)


def in_use(path: str, kind: str) -> StoreInUse:
    """Return the error of who opens a file that another keeps to itself."""
    return StoreInUse(
        f"{path}: it is open elsewhere, and on a file system of type {kind} only one process at a"
        " time may have it open; close it there first, let one process serve the others, or move"
        " the store to a local disk"
    )


def require_safe_sqlite(version: str, path: str) -> None:
    """Raise StorageFailed where SQLite has the log-reset bug that loses commits."""
    if tuple(int(part) for part in version.split(".")[:3]) < _OLDEST_SQLITE:
        oldest = ".".join(str(part) for part in _OLDEST_SQLITE)
        raise StorageFailed(
            f"{path}: expected SQLite {oldest} or newer, which keeps every commit, got {version};"
            " install the apsw wheel from PyPI, which brings its own SQLite"
        )
