"""Where a store's file lies, and whether it is still the one that was opened."""

from __future__ import annotations

import os

from ebbmem.errors import InvalidArgument
from ebbmem.records.forks import identity
from ebbmem.records.opened import MEMORY_PATH


class Place:
    """The path of a store.

    Parameters
    ----------
    path : str or os.PathLike
        Of a file, or ``":memory:"``.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = _absolute(path)
        self._identity: tuple[int, int] | None = None
        """Which file lies there, where that can be told."""

    def note(self) -> None:
        """Note which file lies there now: it is open."""
        self._identity = identity(self.path)

    def moved(self) -> str | None:
        """Return why what lies there is not what was noted; None where it is."""
        if self._identity is None or identity(self.path) == self._identity:
            return None
        told = "the file was moved, replaced or removed; close the store and open it again"
        return f"{self.path}: {told}"


def _absolute(path: str | os.PathLike[str]) -> str:
    """Return a path without links, which a later change of folder leaves valid."""
    text = os.fspath(path)
    if not isinstance(text, str) or not text:
        raise InvalidArgument.of("path", "a file name, or ':memory:'", path)
    try:
        return text if text == MEMORY_PATH else os.path.realpath(text)
    except ValueError as exc:
        raise InvalidArgument.of("path", "a path without NUL", path) from exc
