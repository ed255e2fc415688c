"""The files that SQLite has open for a connection."""

from __future__ import annotations

import ctypes

import apsw

from ebbmem import _core


def file_address(connection: apsw.Connection) -> int:
    """Return where the ``sqlite3_file`` of a connection's database is; 0 where there is none."""
    return _address(connection, apsw.SQLITE_FCNTL_FILE_POINTER)


def log_address(connection: apsw.Connection) -> int:
    """Return where the ``sqlite3_file`` is of the log that a connection has read or written."""
    return _address(connection, apsw.SQLITE_FCNTL_JOURNAL_POINTER)


def let_frames_wait(connection: apsw.Connection, *, may_wait: bool) -> None:
    """Let what a commit appends to the log wait, to be written in one piece; or forget it."""
    _core.let_frames_wait(log_address(connection), may_wait)


def _address(connection: apsw.Connection, which: int) -> int:
    address = ctypes.c_void_p()
    connection.file_control("main", which, ctypes.addressof(address))
    return address.value or 0
