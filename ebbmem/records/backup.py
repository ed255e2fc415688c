"""A copy of a store in another file: whole, of one moment, and in place only once it is safe."""

from __future__ import annotations

import os
from contextlib import closing

from ebbmem.errors import InvalidArgument, LockTimeout, NotAStore, StorageFailed
from ebbmem.records.connection import MEMORY_PATH, Connection
from ebbmem.records.header import read_header

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
        If pages of the store are damaged.
    StorageFailed
        If the copy cannot be written.
    """
    _require_free(target)
    part = f"{target}.part"
    try:
        try:
            make_like(part, connection.path)
            connection.copy_into(part)
            sync(part)
            size = os.stat(part).st_size
            os.replace(part, target)
            sync(os.path.dirname(target))
        except OSError as exc:
            raise StorageFailed(f"{target}: it cannot be written: {exc.strerror}") from exc
    except BaseException:
        # A half copy of somebody's memories is not left lying about.
        remove(part)
        raise
    return size


def sync(path: str) -> None:
    """Wait until a file, or the names in a folder, have reached the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: str) -> None:
    """Remove a file where it is there."""
    if os.path.lexists(path):
        os.unlink(path)


def make_like(path: str, like: str) -> None:
    """Make an empty file that only those can read who can read the store."""
    remove(path)
    mode = 0o600 if like == MEMORY_PATH else os.stat(like).st_mode & 0o777
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))


def _require_free(target: str) -> None:
    """Refuse a target that must not be replaced; settle the log of one that may be."""
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
    with closing(Connection(target, 0.0)) as connection:
        try:
            connection.rows("PRAGMA locking_mode = EXCLUSIVE")
            # Needs every lock there is, so it fails while anybody has it open, this process
            # included; afterwards no log is left that could be taken for the copy's.
            connection.rows("PRAGMA journal_mode = DELETE")
        except LockTimeout as exc:
            raise InvalidArgument.of("path", _EXPECTED, target) from exc
