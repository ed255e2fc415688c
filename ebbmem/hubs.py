"""Memories with many links: of those that the store makes by itself only so many stay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ebbmem.changes import Change

MOST_LINKS: Final = 64
"""Of a kind, of one memory: as many as spreading passes over by default."""


def keep_best(change: Change, rows: Iterable[int], kind: str) -> None:
    """Let no more than the best links of a kind leave each of some memories.

    The heaviest stay, of these the newest, then those to greater numbers.  The others go with what
    leads back: where two are linked both ways, the links stay that are among the best of both.
    """
    writer, scope_id = change.writer, change.scope.scope_id
    gone: set[tuple[int, int, str]] = set()
    for row in rows:
        links = [one for one in writer.links_from(row) if one.kind == kind]
        links.sort(key=lambda one: (one.weight, one.created_at, one.target), reverse=True)
        for one in links[MOST_LINKS:]:
            gone |= {(row, one.target, kind), (one.target, row, kind)}
    if gone:
        writer.delete_links(scope_id, sorted(gone))
        change.rebuild = True  # what follows the records looks at these again
