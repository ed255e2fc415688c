"""What a repair makes of the rows that it kept: the keywords and successions of memories."""

# ruff: noqa: S608 - names of tables and columns come from `tables`, and no value does.
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ebbmem.records.base import HAS, NUMBER_BITS
from ebbmem.records.connection import Connection
from ebbmem.records.quarantine import Quarantine
from ebbmem.records.rows import keyword_checksum
from ebbmem.records.tables import TABLES, Row, Table

_BY_NAME: Final = {table.name: table for table in TABLES}
_KEYWORDS: Final = _BY_NAME["keywords"]
_MEMORIES: Final = _BY_NAME["memories"]


def insert(target: Connection, table: Table, row: Row) -> bool:
    """Insert a row; return whether it could be."""
    columns = ", ".join(f'"{column}"' for column in table.columns)
    marks = ", ".join("?" * len(table.columns))
    statement = f"INSERT OR IGNORE INTO {table.name} ({columns}) VALUES ({marks})"
    return target.run(statement, row) == 1


def holds(target: Connection, table: Table, row: Row) -> bool:
    """Return whether a row of that key is there."""
    same = " AND ".join(f'"{column}" = ?' for column in table.key)
    return target.row(f"SELECT 1 FROM {table.name} WHERE {same}", table.key_of(row)) is not None


def there(target: Connection, row_id: Any, scope_id: int | None) -> bool:
    """Return whether a memory is there, and of a scope."""
    if not isinstance(row_id, int) or row_id >> NUMBER_BITS != scope_id:
        return False
    return target.row("SELECT 1 FROM memories WHERE row_id = ?", (row_id,)) is not None


def mend_successions(
    target: Connection, quarantine: Quarantine, scope_of: Callable[[int], str | None]
) -> None:
    """Let memories be current again whose successor is gone, or which stand in a circle."""
    columns = ", ".join(f'"{column}"' for column in _MEMORIES.columns)
    replaced = "SELECT row_id, superseded_by FROM memories WHERE superseded_by IS NOT NULL"
    successor = dict(target.rows(replaced))
    for row_id, new in successor.items():
        if there(target, new, row_id >> NUMBER_BITS) and not _circles(successor, row_id):
            continue
        (row,) = target.rows(f"SELECT {columns} FROM memories WHERE row_id = ?", (row_id,))
        values = list(row[: len(_MEMORIES.fields)])
        for column in ("superseded_by", "superseded_at"):
            values[_MEMORIES.place(column)] = None
        target.run("DELETE FROM memories WHERE row_id = ?", (row_id,))
        insert(target, _MEMORIES, _MEMORIES.seal(values))
        successor[row_id] = 0
        done = "is current again: what replaced it is not there"
        scope = scope_of(row_id >> NUMBER_BITS)
        quarantine.note("memories", scope, _MEMORIES.label(row), done)


def write_own_keywords(target: Connection) -> None:
    """Write the keywords that memories have, from the memories."""
    having = "SELECT row_id, keywords FROM memories WHERE keywords <> '' ORDER BY row_id"
    for row_id, text in target.rows(having):
        for keyword in text.split("\n"):
            row = (keyword, HAS, row_id)
            insert(target, _KEYWORDS, (*row, keyword_checksum(row)))


def _circles(successor: dict[int, int], row_id: int) -> bool:
    """Return whether a chain of corrections comes back to where it began."""
    at, seen = successor[row_id], {row_id}
    while at in successor and at not in seen:
        seen.add(at)
        at = successor[at]
    return at == row_id
