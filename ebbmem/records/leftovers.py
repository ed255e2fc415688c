"""Pages of the database file without old copies of rows in the room they do not use.

``PRAGMA secure_delete`` zeroes what is deleted where it lies.  A page out of which SQLite moved
rows, because a neighbour had room or it had none, keeps old copies of them where no row lies now;
a row that is deleted in its new place would live on there.
"""

from __future__ import annotations

import ctypes

import apsw

from ebbmem import _core
from ebbmem.errors import StorageFailed


def write_without_leftovers(connection: apsw.Connection, path: str) -> None:
    """Let a connection write every page of its database file with zeros in its unused room.

    Parameters
    ----------
    connection : apsw.Connection
        On a file; nothing was written by it yet.
    path : str
        The file, for the error message.

    Raises
    ------
    StorageFailed
        If SQLite shows no open file.

    Notes
    -----
    In write-ahead mode these are the pages that checkpoints write.  The log itself, and pages in
    RAM, may hold leftovers until the log is emptied and the pages are let go (``Connection.
    truncate_log``).
    """
    address = ctypes.c_void_p()
    connection.file_control("main", apsw.SQLITE_FCNTL_FILE_POINTER, ctypes.addressof(address))
    if not _core.write_without_leftovers(address.value or 0):
        raise StorageFailed(f"{path}: SQLite shows no open file")
