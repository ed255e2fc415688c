"""The errors for rows that are not as they were written: which row, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ebbmem.errors import CorruptStore
from ebbmem.records import statements as sql
from ebbmem.records.base import NUMBER_BITS, number_of
from ebbmem.records.connection import Connection
from ebbmem.records.identity import id_text
from ebbmem.records.tables import TABLES

_BY_NAME: Final = {table.name: table for table in TABLES}


def corrupt(connection: Connection, problem: str) -> CorruptStore:
    """Return the error for something in a store that is not as it was written."""
    return CorruptStore(f"{connection.path}: {problem}; see `verify` and `repair`")


def corrupt_memory(connection: Connection, row: int) -> CorruptStore:
    """Return the error for a memory that does not match its checksum."""
    found = connection.row(sql.SELECT_ID, (row,))
    memory_id = None if found is None else found[1]
    # Damage may have made anything of it.
    name = id_text(memory_id) if isinstance(memory_id, bytes) else "of an unknown id"
    scope = scope_name(connection, row >> NUMBER_BITS)
    return corrupt(
        connection,
        f"memory {name} (#{number_of(row)} of scope {scope}) does not match its checksum",
    )


def corrupt_row(connection: Connection, table: str, columns: Sequence[Any]) -> CorruptStore:
    """Return the error for a row of any table that does not match its checksum."""
    known = _BY_NAME[table]
    scope_id, label = known.scope(columns), known.label(columns)
    where = ""
    if scope_id is not None and table != "scopes":
        # A label names memories by the number of their scope.
        label = label.replace(f" of scope {scope_id}", "")
        where = f" of scope {scope_name(connection, scope_id)}"
    return corrupt(connection, f"a row of {table}{where} does not match its checksum: {label}")


def scope_name(connection: Connection, scope_id: int) -> str:
    """Return the name of a scope for people, or its number where the name cannot be read."""
    try:
        row = connection.row(sql.SELECT_SCOPE_BY_ID, (scope_id,))
    except CorruptStore:
        row = None
    return repr(row[1]) if row is not None and isinstance(row[1], str) else f"number {scope_id}"
