"""What following a scope asks of a record store: what was changed since an index was built.

A memory whose state, links or vector a writer changes is named by an event of kind TOUCHED,
written by the writer itself, unless one that its caller writes has it as its memory.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from ebbmem.records.base import EventRow, IndexRow, LinkRow, Reader

TOUCHED = "touched"
"""Kind of the event that says only which memories to look at again."""
_ENTRY = struct.Struct("<qdd")


class NewRow(NamedTuple):
    """A memory as an index takes it in."""

    kept: IndexRow
    summary: str
    keywords: str


def touched_payload(rows: Iterable[int]) -> bytes:
    """Return the payload of an event of kind TOUCHED.

    It has the form of those that pack strengths, with none in it, so that what is erased can be
    taken out of all of them alike.
    """
    return b"".join(_ENTRY.pack(row, 0.0, 0.0) for row in sorted(rows))


def touched_rows(payload: bytes) -> tuple[int, ...]:
    """Return the row ids that a payload of kind TOUCHED names."""
    return tuple(row for row, _, _ in _ENTRY.iter_unpack(payload))


class FollowReader(Reader, Protocol):
    """A view of the records that also tells what changed in a scope after a seq."""

    def changes(self, scope_id: int, after_seq: int, limit: int) -> list[EventRow]:
        """Return up to ``limit`` events after a seq, those of kind TOUCHED among them.

        They name every memory of which anything that an index keeps has changed: as their
        memory, or in their payload (``touched_rows`` for TOUCHED).  What was inserted since is
        named too, or has a row id above all there were.  Nothing names what is erased.
        """

    def row_ids(self, scope_id: int) -> list[int]:
        """Return the row id of every memory of a scope, ascending."""

    def index_rows_of(self, rows: Sequence[int]) -> dict[int, IndexRow]:
        """Return what the index keeps of memories, by row id; unknown ones are left out."""

    def rows_after(self, scope_id: int, row: int) -> list[NewRow]:
        """Return the memories of a scope above a row id."""

    def links_around(self, rows: Sequence[int]) -> list[LinkRow]:
        """Return the links that leave or reach some memories, by (source, target, kind)."""

    def links_after(self, scope_id: int, row: int) -> list[LinkRow]:
        """Return the links that leave or reach a memory above a row id, in the same order."""

    def vectors_after(self, scope_id: int, row: int) -> list[tuple[int, bytes]]:
        """Return (row_id, float32 bytes) of the memories of a scope above a row id."""

    def any_vector_after(self, rows: Sequence[int], seq: int) -> bool:
        """Return whether the vector of some memory was written after a seq."""
