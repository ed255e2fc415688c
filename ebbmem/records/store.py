"""What the rest of ebbmem asks of an open record store as a whole."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from ebbmem.records.base import Checked, Writer
from ebbmem.records.followable import FollowReader


class RecordStore(Protocol):
    """An open record store.  Safe to call from several threads."""

    path: str

    @property
    def writable(self) -> bool:
        """Return whether a write may succeed before the store is opened anew."""

    def require_own(self) -> None:
        """Raise ForkedStore in a child process, forked since the store was opened."""

    def migrate(self) -> list[str]:
        """Apply the missing migrations, return their names.  Safe in many processes at once."""

    def read(self) -> AbstractContextManager[FollowReader]:
        """Open a consistent view; within a transaction of the same thread, that transaction's."""

    def snapshot(self) -> AbstractContextManager[FollowReader]:
        """Open a consistent view that may last; no other thread, and no write, waits for it."""

    def write(self, waited_s: float = 0.0) -> AbstractContextManager[Writer]:
        """Open a write transaction: committed at the end, rolled back on any exception.

        Of the wait for other processes ``waited_s`` seconds are over.
        """

    def erasure(self) -> Callable[[], bool]:
        """Return a question: whether what was erased until now may still lie in some file."""

    def scrub(self) -> None:
        """Try to take what was erased out of the files where it may still lie in one."""

    @property
    def log_is_long(self) -> bool:
        """Return whether `shorten_log` has work to do, which takes milliseconds."""

    def shorten_log(self, *, wait: bool = True) -> None:
        """Do, after a write, what keeps the store's files small; others may write meanwhile.

        Without ``wait`` it is what can be done without waiting for them.
        """

    def data_version(self) -> int:
        """Return a number that changes when another process commits, and may when this one does."""

    def check(self) -> Checked:
        """Return what is wrong in the records, and what was counted; nothing is changed."""

    def back_up(self, target: str) -> int:
        """Copy what is committed to another file; return its bytes."""

    def close(self) -> None:
        """Close; later calls raise StoreClosed.  Idempotent."""
