"""Whether a scope's name, or the store's key, is the one that memories were written with.

A memory's digest is keyed over its scope's name and its text, so sound memories prove both.
"""

# ruff: noqa: S608 - names of columns come from `tables`, and no value does.
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ebbmem.errors import CorruptStore
from ebbmem.records.base import NUMBER_BITS
from ebbmem.records.connection import Connection
from ebbmem.records.digests import keyed_digest
from ebbmem.records.scanning import Unreadable, scanned
from ebbmem.records.tables import TABLES

_BY_NAME: Final = {table.name: table for table in TABLES}
_MEMORIES: Final = _BY_NAME["memories"]
_MOST: Final = 50
"""How many memories are asked."""


def proves_name(connection: Connection, store_key: bytes, scope_id: int, name: str) -> bool:
    """Return whether memories of a scope were written under a name."""
    span = (scope_id << NUMBER_BITS, (scope_id + 1 << NUMBER_BITS) - 1)
    found = _proofs(connection, "WHERE row_id BETWEEN ? AND ?", span)
    return any(keyed_digest(store_key, name, text) == digest for _, text, digest in found)


def proves_key(connection: Connection, value: Any) -> bool:
    """Return whether memories were written with a store key, given as in ``meta``."""
    try:
        key = bytes.fromhex(value)
    except (TypeError, ValueError):
        return False
    scopes = scanned(connection, _BY_NAME["scopes"])
    names: dict[Any, str] = {
        row[0]: row[1]
        for row in scopes
        if not isinstance(row, Unreadable) and isinstance(row[1], str)
    }
    return any(
        keyed_digest(key, names[scope_id], text) == digest
        for scope_id, text, digest in _proofs(connection, "", ())
        if scope_id in names
    )


def _proofs(
    connection: Connection, where: str, values: tuple[Any, ...]
) -> Iterator[tuple[int, str, bytes]]:
    """Yield scope_id, text and digest of some sound memories."""
    columns = ", ".join(f'"{column}"' for column in _MEMORIES.columns)
    statement = f"SELECT {columns} FROM memories {where} LIMIT {_MOST}"
    summary, digest = _MEMORIES.place("summary"), _MEMORIES.place("digest")
    try:
        for row in connection.each(statement, values):
            if _MEMORIES.whole(row):
                yield row[0] >> NUMBER_BITS, row[summary], row[digest]
    except CorruptStore:
        return
