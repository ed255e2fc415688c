"""Rows of memories that recall read lately, kept in RAM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from sys import getsizeof
from typing import NamedTuple, cast

from ebbmem import _core
from ebbmem.records.base import MemoryRow, Reader
from ebbmem.records.identity import id_text

LEAST_ROOM_BYTES = 1 << 20
MOST_ROOM_BYTES = 4 << 20
SHARE_BYTES = 32
"""Room for each memory of the scope, between the two."""
ROW_BYTES = 950
"""What a row takes besides its texts: two tuples, ids, numbers, and its place on the shelf."""


class Shelved(NamedTuple):
    """A memory's text and row, and the public id of the memory that replaced it.

    The text comes first: what makes hits looks for it there.
    """

    summary: str
    row: MemoryRow
    successor: str | None


def fetched(reader: Reader, rows: Sequence[int]) -> dict[int, Shelved]:
    """Return memories by row id, with the ids of what replaced them; unknown ones are left out."""
    found = reader.memories(rows)
    successors = [m.superseded_by for m in found.values() if m.superseded_by is not None]
    if not successors:
        return {row: Shelved(memory.summary, memory, None) for row, memory in found.items()}
    ids = {row: id_text(value) for row, value in reader.ids(successors).items()}
    return {
        row: Shelved(memory.summary, memory, ids.get(memory.superseded_by or 0))
        for row, memory in found.items()
    }


class Shelf:
    """Rows by slot, up to a size; the longest there go first.

    Its owner takes off what changes.  Strengths are not read from here: the columns have them.

    Parameters
    ----------
    room_bytes : int
        How much the rows may take together.
    """

    def __init__(self, room_bytes: int = LEAST_ROOM_BYTES) -> None:
        self._room_bytes = room_bytes
        self._rows: dict[int, Shelved] = {}
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._rows)

    def fit(self, memories: int) -> None:
        """Give the shelf the room that it has in a scope of so many memories."""
        share = SHARE_BYTES * memories
        self._room_bytes = min(max(LEAST_ROOM_BYTES, share), MOST_ROOM_BYTES)

    def take(self, slots: Sequence[int]) -> dict[int, Shelved]:
        """Return the rows that are here, by slot."""
        found = dict(zip(slots, map(self._rows.get, slots), strict=True))
        if all(found.values()):
            return cast("dict[int, Shelved]", found)
        return {slot: one for slot, one in found.items() if one is not None}

    def take_found(self, found: _core.FoundProducts) -> tuple[Shelved, ...] | None:
        """Return the row of each slot that was found, or None where one of them is not here."""
        return found.values_of(self._rows)

    def put(self, rows: Mapping[int, Shelved]) -> None:
        """Keep rows."""
        self.remove(rows)
        self._rows.update(rows)
        self.bytes += sum(map(_bytes_of, rows.values()))
        while self.bytes > self._room_bytes:
            self.remove([next(iter(self._rows))])

    def remove(self, slots: Iterable[int]) -> None:
        """Take rows off, where they are here."""
        for slot in slots:
            gone = self._rows.pop(slot, None)
            if gone is not None:
                self.bytes -= _bytes_of(gone)


def _bytes_of(one: Shelved) -> int:
    """Return how much memory a row takes."""
    row = one.row
    texts = (row.summary, row.detail, row.keywords, row.metadata, row.source, row.key, row.run_id)
    return ROW_BYTES + sum(map(getsizeof, filter(None, texts)))
