"""A copy of a store in another file: whole, of one moment, and in place only once it is safe."""

# ruff: noqa: S608 - names of tables and columns come from `tables`, and no value does.
from __future__ import annotations

import os
from contextlib import closing

from ebbmem.errors import CorruptStore, InvalidArgument, LockTimeout, NotAStore, StorageFailed
from ebbmem.records.connection import Connection
from ebbmem.records.header import lies_beside_database, read_header, require_folder
from ebbmem.records.opened import MEMORY_PATH
from ebbmem.records.parts import part_of, remove
from ebbmem.records.tables import TABLES

_EXPECTED = "a new file, or an older backup that nobody has open"


def back_up(connection: Connection, target: str) -> int:
    """Copy what a store has committed to another file and return its bytes.

    Parameters
    ----------
    connection : Connection
        On the store, outside a transaction.  Writers go on meanwhile.
    target : str
        Absolute path.  The copy is written beside it, synced to disk and moved into place; until
        then what was there stays.

    Raises
    ------
    InvalidArgument
        If there is something else than a store, or a store that is open.
    CorruptStore
        If pages of the store are damaged, or a row of the copy does not match its checksum: then
        what was there before stays.
    LockTimeout
        If another call is making the same copy.
    StorageFailed
        If the copy cannot be written.
    """
    require_folder(target)
    try:
        with part_of(target, _mode_of(connection.path)) as part:
            _require_free(target)
            # Of a process that was killed in the middle.
            remove(f"{part}-journal")
            connection.copy_into(part)
            with closing(Connection(part, 0.0)) as copy:
                _require_whole(copy, connection.path)
            sync(part)
            size = os.stat(part).st_size
        sync(os.path.dirname(target))
    except OSError as exc:
        raise StorageFailed(f"{target}: it cannot be written: {exc.strerror}") from exc
    return size


def _require_whole(copy: Connection, path: str) -> None:
    """Raise CorruptStore where a row of a copy is not as it was written."""
    for table in TABLES:
        columns = ", ".join(f'"{column}"' for column in table.columns)
        for row in copy.each(f"SELECT {columns} FROM {table.name}"):
            if not table.whole(row):
                raise CorruptStore(
                    f"{path}: {table.name} {table.label(row)} does not match its checksum, so no"
                    " backup was made; see `verify` and `repair`"
                )


def sync(path: str) -> None:
    """Wait until a file, or the names in a folder, have reached the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_like(path: str, like: str) -> None:
    """Make an empty file that only those can read who can read the store."""
    remove(path)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _mode_of(like)))


def _mode_of(path: str) -> int:
    """Return who may read a store."""
    return 0o600 if path == MEMORY_PATH else os.stat(path).st_mode & 0o777


def _require_free(target: str) -> None:
    """Refuse a target that must not be replaced; settle the log of one that may be."""
    if lies_beside_database(target):
        raise InvalidArgument.of("path", _EXPECTED, target)
    try:
        header = read_header(target)
    except NotAStore as exc:
        raise InvalidArgument.of("path", _EXPECTED, target) from exc
    if header is None:
        if os.path.exists(target):
            raise InvalidArgument.of("path", _EXPECTED, f"a file of 0 bytes, {target}")
        for end in ("-wal", "-journal"):
            if os.path.exists(target + end):
                # SQLite would take it for the log of the copy, and put it into that.
                raise InvalidArgument.of("path", f"no log of another store ({end})", target)
        return
    try:
        with closing(Connection(target, 0.0)) as connection:
            connection.rows("PRAGMA locking_mode = EXCLUSIVE")
            # Needs every lock there is, so it fails while anybody has it open, this process
            # included; afterwards no log is left that could be taken for the copy's.
            connection.rows("PRAGMA journal_mode = DELETE")
    except LockTimeout as exc:
        raise InvalidArgument.of("path", _EXPECTED, target) from exc
