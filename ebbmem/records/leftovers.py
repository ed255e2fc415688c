"""Pages of the database file without old copies of rows in the room they do not use.

``PRAGMA secure_delete`` zeroes what is deleted where it lies.  A page out of which SQLite moved
rows, because a neighbour had room or it had none, keeps old copies of them where no row lies now;
a row that is deleted in its new place would live on there.
"""

from __future__ import annotations

import apsw

from ebbmem import _core
from ebbmem.errors import StorageFailed
from ebbmem.records.handles import file_address


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
    if not _core.write_without_leftovers(file_address(connection)):
        raise StorageFailed(f"{path}: SQLite shows no open file")
