"""Where commits leave word for the indexes of scopes, and the locks of scopes."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final
from weakref import WeakKeyDictionary, WeakValueDictionary

from ebbmem.changes import Change, Post
from ebbmem.index import ScopeIndex
from ebbmem.loaded import LoadedIndexes

SOON: Final = 64
SOON_BYTES: Final = 8 << 10
"""Commits, and bytes of memories, that wait at a desk uncounted in the budget of indexes before the
writer itself brings them into the index."""
MOST: Final = 4_096
"""Memories or commits that may wait there; beyond it the index is dropped, to be loaded anew."""
MEMORY_BYTES: Final = 400
"""What a memory that waits takes besides its texts and its vector."""


class Desk:
    """What was committed in a scope and is not yet in its index, in the order of the commits."""

    __slots__ = ("__weakref__", "bytes", "erased", "lock", "memories", "owed", "posts")

    def __init__(self, lock: threading.RLock) -> None:
        self.lock = lock
        """The scope's: to be held by who takes the posts."""
        self.posts: deque[Post] = deque()
        self.memories = 0
        self.bytes = 0
        self.erased = False
        """Whether a post here tells of something erased."""
        self.owed = 0
        """The seq that the index has to reach by way of the records: its posts are gone."""


class Desks:
    """The desks of scopes whose index is in RAM, or is being loaded.  Safe to call from threads.

    Writers leave word without a scope's lock, so they wait for no recall; whoever holds the lock
    and wants the index takes in first what lies there.

    Parameters
    ----------
    indexes : LoadedIndexes
        The indexes.
    """

    def __init__(self, indexes: LoadedIndexes) -> None:
        self._indexes = indexes
        self._mutex = threading.Lock()
        # By who uses them: as long as somebody holds or wants a lock, it stays the same.
        self._locks: WeakValueDictionary[str, threading.RLock] = WeakValueDictionary()
        self._desks: WeakValueDictionary[str, Desk] = WeakValueDictionary()
        self._desk_of: WeakKeyDictionary[ScopeIndex, Desk] = WeakKeyDictionary()

    def lock(self, scope: str) -> threading.RLock:
        """Return the lock of a scope."""
        lock = self._locks.get(scope)
        if lock is None:
            with self._mutex:
                lock = self._locks.get(scope)
                if lock is None:
                    lock = self._locks[scope] = threading.RLock()
        return lock

    def opened(self, scope: str) -> Desk:
        """Return the desk of a scope: what is committed from now on is left there.

        The caller holds the scope's lock, and keeps the desk until its index does.
        """
        desk = self._desks.get(scope)
        if desk is None:
            desk = self._desks[scope] = Desk(self.lock(scope))
        return desk

    def put(self, scope: str, index: ScopeIndex, desk: Desk, version: int, paid: int) -> None:
        """Keep an index that is current at a data version, and its desk.

        What was owed up to the seq ``paid`` was committed before the index was read: the records
        have the last word, also where their seq is an earlier one.
        """
        if desk.owed <= paid:
            desk.owed = 0
        self._desk_of[index] = desk
        self._indexes.put(scope, index, version)

    def leave(self, scope: str, post: Post) -> None:
        """Leave word of a commit, where an index needs to know."""
        desk = self._desks.get(scope)
        if desk is not None:
            desk.memories += sum(len(one.memories) for one in post.changes)
            desk.bytes += _bytes_of(post)
            desk.erased = desk.erased or any(one.dropped for one in post.changes)
            desk.posts.append(post)
        if any(one.erased for one in post.changes):
            self._indexes.drop(scope)

    def drop(self, scope: str) -> None:
        """Forget the index of a scope, to be loaded anew."""
        self._indexes.drop(scope)

    def taken(self, scope: str) -> ScopeIndex | None:
        """Return the index of a scope with all that lies at its desk.

        None where it is not in RAM, or has to be brought up to the records first.  The caller
        holds the scope's lock.
        """
        index = self._indexes.get(scope)
        if index is None:
            return None
        desk = self._desk_of.get(index)
        if desk is None:
            return index
        if desk.posts:
            try:
                self._take(index, desk)
            except Exception:  # noqa: BLE001 - whatever it was, the records can be read again
                self._indexes.drop(scope)
                return None
            except BaseException:
                # The records have it; a half-followed index must not answer.
                self._indexes.drop(scope)
                raise
            if index.mostly_gone:
                self._indexes.drop(scope)
                return None
            self._indexes.weigh(index)
        return index if index.seq >= desk.owed else None

    def owed(self, scope: str) -> int:
        """Return the seq that the index of a scope has to reach by way of the records."""
        desk = self._desks.get(scope)
        return 0 if desk is None else desk.owed

    def _take(self, index: ScopeIndex, desk: Desk) -> None:
        """Bring an index up to what lies at its desk, or note how far the records have to."""
        posts = list(desk.posts)
        if not _follow(index, posts):
            # Nothing that was erased stays in RAM until then.
            for post in posts:
                for one in post.changes:
                    index.drop(one.dropped)
            desk.owed = posts[-1].after
        for post in posts:
            desk.posts.popleft()
            desk.memories -= sum(len(one.memories) for one in post.changes)
            desk.bytes -= _bytes_of(post)
        desk.erased = any(one.dropped for post in desk.posts for one in post.changes)

    def newest(self, index: ScopeIndex) -> int:
        """Return the newest change that an index knows, or will once it takes what lies there."""
        desk = self._desk_of.get(index)
        seq = index.seq
        for post in [] if desk is None else list(desk.posts):
            if post.after > seq:
                if post.rebuild or post.before != seq:
                    return seq
                seq = post.after
        return seq

    def tidy(self, scope: str) -> None:
        """Bring into the index what lies at its desk, where it is much or tells of an erasure.

        While somebody else uses the index, it is left to the next use; where that cannot wait, the
        index is dropped.
        """
        desk = self._desks.get(scope)
        if desk is None or not (desk.bytes > SOON_BYTES or len(desk.posts) > SOON or desk.erased):
            return
        try:
            if desk.lock.acquire(blocking=False):
                self.taken(scope)
            elif desk.memories > MOST or len(desk.posts) > MOST or desk.erased:
                self._indexes.drop(scope)
        finally:
            # Whether or not an interrupt let us note that it was acquired; and not by `suppress`,
            # in which one may come before the release.
            try:  # noqa: SIM105
                desk.lock.release()
            except RuntimeError:
                pass


def _bytes_of(post: Post) -> int:
    """Return about what the memories of a commit take."""
    return sum(
        MEMORY_BYTES
        + len(one.summary)
        + len(one.keywords)
        + (0 if one.vector is None else one.vector.nbytes)
        for change in post.changes
        for one in change.memories
    )


def _follow(index: ScopeIndex, posts: list[Post]) -> bool:
    """Bring an index up to commits; return whether they lead on from what it knows."""
    changes: list[Change] = []
    seq = index.seq
    for post in posts:
        if post.after <= index.seq:
            continue  # it was loaded with it
        if post.rebuild or post.before != seq:
            return False
        changes += post.changes
        seq = post.after
    index.append([memory for one in changes for memory in one.memories])
    index.add_links([link for one in changes for link in one.links])
    index.update_strengths([row for one in changes for row in one.strengths])
    for one in changes:
        index.update_states(one.superseded, one.tiers)
        index.drop(one.dropped)
    index.seq = seq
    return True
