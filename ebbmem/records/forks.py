"""Connections, and the forks of the process that has them.

SQLite keeps for the whole process which locks its connections hold on a file.  A forked child
inherits that belief and none of the kernel's locks: what was locked at the fork would seem locked
for ever, and a connection opened in the child would take no lock of its own, so that the last other
process to close the file would remove the log, with the child's commits, under it.

So a fork waits, up to a bound, until no connection is in use, and the child closes those it
inherited: SQLite then believes in no lock, and neither the file nor a lock of the parent's is
touched.  Where one was in use after all, its file cannot be opened in the child.

C code may fork by the C library alone, so that no hook of Python's runs: then the child leaves its
connections when it next begins a transaction, or asks whether anything was committed.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Final, NoReturn, Protocol

from ebbmem import _core
from ebbmem.errors import ForkedStore
from ebbmem.records.identity import renew as renew_ids

_NAP_S: Final = 0.001
_MOST_NAPS: Final = 500


class Use(Enum):
    """What a connection is doing: nothing, between the calls of a transaction, or in a call."""

    NONE = 0
    TRANSACTION = 1
    CALL = 2


class Forkable(Protocol):
    """A connection that a forked child inherits."""

    path: str

    def use(self) -> Use:
        """Return what the connection is doing."""

    def leave(self, *, close: bool) -> None:
        """In the child: never use the connection again, and close it if that is safe."""


_connections: Final[dict[int, weakref.ref[Forkable]]] = {}
_opening: Final[set[object]] = set()
_calm = threading.Event()
"""Cleared while a fork waits: transactions that have not begun let it go first."""
_calm.set()
_process: object = object()
"""This process: another one in every forked child."""
_forks = _core.forks()
"""What the C library says of this process; another number where C code forked it."""
_closed_to_us: Final[set[tuple[int, int]]] = set()
"""Files (device, inode) that SQLite believes to be locked, for ever, in this process."""


def this_process() -> object:
    """Return what is the same within this process, and another in a forked child.

    Unlike ``os.getpid`` it takes no system call, after which a recall is slower for a while.
    """
    return _process


@contextmanager
def opening(path: str) -> Iterator[None]:
    """Mark the time in which a connection is opened.

    Raises
    ------
    ForkedStore
        If this process was forked in the middle of a call or transaction on the file.
    """
    if _closed_to_us and identity(path) in _closed_to_us:
        raise ForkedStore(
            f"{path}: this process was forked in the middle of a call on it, and cannot open it;"
            " fork between calls, or start a fresh process"
        )
    mark = object()
    _opening.add(mark)
    try:
        yield
    finally:
        _opening.discard(mark)


def watch(connection: Forkable) -> None:
    """Let forks wait for a connection, and children leave it."""
    key = id(connection)
    _connections[key] = weakref.ref(connection, lambda _: _connections.pop(key, None))


def notice_fork() -> None:
    """Leave what belongs to the parent where C code forked this process without Python's hooks."""
    if _core.forks() != _forks:
        _leave_inherited()
        renew_ids()


def let_forks_go_first() -> None:
    """Wait, before a transaction, for a fork that waits for quiet."""
    notice_fork()
    if not _calm.is_set() and not _calm.wait(_MOST_NAPS * _NAP_S):
        # No fork waits for so long: Ctrl-C came before it could tell that it is over.
        _calm.set()


def forked(path: str) -> ForkedStore:
    """Return the error of a child process that uses its parent's store."""
    return ForkedStore(f"{path}: opened before this process was forked; open it again here")


class Inherited:
    """Stands where a connection was that only the parent process may use."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        raise forked(self._path)


def _alive() -> list[Forkable]:
    found = (reference() for reference in list(_connections.values()))
    return [connection for connection in found if connection is not None]


def _uses() -> list[Use]:
    """Return what each connection is doing; one that is being opened is in a call."""
    return [*(connection.use() for connection in _alive()), *[Use.CALL] * len(_opening)]


def _wait_for_quiet() -> None:
    """Wait, before a fork, until no connection is in use."""
    _calm.clear()
    # Other threads run only while this one naps, so what is seen last is as it is at the fork.
    pause = threading.Event()
    for _ in range(_MOST_NAPS):
        if all(use is Use.NONE for use in _uses()):
            return
        pause.wait(_NAP_S)


def _go_on() -> None:
    """Let transactions begin again, in the parent."""
    _calm.set()


def _leave_inherited() -> None:
    """Leave, in the child, what belongs to the parent."""
    global _process, _calm, _forks  # noqa: PLW0603
    _process, _forks = object(), _core.forks()
    # A thread that is not here may hold the lock of the old one.
    _calm = threading.Event()
    _calm.set()
    # A thread that was in a call may have held locks within SQLite; here it never lets them go.
    in_call = Use.CALL in _uses()
    for connection in _alive():
        quiet = not in_call and connection.use() is Use.NONE
        connection.leave(close=quiet)
        if not quiet:
            file = identity(connection.path)
            if file is not None:
                _closed_to_us.add(file)
    _connections.clear()
    _opening.clear()


def identity(path: str) -> tuple[int, int] | None:
    """Return what tells a file from others, whatever its name; None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_wait_for_quiet, after_in_parent=_go_on, after_in_child=_leave_inherited
    )
