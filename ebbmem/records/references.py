"""Which columns name rows of another table, and how rows are found that name none."""

# ruff: noqa: S608 - names of tables and columns are those written here, never a value.
from __future__ import annotations

from typing import Final, NamedTuple

_OTHER_SCOPE: Final = "names one of another scope"


class Reference(NamedTuple):
    """A column that names a row of another table."""

    table: str
    condition: str
    """True of rows ``r`` that name what is not there."""
    problem: str

    def query(self, columns: str) -> str:
        """Return the query for some columns of such rows."""
        return " ".join(("SELECT", columns, "FROM", self.table, "AS r WHERE", self.condition))


def _memory(table: str, column: str) -> tuple[Reference, Reference]:
    """Return that a column names a memory of the row's scope, or is NULL."""
    lead = {"memories": "row_id", "turns": "row_id"}.get(table, column)
    return (
        Reference(
            table,
            f"r.{column} IS NOT NULL"
            f" AND NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.row_id = r.{column})",
            f"its {column} names a memory that is not there",
        ),
        Reference(
            table,
            f"r.{column} >> 32 <> r.{lead} >> 32",
            f"its {column} {_OTHER_SCOPE}",
        ),
    )


def _scope(table: str, scope_id: str) -> Reference:
    """Return that a row belongs to a scope."""
    return Reference(
        table,
        f"NOT EXISTS (SELECT 1 FROM scopes AS s WHERE s.scope_id = {scope_id})",
        "belongs to no scope",
    )


REFERENCES: Final = (
    *_memory("memories", "superseded_by"),
    _memory("vectors", "row_id")[0],
    _memory("staged", "row_id")[0],
    _memory("keywords", "row_id")[0],
    _memory("links", "source")[0],
    _memory("links", "target")[0],
    Reference("links", "r.source >> 32 <> r.target >> 32", f"its target {_OTHER_SCOPE}"),
    *_memory("turns", "memory"),
    _memory("checkpoints", "memory")[0],
    _memory("sources", "memory")[0],
    Reference("sources", "r.source >> 32 <> r.memory >> 32", f"its source {_OTHER_SCOPE}"),
    Reference(
        "sources",
        "r.kind = 'memory' AND NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.row_id = r.source)",
        "its source names a memory that is not there",
    ),
    Reference(
        "sources",
        "r.kind = 'turn' AND NOT EXISTS (SELECT 1 FROM turns AS t WHERE t.row_id = r.source)",
        "its source names a turn that is not there",
    ),
    Reference(
        "events",
        "r.memory IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.row_id = r.memory)",
        "its memory names a memory that is not there",
    ),
    *(_scope(table, "r.scope_id") for table in ("intentions", "summaries", "events", "erased")),
    _scope("memories", "r.row_id >> 32"),
    _scope("turns", "r.row_id >> 32"),
)
