"""What an index that is built asks of a record store: a part of its reader's protocol."""

from __future__ import annotations

from typing import Protocol

from ebbmem import _core


class LoadReader(Protocol):
    """A view of the records that hands over a scope column by column."""

    def loaded_memories(self, scope_id: int) -> _core.MemoryRows:
        """Return every memory of a scope, with its text.

        Raises CorruptStore where their count or the checksums of rows or texts fail.
        """

    def loaded_links(self, scope_id: int) -> _core.LinkRows:
        """Return every link of a scope, by (source, target, kind)."""
