"""Which journal a store has, and how far a commit goes."""

from __future__ import annotations

import inspect
import time
import warnings
from contextlib import suppress
from typing import Final

from ebbmem.errors import LockTimeout
from ebbmem.records.busy import LONGEST_NAP_S
from ebbmem.records.connection import Connection
from ebbmem.records.opened import MEMORY_PATH, in_use

_SYNCHRONOUS: Final = {"process": "NORMAL", "power": "FULL"}
DURABILITIES: Final = tuple(_SYNCHRONOUS)
_OURS: Final = frozenset({"contextlib", "ebbmem"})


def settle_journal(connection: Connection, durability: str) -> bool:
    """Choose write-ahead logging, and how far a commit goes; return whether there is a log.

    Parameters
    ----------
    connection : Connection
        The one that writes.
    durability : str
        ``"process"``: a commit outlives the process.  ``"power"``: also a power cut.

    Raises
    ------
    StoreInUse
        If only one connection may have the file open, and another has.

    Notes
    -----
    On a network file system, where the log's shared memory is not shared and caches may lag behind,
    the rollback journal and full syncs are used instead, with a warning, and the file is locked
    from its opening until it is closed.
    """
    if connection.path == MEMORY_PATH:
        return False
    alone = connection.kept_from_others
    # An emptied journal: one that stays would keep copies of what is erased.
    logs = _switch(connection, "TRUNCATE" if alone else "WAL") == "wal"
    if logs:
        connection.run(f"PRAGMA synchronous = {_SYNCHRONOUS[durability]}")
    else:
        if not alone:
            _keep_from_others(connection)
        warnings.warn(
            f"{connection.path} is on a file system ({alone or 'unknown'}) that cannot share a"
            " write-ahead log: until this process closes the store no other can open it, and"
            " commits are slower",
            RuntimeWarning,
            stacklevel=_calls_up(),
        )
    connection.remove_log()
    return logs


def _calls_up() -> int:
    """Return how many calls up a warning of the caller's belongs: to where a store is opened."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals["__name__"].partition(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    return level


def _keep_from_others(connection: Connection) -> None:
    """Lock a file that looked local, but where SQLite has no memory to share."""
    try:
        connection.run("BEGIN EXCLUSIVE")
    except LockTimeout as exc:
        raise in_use(connection.path, "unknown") from exc
    # In that mode the lock stays when the transaction ends.
    connection.rows("PRAGMA locking_mode = EXCLUSIVE")
    connection.run("COMMIT")
    _switch(connection, "TRUNCATE")


def _switch(connection: Connection, mode: str) -> str:
    """Set the journal mode and return it; SQLite does not always ask the busy handler here."""
    deadline = time.monotonic() + connection.busy_wait_s
    while time.monotonic() < deadline:
        with suppress(LockTimeout):
            return _set(connection, mode)
        time.sleep(LONGEST_NAP_S)
    return _set(connection, mode)


def _set(connection: Connection, mode: str) -> str:
    return str(connection.rows(f"PRAGMA journal_mode = {mode}")[0][0])
