"""A store's file looked at as it is: nothing is written, not even where it is damaged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ebbmem.errors import NotAStore, StorageFailed
from ebbmem.records.connection import Connection
from ebbmem.records.header import read_header
from ebbmem.records.migrate import require_known_version, schema_version


def require_store(path: str) -> None:
    """Refuse what is not a store that this library knows.

    Raises
    ------
    NotAStore
        If it is another file, or holds nothing.
    StoreTooNew
        If a newer ebbmem wrote it.
    StorageFailed
        If it is not there or cannot be read.
    """
    header = read_header(path)
    if header is None:
        if os.path.exists(path):
            raise NotAStore(f"{path}: it has 0 bytes; it was left as it was")
        raise StorageFailed(f"{path}: there is no such file")
    require_known_version(header.schema_version, path)


@contextmanager
def looked_at(path: str, busy_wait_s: float) -> Iterator[Connection]:
    """Open a store for reading, in one transaction, whatever state it is in.

    Raises
    ------
    NotAStore, StoreTooNew
        If it is no store, or of a newer ebbmem.
    CorruptStore
        If SQLite cannot read its first page.
    StorageFailed
        If it is not there or cannot be read.
    """
    require_store(path)
    had_log = _size(f"{path}-wal") > 0
    connection = Connection(path, busy_wait_s)
    try:
        connection.run("PRAGMA query_only = ON")
        connection.begin("DEFERRED")
        # Without the log the header may be an old one.
        require_known_version(schema_version(connection), path)
        yield connection
        connection.rollback()
        if not had_log and _size(f"{path}-wal") == 0:
            # Nothing to move: only the empty files go that reading has made.
            connection.remove_log()
    finally:
        connection.close()


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
