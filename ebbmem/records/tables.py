"""Every table of a store: its columns, its key, and how its rows are sealed.

Checking and repairing look at tables one like another; this is all they know of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from ebbmem.errors import InvalidArgument
from ebbmem.records import memory_rows, rows
from ebbmem.records import statements as sql
from ebbmem.records.base import NUMBER_BITS, EventRow, MemoryRow, number_of
from ebbmem.records.identity import id_text

Row = Sequence[Any]


class Table(NamedTuple):
    """A table as checks see it."""

    name: str
    fields: tuple[str, ...]
    """The columns that mean something; their checksums come after them."""
    key: tuple[str, ...]
    """The columns of the primary key, by which rows are read in order."""
    scope: Callable[[Row], int | None]
    """Return the scope_id of a row; None for one of the store as a whole."""
    label: Callable[[Row], str]
    """Return the name of a row for people."""
    seal: Callable[[Row], Row]
    """Return the fields of a row followed by the right checksums."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return every column, the checksums last."""
        text = ("text_checksum",) if self.name == "memories" else ()
        return (*self.fields, *text, "checksum")

    def place(self, column: str) -> int:
        """Return where a column is in a row."""
        return self.columns.index(column)

    def key_of(self, row: Row) -> tuple[Any, ...]:
        """Return the primary key of a row."""
        return tuple(row[self.place(column)] for column in self.key)

    def whole(self, row: Row) -> bool:
        """Return whether a row agrees with its checksums."""
        try:
            return tuple(self.seal(row[: len(self.fields)])) == tuple(row)
        except (InvalidArgument, AttributeError, TypeError):
            return False


def named(row_id: object) -> str:
    """Return the name of a memory or turn by its row id: ``#6 of scope 1``."""
    if not isinstance(row_id, int):
        return repr(row_id)
    return f"#{number_of(row_id)} of scope {row_id >> NUMBER_BITS}"


def _plain(checksum: rows.Checksum) -> Callable[[Row], Row]:
    return lambda row: (*row, checksum(row))


def _sealed_memory(row: Row) -> Row:
    return memory_rows.sealed(MemoryRow(*row))


def _by_row(place: int) -> Callable[[Row], int | None]:
    return lambda row: row[place] >> NUMBER_BITS if isinstance(row[place], int) else None


def _by_scope(place: int) -> Callable[[Row], int | None]:
    return lambda row: row[place] if isinstance(row[place], int) else None


def _none(row: Row) -> None:  # noqa: ARG001
    return None


def _id(value: object) -> str:
    return id_text(value) if isinstance(value, bytes) and len(value) == 16 else f"{value!r:.40}"


def _memory(row: Row) -> str:
    return f"{_id(row[2])} (#{number_of(row[0])})"


_CHECKPOINT: Final = (
    "memory",
    "seq",
    "at",
    "storage_strength",
    "r_anchor",
    "anchored_at",
    "access_count",
)

TABLES: Final = (
    Table("meta", sql.META_COLUMNS, ("key",), _none, lambda r: f"{r[0]!r:.60}",
          _plain(rows.meta_checksum)),
    Table("scopes", sql.SCOPE_COLUMNS, ("scope_id",), _by_scope(0), lambda r: f"{r[1]!r:.60}",
          _plain(rows.scope_checksum)),
    Table("memories", MemoryRow._fields, ("row_id",), _by_row(0), _memory, _sealed_memory),
    Table("vectors", sql.VECTOR_COLUMNS, ("row_id",), _by_row(0), lambda r: f"of {named(r[0])}",
          _plain(rows.vector_checksum)),
    Table("staged", sql.VECTOR_COLUMNS, ("row_id",), _by_row(0), lambda r: f"of {named(r[0])}",
          _plain(rows.vector_checksum)),
    Table("keywords", sql.KEYWORD_COLUMNS, ("keyword", "role", "row_id"), _by_row(2),
          lambda r: f"{r[0]!r:.40} {r[1]} {named(r[2])}", _plain(rows.keyword_checksum)),
    Table("links", sql.LINK_COLUMNS, ("source", "target", "kind"), _by_row(0),
          lambda r: f"{named(r[0])} -> {named(r[1])} {r[2]!r:.40}",
          _plain(memory_rows.link_checksum)),
    Table("intentions", sql.INTENTION_COLUMNS, ("id",), _by_scope(1), lambda r: _id(r[0]),
          _plain(rows.intention_checksum)),
    Table("turns", sql.TURN_COLUMNS, ("row_id",), _by_row(0), lambda r: named(r[0]),
          _plain(rows.turn_checksum)),
    Table("summaries", sql.SUMMARY_COLUMNS, ("scope_id", "run_id"), _by_scope(0),
          lambda r: f"of run {r[1]!r:.60}", _plain(rows.summary_checksum)),
    Table("events", EventRow._fields, ("scope_id", "seq"), _by_scope(1), lambda r: f"seq {r[0]}",
          _plain(rows.event_checksum)),
    Table("checkpoints", _CHECKPOINT, ("memory",), _by_row(0), lambda r: f"of {named(r[0])}",
          _plain(rows.checkpoint_checksum)),
    Table("sources", sql.SOURCE_COLUMNS, ("memory", "kind", "source"), _by_row(0),
          lambda r: f"{r[1]} {named(r[2])} of memory {named(r[0])}",
          _plain(rows.source_checksum)),
    Table("erased", sql.ERASED_COLUMNS, ("scope_id", "id"), _by_scope(0), lambda r: _id(r[1]),
          _plain(rows.erased_checksum)),
)  # fmt: skip
"""Parents before children: in this order rows can be put into an empty store."""
