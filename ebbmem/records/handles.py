"""The file that SQLite has open for a connection."""

from __future__ import annotations

import ctypes

import apsw


def file_address(connection: apsw.Connection) -> int:
    """Return where the ``sqlite3_file`` of a connection's database is; 0 where there is none."""
    address = ctypes.c_void_p()
    connection.file_control("main", apsw.SQLITE_FCNTL_FILE_POINTER, ctypes.addressof(address))
    return address.value or 0
