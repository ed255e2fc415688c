"""Reading every row of a table in the order of its key, past what cannot be read."""

# ruff: noqa: S608 - names of tables and columns come from `tables`, and no value does.
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ebbmem.errors import CorruptStore
from ebbmem.records.connection import Connection
from ebbmem.records.tables import TABLES, Row, Table

_MOST_GAPS: Final = 100_000
"""How many rows or stretches that cannot be read are passed in one table before it is left."""
_LAST_KEY: Final = (1 << 63) - 1
_PARTLY_INDEXED: Final = {"events": "memory", "erased": "digest"}
"""Tables with no index but one of the rows with such a column, which SQLite does not count."""

Key = tuple[Any, ...]
Place = Key | int | None
"""Behind a key; or from a value of the key's first column on; or at the start."""


class Unreadable(NamedTuple):
    """A row, or a stretch of rows, that SQLite cannot read.

    ``row`` has what could still be read of one row, by column; it is empty for a stretch.
    """

    after: Key | None
    """The key of the last row before it; None at the start."""
    row: dict[str, Any]
    reason: str


def scanned(connection: Connection, table: Table) -> Iterator[Row | Unreadable]:
    """Yield the rows of a table by key, and what stands where rows could not be read.

    A stretch that cannot be read is left behind at the next key that can be looked for.  Rows
    between two damaged pages can be missed where keys are far apart; the ids that an index still
    names tell of them (see `known_ids`).
    """
    walk = _Walk(connection, table)
    after: Key | None = None
    place: Place = None
    for _ in range(_MOST_GAPS):
        try:
            for row in walk.rows(place):
                # In a damaged tree keys may come in any order; the search goes on forwards.
                place = after = max(after, table.key_of(row), key=_order)
                yield row
        except CorruptStore as exc:
            reason = str(exc).removeprefix(f"{connection.path}: ")
        else:
            return
        single = walk.single(place)
        key = None if single is None else tuple(single[column] for column in table.key)
        if single is not None and _order(key) > max(_order(after), _order(place)):
            yield Unreadable(after, single, reason)
            place = after = key
            continue
        yield Unreadable(after, {}, reason)
        stop = walk.resumed(place)
        yield from walk.backwards(place, stop)
        if stop is None:
            return
        place = stop


def known_ids(connection: Connection) -> Iterator[tuple[int, bytes]]:
    """Yield (row_id, id) of memories as far as their index names them."""
    statement = "SELECT row_id, id FROM memories INDEXED BY sqlite_autoindex_memories_1 ORDER BY id"
    try:
        yield from connection.each(statement)
    except CorruptStore:
        return


def only_indexed(connection: Connection) -> Iterator[tuple[Table, Row]]:
    """Yield rows that an index names and their table has not, with what the index says of them.

    A page that is sound, but older than those around it, loses rows so: a write that never
    reached the disk.
    """
    for table in TABLES:
        if table.name in _PARTLY_INDEXED:
            known = (*table.key, _PARTLY_INDEXED[table.name])
            for found in connection.each(_only_indexed(table)):
                row = dict(zip(known, found, strict=True))
                yield table, tuple(row.get(column) for column in table.columns)


def _only_indexed(table: Table) -> str:
    """Return the query for the keys, and the indexed column, of such rows."""
    column = _PARTLY_INDEXED[table.name]
    known = ", ".join(f'i."{name}"' for name in (*table.key, column))
    same = " AND ".join(f't."{name}" = i."{name}"' for name in table.key)
    return (
        f"SELECT {known} FROM {table.name} AS i INDEXED BY {table.name}_by_{column}"
        f" WHERE i.{column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {table.name} AS t"
        f" INDEXED BY sqlite_autoindex_{table.name}_1 WHERE {same})"
    )


def _order(place: Place) -> tuple[tuple[int, Any], ...]:
    """Return what places compare by, as SQLite compares them: NULL, numbers, texts, blobs."""
    values = place if isinstance(place, tuple) else () if place is None else (place,)
    return tuple(
        (0, 0)
        if value is None
        else (1, value)
        if isinstance(value, (int, float))
        else (2, value)
        if isinstance(value, str)
        else (3, value)
        for value in values
    )


class _Walk:
    """The statements that read one table."""

    def __init__(self, connection: Connection, table: Table) -> None:
        self._connection = connection
        self._table = table
        self._keys = ", ".join(f'"{column}"' for column in table.key)
        self._columns = ", ".join(f'"{column}"' for column in table.columns)
        self._marks = ", ".join("?" * len(table.key))
        # A text or blob leads the key of some tables; those have no next one to look for.
        self._counted = table.key[0] not in ("key", "keyword", "id")

    def rows(self, place: Place) -> Iterator[Row]:
        """Yield whole rows from a place on, ascending."""
        where, values = self._from(place)
        statement = f"SELECT {self._columns} FROM {self._table.name}{where} ORDER BY {self._keys}"
        return self._connection.each(statement, values)

    def single(self, place: Place) -> dict[str, Any] | None:
        """Return what can be read of the row at a place, where its key can."""
        where, values = self._from(place)
        tail = f"FROM {self._table.name}{where} ORDER BY {self._keys} LIMIT 1"
        found: dict[str, Any] = {}
        for column in self._table.columns:
            for form in (f'"{column}"', f'CAST("{column}" AS BLOB)'):
                try:
                    row = self._connection.row(f"SELECT {form} {tail}", values)
                except CorruptStore:
                    continue
                if row is not None:
                    found[column] = row[0]
                break
        return found if found.keys() >= set(self._table.key) else None

    def resumed(self, place: Place) -> int | None:
        """Return the first value of the key's first column from which on rows can be read."""
        if not self._counted:
            return None
        lead = place[0] if isinstance(place, tuple) else place
        step, bad, good = 1, lead or 0, None
        while good is None and bad + step <= _LAST_KEY:
            if self._found(bad + step) is not None:
                good = bad + step
            else:
                bad, step = bad + step, step * 2
        while good is not None and good - bad > 1:
            middle = (good + bad) // 2
            good, bad = (good, middle) if self._found(middle) is None else (middle, bad)
        # Where only the end can be found there is nothing to go on with.
        return good if good is not None and self._found(good) else None

    def backwards(self, place: Place, stop: int | None) -> Iterator[Row]:
        """Yield the rows at the far side of a damaged stretch, descending until it begins."""
        where, values = self._from(place)
        if stop is not None:
            where += f'{" AND" if where else " WHERE"} "{self._table.key[0]}" < ?'
            values = (*values, stop)
        order = ", ".join(f'"{column}" DESC' for column in self._table.key)
        statement = f"SELECT {self._columns} FROM {self._table.name}{where} ORDER BY {order}"
        try:
            yield from self._connection.each(statement, values)
        except CorruptStore:
            return

    def _from(self, place: Place) -> tuple[str, Key]:
        if place is None:
            return "", ()
        if isinstance(place, int):
            # Not "behind the one before": looking for that would lead into the damaged page.
            return f' WHERE "{self._table.key[0]}" >= ?', (place,)
        return f" WHERE ({self._keys}) > ({self._marks})", place

    def _found(self, first: int) -> bool | None:
        """Return whether there is a row from a key on; None where that cannot be read."""
        lead = self._table.key[0]
        statement = (
            f'SELECT {self._keys} FROM {self._table.name} WHERE "{lead}" >= ?'
            f" ORDER BY {self._keys} LIMIT 1"
        )
        try:
            found = self._connection.row(statement, (first,))
        except CorruptStore:
            return None
        if found is None:
            return False
        # A key below what was asked for comes from a tree in disorder.
        return True if _order(tuple(found)) >= _order(first) else None
