"""Rows that were read, each compared with its checksum before anybody sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

from ebbmem.records import memory_rows
from ebbmem.records import rows as seals
from ebbmem.records import statements as sql
from ebbmem.records.base import MemoryRow, ScopeRow
from ebbmem.records.connection import Connection
from ebbmem.records.corruption import corrupt, corrupt_memory, corrupt_row
from ebbmem.records.ended import Ended

Built = TypeVar("Built")
Kind = TypeVar("Kind")


class CheckedRows:
    """What compares rows of one transaction, and raises CorruptStore where one does not agree.

    Parameters
    ----------
    connection : Connection
        In the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def end(self) -> None:
        """Let every later call raise StoreError: the transaction is over."""
        self._connection = cast(Connection, Ended())

    def check_index_row(self, row: Sequence[Any]) -> None:
        """Compare the index half of a memory's checksum with its columns, checksum last."""
        try:
            same = memory_rows.index_checksum(row[:-1]) == memory_rows.index_half(row[-1])
        except seals.UNFIT:
            same = False
        if not same:
            raise corrupt_memory(self._connection, row[0])

    def checked_memory(self, row: Sequence[Any]) -> MemoryRow:
        """Return a memory whose columns agree with both of its checksums, which come last."""
        memory = MemoryRow._make(row[:-2])
        try:
            same = memory_rows.sealed(memory)[-2:] == tuple(row[-2:])
        except seals.UNFIT:
            same = False
        if not same:
            raise corrupt_memory(self._connection, memory.row_id)
        return memory

    def _checked_text(self, row: tuple[int, str, str, int]) -> tuple[int, str, str]:
        if not seals.agrees(memory_rows.text_checksum, row):
            raise corrupt_memory(self._connection, row[0])
        return row[:3]

    def _check_totals(self, scope_id: int, count: int, checksum_xor: int) -> None:
        """Compare the memories of a scope with the count and XOR kept of them."""
        scope = self._connection.row(sql.SELECT_SCOPE_BY_ID, (scope_id,))
        found = (count, checksum_xor)
        kept = (
            (0, 0) if scope is None else self._checked(scope, seals.scope_checksum, "scopes")[5:7]
        )
        if found != tuple(kept):
            name = scope_id if scope is None else repr(scope[1])
            raise corrupt(
                self._connection,
                f"scope {name} should have {kept[0]} memories, has {found[0]}"
                + ("" if found[0] != kept[0] else " with other checksums"),
            )

    def _checked(self, row: Sequence[Any], checksum: seals.Checksum, table: str) -> Any:
        """Return a row without its checksum, which comes last and must be right."""
        if not seals.agrees(checksum, row):
            raise corrupt_row(self._connection, table, row[:-1])
        return row[:-1]

    def _built(
        self,
        found: Iterable[Sequence[Any]],
        checksum: seals.Checksum,
        table: str,
        row_class: Callable[..., Built],
    ) -> list[Built]:
        """Return checked rows as values of the border; columns beyond theirs are left off."""
        width = len(row_class._fields)  # type: ignore[attr-defined]
        return [row_class(*self._checked(row, checksum, table)[:width]) for row in found]

    def _scope(self, row: Sequence[Any]) -> ScopeRow:
        scope = self._checked(row, seals.scope_checksum, "scopes")
        return ScopeRow(scope[0], scope[1], scope[2], scope[5])

    def _number(self, statement: str, values: Sequence[Any]) -> int | None:
        row = self._connection.row(statement, values)
        return None if row is None else self._of_type(row[0], int)

    def _of_type(self, value: Any, kind: type[Kind]) -> Kind:
        """Return a value that no checksum was compared of, where it is of its column's type."""
        if not isinstance(value, kind):
            raise corrupt(self._connection, f"a row holds {value!r:.40}, not {kind.__name__}")
        return value
