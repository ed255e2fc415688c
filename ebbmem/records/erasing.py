"""Deleting memories with every row that names them, and remembering that they were erased."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ebbmem.records import statements as sql
from ebbmem.records.connection import Connection, Values
from ebbmem.records.reading import singles
from ebbmem.records.rows import erased_checksum


def superseded_by(connection: Connection, rows: Iterable[int]) -> list[int]:
    """Return the memories that any of some memories replaced."""
    return [row for (row,) in connection.rows_of_each(sql.SELECT_SUPERSEDED, singles(rows))]


def delete(connection: Connection, rows: Iterable[int]) -> list[int]:
    """Delete memories and all that names them; return the checksums of those that were there."""
    bindings = singles(rows)
    checksums = [value for (value,) in connection.rows_of_each(sql.SELECT_CHECKSUM, bindings)]
    for statement in sql.DELETE_MEMORY:
        connection.run_for_each(statement, bindings)
    return checksums


def remember(connection: Connection, row: Values) -> None:
    """Insert or replace (scope_id, id, digest or None, at, seq) of an erased memory."""
    connection.run(sql.PUT_ERASED, (*row, erased_checksum(row)))


def remembered(connection: Connection, scope_id: int, digest: bytes) -> list[Any]:
    """Return the rows of ``erased``, checksum last, with a keyed digest."""
    return connection.rows(sql.SELECT_ERASED, (scope_id, digest))


def any_remembered(connection: Connection, scope_id: int) -> bool:
    """Return whether anything was ever erased from a scope."""
    return connection.row(sql.SELECT_ANY_ERASED, (scope_id,)) is not None
