"""The write-ahead log of a store: moved into the database in time, and scrubbed of what is erased.

SQLite would move it within the commit that makes it too long, and all who wait to write would wait
for the disk.  Here whoever wrote last moves it once the next may write, by a connection of its own.
What others write meanwhile is moved while nobody writes: only then can the log begin anew.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Final

from ebbmem.errors import StoreError
from ebbmem.records.busy import LONGEST_NAP_S
from ebbmem.records.connection import Connection

SOON_FRAMES: Final = 1_000
"""Pages written to the log after which it is moved beside those who write: 4 MiB."""
LONG_FRAMES: Final = 1_500
"""Pages in the log beyond which nobody writes until the rest is moved."""
MOST_FRAMES: Final = 2_500
"""Pages in the log after which it is moved within a write: nobody came to do so before, or who did
still waits for the disk."""
ALONE_WITHIN_S: Final = 0.02
"""For how long others are waited for then: they were about to write, or read what is old."""
LONGEST_TURN_S: Final = 0.1
"""For how long another process that moves the log is waited for, lest it grow meanwhile."""
LONGEST_SCRUB_S: Final = 0.25


class Log:
    """What has to be done about the log of one store.

    Parameters
    ----------
    connection : Connection
        The one that writes.
    lock : RLock
        Held by whoever uses ``connection``.
    """

    def __init__(self, connection: Connection, lock: threading.RLock) -> None:
        self._connection = connection
        self._lock = lock
        self._mover: Callable[[], AbstractContextManager[Connection]] | None = None
        self._moving = threading.Lock()
        """Held while the log is moved beside those who write, which keeps it from being emptied."""
        self._moved_at = 0
        """How many frames it had when it was last moved, or tried to be."""
        # How many transactions erased text, and how many of them left none in the log.
        self._erasures = self._scrubbed = 0
        self._mark: str | None = None
        self.done_mark: str | None = None
        """The mark of the last erasure of which nothing is left, for the next write to delete."""

    def move_with(self, mover: Callable[[], AbstractContextManager[Connection]]) -> None:
        """Move the log by a connection of its own from now on, no longer within commits.

        Where its length cannot be told SQLite goes on moving it.
        """
        if self._connection.count_log():
            self._mover = mover

    @property
    def is_long(self) -> bool:
        """Return whether it is to be moved beside those who write."""
        return self._mover is not None and self._new_frames() >= SOON_FRAMES

    def shorten(self, *, wait: bool = True) -> None:
        """Move the log where it is long, beside those who write; the caller has no lock.

        What keeps it from being moved may pass; then it is tried again some frames later.  Only
        with ``wait`` is what others write meanwhile moved too, for which their end is waited for.
        """
        mover = self._mover
        if mover is None or not self.is_long:
            return
        with suppress(StoreError):
            moved = self._move_beside(mover)
            if moved and wait and self._connection.log_frames() > LONG_FRAMES:
                # What came meanwhile: so that little is left while nobody may write.
                self._move_beside(mover)
                with self._lock:
                    self._move()

    def shorten_now(self) -> None:
        """Move the log where it is far too long; the caller is the only one who writes."""
        if self._mover is None or self._new_frames() < MOST_FRAMES - LONG_FRAMES:
            return
        if self._connection.log_frames() >= MOST_FRAMES:
            with suppress(StoreError):
                self._move()

    def _new_frames(self) -> int:
        """Return how many frames came since it was last moved."""
        frames = self._connection.log_frames()
        if frames < self._moved_at:  # it began anew
            self._moved_at = 0
        return frames - self._moved_at

    def _move_beside(self, mover: Callable[[], AbstractContextManager[Connection]]) -> bool:
        """Move the log unless somebody does; return whether it was moved here."""
        if self._moving.locked():
            return False
        # By `with`, which no interrupt leaves holding the lock.
        with self._moving, mover() as connection:
            self._moved_at = self._connection.log_frames()
            try:
                connection.move_log()
            finally:
                self._connection.lost = self._connection.lost or connection.lost
        return True

    def _move(self) -> None:
        """Move the log while no process writes: the next who does begins it anew."""
        with self._moving:
            self._moved_at = self._connection.log_frames()
            end_s = time.monotonic() + LONGEST_TURN_S
            while not self._connection.move_log(ALONE_WITHIN_S) and time.monotonic() < end_s:
                time.sleep(LONGEST_NAP_S / 4)

    # --- what was erased ----------------------------------------------------------------

    def note_erasure(self, mark: str | None) -> None:
        """Count a transaction that erased text, and so has a mark."""
        if mark is not None:
            self._erasures += 1
            self._mark = mark

    def erasure(self) -> Callable[[], bool]:
        """Return a question: whether what was erased until now may still lie in the log."""
        until = self._erasures
        return lambda: self._scrubbed < until

    def scrub(self, wait_s: float) -> None:
        """Empty the log while it may hold erased text; the caller is the only one who writes.

        A reader can hold it back; then the next transactions try again without waiting.
        """
        if self._scrubbed == self._erasures:
            return
        with self._moving:
            # While it waits for readers no other process can write.
            if self._connection.truncate_log(min(wait_s, LONGEST_SCRUB_S)):
                self._scrubbed = self._erasures
                self.done_mark = self._mark
