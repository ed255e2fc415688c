"""What changed in a scope of the SQLite store, for indexes that follow it."""

from __future__ import annotations

from collections.abc import Sequence

from ebbmem.records import memory_rows
from ebbmem.records import rows as seals
from ebbmem.records import statements as sql
from ebbmem.records.base import EventRow, IndexRow, LinkRow
from ebbmem.records.followable import NewRow
from ebbmem.records.reading import SqliteReader, require_limit, rows_of, singles


class SqliteFollower(SqliteReader):
    """A view of the store; see ``records.followable.FollowReader`` for what each method means."""

    def changes(self, scope_id: int, after_seq: int, limit: int) -> list[EventRow]:
        """Return up to ``limit`` events after a seq, those of kind TOUCHED among them."""
        values = (scope_id, after_seq, require_limit(limit))
        found = self._connection.rows(sql.SELECT_CHANGES, values)
        return self._built(found, seals.event_checksum, "events", EventRow)

    def row_ids(self, scope_id: int) -> list[int]:
        """Return the row id of every memory of a scope, ascending."""
        return [row for (row,) in self._connection.rows(sql.SELECT_ROW_IDS, rows_of(scope_id))]

    def index_rows_of(self, rows: Sequence[int]) -> dict[int, IndexRow]:
        """Return what the index keeps of memories, by row id; unknown ones are left out."""
        found = self._connection.rows_of_each(sql.SELECT_INDEX_OF_ROW, singles(rows))
        for row in found:
            self.check_index_row(row)
        return {row[0]: IndexRow._make(row[:-2]) for row in found}

    def rows_after(self, scope_id: int, row: int) -> list[NewRow]:
        """Return the memories of a scope above a row id."""
        found = []
        for one in self._connection.each(sql.SELECT_NEW, (row + 1, rows_of(scope_id)[1])):
            self.check_index_row(one[:-3])
            _, summary, keywords = self._checked_text((one[0], *one[-3:]))
            found.append(NewRow(IndexRow._make(one[:-5]), summary, keywords))
        return found

    def links_around(self, rows: Sequence[int]) -> list[LinkRow]:
        """Return the links that leave or reach some memories, by (source, target, kind)."""
        spans = [(row, row) for (row,) in singles(rows)]
        return self._links_at(spans)

    def links_after(self, scope_id: int, row: int) -> list[LinkRow]:
        """Return the links that leave or reach a memory above a row id, in the same order."""
        return self._links_at([(row + 1, rows_of(scope_id)[1])])

    def _links_at(self, spans: Sequence[tuple[int, int]]) -> list[LinkRow]:
        """Return the links with an end in one of some spans of row ids."""
        found = {
            link
            for statement in (sql.SELECT_LINKS, sql.SELECT_LINKS_TO)
            for link in self._connection.rows_of_each(statement, spans)
        }
        # Sorted once they are checked: damage can leave what does not compare.
        return sorted(self._built(found, memory_rows.link_checksum, "links", LinkRow))

    def vectors_after(self, scope_id: int, row: int) -> list[tuple[int, bytes]]:
        """Return (row_id, float32 bytes) of the memories of a scope above a row id."""
        span = (row + 1, rows_of(scope_id)[1])
        found = self._connection.rows(sql.SELECT_VECTORS, span)
        return [self._checked(row, seals.vector_checksum, "vectors")[:2] for row in found]

    def any_vector_after(self, rows: Sequence[int], seq: int) -> bool:
        """Return whether the vector of some memory was written after a seq."""
        found = self._connection.rows_of_each(sql.SELECT_VECTOR_SEQ, singles(rows))
        return any(self._of_type(written, int) > seq for (written,) in found)
