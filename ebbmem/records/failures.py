"""What SQLite's errors mean to the caller, in one place."""

from __future__ import annotations

import os
from typing import Final

import apsw

from ebbmem.errors import (
    CorruptStore,
    EbbmemError,
    InvalidArgument,
    LockTimeout,
    StorageFailed,
    StoreClosed,
)

_KINDS: Final[tuple[tuple[type[Exception], type[EbbmemError], str], ...]] = (
    (apsw.BusyError, LockTimeout, "another connection held the lock for longer than busy_wait_s"),
    (apsw.LockedError, LockTimeout, "another statement held the lock"),
    (apsw.CorruptError, CorruptStore, "the database is damaged"),
    (apsw.NotADBError, CorruptStore, "the database is damaged"),
    (apsw.SQLError, CorruptStore, "the schema is not the expected one"),
    (apsw.ConstraintError, InvalidArgument, "the row is not allowed"),
    (apsw.MismatchError, InvalidArgument, "the row is not allowed"),
    (apsw.TooBigError, InvalidArgument, "the value is too long"),
    (UnicodeEncodeError, InvalidArgument, "the text holds a lone surrogate"),
    (UnicodeDecodeError, CorruptStore, "a stored text is not UTF-8"),
    (OverflowError, InvalidArgument, "the integer needs more than 64 bits"),
    (apsw.ConnectionClosedError, StoreClosed, "the store was closed"),
    (apsw.CursorClosedError, StoreClosed, "the store was closed"),
    (apsw.FullError, StorageFailed, "the disk is full"),
    (apsw.ReadOnlyError, StorageFailed, "the file or its folder is read-only"),
    (apsw.CantOpenError, StorageFailed, "it cannot be opened"),
    (apsw.PermissionsError, StorageFailed, "access was refused"),
    (apsw.IOError, StorageFailed, "reading or writing failed"),
)
_CLOSED: Final = (apsw.ConnectionClosedError, apsw.CursorClosedError)
# After a failed sync nobody knows what reached the disk, and a second one may falsely succeed.
_SYNCS: Final = (apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC)


REFUSALS: Final = (apsw.Error, UnicodeError, OverflowError)
"""What a statement can raise: SQLite's errors, and values that it or Python has no form for."""


def translated(exc: Exception, path: str, *, errno: int = 0, reading: bool = False) -> EbbmemError:
    """Return the error of ebbmem that an error of SQLite stands for.

    Parameters
    ----------
    exc : Exception
        One of REFUSALS.
    path : str
        The store's file, for the message.
    errno : int
        The operating system's error number behind it; 0 when there is none.
    reading : bool
        Whether a question or a deletion raised it: then it is a damaged row that claims to be too
        long, or names another.
    """
    if reading and isinstance(exc, (apsw.TooBigError, apsw.ConstraintError)):
        return CorruptStore(f"{path}: the database is damaged ({exc})")
    meanings = ((ours, reason) for kind, ours, reason in _KINDS if isinstance(exc, kind))
    ours, reason = next(meanings, (StorageFailed, "SQLite refused"))
    system = f": {os.strerror(errno)}" if errno and ours is StorageFailed else ""
    return ours(f"{path}: {reason}{system} ({exc})")


def errno_behind(exc: Exception, connection: apsw.Connection) -> int:
    """Return the operating system's error number behind an error of a connection, or 0."""
    # One that another thread has closed does not tell.
    return 0 if isinstance(exc, _CLOSED) else connection.system_errno


def lost_a_sync(exc: Exception) -> bool:
    """Return whether SQLite could not sync a file to disk."""
    return getattr(exc, "extendedresult", 0) in _SYNCS
