"""A file that is being made beside its target, by one maker at a time."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from ebbmem.errors import LockTimeout

if sys.platform != "win32":
    import fcntl

_ATTEMPTS: Final = 100


@contextmanager
def part_of(target: str, mode: int) -> Iterator[str]:
    """Yield a new, empty file beside a target, which takes its place at the end.

    Parameters
    ----------
    target : str
        What is replaced, once the part is whole; on any error it stays, and the part goes.
    mode : int
        Who may read the part, less the process's mask.

    Raises
    ------
    LockTimeout
        If another call, of any process, is making the same file.
    OSError
        If the operating system refuses to make the part, or to move it.
    """
    part = f"{target}.part"
    with _told_of(target):
        descriptor = _claimed(part, mode, target)
    try:
        yield part
        with _told_of(target):
            os.replace(part, target)
    except BaseException:
        # A half copy of somebody's memories is not left lying about.
        remove(part)
        raise
    finally:
        os.close(descriptor)


def remove(path: str) -> None:
    """Remove a file where it is there."""
    if os.path.lexists(path):
        os.unlink(path)


@contextmanager
def _told_of(target: str) -> Iterator[None]:
    """Let an error name the target: nobody who reads it has heard of a part."""
    try:
        yield
    except OSError as exc:
        raise OSError(exc.errno, exc.strerror, target) from exc


def _claimed(part: str, mode: int, target: str) -> int:
    """Make a part that no other call has, in place of one that a killed process left."""
    for _ in range(_ATTEMPTS):
        with suppress(FileExistsError):
            made = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
            if _locked(made) and _is_at(made, part):
                return made
            os.close(made)
        _remove_left(part, target)
    raise LockTimeout(f"{target}: another call is writing it")


def _remove_left(part: str, target: str) -> None:
    """Remove a part that nobody has any more."""
    with suppress(FileNotFoundError):
        if sys.platform == "win32" or not stat.S_ISREG(os.lstat(part).st_mode):
            os.unlink(part)
            return
        left = os.open(part, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            if not _locked(left):
                raise LockTimeout(f"{target}: another call is writing it")
            if _is_at(left, part):
                os.unlink(part)
        finally:
            os.close(left)


def _locked(descriptor: int) -> bool:
    """Return whether nobody else has a file; it is this call's until it is closed."""
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True  # a file system without such locks
    return True


def _is_at(descriptor: int, path: str) -> bool:
    """Return whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False
