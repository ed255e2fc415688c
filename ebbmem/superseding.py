"""Putting one memory in the place of others: they are demoted, never deleted."""

from __future__ import annotations

from collections.abc import Iterable

from ebbmem.changes import Change
from ebbmem.reading import row_of
from ebbmem.records.base import LinkRow

SUPERSEDES_WEIGHT = 1.0


def live_end(change: Change, row: int) -> int:
    """Return the memory at the live end of a chain of corrections."""
    while True:
        successor = change.writer.memories([row])[row].superseded_by
        if successor is None:
            return row
        row = successor


def supersede(change: Change, old: int, new: int, now_us: int) -> None:
    """Let a memory take the place of an older one at the end of its chain, both given by row."""
    writer, scope_id = change.writer, change.scope.scope_id
    writer.update_state(scope_id, old, superseded_by=new, superseded_at=now_us)
    link = LinkRow(new, old, "supersedes", SUPERSEDES_WEIGHT, now_us)
    writer.insert_links(scope_id, [link])
    writer.insert_event(scope_id, "superseded", now_us, old)
    change.links.append(link)
    change.superseded.append((old, new))


def supersede_all(change: Change, ids: Iterable[str], new: int, now_us: int) -> None:
    """Let a memory that was just made take the place of others, given by id.

    Raises
    ------
    UnknownMemory
        If one of them is not of this scope.
    """
    for one in ids:
        old = live_end(change, row_of(change.writer, change.scope, one))
        if old != new:  # two of them may be of one chain
            supersede(change, old, new, now_us)
