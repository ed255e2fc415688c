"""Which memories a transaction changed without an event that names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ebbmem.records.base import LinkRow


class Touched:
    """Memories by scope that an index has to look at again, and that no event names yet.

    What the transaction itself made is left out: an index looks at what is new anyway.
    """

    def __init__(self) -> None:
        self._made: set[int] = set()
        self._rows: dict[int, set[int]] = {}

    def make(self, rows: Iterable[int]) -> None:
        """Note memories that the transaction made."""
        self._made.update(rows)

    def add(self, scope_id: int, row: int) -> None:
        """Note that a memory's state, links or vector changed."""
        if row not in self._made:
            self._rows.setdefault(scope_id, set()).add(row)

    def add_link(self, scope_id: int, link: LinkRow) -> None:
        """Note a link that came, or changed."""
        if link.target not in self._made:
            self.add(scope_id, link.source)

    def take(self, scope_id: int, rows: Sequence[int]) -> None:
        """Note memories that are gone: nothing names them."""
        self._made.difference_update(rows)
        self.name(scope_id, rows)

    def name(self, scope_id: int, rows: Iterable[int]) -> None:
        """Note that an event names memories."""
        if scope_id in self._rows:
            self._rows[scope_id].difference_update(rows)

    def scopes(self) -> list[int]:
        """Return the scopes with memories that no event names."""
        return list(self._rows)

    def told(self, scope_id: int) -> set[int]:
        """Return the memories of a scope, and forget them: they are named now."""
        return self._rows.pop(scope_id, set())
