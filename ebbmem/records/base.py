"""What is asked of a record store within a transaction, and the rows that cross that border.

Times are integer UTC microseconds since 1970.  ``row_id`` names a memory (or turn) within the
store: ``scope_id << 32 | number``, so that the rows of one scope lie together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from ebbmem.records.erasable import ErasureReader, ErasureWriter
from ebbmem.records.loadable import LoadReader
from ebbmem.records.rows import Rows
from ebbmem.records.stageable import StagingWriter
from ebbmem.reports import Finding

NUMBER_BITS = 32
EMBEDDER_NAME = "embedder_name"
"""The meta key of the embedder whose vectors are stored; there is none before the first."""
EMBEDDER_DIM = "embedder_dim"
EMBEDDER_EPOCH = "embedder_epoch"
"""The meta key of how often the embedder was changed."""

HAS = "has"
WANTS = "wants"


def row_id(scope_id: int, number: int) -> int:
    """Return the store-wide number of a memory or turn."""
    return scope_id << NUMBER_BITS | number


def number_of(row: int) -> int:
    """Return the number within its scope of a row id."""
    return row & ((1 << NUMBER_BITS) - 1)


class ScopeRow(NamedTuple):
    """A scope and its counters; ``last_seq`` is the seq of its newest change."""

    scope_id: int
    name: str
    last_seq: int
    memory_count: int


class MemoryRow(NamedTuple):
    """A row of ``memories``, complete.  ``row_id``, ``seq`` are 0 until it is inserted."""

    row_id: int
    seq: int
    id: bytes
    memory_type: str
    summary: str
    detail: str | None
    keywords: str
    """Keywords, one per line."""
    importance: float
    emotional_valence: float
    emotional_intensity: float
    storage_strength: float
    r_anchor: float
    anchored_at: int
    access_count: int
    created_at: int
    recorded_at: int
    valid_from: int | None
    valid_to: int | None
    expires_at: int | None
    due_at: int | None
    pinned: int
    verified: int
    tier: int
    superseded_by: int | None
    """Row id of the memory that replaced it."""
    superseded_at: int | None
    key: str | None
    digest: bytes
    source: str | None
    run_id: str | None
    metadata: str | None
    """JSON object."""


class IndexRow(NamedTuple):
    """What the index keeps of a memory in RAM."""

    row_id: int
    memory_type: str
    importance: float
    emotional_valence: float
    emotional_intensity: float
    storage_strength: float
    r_anchor: float
    anchored_at: int
    access_count: int
    created_at: int
    valid_from: int | None
    valid_to: int | None
    expires_at: int | None
    pinned: int
    tier: int
    superseded_by: int | None
    run_id: str | None


class StrengthRow(NamedTuple):
    """The part of a memory that recall changes."""

    row_id: int
    storage_strength: float
    r_anchor: float
    anchored_at: int
    access_count: int


class LinkRow(NamedTuple):
    """A directed edge; (source, target, kind) is unique and keeps the greater weight."""

    source: int
    target: int
    kind: str
    weight: float
    created_at: int


class IntentionRow(NamedTuple):
    """A row of ``intentions``."""

    id: bytes
    scope_id: int
    action: str
    trigger: str | None
    due_at: int | None
    created_at: int
    expires_at: int | None
    completed_at: int | None


class TurnRow(NamedTuple):
    """A row of ``turns``; ``row_id`` is 0 until inserted, ``memory`` the memory made of it."""

    row_id: int
    run_id: str
    role: str
    content: str
    created_at: int
    memory: int | None


class SummaryRow(NamedTuple):
    """The rolling summary of one run: the turns up to ``through`` are folded into ``text``."""

    run_id: str
    text: str
    through: int
    updated_at: int


class EventRow(NamedTuple):
    """One line of the append-only history.  ``payload`` is packed by whoever writes the kind."""

    seq: int
    scope_id: int
    kind: str
    at: int
    memory: int | None
    payload: bytes | None


class Checked(NamedTuple):
    """What a check of the records counted and found."""

    rows: dict[str, int]
    """By table."""
    scopes: int
    sound: list[str]
    """The names of scopes in whose rows nothing is wrong."""
    problems: int
    findings: list[Finding]
    """The first of them."""


class ScopeCounts(NamedTuple):
    """Counts of one scope."""

    by_type: dict[str, int]
    by_tier: dict[int, int]
    superseded: int
    links: int
    intentions: int
    turns: int


class Reader(ErasureReader, LoadReader, Protocol):
    """Questions to a record store.  All rows come back in ascending ``row_id`` unless said."""

    def meta(self, key: str) -> str | None:
        """Return a value kept about the store as a whole."""

    def scopes(self) -> list[ScopeRow]:
        """Return every scope, by scope_id."""

    def scope(self, name: str) -> ScopeRow | None:
        """Return one scope, or None when nothing was ever written to it."""

    def index_rows(self, scope_id: int) -> list[IndexRow]:
        """Return every memory of a scope; raises CorruptStore where count or checksums fail."""

    def texts(self, rows: Sequence[int] | None, scope_id: int) -> list[tuple[int, str, str]]:
        """Return (row_id, summary, keywords) of the given rows, or of all of a scope."""

    def memories(self, rows: Sequence[int]) -> dict[int, MemoryRow]:
        """Return memories by row id; unknown ones are left out."""

    def find(self, memory_id: bytes) -> int | None:
        """Return the row id of a memory's public id."""

    def ids(self, rows: Sequence[int]) -> dict[int, bytes]:
        """Return public ids by row id."""

    def find_key(self, scope_id: int, key: str) -> int | None:
        """Return the row that was remembered under ``key=``."""

    def find_digest(self, scope_id: int, digest: bytes, now: int) -> int | None:
        """Return the newest memory of that digest that is live and no turn.

        Live is what is not archived, superseded, expired, or no longer valid.
        """

    def due(self, scope_id: int, before: int, limit: int) -> list[int]:
        """Return up to ``limit`` rows with ``due_at`` <= ``before``, the longest due first."""

    def holders(self, scope_id: int, keyword: str, role: str, now: int, limit: int) -> list[int]:
        """Return the newest rows that have or want a keyword and are not expired, newest first."""

    def keywords(self, scope_id: int, role: str) -> list[tuple[str, int]]:
        """Return every (keyword, row_id) of a role, by row_id, then keyword."""

    def links(self, scope_id: int) -> list[LinkRow]:
        """Return every link of a scope, by (source, target, kind)."""

    def links_from(self, row: int) -> list[LinkRow]:
        """Return the links that leave a memory, by (target, kind)."""

    def vectors(self, scope_id: int) -> list[tuple[int, bytes]]:
        """Return (row_id, float32 bytes) of a scope; raises CorruptStore on a bad checksum."""

    def unstaged(self, after: int, limit: int) -> list[tuple[int, str]]:
        """Return (row_id, summary) of memories of any scope that have no staged vector yet."""

    def intentions(self, scope_id: int) -> list[IntentionRow]:
        """Return the intentions of a scope that are not completed, oldest first."""

    def all_intentions(self, scope_id: int) -> list[IntentionRow]:
        """Return the intentions of a scope: open ones, oldest first, then completed ones."""

    def intention_scope(self, intention_id: bytes) -> int | None:
        """Return the scope_id that an intention belongs to, or None when there is none."""

    def turns(self, scope_id: int, run_id: str | None, after: int, limit: int) -> list[TurnRow]:
        """Return up to ``limit`` turns with row_id > ``after``, oldest first."""

    def last_turn(self, scope_id: int, run_id: str, before: int | None = None) -> TurnRow | None:
        """Return the newest turn of a run, or with a lower row_id, of which a memory was made."""

    def turns_of(self, rows: Sequence[int]) -> list[TurnRow]:
        """Return the turns of which some memories were made."""

    def loose_turns(
        self, scope_id: int, run_id: str | None, created_before: int | None
    ) -> list[TurnRow]:
        """Return the turns of which no memory was made, of a run and before a moment if given."""

    def summary(self, scope_id: int, run_id: str) -> SummaryRow | None:
        """Return the rolling summary of a run."""

    def events(self, scope_id: int, after_seq: int, limit: int) -> list[EventRow]:
        """Return history in the order of seq."""

    def counts(self, scope_id: int) -> ScopeCounts:
        """Return the counts of a scope."""


class Writer(Reader, ErasureWriter, StagingWriter, Protocol):
    """One write transaction.  It sees its own changes; every change takes the next ``seq``.

    Once a change has raised, no other is accepted and the transaction can only be rolled back.
    Rows of another scope than the one named are refused with InvalidArgument.
    """

    committed: bool
    """Whether the transaction has ended, and what it wrote is in the store."""

    def gather(self) -> None:
        """Let what is inserted from now on wait until a question, or the commit, needs it there.

        Then rows go in together.  What the store refuses of them is raised by that later call.
        """

    def commit(self) -> None:
        """Commit now rather than at the end of the context; nothing more is written after it.

        Where an interrupt comes just after the commit, it is raised, and ``committed`` is true.
        """

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value about the store as a whole."""

    def open_scope(self, name: str, now: int) -> ScopeRow:
        """Return a scope, made when it is new."""

    def last_seq(self, scope_id: int) -> int:
        """Return the seq of a scope's newest change, this transaction's so far included."""

    def insert_memories(self, scope_id: int, rows: Sequence[MemoryRow]) -> list[MemoryRow]:
        """Insert memories with the next numbers of the scope; return them with row_id and seq."""

    def insert_new(self, shares: Sequence[tuple[int, list[MemoryRow]]], kind: str) -> list[Rows]:
        """Insert memories by scope_id with events of a kind; return their rows, checksums last."""

    def insert_keywords(self, scope_id: int, entries: Iterable[tuple[str, str, int]]) -> None:
        """Insert (keyword, role, row_id); what is there already stays."""

    def insert_vectors(self, vectors: Iterable[tuple[int, bytes]]) -> None:
        """Insert or replace (row_id, float32 bytes)."""

    def insert_links(self, scope_id: int, links: Iterable[LinkRow]) -> None:
        """Insert links; one that is there keeps the greater weight."""

    def delete_links(self, scope_id: int, links: Iterable[tuple[int, int, str]]) -> None:
        """Delete links by (source, target, kind)."""

    def update_strengths(self, scope_id: int, rows: Sequence[StrengthRow]) -> None:
        """Write what recall changed; an event by the caller names every memory of it."""

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

    def insert_event(
        self,
        scope_id: int,
        kind: str,
        at: int,
        memory: int | None = None,
        payload: bytes | None = None,
    ) -> int:
        """Append to the history; return its seq."""

    def insert_events(self, scope_id: int, kind: str, events: Sequence[tuple[int, bytes]]) -> None:
        """Append several of a kind to the history, each (at, payload), of no one memory."""

    def insert_intention(self, row: IntentionRow) -> None:
        """Insert an intention."""

    def complete_intention(self, scope_id: int, intention_id: bytes, at: int) -> bool:
        """Mark an intention as done; return whether it was open."""

    def insert_turns(self, scope_id: int, turns: Sequence[TurnRow]) -> list[TurnRow]:
        """Insert turns in order; return them with row_id."""

    def give_memory(self, turn: TurnRow, memory: int) -> None:
        """Let a memory be the one made of a turn that has none."""

    def insert_sources(self, scope_id: int, entries: Iterable[tuple[int, str, int]]) -> None:
        """Insert (memory row, "turn" or "memory", source row)."""

    def put_summary(self, scope_id: int, row: SummaryRow) -> None:
        """Insert or replace the rolling summary of a run."""
