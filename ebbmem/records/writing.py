"""Changes to the SQLite store, inside one write transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ebbmem import _core
from ebbmem.errors import EbbmemError, InvalidArgument
from ebbmem.records import memory_rows, staging
from ebbmem.records import rows as seals
from ebbmem.records import statements as sql
from ebbmem.records.base import (
    NUMBER_BITS,
    IndexRow,
    IntentionRow,
    LinkRow,
    MemoryRow,
    ScopeRow,
    StrengthRow,
    SummaryRow,
    TurnRow,
    row_id,
)
from ebbmem.records.counters import SEQ_KEY, put_meta
from ebbmem.records.erasing import ERASING_KEY, SqliteEraser, whole
from ebbmem.records.followable import TOUCHED, touched_payload
from ebbmem.records.migrate import PREFIX
from ebbmem.records.reading import (
    require_rows_of,
    singles,
)
from ebbmem.records.rows import Rows
from ebbmem.records.stageable import Space


class SqliteWriter(SqliteEraser):
    """One write transaction; see ``records.base.Writer`` for what each method means.

    Once a change has failed, no other is accepted and the transaction is rolled back.
    """

    def gather(self) -> None:
        """Let what is inserted from now on wait until a question, or the commit, needs it there."""
        self._connection.gather(sql.INSERTS)

    def commit(self) -> None:
        """Commit, the counters last; once it is done nothing more is written.  Idempotent.

        Where an interrupt comes just after the commit, it is raised, and ``committed`` is true.
        """
        if self.committed:
            return
        self.require_whole()
        for scope_id in self._touched.scopes():
            self._tell(scope_id)
        if self._done_mark is not None:
            self._connection.run(sql.DELETE_META, (ERASING_KEY, self._done_mark))
        if self.erased_text:
            self.mark = str(self._counters.newest())
            put_meta(self._connection, ERASING_KEY, self.mark)
        self._counters.flush()
        try:
            self._connection.commit()
            self.committed = True
        except EbbmemError:
            raise
        except BaseException:
            # SQLite's own errors leave the transaction open, or roll it back: this is not one.
            self.committed = not self._connection.in_transaction
            raise

    def scopes(self) -> list[ScopeRow]:
        """Return every scope, by scope_id."""
        self._counters.flush()
        return super().scopes()

    def scope(self, name: str) -> ScopeRow | None:
        """Return one scope, or None when nothing was ever written to it."""
        self._counters.flush()
        return super().scope(name)

    def index_rows(self, scope_id: int) -> list[IndexRow]:
        """Return every memory of a scope; raises CorruptStore where count or checksums fail."""
        self._counters.flush()
        return super().index_rows(scope_id)

    def loaded_memories(self, scope_id: int) -> _core.MemoryRows:
        """Return every memory of a scope; raises CorruptStore where count or checksums fail."""
        self._counters.flush()
        return super().loaded_memories(scope_id)

    @whole
    def set_meta(self, key: str, value: str) -> None:
        """Keep a value about the store as a whole."""
        if key in (SEQ_KEY, ERASING_KEY) or key.startswith(PREFIX):
            raise InvalidArgument.of("key", "a key that the store does not use itself", key)
        put_meta(self._connection, key, value)

    @whole
    def open_scope(self, name: str, now: int) -> ScopeRow:
        """Return a scope, made when it is new."""
        scope = self._counters.open_scope(name, now)
        return ScopeRow(scope.scope_id, scope.name, scope.last_seq, scope.memory_count)

    def last_seq(self, scope_id: int) -> int:
        """Return the seq of a scope's newest change, this transaction's included."""
        self._tell(scope_id)
        return self._counters.scope(scope_id).last_seq

    @whole
    def insert_memories(self, scope_id: int, rows: Sequence[MemoryRow]) -> list[MemoryRow]:
        """Insert memories with the next numbers of the scope; return them with row_id and seq."""
        stored = self._insert_births(scope_id, list(rows), None)
        return [MemoryRow._make(row[:-2]) for row in stored]

    @whole
    def insert_new(self, shares: Sequence[tuple[int, list[MemoryRow]]], kind: str) -> list[Rows]:
        """Insert memories of scopes with their events; nothing of them counts as erased."""
        for scope_id, rows in shares:
            self.lift_erased(scope_id, [row.digest for row in rows])
        return [self._insert_births(scope_id, rows, kind) for scope_id, rows in shares]

    def _insert_births(self, scope_id: int, rows: list[MemoryRow], kind: str | None) -> Rows:
        """Insert memories with the next numbers of the scope, and events that say so."""
        count, scope = len(rows), self._counters.scope(scope_id)
        first = scope_id << NUMBER_BITS | scope.numbers(count).start
        seqs = self._counters.take(scope_id, count if kind is None else 2 * count)
        made = memory_rows.births(rows, first, seqs.start, kind)
        self._connection.insert(sql.INSERT_MEMORY, made.memories)
        if kind is not None:
            self._connection.insert(sql.INSERT_EVENT, made.events)
        scope.count_in(count, made.checksum_xor)
        self._touched.make(range(first, first + count))
        return made.memories

    @whole
    def insert_keywords(self, scope_id: int, entries: Iterable[tuple[str, str, int]]) -> None:
        """Insert (keyword, role, row_id); what is there already stays."""
        values = [(*entry, seals.keyword_checksum(entry)) for entry in entries]
        require_rows_of(scope_id, [entry[2] for entry in values])
        self._connection.insert(sql.INSERT_KEYWORD, values)
        self._counters.take(scope_id, min(len(values), 1))

    @whole
    def insert_vectors(self, vectors: Iterable[tuple[int, bytes]]) -> None:
        """Insert or replace (row_id, float32 bytes)."""
        values = []
        for row, vector in vectors:
            (seq,) = self._counters.take(row >> NUMBER_BITS)
            columns = (row, vector, seq)
            values.append((*columns, seals.vector_checksum(columns)))
            self._touched.add(row >> NUMBER_BITS, row)
        self._connection.insert(sql.PUT_VECTOR, values)

    @whole
    def begin_staging(self, space: Space) -> int:
        """Let vectors of a space be staged; return how many are, of an earlier try."""
        return staging.begin(self._connection, space)

    @whole
    def stage_vectors(self, space: Space, vectors: Sequence[tuple[int, bytes]]) -> bool:
        """Keep (row_id, float32 bytes) beside the stored vectors."""
        return staging.stage(self._connection, space, vectors)

    @whole
    def switch_vectors(self, space: Space | None) -> bool:
        """Let the staged vectors take the place of all stored ones; None: let there be none."""
        return staging.switch(self._connection, space)

    @whole
    def insert_links(self, scope_id: int, links: Iterable[LinkRow]) -> None:
        """Insert links; one that is there keeps the greater weight."""
        links = list(links)
        require_rows_of(scope_id, [row for link in links for row in link[:2]])
        values = []
        for link, seq in zip(links, self._counters.take(scope_id, len(links)), strict=True):
            columns = (*link, seq)
            values.append((*columns, memory_rows.link_checksum(columns)))
            self._touched.add_link(scope_id, link)
        self._connection.insert(sql.PUT_LINK, values)

    @whole
    def delete_links(self, scope_id: int, links: Iterable[tuple[int, int, str]]) -> None:
        """Delete links by (source, target, kind)."""
        links = list(links)
        require_rows_of(scope_id, [row for link in links for row in link[:2]])
        self._connection.run_for_each(sql.DELETE_LINK, links)
        for source, _, _ in links:
            self._touched.add(scope_id, source)
        self._counters.take(scope_id, min(len(links), 1))

    @whole
    def update_strengths(self, scope_id: int, rows: Sequence[StrengthRow]) -> None:
        """Write what recall changed; a memory that is gone is passed over."""
        require_rows_of(scope_id, [row.row_id for row in rows])
        latest = {row.row_id: row for row in rows}
        found = self._connection.rows_of_each(sql.SELECT_INDEX_OF_ROW, singles(latest))
        seq = self._counters.take(scope_id, len(found)).start
        made = memory_rows.strengthened(found, latest, seq)
        if made is None:
            for old in found:
                self.check_index_row(old)
            raise InvalidArgument.of("strengths", "values that SQLite can hold", rows)
        values, checksum_xor = made
        self._connection.run_for_each(sql.UPDATE_STRENGTHS, values)
        self._counters.scope(scope_id).change([checksum_xor])

    @whole
    def update_state(
        self,
        scope_id: int,
        row: int,
        *,
        tier: int | None = None,
        memory_type: str | None = None,
        superseded_by: int | None = None,
        superseded_at: int | None = None,
        due_at: int | None = None,
    ) -> None:
        """Write the parts of a memory's state that are not None."""
        require_rows_of(scope_id, [row] if superseded_by is None else [row, superseded_by])
        wanted = {
            "tier": tier,
            "memory_type": memory_type,
            "superseded_by": superseded_by,
            "superseded_at": superseded_at,
            "due_at": due_at,
        }
        self._rewrite(scope_id, row, {k: v for k, v in wanted.items() if v is not None})

    @whole
    def insert_event(
        self,
        scope_id: int,
        kind: str,
        at: int,
        memory: int | None = None,
        payload: bytes | None = None,
    ) -> int:
        """Append to the history; return its seq."""
        if memory is not None:
            self._touched.name(scope_id, [memory])
        (seq,) = self._counters.take(scope_id)
        columns = (seq, scope_id, kind, at, memory, payload)
        self._connection.insert(sql.INSERT_EVENT, [(*columns, seals.event_checksum(columns))])
        return seq

    @whole
    def insert_events(self, scope_id: int, kind: str, events: Sequence[tuple[int, bytes]]) -> None:
        """Append several of a kind to the history, each (at, payload), of no one memory."""
        if events:
            seq = self._counters.take(scope_id, len(events)).start
            sealed = seals.sealed_events(scope_id, seq, kind, events)
            self._connection.insert(sql.INSERT_EVENT, sealed)

    @whole
    def insert_intention(self, row: IntentionRow) -> None:
        """Insert an intention."""
        (seq,) = self._counters.take(row.scope_id)
        columns = (*row, seq)
        self._connection.run(sql.INSERT_INTENTION, (*columns, seals.intention_checksum(columns)))

    @whole
    def complete_intention(self, scope_id: int, intention_id: bytes, at: int) -> bool:
        """Mark an intention as done; return whether it was open."""
        row = self._connection.row(sql.SELECT_OPEN_INTENTION, (intention_id, scope_id))
        if row is None:
            return False
        old = IntentionRow._make(self._checked(row, seals.intention_checksum, "intentions")[:-1])
        (seq,) = self._counters.take(scope_id)
        checksum = seals.intention_checksum((*old._replace(completed_at=at), seq))
        self._connection.run(sql.COMPLETE_INTENTION, (at, seq, checksum, intention_id))
        return True

    @whole
    def insert_turns(self, scope_id: int, turns: Sequence[TurnRow]) -> list[TurnRow]:
        """Insert turns in order; return them with row_id."""
        require_rows_of(scope_id, [turn.memory for turn in turns if turn.memory is not None])
        numbers = self._counters.scope(scope_id).turns(len(turns))
        stored = [
            TurnRow(row_id(scope_id, number), *turn[1:])
            for number, turn in zip(numbers, turns, strict=True)
        ]
        values: list[tuple[Any, ...]] = []
        for turn, seq in zip(stored, self._counters.take(scope_id, len(turns)), strict=True):
            columns = (*turn, seq)
            values.append((*columns, seals.turn_checksum(columns)))
        self._connection.insert(sql.INSERT_TURN, values)
        return stored

    @whole
    def give_memory(self, turn: TurnRow, memory: int) -> None:
        """Let a memory be the one made of a turn that has none."""
        scope_id = turn.row_id >> NUMBER_BITS
        require_rows_of(scope_id, [memory])
        (seq,) = self._counters.take(scope_id)
        checksum = seals.turn_checksum((*turn._replace(memory=memory), seq))
        self._connection.run(sql.GIVE_MEMORY, (memory, seq, checksum, turn.row_id))

    @whole
    def insert_sources(self, scope_id: int, entries: Iterable[tuple[int, str, int]]) -> None:
        """Insert (memory row, "turn" or "memory", source row)."""
        values = [(*entry, seals.source_checksum(entry)) for entry in entries]
        require_rows_of(scope_id, [row for entry in values for row in (entry[0], entry[2])])
        self._connection.insert(sql.INSERT_SOURCE, values)
        self._counters.take(scope_id, min(len(values), 1))

    @whole
    def put_summary(self, scope_id: int, row: SummaryRow) -> None:
        """Insert or replace the rolling summary of a run."""
        (seq,) = self._counters.take(scope_id)
        columns = (scope_id, *row, seq)
        self._connection.run(sql.PUT_SUMMARY, (*columns, seals.summary_checksum(columns)))

    def _tell(self, scope_id: int) -> None:
        """Write the event that names the memories which no other one does."""
        rows = self._touched.told(scope_id)
        if rows:
            payload = touched_payload(rows)
            self.insert_event(scope_id, TOUCHED, self._clock.now_us(), payload=payload)
