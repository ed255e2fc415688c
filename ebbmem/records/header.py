"""Look at a file before it is opened as a store, without changing a byte."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import closing
from typing import Final, NamedTuple

import apsw

from ebbmem.errors import InvalidArgument, NotAStore, StorageFailed
from ebbmem.records.failures import translated

APPLICATION_ID: Final = int.from_bytes(b"ebbm", "big")
"""Marks a file as a store, in SQLite's header."""

_MAGIC: Final = b"SQLite format 3\0"
_JOURNAL_MAGIC: Final = bytes.fromhex("d9d505f920a163d7")
_SHARED_MEMORY: Final = "-shm"
_BESIDE: Final = ("-wal", "-journal", _SHARED_MEMORY)
_HEADER_SIZE: Final = 100


class Header(NamedTuple):
    """What the first page of a store says."""

    schema_version: int
    """Number of migrations applied; a newer one may still wait in the write-ahead log."""


def read_header(path: str) -> Header | None:
    """Return the header of the store at a path, or None where a new one can be made.

    A missing file and a file of 0 bytes count as new; so does one whose first bytes a power cut
    kept from the disk while it was being made, which SQLite's journal beside it says.

    Raises
    ------
    NotAStore
        If there is something else.
    StorageFailed
        If it cannot be read, is a folder, or its folder does not exist.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        require_folder(path)
        return None
    except ValueError as exc:
        raise InvalidArgument.of("path", "a path without NUL", path) from exc
    except OSError as exc:
        raise StorageFailed(f"{path}: it cannot be read: {exc.strerror}") from exc
    if stat.S_ISDIR(status.st_mode):
        raise StorageFailed(f"{path}: expected a file, got a folder")
    if not stat.S_ISREG(status.st_mode):
        raise NotAStore(f"{path}: expected a regular file")
    if _is_shared_memory(path):
        raise NotAStore(f"{path}: it lies beside a database, whose locks are kept in it")
    start = _first_bytes(path) if status.st_size else b""
    return _parsed(path, start) if any(start) or not _is_being_made(path, start) else None


def _is_being_made(path: str, start: bytes) -> bool:
    """Return whether a file that begins with zeros is what SQLite will take back to 0 bytes."""
    journal = f"{path}-journal"
    if not start:
        return True
    if not os.path.isfile(journal):
        return False
    header = _first_bytes(journal)
    # After the magic: the number of pages in it, a nonce, and the pages of the file before.
    return header.startswith(_JOURNAL_MAGIC) and not any(header[16:20])


def belongs_to_database(path: str) -> bool:
    """Return whether a path is an SQLite file, or lies beside one as its log or shared memory."""
    real = os.path.realpath(path)
    return lies_beside_database(real) or _is_database(real)


def lies_beside_database(path: str) -> bool:
    """Return whether a path is that of the log or the shared memory of an SQLite file."""
    return any(path.endswith(end) and _is_database(path.removesuffix(end)) for end in _BESIDE)


def _is_database(path: str) -> bool:
    if not os.path.isfile(path) or _is_shared_memory(path):
        return False
    return _first_bytes(path).startswith(_MAGIC)


def _is_shared_memory(path: str) -> bool:
    """Return whether opening a path, and closing it, may drop locks of this process."""
    return path.endswith(_SHARED_MEMORY) and os.path.isfile(path.removesuffix(_SHARED_MEMORY))


def require_folder(path: str) -> None:
    """Raise StorageFailed where the folder of a path does not exist."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise StorageFailed(f"{path}: its folder {folder} does not exist")


def _first_bytes(path: str) -> bytes:
    """Return the start of a file."""
    with closing(read_pieces(path, _HEADER_SIZE)) as pieces:
        return next(pieces, b"")


def read_pieces(path: str, size: int) -> Generator[bytes, None, None]:
    """Yield the bytes of a database file in pieces."""
    # Through SQLite's own file layer: closing a plain file would drop the locks that this
    # process holds on it (POSIX locks belong to the process, not to the descriptor).
    flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY
    try:
        file = apsw.VFSFile("", path, [flags, 0])
        try:
            left, at = file.xFileSize(), 0
            while left > 0:
                yield file.xRead(min(size, left), at)
                left, at = left - size, at + size
        finally:
            file.xClose()
    except apsw.CantOpenError as exc:
        reason = "no permission" if not os.access(path, os.R_OK) else str(exc)
        raise StorageFailed(f"{path}: it cannot be opened: {reason}") from exc
    except apsw.Error as exc:
        raise translated(exc, path) from exc


def _parsed(path: str, start: bytes) -> Header:
    if len(start) < _HEADER_SIZE or not start.startswith(_MAGIC):
        raise NotAStore(f"{path}: it is not an SQLite file; it was left as it was")
    if int.from_bytes(start[68:72], "big") != APPLICATION_ID:
        raise NotAStore(f"{path}: another program's SQLite file; it was left as it was")
    return Header(int.from_bytes(start[60:64], "big"))
