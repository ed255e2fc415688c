"""Engines that several open databases of one process share, by file."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeVar

from ebbmem.engine import Engine
from ebbmem.errors import InvalidArgument

Result = TypeVar("Result")

MEMORY = ":memory:"


@dataclass(slots=True)
class _Shared:
    """An engine, the options it was opened with, and how many hold it."""

    engine: Engine
    options: Mapping[str, object]
    holders: int = 0


_shared: dict[tuple[int, str], _Shared] = {}
_lock = threading.Lock()


class Hold:
    """One holder's claim on the engine of a file; ``":memory:"`` is never shared.

    Parameters
    ----------
    path : str
        The file.
    options : mapping
        What the engine is opened with, by argument; holders of one engine must agree.
    opened : callable
        Opens the engine where nobody holds it yet.

    Raises
    ------
    InvalidArgument
        If the engine was opened with other options.
    """

    def __init__(
        self, path: str, options: Mapping[str, object], opened: Callable[[], Engine]
    ) -> None:
        # By process: what was opened before a fork belongs to the parent.
        self._key = (os.getpid(), path if path == MEMORY else os.path.realpath(path))
        self.released = False
        self._opened = opened
        with _lock:
            shared = _shared.get(self._key)
            if shared is None:
                shared = _Shared(opened(), options)
                if path != MEMORY:
                    _shared[self._key] = shared
            elif shared.options != options:
                raise _other_options(path, shared.options, options)
            shared.holders += 1
            self._shared = shared

    @property
    def engine(self) -> Engine:
        """Return the engine."""
        return self._shared.engine

    def apart(self, act: Callable[[], Result]) -> Result:
        """Close the engine, act on the file, and open the engine anew, for all who hold it.

        Calls that other threads make meanwhile raise StoreClosed.
        """
        with _lock:
            shared = self._shared
            shared.engine.close()
            try:
                return act()
            finally:
                shared.engine = self._opened()

    def release(self) -> None:
        """Let the engine go; the last to do so closes it.  Idempotent.

        Where closing raises and leaves the engine open, it is still held.
        """
        with _lock:
            if self.released:
                return
            shared = self._shared
            try:
                if shared.holders == 1:
                    shared.engine.close()
            finally:
                if shared.holders > 1 or shared.engine.closed:
                    self.released = True
                    shared.holders -= 1
                    if shared.holders == 0:
                        _shared.pop(self._key, None)


def _other_options(
    path: str, first: Mapping[str, object], now: Mapping[str, object]
) -> InvalidArgument:
    """Return the error of who opens a file with other options than its first holder."""
    name = next(name for name in first if first[name] != now[name])
    expected = f"{first[name]!r}, with which this process has {path} open; close it first"
    return InvalidArgument.of(name, expected, now[name])


def _renew_lock() -> None:
    """Give a forked child a lock of its own: a thread that is not there may hold the old one."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


@atexit.register
def _write_what_waits() -> None:
    """Write the recalls that wait in stores which nobody closed."""
    with ExitStack() as every:
        for (pid, _), shared in list(_shared.items()):
            if pid == os.getpid():
                every.callback(shared.engine.flush)
