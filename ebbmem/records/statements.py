"""The SQL of the store's reads and writes.

Every statement is one constant string: SQLite's prepared form of it is kept and used again, and
no value ever becomes part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ebbmem.records.base import EventRow, IntentionRow, LinkRow, SummaryRow, TurnRow
from ebbmem.records.memory_rows import INDEX_COLUMNS, MEMORY_COLUMNS


def _select(columns: Sequence[str], rest: str) -> str:
    """Return the query of columns and, last, the checksum."""
    return " ".join(("SELECT", ", ".join((*map(_quoted, columns), "checksum")), "FROM", rest))


def _insert(table: str, columns: Sequence[str], rest: str = "") -> str:
    """Return the statement that inserts columns and, last, the checksum."""
    names = ", ".join((*map(_quoted, columns), "checksum"))
    marks = ", ".join("?" * (len(columns) + 1))
    return " ".join(("INSERT INTO", table, "(", names, ") VALUES (", marks, ")", rest))


def _quoted(column: str) -> str:
    return f'"{column}"'


META_COLUMNS: Final = ("key", "value")
SELECT_META: Final = _select(META_COLUMNS, "meta WHERE key = ?")
PUT_META: Final = _insert(
    "meta",
    META_COLUMNS,
    "ON CONFLICT DO UPDATE SET value = excluded.value, checksum = excluded.checksum",
)

SCOPE_COLUMNS: Final = (
    "scope_id",
    "name",
    "last_seq",
    "next_number",
    "next_turn",
    "memory_count",
    "checksum_xor",
    "created_at",
)
SELECT_SCOPES: Final = _select(SCOPE_COLUMNS, "scopes ORDER BY scope_id")
SELECT_SCOPE_BY_NAME: Final = _select(SCOPE_COLUMNS, "scopes WHERE name = ?")
SELECT_SCOPE_BY_ID: Final = _select(SCOPE_COLUMNS, "scopes WHERE scope_id = ?")
SELECT_NEXT_SCOPE: Final = "SELECT coalesce(max(scope_id), 0) + 1 FROM scopes"
INSERT_SCOPE: Final = _insert("scopes", SCOPE_COLUMNS)
UPDATE_SCOPE: Final = (
    "UPDATE scopes SET last_seq = ?, next_number = ?, next_turn = ?, memory_count = ?,"
    " checksum_xor = ?, checksum = ? WHERE scope_id = ?"
)

SELECT_INDEX: Final = _select(
    INDEX_COLUMNS, "memories WHERE row_id BETWEEN ? AND ? ORDER BY row_id"
)
SELECT_INDEX_OF_ROW: Final = _select(INDEX_COLUMNS, "memories WHERE row_id = ?")
SELECT_MEMORY: Final = _select(MEMORY_COLUMNS, "memories WHERE row_id = ?")
SELECT_TEXTS: Final = (
    "SELECT row_id, summary, keywords, text_checksum FROM memories"
    " WHERE row_id BETWEEN ? AND ? ORDER BY row_id"
)
SELECT_TEXT: Final = (
    "SELECT row_id, summary, keywords, text_checksum FROM memories WHERE row_id = ?"
)
SELECT_ID: Final = "SELECT row_id, id FROM memories WHERE row_id = ?"
SELECT_ROW_BY_ID: Final = "SELECT row_id FROM memories WHERE id = ?"
SELECT_ROW_BY_KEY: Final = "SELECT row_id FROM memories WHERE scope_id = ? AND key = ?"
SELECT_ROW_BY_DIGEST: Final = (
    "SELECT row_id FROM memories WHERE digest = ? AND row_id BETWEEN ? AND ?"
    " AND tier < ? AND superseded_by IS NULL AND memory_type <> 'turn' ORDER BY row_id DESC LIMIT 1"
)
SELECT_DUE: Final = (
    "SELECT row_id FROM memories WHERE scope_id = ? AND due_at <= ? ORDER BY due_at, row_id LIMIT ?"
)
SELECT_SUPERSEDED: Final = "SELECT row_id FROM memories WHERE superseded_by = ?"
SELECT_CHECKSUM: Final = "SELECT checksum FROM memories WHERE row_id = ?"
COUNT_MEMORIES: Final = (
    "SELECT memory_type, tier, superseded_by IS NOT NULL, count(*) FROM memories"
    " WHERE row_id BETWEEN ? AND ? GROUP BY 1, 2, 3"
)
INSERT_MEMORY: Final = _insert("memories", MEMORY_COLUMNS)
UPDATE_STRENGTHS: Final = (
    "UPDATE memories SET storage_strength = ?, r_anchor = ?, anchored_at = ?, access_count = ?,"
    " seq = ?, checksum = ? WHERE row_id = ?"
)
UPDATE_STATE: Final = (
    "UPDATE memories SET tier = ?, memory_type = ?, superseded_by = ?, superseded_at = ?,"
    " due_at = ?, seq = ?, checksum = ? WHERE row_id = ?"
)

VECTOR_COLUMNS: Final = ("row_id", "vector", "seq")
SELECT_VECTORS: Final = _select(
    VECTOR_COLUMNS, "vectors WHERE row_id BETWEEN ? AND ? ORDER BY row_id"
)
PUT_VECTOR: Final = _insert(
    "vectors",
    VECTOR_COLUMNS,
    "ON CONFLICT DO UPDATE SET"
    " vector = excluded.vector, seq = excluded.seq, checksum = excluded.checksum",
)

KEYWORD_COLUMNS: Final = ("keyword", "role", "row_id")
SELECT_HOLDERS: Final = _select(
    KEYWORD_COLUMNS,
    "keywords WHERE keyword = ? AND role = ? AND row_id BETWEEN ? AND ?"
    " ORDER BY row_id DESC LIMIT ?",
)
SELECT_KEYWORDS: Final = _select(
    KEYWORD_COLUMNS, "keywords WHERE role = ? AND row_id BETWEEN ? AND ? ORDER BY row_id, keyword"
)
INSERT_KEYWORD: Final = _insert("keywords", KEYWORD_COLUMNS, "ON CONFLICT DO NOTHING")

LINK_COLUMNS: Final = (*LinkRow._fields, "seq")
SELECT_LINKS: Final = _select(
    LINK_COLUMNS, "links WHERE source BETWEEN ? AND ? ORDER BY source, target, kind"
)
COUNT_LINKS: Final = "SELECT count(*) FROM links WHERE source BETWEEN ? AND ?"
# The upper half of a link's checksum is of what stays, the lower of what a greater weight changes.
PUT_LINK: Final = _insert(
    "links",
    LINK_COLUMNS,
    "ON CONFLICT DO UPDATE SET weight = excluded.weight, seq = excluded.seq,"
    " checksum = ((checksum >> 32) << 32) | (excluded.checksum & 4294967295)"
    " WHERE excluded.weight > weight",
)
DELETE_LINK: Final = "DELETE FROM links WHERE source = ? AND target = ? AND kind = ?"

INTENTION_COLUMNS: Final = (*IntentionRow._fields, "seq")
SELECT_INTENTIONS: Final = _select(
    INTENTION_COLUMNS,
    "intentions WHERE scope_id = ? AND completed_at IS NULL ORDER BY created_at, id",
)
SELECT_OPEN_INTENTION: Final = _select(
    INTENTION_COLUMNS, "intentions WHERE id = ? AND scope_id = ? AND completed_at IS NULL"
)
SELECT_ALL_INTENTIONS: Final = _select(
    INTENTION_COLUMNS, "intentions WHERE scope_id = ? ORDER BY completed_at, created_at, id"
)
SELECT_INTENTION_SCOPE: Final = "SELECT scope_id FROM intentions WHERE id = ?"
COUNT_INTENTIONS: Final = (
    "SELECT count(*) FROM intentions WHERE scope_id = ? AND completed_at IS NULL"
)
INSERT_INTENTION: Final = _insert("intentions", INTENTION_COLUMNS)
COMPLETE_INTENTION: Final = (
    "UPDATE intentions SET completed_at = ?, seq = ?, checksum = ? WHERE id = ?"
)

TURN_COLUMNS: Final = (*TurnRow._fields, "seq")
SELECT_TURNS: Final = _select(
    TURN_COLUMNS, "turns WHERE row_id BETWEEN ? AND ? ORDER BY row_id LIMIT ?"
)
SELECT_TURNS_OF_RUN: Final = _select(
    TURN_COLUMNS, "turns WHERE run_id = ? AND row_id BETWEEN ? AND ? ORDER BY row_id LIMIT ?"
)
SELECT_LAST_TURN: Final = _select(
    TURN_COLUMNS,
    "turns WHERE run_id = ? AND row_id BETWEEN ? AND ? AND memory IS NOT NULL"
    " ORDER BY row_id DESC LIMIT 1",
)
COUNT_TURNS: Final = "SELECT count(*) FROM turns WHERE row_id BETWEEN ? AND ?"
INSERT_TURN: Final = _insert("turns", TURN_COLUMNS)

SUMMARY_COLUMNS: Final = ("scope_id", *SummaryRow._fields, "seq")
SELECT_SUMMARY: Final = _select(SUMMARY_COLUMNS, "summaries WHERE scope_id = ? AND run_id = ?")
PUT_SUMMARY: Final = _insert(
    "summaries",
    SUMMARY_COLUMNS,
    "ON CONFLICT DO UPDATE SET text = excluded.text, through = excluded.through,"
    " updated_at = excluded.updated_at, seq = excluded.seq, checksum = excluded.checksum",
)

SELECT_EVENTS: Final = _select(
    EventRow._fields, "events WHERE scope_id = ? AND seq > ? ORDER BY seq LIMIT ?"
)
SELECT_EVENT: Final = _select(EventRow._fields, "events WHERE scope_id = ? AND seq = ?")
REWRITE_EVENT: Final = "UPDATE events SET payload = ?, checksum = ? WHERE scope_id = ? AND seq = ?"
INSERT_EVENT: Final = _insert("events", EventRow._fields)

SOURCE_COLUMNS: Final = ("memory", "kind", "source")
SELECT_DERIVED: Final = (
    "SELECT memory FROM sources WHERE kind = 'memory' AND source = ?1 UNION ALL"
    " SELECT memory FROM sources WHERE kind = 'turn'"
    " AND source IN (SELECT row_id FROM turns WHERE memory = ?1)"
)
SELECT_SOURCES: Final = (
    "SELECT s.kind, s.source, t.memory FROM sources AS s"
    " LEFT JOIN turns AS t ON s.kind = 'turn' AND t.row_id = s.source WHERE s.memory = ?"
)
INSERT_SOURCE: Final = _insert("sources", SOURCE_COLUMNS, "ON CONFLICT DO NOTHING")

ERASED_COLUMNS: Final = ("scope_id", "id", "digest", "at", "seq")
SELECT_ERASED: Final = _select(ERASED_COLUMNS, "erased WHERE scope_id = ? AND digest = ?")
SELECT_ANY_ERASED: Final = "SELECT 1 FROM erased WHERE scope_id = ? LIMIT 1"
PUT_ERASED: Final = _insert(
    "erased",
    ERASED_COLUMNS,
    "ON CONFLICT DO UPDATE SET digest = excluded.digest, at = excluded.at, seq = excluded.seq,"
    " checksum = excluded.checksum",
)
_DELETE_SOURCE_TURNS: Final = (
    "DELETE FROM sources WHERE kind = 'turn'"
    " AND source IN (SELECT row_id FROM turns WHERE memory = ?)"
)
# In an order that leaves no row naming one that is gone.
DELETE_MEMORY: Final = (
    "DELETE FROM sources WHERE memory = ?",
    "DELETE FROM sources WHERE kind = 'memory' AND source = ?",
    _DELETE_SOURCE_TURNS,
    "DELETE FROM turns WHERE memory = ?",
    "DELETE FROM links WHERE source = ?",
    "DELETE FROM links WHERE target = ?",
    "DELETE FROM keywords WHERE row_id = ?",
    "DELETE FROM vectors WHERE row_id = ?",
    "DELETE FROM events WHERE memory = ?",
    "DELETE FROM checkpoints WHERE memory = ?",
    "DELETE FROM memories WHERE row_id = ?",
)

INSERTS: Final = (
    INSERT_MEMORY,
    PUT_VECTOR,
    INSERT_KEYWORD,
    PUT_LINK,
    INSERT_TURN,
    INSERT_SOURCE,
    INSERT_EVENT,
)
"""In an order that leaves no row naming one that is not there yet."""
