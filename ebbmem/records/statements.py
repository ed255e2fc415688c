"""The SQL of the store's reads and writes.

Every statement is one constant string: SQLite's prepared form of it is kept and used again, and
no value ever becomes part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ebbmem.records.base import EventRow, IntentionRow, LinkRow, SummaryRow, TurnRow
from ebbmem.records.followable import TOUCHED
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
DELETE_META: Final = "DELETE FROM meta WHERE key = ? AND value = ?"

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
TOMBSTONE: Final = chr(8486)
"""First character of the names of erased scopes.

No scope can be named like that: names are in NFC, where this sign is another one.
"""
SELECT_SCOPES: Final = _select(
    SCOPE_COLUMNS, "scopes WHERE name < char(8486) OR name >= char(8487) ORDER BY scope_id"
)
SELECT_SCOPE_BY_NAME: Final = _select(SCOPE_COLUMNS, "scopes WHERE name = ?")
SELECT_SCOPE_BY_ID: Final = _select(SCOPE_COLUMNS, "scopes WHERE scope_id = ?")
SELECT_ANY_SEQ: Final = "SELECT 1 FROM scopes WHERE scope_id > 0 AND last_seq > 0 LIMIT 1"
SELECT_NEXT_SCOPE: Final = "SELECT coalesce(max(scope_id), 0) + 1 FROM scopes"
INSERT_SCOPE: Final = _insert("scopes", SCOPE_COLUMNS)
RENAME_SCOPE: Final = "UPDATE scopes SET name = ? WHERE scope_id = ?"
UPDATE_SCOPE: Final = (
    "UPDATE scopes SET last_seq = ?, next_number = ?, next_turn = ?, memory_count = ?,"
    " checksum_xor = ?, checksum = ? WHERE scope_id = ?"
)

SELECT_INDEX: Final = _select(
    INDEX_COLUMNS, "memories WHERE row_id BETWEEN ? AND ? ORDER BY row_id"
)
SELECT_NEW: Final = SELECT_INDEX.replace(
    "checksum FROM", "checksum, summary, keywords, text_checksum FROM"
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
SELECT_ROW_IDS: Final = "SELECT row_id FROM memories WHERE row_id BETWEEN ? AND ? ORDER BY row_id"
SELECT_ID: Final = "SELECT row_id, id FROM memories WHERE row_id = ?"
SELECT_ROW_BY_ID: Final = "SELECT row_id FROM memories WHERE id = ?"
SELECT_ROW_BY_KEY: Final = "SELECT row_id FROM memories WHERE scope_id = ? AND key = ?"
SELECT_ROW_BY_DIGEST: Final = (
    "SELECT row_id FROM memories WHERE digest = ?1 AND row_id BETWEEN ?2 AND ?3"
    " AND tier < ?5 AND superseded_by IS NULL AND memory_type <> 'turn'"
    " AND (expires_at IS NULL OR expires_at > ?4) AND (valid_to IS NULL OR valid_to > ?4)"
    " ORDER BY row_id DESC LIMIT 1"
)
SELECT_DUE: Final = (
    "SELECT row_id FROM memories WHERE scope_id = ? AND due_at <= ? ORDER BY due_at, row_id LIMIT ?"
)
SELECT_SUPERSEDED: Final = "SELECT row_id FROM memories WHERE superseded_by = ?"
SELECT_MATCHING: Final = (
    "SELECT row_id FROM memories WHERE row_id BETWEEN ?1 AND ?2"
    " AND (?3 IS NULL OR run_id = ?3) AND (?4 IS NULL OR memory_type = ?4)"
    " AND (?5 IS NULL OR source = ?5) AND (?6 IS NULL OR created_at < ?6)"
    " AND (?7 IS NULL OR tier = ?7) AND (?8 IS NULL OR anchored_at <= ?8)"
    " AND NOT (?9 AND pinned) ORDER BY row_id"
)
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
SELECT_VECTOR_SEQ: Final = "SELECT seq FROM vectors WHERE row_id = ?"
PUT_VECTOR: Final = _insert(
    "vectors",
    VECTOR_COLUMNS,
    "ON CONFLICT DO UPDATE SET"
    " vector = excluded.vector, seq = excluded.seq, checksum = excluded.checksum",
)

KEYWORD_COLUMNS: Final = ("keyword", "role", "row_id")
SELECT_HOLDERS: Final = _select(
    KEYWORD_COLUMNS,
    "keywords WHERE keyword = ?1 AND role = ?2 AND row_id BETWEEN ?3 AND ?4 AND NOT EXISTS"
    " (SELECT 1 FROM memories AS m WHERE m.row_id = keywords.row_id AND m.expires_at <= ?5)"
    " ORDER BY row_id DESC LIMIT ?6",
)
SELECT_KEYWORDS: Final = _select(
    KEYWORD_COLUMNS, "keywords WHERE role = ? AND row_id BETWEEN ? AND ? ORDER BY row_id, keyword"
)
INSERT_KEYWORD: Final = _insert("keywords", KEYWORD_COLUMNS, "ON CONFLICT DO NOTHING")

LINK_COLUMNS: Final = (*LinkRow._fields, "seq")
SELECT_LINKS: Final = _select(
    LINK_COLUMNS, "links WHERE source BETWEEN ? AND ? ORDER BY source, target, kind"
)
SELECT_LINKS_TO: Final = _select(LINK_COLUMNS, "links WHERE target BETWEEN ? AND ?")
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
SELECT_TURNS_OF_MEMORY: Final = _select(TURN_COLUMNS, "turns WHERE memory = ? ORDER BY row_id")
SELECT_LOOSE_TURNS: Final = _select(
    TURN_COLUMNS,
    "turns WHERE row_id BETWEEN ?1 AND ?2 AND memory IS NULL AND (?3 IS NULL OR run_id = ?3)"
    " AND (?4 IS NULL OR created_at < ?4) ORDER BY row_id",
)
COUNT_TURNS: Final = "SELECT count(*) FROM turns WHERE row_id BETWEEN ? AND ?"
INSERT_TURN: Final = _insert("turns", TURN_COLUMNS)
GIVE_MEMORY: Final = "UPDATE turns SET memory = ?, seq = ?, checksum = ? WHERE row_id = ?"

SUMMARY_COLUMNS: Final = ("scope_id", *SummaryRow._fields, "seq")
SELECT_SUMMARY: Final = _select(SUMMARY_COLUMNS, "summaries WHERE scope_id = ? AND run_id = ?")
PUT_SUMMARY: Final = _insert(
    "summaries",
    SUMMARY_COLUMNS,
    "ON CONFLICT DO UPDATE SET text = excluded.text, through = excluded.through,"
    " updated_at = excluded.updated_at, seq = excluded.seq, checksum = excluded.checksum",
)

DELETE_SUMMARY: Final = "DELETE FROM summaries WHERE scope_id = ? AND run_id = ?"

SELECT_EVENTS: Final = _select(
    EventRow._fields,
    f"events WHERE scope_id = ? AND seq > ? AND kind <> '{TOUCHED}' ORDER BY seq LIMIT ?",
)
SELECT_CHANGES: Final = _select(
    EventRow._fields, "events WHERE scope_id = ? AND seq > ? ORDER BY seq LIMIT ?"
)
SELECT_PAYLOADS: Final = _select(
    EventRow._fields, "events WHERE scope_id = ? AND payload IS NOT NULL ORDER BY seq"
)
SELECT_PAYLOADS_WITH: Final = _select(
    EventRow._fields,
    "events WHERE scope_id = ? AND payload IS NOT NULL AND instr(payload, ?) > 0 ORDER BY seq",
)
SELECT_EVENT: Final = _select(EventRow._fields, "events WHERE scope_id = ? AND seq = ?")
REWRITE_EVENT: Final = "UPDATE events SET payload = ?, checksum = ? WHERE scope_id = ? AND seq = ?"
DELETE_EVENT: Final = "DELETE FROM events WHERE scope_id = ? AND seq = ?"
INSERT_EVENT: Final = _insert("events", EventRow._fields)

SOURCE_COLUMNS: Final = ("memory", "kind", "source")
SELECT_DERIVED: Final = (
    "SELECT memory FROM sources WHERE kind = 'memory' AND source = ?1 UNION ALL"
    " SELECT memory FROM sources WHERE kind = 'turn'"
    " AND source IN (SELECT row_id FROM turns WHERE memory = ?1)"
)
SELECT_DERIVED_OF_TURN: Final = "SELECT memory FROM sources WHERE kind = 'turn' AND source = ?"
SELECT_SOURCES: Final = (
    "SELECT s.kind, s.source, t.memory FROM sources AS s"
    " LEFT JOIN turns AS t ON s.kind = 'turn' AND t.row_id = s.source WHERE s.memory = ?"
)
INSERT_SOURCE: Final = _insert("sources", SOURCE_COLUMNS, "ON CONFLICT DO NOTHING")

ERASED_COLUMNS: Final = ("scope_id", "id", "digest", "at", "seq")
SELECT_ERASED: Final = _select(
    ERASED_COLUMNS,
    "erased WHERE digest = ?2 AND (scope_id = ?1 OR EXISTS (SELECT 1 FROM scopes AS s"
    " WHERE s.scope_id = erased.scope_id AND s.name >= char(8486) AND s.name < char(8487)))",
)
SELECT_ANY_ERASED: Final = (
    "SELECT 1 FROM erased WHERE scope_id = ? UNION ALL"
    " SELECT 1 FROM scopes WHERE name >= char(8486) AND name < char(8487) LIMIT 1"
)
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
DELETE_INTENTION: Final = "DELETE FROM intentions WHERE id = ? AND scope_id = ?"
DELETE_TURN: Final = (
    "DELETE FROM sources WHERE kind = 'turn' AND source = ?",
    "DELETE FROM turns WHERE row_id = ?",
)
# The same order, for all rows of a scope: by the span of its row ids, or by its scope_id.
REMAINING_MEMORIES: Final = (
    "SELECT id, digest, CAST(summary AS BLOB) FROM memories WHERE row_id BETWEEN ? AND ?"
)
REMAINING_TURNS: Final = "SELECT CAST(content AS BLOB) FROM turns WHERE row_id BETWEEN ? AND ?"
REMAINING_INTENTIONS: Final = (
    "SELECT CAST(action AS BLOB), CAST(trigger AS BLOB) FROM intentions WHERE scope_id = ?"
)
DELETE_ROWS_OF_SCOPE: Final = (
    "DELETE FROM sources WHERE memory BETWEEN ? AND ?",
    "DELETE FROM turns WHERE row_id BETWEEN ? AND ?",
    "DELETE FROM links WHERE source BETWEEN ? AND ?",
    # Of another scope: there is none, unless damage made it.
    "DELETE FROM links WHERE target BETWEEN ? AND ?",
    "DELETE FROM keywords WHERE row_id BETWEEN ? AND ?",
    "DELETE FROM vectors WHERE row_id BETWEEN ? AND ?",
    "DELETE FROM checkpoints WHERE memory BETWEEN ? AND ?",
    "DELETE FROM memories WHERE row_id BETWEEN ? AND ?",
)
DELETE_OF_SCOPE: Final = (
    "DELETE FROM events WHERE scope_id = ?",
    "DELETE FROM summaries WHERE scope_id = ?",
    "DELETE FROM intentions WHERE scope_id = ?",
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
