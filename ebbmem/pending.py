"""Recalls whose traces wait for the next commit.

What a recall strengthens counts in RAM at once.  The rows and the event that say so are written
together with the next write of any kind, or when too many wait or the oldest has waited too long.
A scope whose share cannot be written gives it up: it keeps no other scope from being written.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Final, NamedTuple

import numpy as np

from ebbmem import _core, reconsolidation
from ebbmem.changes import Post
from ebbmem.columns import Columns
from ebbmem.errors import CorruptStore
from ebbmem.recipes import Recipe
from ebbmem.reconsolidation import Traced
from ebbmem.records.base import StrengthRow, Writer

NS_PER_S = 1_000_000_000
MOST_HITS: Final = 65_536
"""How many hits may wait, of all recalls together: about 10 MB."""
MOST_SPANS: Final = 4_096
"""Scopes of which it is known since when only this process changed them."""
RECALLED = "recalled"


class PendingRecall(NamedTuple):
    """One recall that was answered and is not yet in the records.

    ``seq`` is the scope's newest change that the index knew; ``traces`` are those of its hits.
    """

    scope: str
    scope_id: int
    seq: int
    now_us: int
    recipe: Recipe
    traces: bytes

    @property
    def hits(self) -> int:
        """Return how many hits it had."""
        return len(self.traces) // reconsolidation.TRACE_BYTES

    def traced(self) -> Traced:
        """Return what its hits were like before, and which of them it strengthened."""
        return reconsolidation.traced([self.traces])


class Written(NamedTuple):
    """What a transaction wrote of one scope's waiting recalls."""

    scope: str
    seq_before: int
    seq_after: int
    as_in_ram: bool
    """Whether the records now say what the index said; else it has to be loaded anew."""


class CorruptShare(Exception):
    """The recalls of one scope could not be written and were given up."""

    def __init__(self, scope: str) -> None:
        super().__init__(scope)
        self.scope = scope


class PendingRecalls:
    """The recalls of one store that wait, in the order they came.  Safe to call from threads.

    Parameters
    ----------
    limit : int
        How many may wait; no more than ``MOST_HITS`` hits of them all.
    wait_s : float
        How long one may wait, in seconds.
    """

    def __init__(self, limit: int, wait_s: float) -> None:
        self._limit = limit
        self._wait_ns = int(wait_s * NS_PER_S)
        self.forget()
        _queues.add(self)

    def forget(self) -> None:
        """Let nothing wait: in a forked child, whose parent writes what does."""
        self._recalls: list[PendingRecall] = []
        self._came_ns: list[int] = []
        self._due_ns = 0
        self._hits = 0
        self._given_up: dict[str, CorruptStore] = {}
        self._spans: dict[str, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._recalls)

    def add(self, one: PendingRecall) -> bool:
        """Let a recall wait; return whether more wait now than may."""
        with self._lock:
            came_ns = time.monotonic_ns()
            if not self._recalls:
                self._due_ns = came_ns + self._wait_ns
            self._recalls.append(one)
            self._came_ns.append(came_ns)
            self._hits += len(one.traces) // reconsolidation.TRACE_BYTES
            return self.too_many

    def withdraw(self, one: PendingRecall) -> bool:
        """Take back a recall that could not be written; return whether it still waited.

        No write may be under way.
        """
        with self._lock:
            waited = any(other is one for other in self._recalls)
            self._keep([other is not one for other in self._recalls])
        self.postpone()
        return waited

    @property
    def too_many(self) -> bool:
        """Return whether more wait than may."""
        return len(self._recalls) > self._limit or self._hits > MOST_HITS

    @property
    def due(self) -> bool:
        """Return whether too many wait, or one has waited too long."""
        if not self._recalls:
            return False
        return self.too_many or time.monotonic_ns() >= self._due_ns

    def postpone(self) -> None:
        """Let none be overdue before as long again: writing them failed just now."""
        with self._lock:
            self._due_ns = time.monotonic_ns() + self._wait_ns

    def waiting(self, scope: str | None = None) -> list[PendingRecall]:
        """Return those that wait, of one scope or all."""
        if not self._recalls:
            return []
        with self._lock:
            return [one for one in self._recalls if scope is None or one.scope == scope]

    def settle(self, count: int, posts: Mapping[str, Post] | None = None) -> None:
        """Let the first ``count`` go: they were committed, with what ``posts`` says."""
        for scope, post in (posts or {}).items():
            since = self.since(scope, post.before) if post.harmless else post.after
            # The newest last, so that the oldest go.
            self._spans.pop(scope, None)
            if not any(one.erased for one in post.changes):
                self._spans[scope] = (since, post.after)
        while len(self._spans) > MOST_SPANS:
            del self._spans[next(iter(self._spans))]
        if count:
            with self._lock:
                del self._recalls[:count], self._came_ns[:count]
                self._count()

    def since(self, scope: str, seq: int) -> int:
        """Return the oldest change since which only this process changed a scope up to ``seq``.

        And it changed no strength but by recalls: the strengths that an index knew since then are
        those that the records have at ``seq``, with the recalls that were written meanwhile.
        """
        since, newest = self._spans.get(scope, (seq, seq))
        return since if newest == seq else seq

    def require_kept(self, scope: str) -> None:
        """Raise once, where recalls of a scope were given up, why."""
        if not self._given_up:
            return
        with self._lock:
            failure = self._given_up.pop(scope, None)
        if failure is not None:
            raise failure

    def _keep(self, chosen: Sequence[bool]) -> None:
        """Let only some go on waiting, each since it came; the caller holds the lock."""
        self._recalls = list(compress(self._recalls, chosen))
        self._came_ns = list(compress(self._came_ns, chosen))
        self._count()

    def _count(self) -> None:
        """Count the hits anew, and say when the oldest is due; the caller holds the lock."""
        self._hits = sum(one.hits for one in self._recalls)
        if self._came_ns:
            self._due_ns = self._came_ns[0] + self._wait_ns

    def write(self, writer: Writer, recalls: Sequence[PendingRecall]) -> list[Written]:
        """Write recalls, each scope's in order; they wait until `settle` says otherwise.

        Raises
        ------
        CorruptShare
            If a strengthened memory does not match its checksum.  The recalls of its scope are
            given up, so that they do not keep others from being written in a new transaction.
        """
        shares: dict[int, list[PendingRecall]] = {}
        for one in recalls:
            shares.setdefault(one.scope_id, []).append(one)
        return [self._write_share(writer, share) for share in shares.values()]

    def _write_share(self, writer: Writer, share: Sequence[PendingRecall]) -> Written:
        """Write the recalls of one scope, or give them up where it is corrupt."""
        try:
            before = writer.last_seq(share[0].scope_id)
            return _write_scope(writer, share, before, self.since(share[0].scope, before))
        except CorruptStore as exc:
            scope = share[0].scope
            with self._lock:
                self._keep([one.scope != scope for one in self._recalls])
                self._given_up[scope] = exc
            raise CorruptShare(scope) from exc


_queues: Final[weakref.WeakSet[PendingRecalls]] = weakref.WeakSet()


def _forget_inherited() -> None:
    for queue in list(_queues):
        queue.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_inherited)


def posts_of(written: Sequence[Written]) -> dict[str, Post]:
    """Return, by scope, what the indexes are to learn of waiting recalls that were written."""
    return {
        one.scope: Post(one.seq_before, one.seq_after, (), not one.as_in_ram) for one in written
    }


def replay(columns: Columns, last_seq: int, share: Sequence[PendingRecall], since: int) -> None:
    """Strengthen, in columns loaded from the records, what waiting recalls of a scope hit.

    Since the change ``since`` only this process changed the scope; see `PendingRecalls.since`.
    """
    # As `_write_scope` will: what they did is done again where another process wrote since.
    as_in_ram = all(since <= one.seq <= last_seq for one in share)
    for one in share:
        told = one.traced()
        slots = columns.slots(told.before.row)
        left = (slots >= 0) & told.succeeded if as_in_ram else slots >= 0
        found, strengths = (slots[left], told.similarity[left]), columns.strengths()
        if as_in_ram:
            strengths.succeed(*found, len(found[0]), one.now_us, one.recipe.reinforcement.beta)
        else:
            reconsolidation.recalled(strengths, found, len(found[0]), one.now_us, one.recipe)


def _write_scope(
    writer: Writer, share: Sequence[PendingRecall], before: int, since: int
) -> Written:
    """Write the recalls of one scope, whose newest change is ``before``."""
    first = share[0]
    # Another process may have written since the index looked: then what each recall did is done
    # again to the memories as they are now.
    as_in_ram = all(since <= seq <= before for seq in {one.seq for one in share})
    if as_in_ram:
        _write_as_in_ram(writer, share)
    else:
        for one in share:
            _write_again(writer, one)
    return Written(first.scope, before, writer.last_seq(first.scope_id), as_in_ram)


def _write_as_in_ram(writer: Writer, share: Sequence[PendingRecall]) -> None:
    """Write recalls whose strengths are those of the records: each memory's newest, once."""
    scope_id = share[0].scope_id
    recalls = tuple((one.traces, one.now_us, one.recipe.reinforcement.beta) for one in share)
    kept, events = _core.retold(recalls)
    if kept:
        writer.update_strengths(scope_id, [StrengthRow._make(one) for one in kept])
    writer.insert_events(scope_id, RECALLED, events)


def _write_again(writer: Writer, one: PendingRecall) -> None:
    """Strengthen what is left of a recall's hits, from what the records say of them."""
    told = one.traced()
    similarity = dict(zip(told.before.row.tolist(), told.similarity.tolist(), strict=True))
    before = reconsolidation.read(writer, list(similarity))
    if len(before.row) == 0:
        return  # all were erased meanwhile
    r = before.retrievability(one.now_us)
    left = np.array([similarity[row] for row in before.row.tolist()], dtype=np.float64)
    counted = reconsolidation.counted(before.anchored_us, left, one.recipe, one.now_us)
    chosen = slice(None) if counted is None else counted
    beta = one.recipe.reinforcement.beta
    after = reconsolidation.succeeded(before.where(chosen), r[chosen], beta, one.now_us)
    if len(after.row):
        writer.update_strengths(one.scope_id, after.rows())
    payload = reconsolidation.packed(before, r)
    writer.insert_events(one.scope_id, RECALLED, [(one.now_us, payload)])
