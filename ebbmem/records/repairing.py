"""Mending a store's file: a new one is made of what is sound, and takes its place in one step.

The store is locked by SQLite's own exclusive lock from the first look to the last byte, and its
new content goes into the same file as one SQLite transaction: a process that is killed anywhere
leaves the store as it was before, or mended.  Renaming another file over it would not do: whoever
has the old one open would go on writing to a file without a name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

from ebbmem.clock import to_datetime
from ebbmem.errors import CorruptStore, EbbmemError, LockTimeout, StorageFailed
from ebbmem.records.backup import make_like, sync
from ebbmem.records.base import Checked
from ebbmem.records.checks import check
from ebbmem.records.connection import Connection
from ebbmem.records.header import read_pieces
from ebbmem.records.looking import require_store
from ebbmem.records.migrate import (
    apply_migrations,
    require_known_version,
    schema_version,
    stored_tables,
)
from ebbmem.records.parts import remove
from ebbmem.records.quarantine import Quarantine
from ebbmem.records.salvage import Salvage
from ebbmem.reports import RepairReport

_PIECE: Final = 1 << 20
_LOGS: Final = ("", "-wal", "-journal", "-shm")


def repaired(path: str, *, now_us: int, busy_wait_s: float) -> RepairReport:
    """Mend a store and return what was found and done.

    Parameters
    ----------
    path : str
        Absolute path of a file that nobody has open.
    now_us : int
        UTC microseconds since 1970; names what is left beside the store.
    busy_wait_s : float
        Seconds to wait for others to close it.

    Raises
    ------
    NotAStore, StoreTooNew
        If it is no store, or of a newer ebbmem; it is left as it was.
    LockTimeout
        If it is open elsewhere.
    CorruptStore
        If not even its schema can be read.
    StorageFailed
        If the disk is full or refuses; the store is as it was.
    """
    require_store(path)
    with _locked(path, busy_wait_s) as connection:
        require_known_version(schema_version(connection), path)
        before = _checked(connection)
        if not before.problems:
            return RepairReport(path, 0, (), (), before.rows, 0, None, None)
        try:
            return _mended(connection, before, now_us)
        except OSError as exc:
            raise StorageFailed(f"{path}: it cannot be repaired: {exc.strerror}") from exc


def _mended(connection: Connection, before: Checked, now_us: int) -> RepairReport:
    """Make a new store of what is sound, and let it take the place of the damaged one."""
    path = connection.path
    stamp = _stamp(path, now_us)
    kept = f"{path}.damaged-{stamp}"
    aside = f"{path}.quarantine-{stamp}.jsonl"
    as_it_was = True
    try:
        for end in ("", "-wal"):
            _copy(path + end, kept + end, path)
        with _files(path, aside) as (new, quarantine):
            after = _salvaged(connection, new, quarantine, now_us)
            if quarantine.rows:
                os.replace(f"{aside}.part", aside)
                sync(os.path.dirname(path))
            # From here on an interrupt may come after the commit: the only copy of what was taken
            # out would go with what is removed below.
            as_it_was = False
            try:
                connection.replace_with(new)
            except EbbmemError:
                as_it_was = True
                raise
            connection.remove_log()
    except BaseException:
        if as_it_was:  # nothing tells of a repair
            for end in ("", "-wal", ".part", "-wal.part"):
                remove(kept + end)
            remove(aside)
        raise
    return RepairReport(
        path,
        before.problems,
        tuple(before.findings),
        tuple(quarantine.done),
        after.rows,
        quarantine.rows,
        aside if quarantine.rows else None,
        kept,
    )


@contextmanager
def _files(path: str, aside: str) -> Iterator[tuple[Connection, Quarantine]]:
    """Make the new store and the quarantine, which only those can read who can read the store."""
    work = [*(f"{path}.repairing{end}" for end in _LOGS), f"{aside}.part"]
    try:
        for name in work:
            remove(name)
        for name in (work[0], work[-1]):
            make_like(name, path)
        with (
            closing(Connection(work[0], 0.0)) as new,
            open(work[-1], "w", encoding="utf-8") as file,
        ):
            yield new, Quarantine(file)
    finally:
        for name in work:
            remove(name)


def _salvaged(
    connection: Connection, new: Connection, quarantine: Quarantine, now_us: int
) -> Checked:
    """Fill a new store, and check it."""
    # Nobody else sees it, and what is not whole is thrown away.
    new.rows("PRAGMA journal_mode = OFF")
    new.rows("PRAGMA synchronous = OFF")
    apply_migrations(new, now_us)
    new.begin("IMMEDIATE")
    connection.begin("DEFERRED")
    try:
        Salvage(connection, new, quarantine).run(stored_tables(connection))
    finally:
        connection.rollback()
    new.commit()
    quarantine.sync()
    after = check(new)
    if after.problems:
        raise CorruptStore(f"{connection.path}: it cannot be repaired: {after.findings[0]}")
    return after


@contextmanager
def _locked(path: str, busy_wait_s: float) -> Iterator[Connection]:
    """Open a store so that nobody else can, until it is closed."""
    had_log = os.path.exists(f"{path}-wal") and os.stat(f"{path}-wal").st_size > 0
    with closing(Connection(path, busy_wait_s)) as connection:
        connection.rows("PRAGMA locking_mode = EXCLUSIVE")
        try:
            # In that mode the lock stays when the transaction ends.
            connection.begin("EXCLUSIVE")
            connection.commit()
        except LockTimeout as exc:
            raise LockTimeout(f"{path}: it is open elsewhere; close it there first") from exc
        if not had_log:
            # Reading made an empty one.
            connection.remove_log()
        yield connection


def _checked(connection: Connection) -> Checked:
    connection.begin("DEFERRED")
    try:
        return check(connection)
    finally:
        connection.rollback()


def _stamp(path: str, now_us: int) -> str:
    """Return what the names of the files beside the store end in, new for every repair."""
    first = stamp = f"{to_datetime(now_us):%Y%m%dT%H%M%SZ}"
    count = 1
    while os.path.exists(f"{path}.damaged-{stamp}"):
        count += 1
        stamp = f"{first}-{count}"
    return stamp


def _copy(source: str, target: str, like: str) -> None:
    """Copy a file of the store byte by byte, where there is anything in it."""
    if not os.path.exists(source) or os.stat(source).st_size == 0:
        return
    make_like(f"{target}.part", like)
    with open(f"{target}.part", "wb") as file:
        for piece in read_pieces(source, _PIECE):
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{target}.part", target)
    sync(os.path.dirname(target))
