"""Questions to the SQLite store, each checked against the checksums of the rows it reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from ebbmem import _core
from ebbmem.errors import InvalidArgument
from ebbmem.models import Tier
from ebbmem.records import memory_rows, staging
from ebbmem.records import rows as seals
from ebbmem.records import statements as sql
from ebbmem.records.base import (
    NUMBER_BITS,
    EventRow,
    IndexRow,
    IntentionRow,
    LinkRow,
    MemoryRow,
    ScopeCounts,
    ScopeRow,
    SummaryRow,
    TurnRow,
    row_id,
)
from ebbmem.records.checked import CheckedRows
from ebbmem.records.corruption import corrupt, corrupt_memory, corrupt_row, scope_name
from ebbmem.records.erasable import Wanted

_TIERS: Final = frozenset(map(int, Tier))
_PAGE: Final = 1_000  # rows that go to the core at once


class SqliteReader(CheckedRows):
    """A consistent view of the store; see ``records.base.Reader`` for what each method means."""

    def meta(self, key: str) -> str | None:
        """Return a value kept about the store as a whole."""
        row = self._connection.row(sql.SELECT_META, (key,))
        return None if row is None else str(self._checked(row, seals.meta_checksum, "meta")[1])

    def scopes(self) -> list[ScopeRow]:
        """Return every scope, by scope_id."""
        return [self._scope(row) for row in self._connection.rows(sql.SELECT_SCOPES)]

    def scope(self, name: str) -> ScopeRow | None:
        """Return one scope, or None when nothing was ever written to it."""
        row = self._connection.row(sql.SELECT_SCOPE_BY_NAME, (name,))
        return None if row is None else self._scope(row)

    def index_rows(self, scope_id: int) -> list[IndexRow]:
        """Return every memory of a scope; raises CorruptStore where count or checksums fail."""
        found, checksum_xor = [], 0
        for row in self._connection.each(sql.SELECT_INDEX, rows_of(scope_id)):
            self.check_index_row(row)
            checksum_xor ^= row[-1]
            found.append(IndexRow._make(row[:-2]))
        self._check_totals(scope_id, len(found), checksum_xor)
        return found

    def loaded_memories(self, scope_id: int) -> _core.MemoryRows:
        """Return every memory of a scope.

        Raises
        ------
        CorruptStore
            If a row or its text does not match its checksum, the first one by number; if there
            are others than there should be.
        """
        memories = _core.MemoryRows()
        rows = self._connection.each(sql.SELECT_NEW, rows_of(scope_id))
        while page := list(islice(rows, _PAGE)):
            taken = memories.take(page)
            if taken < len(page):
                raise corrupt_memory(self._connection, page[taken][0])
        self._check_totals(scope_id, len(memories), memories.checksum_xor)
        return memories

    def loaded_links(self, scope_id: int) -> _core.LinkRows:
        """Return every link of a scope, by (source, target, kind)."""
        links = _core.LinkRows()
        rows = self._connection.each(sql.SELECT_LINKS, rows_of(scope_id))
        while page := list(islice(rows, _PAGE)):
            taken = links.take(page)
            if taken < len(page):
                raise corrupt_row(self._connection, "links", page[taken][:-1])
        return links

    def texts(self, rows: Sequence[int] | None, scope_id: int) -> list[tuple[int, str, str]]:
        """Return (row_id, summary, keywords) of the given rows, or of all of a scope."""
        if rows is None:
            every = self._connection.each(sql.SELECT_TEXTS, rows_of(scope_id))
            return [self._checked_text(row) for row in every]
        require_rows_of(scope_id, rows)
        found = self._connection.rows_of_each(sql.SELECT_TEXT, singles(rows))
        return [self._checked_text(row) for row in found]

    def memories(self, rows: Sequence[int]) -> dict[int, MemoryRow]:
        """Return memories by row id; unknown ones are left out."""
        found = self._connection.rows_of_each(sql.SELECT_MEMORY, singles(rows))
        memories = memory_rows.agreeing(found)
        memories += map(self.checked_memory, found[len(memories) :])
        return {memory.row_id: memory for memory in memories}

    def find(self, memory_id: bytes) -> int | None:
        """Return the row id of a memory's public id."""
        return self._number(sql.SELECT_ROW_BY_ID, (memory_id,))

    def ids(self, rows: Sequence[int]) -> dict[int, bytes]:
        """Return public ids by row id."""
        found = dict(self._connection.rows_of_each(sql.SELECT_ID, singles(rows)))
        for row, memory_id in found.items():
            if not isinstance(memory_id, bytes) or len(memory_id) != 16:
                raise corrupt_memory(self._connection, row)
        return found

    def find_key(self, scope_id: int, key: str) -> int | None:
        """Return the row that was remembered under ``key=``."""
        return self._number(sql.SELECT_ROW_BY_KEY, (scope_id, key))

    def find_digest(self, scope_id: int, digest: bytes, now: int) -> int | None:
        """Return the newest memory of that digest that is live and no turn."""
        values = (digest, *rows_of(scope_id), now, int(Tier.ARCHIVE))
        return self._number(sql.SELECT_ROW_BY_DIGEST, values)

    def matching(self, scope_id: int, wanted: Wanted) -> list[int]:
        """Return the memories that meet conditions, by row id."""
        found = self._connection.rows(sql.SELECT_MATCHING, (*rows_of(scope_id), *wanted))
        return [row for (row,) in found]

    def superseded(self, rows: Sequence[int]) -> list[int]:
        """Return the memories that some memories replaced."""
        return [
            row for (row,) in self._connection.rows_of_each(sql.SELECT_SUPERSEDED, singles(rows))
        ]

    def due(self, scope_id: int, before: int, limit: int) -> list[int]:
        """Return up to ``limit`` rows whose ``due_at`` has come, the longest due first."""
        values = (scope_id, before, require_limit(limit))
        return [row for (row,) in self._connection.rows(sql.SELECT_DUE, values)]

    def holders(self, scope_id: int, keyword: str, role: str, now: int, limit: int) -> list[int]:
        """Return the newest rows that have or want a keyword and are not expired, newest first."""
        values = (keyword, role, *rows_of(scope_id), now, require_limit(limit))
        found = self._connection.rows(sql.SELECT_HOLDERS, values)
        return [self._checked(row, seals.keyword_checksum, "keywords")[2] for row in found]

    def keywords(self, scope_id: int, role: str) -> list[tuple[str, int]]:
        """Return every (keyword, row_id) of a role, by row_id, then keyword."""
        found = self._connection.rows(sql.SELECT_KEYWORDS, (role, *rows_of(scope_id)))
        checked = [self._checked(row, seals.keyword_checksum, "keywords") for row in found]
        return [(keyword, row) for keyword, _, row in checked]

    def links(self, scope_id: int) -> list[LinkRow]:
        """Return every link of a scope, by (source, target, kind)."""
        found = self._connection.rows(sql.SELECT_LINKS, rows_of(scope_id))
        return self._built(found, memory_rows.link_checksum, "links", LinkRow)

    def links_from(self, row: int) -> list[LinkRow]:
        """Return the links that leave a memory, by (target, kind)."""
        found = self._connection.rows(sql.SELECT_LINKS, (row, row))
        return self._built(found, memory_rows.link_checksum, "links", LinkRow)

    def vectors(self, scope_id: int) -> list[tuple[int, bytes]]:
        """Return (row_id, float32 bytes) of a scope; raises CorruptStore on a bad checksum."""
        found = self._connection.rows(sql.SELECT_VECTORS, rows_of(scope_id))
        return [self._checked(row, seals.vector_checksum, "vectors")[:2] for row in found]

    def unstaged(self, after: int, limit: int) -> list[tuple[int, str]]:
        """Return (row_id, summary) of memories of any scope that have no staged vector yet."""
        found = staging.unstaged(self._connection, after, limit)
        return [self._checked_text(row)[:2] for row in found]

    def intentions(self, scope_id: int) -> list[IntentionRow]:
        """Return the intentions of a scope that are not completed, oldest first."""
        found = self._connection.rows(sql.SELECT_INTENTIONS, (scope_id,))
        return self._built(found, seals.intention_checksum, "intentions", IntentionRow)

    def all_intentions(self, scope_id: int) -> list[IntentionRow]:
        """Return the intentions of a scope: open ones, oldest first, then completed ones."""
        found = self._connection.rows(sql.SELECT_ALL_INTENTIONS, (scope_id,))
        return self._built(found, seals.intention_checksum, "intentions", IntentionRow)

    def intention_scope(self, intention_id: bytes) -> int | None:
        """Return the scope_id that an intention belongs to, or None when there is none."""
        return self._number(sql.SELECT_INTENTION_SCOPE, (intention_id,))

    def turns(self, scope_id: int, run_id: str | None, after: int, limit: int) -> list[TurnRow]:
        """Return up to ``limit`` turns with row_id > ``after``, oldest first."""
        first, last = rows_of(scope_id)
        span = (max(first, after + 1), last, require_limit(limit))
        if run_id is None:
            found = self._connection.rows(sql.SELECT_TURNS, span)
        else:
            found = self._connection.rows(sql.SELECT_TURNS_OF_RUN, (run_id, *span))
        return self._built(found, seals.turn_checksum, "turns", TurnRow)

    def last_turn(self, scope_id: int, run_id: str, before: int | None = None) -> TurnRow | None:
        """Return the newest turn of a run, or with a lower row_id, of which a memory was made."""
        first, last = rows_of(scope_id)
        span = (first, last if before is None else before - 1)
        found = self._connection.rows(sql.SELECT_LAST_TURN, (run_id, *span))
        return next(iter(self._built(found, seals.turn_checksum, "turns", TurnRow)), None)

    def turns_of(self, rows: Sequence[int]) -> list[TurnRow]:
        """Return the turns of which some memories were made."""
        found = self._connection.rows_of_each(sql.SELECT_TURNS_OF_MEMORY, singles(rows))
        return self._built(found, seals.turn_checksum, "turns", TurnRow)

    def loose_turns(
        self, scope_id: int, run_id: str | None, created_before: int | None
    ) -> list[TurnRow]:
        """Return the turns of which no memory was made, of a run and before a moment if given."""
        values = (*rows_of(scope_id), run_id, created_before)
        found = self._connection.rows(sql.SELECT_LOOSE_TURNS, values)
        return self._built(found, seals.turn_checksum, "turns", TurnRow)

    def summary(self, scope_id: int, run_id: str) -> SummaryRow | None:
        """Return the rolling summary of a run."""
        row = self._connection.row(sql.SELECT_SUMMARY, (scope_id, run_id))
        if row is None:
            return None
        return SummaryRow._make(self._checked(row, seals.summary_checksum, "summaries")[1:5])

    def events(self, scope_id: int, after_seq: int, limit: int) -> list[EventRow]:
        """Return history in the order of seq."""
        found = self._connection.rows(
            sql.SELECT_EVENTS, (scope_id, after_seq, require_limit(limit))
        )
        return self._built(found, seals.event_checksum, "events", EventRow)

    def payloads(self, scope_id: int, part: bytes | None) -> list[tuple[int, str, bytes]]:
        """Return (seq, kind, payload) of events; with ``part``, of those that hold these bytes."""
        if part is None:
            found = self._connection.rows(sql.SELECT_PAYLOADS, (scope_id,))
        else:
            found = self._connection.rows(sql.SELECT_PAYLOADS_WITH, (scope_id, part))
        events = self._built(found, seals.event_checksum, "events", EventRow)
        return [(event.seq, event.kind, event.payload or b"") for event in events]

    def erased(self, scope_id: int, digest: bytes) -> bool:
        """Return whether a text of that keyed digest was erased."""
        row = self._connection.row(sql.SELECT_ERASED, (scope_id, digest))
        return row is not None and bool(self._checked(row, seals.erased_checksum, "erased"))

    def orphans(self, rows: Sequence[int], turns: Sequence[int] = ()) -> list[int]:
        """Return the memories left without any source once the given ones are erased.

        Those left over when the orphans go too are among them.
        """
        gone, spoken = set(rows), set(turns)
        waiting = [(sql.SELECT_DERIVED_OF_TURN, row) for row in spoken]
        waiting += [(sql.SELECT_DERIVED, row) for row in gone]
        while waiting:
            statement, row = waiting.pop()
            for (found,) in self._connection.rows(statement, (row,)):
                derived = self._of_type(found, int)
                if derived not in gone and self._sources_are_gone(derived, gone, spoken):
                    gone.add(derived)
                    waiting.append((sql.SELECT_DERIVED, derived))
        return sorted(gone.difference(rows))

    def counts(self, scope_id: int) -> ScopeCounts:
        """Return the counts of a scope."""
        by_type: dict[str, int] = {}
        by_tier: dict[int, int] = {}
        superseded = 0
        for kind, tier, is_superseded, n in self._connection.rows(
            sql.COUNT_MEMORIES, rows_of(scope_id)
        ):
            if not isinstance(kind, str) or tier not in _TIERS:
                scope = scope_name(self._connection, scope_id)
                problem = f"a memory of scope {scope} has the type {kind!r:.40}, the tier {tier!r}"
                raise corrupt(self._connection, problem)
            by_type[kind] = by_type.get(kind, 0) + n
            by_tier[tier] = by_tier.get(tier, 0) + n
            superseded += n if is_superseded else 0
        return ScopeCounts(
            by_type,
            by_tier,
            superseded,
            self._number(sql.COUNT_LINKS, rows_of(scope_id)) or 0,
            self._number(sql.COUNT_INTENTIONS, (scope_id,)) or 0,
            self._number(sql.COUNT_TURNS, rows_of(scope_id)) or 0,
        )

    def _sources_are_gone(self, memory: int, gone: set[int], spoken: set[int]) -> bool:
        found = self._connection.rows(sql.SELECT_SOURCES, (memory,))
        return all(
            source in gone if kind == "memory" else source in spoken or turn_of in gone
            for kind, source, turn_of in found
        )


def rows_of(scope_id: int) -> tuple[int, int]:
    """Return the first and last row id that a scope can have."""
    return row_id(scope_id, 0), row_id(scope_id + 1, 0) - 1


def singles(rows: Iterable[int]) -> list[tuple[int]]:
    """Return distinct row ids, ascending, each as the bindings of one statement."""
    return [(row,) for row in sorted(set(rows))]


def require_limit(limit: int) -> int:
    """Return a limit; SQLite would take a negative one for none."""
    if limit < 0:
        raise InvalidArgument.of("limit", "an integer of at least 0", limit)
    return limit


def require_rows_of(scope_id: int, rows: Iterable[int]) -> None:
    """Raise InvalidArgument for a row of another scope."""
    for row in rows:
        if row >> NUMBER_BITS != scope_id:
            raise InvalidArgument.of("rows", f"rows of scope {scope_id}", row)
