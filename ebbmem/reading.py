"""Rows as users see them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from ebbmem.clock import to_datetime
from ebbmem.engine import Engine
from ebbmem.errors import UnknownMemory
from ebbmem.models import Intention, Memory, StoreStats, Tier, Turn, deferred_memory
from ebbmem.reconsolidation import held
from ebbmem.records.base import (
    NUMBER_BITS,
    IntentionRow,
    MemoryRow,
    Reader,
    ScopeCounts,
    ScopeRow,
    StrengthRow,
    TurnRow,
    number_of,
    row_id,
)
from ebbmem.records.identity import id_text, parse_id
from ebbmem.shelf import fetched


class Shown(NamedTuple):
    """A memory's row, its strengths of the moment, and what is told from elsewhere."""

    row: MemoryRow
    strengths: StrengthRow
    scope: str
    successor: str | None
    """Public id of the memory that replaced it."""


def memory(shown: Shown) -> Memory:
    """Return a memory as users see it."""
    return deferred_memory(field, shown, shown.row.summary)


_FIELDS: Final[dict[str, Callable[[Shown], Any]]] = {
    "id": lambda s: id_text(s.row.id),
    "number": lambda s: number_of(s.row.row_id),
    "scope": lambda s: s.scope,
    "summary": lambda s: s.row.summary,
    "memory_type": lambda s: s.row.memory_type,
    "importance": lambda s: s.row.importance,
    "emotional_valence": lambda s: s.row.emotional_valence,
    "emotional_intensity": lambda s: s.row.emotional_intensity,
    "storage_strength": lambda s: s.strengths.storage_strength,
    "retrievability": lambda s: s.strengths.r_anchor,
    "anchored_at": lambda s: to_datetime(s.strengths.anchored_at),
    "access_count": lambda s: s.strengths.access_count,
    "created_at": lambda s: to_datetime(s.row.created_at),
    "tier": lambda s: Tier(s.row.tier),
    "verified": lambda s: bool(s.row.verified),
    "pinned": lambda s: bool(s.row.pinned),
    "detail": lambda s: s.row.detail,
    "keywords": lambda s: tuple(s.row.keywords.split("\n")) if s.row.keywords else (),
    "metadata": lambda s: {} if s.row.metadata is None else json.loads(s.row.metadata),
    "valid_from": lambda s: _maybe(s.row.valid_from),
    "valid_to": lambda s: _maybe(s.row.valid_to),
    "expires_at": lambda s: _maybe(s.row.expires_at),
    "superseded_by": lambda s: s.successor,
    "key": lambda s: s.row.key,
    "source": lambda s: s.row.source,
    "run_id": lambda s: s.row.run_id,
}


def field(shown: Shown, name: str) -> Any:
    """Return one field of a memory."""
    return _FIELDS[name](shown)


def _maybe(moment_us: int | None) -> datetime | None:
    """Return a moment as users see it, or None."""
    return None if moment_us is None else to_datetime(moment_us)


def intention(row: IntentionRow, scope: str) -> Intention:
    """Return one intention."""
    return Intention(
        id=id_text(row.id),
        scope=scope,
        action=row.action,
        trigger=row.trigger,
        due_at=_maybe(row.due_at),
        created_at=to_datetime(row.created_at),
        expires_at=_maybe(row.expires_at),
        completed_at=_maybe(row.completed_at),
    )


def turn(row: TurnRow, ids: Mapping[int, str]) -> Turn:
    """Return one turn; ``ids`` holds the public ids of the memories made of turns."""
    return Turn(
        run_id=row.run_id,
        role=row.role,
        content=row.content,
        created_at=to_datetime(row.created_at),
        memory_id=None if row.memory is None else ids.get(row.memory),
    )


def row_of(reader: Reader, scope: ScopeRow | None, memory_id: str) -> int:
    """Return the row id of a memory of a scope, or raise UnknownMemory.

    An id of another scope is unknown here: nothing tells whether it exists elsewhere.
    """
    row = reader.find(parse_id(memory_id))
    if scope is None or row is None or row >> NUMBER_BITS != scope.scope_id:
        raise UnknownMemory(f"id: expected a memory of this scope, got {memory_id!r}")
    return row


def id_of(engine: Engine, scope: str, number: int) -> str:
    """Return the id of the memory of a scope that has a number, or raise UnknownMemory."""
    with engine.records.read() as reader:
        found = reader.scope(scope)
        there = found is not None and number >> NUMBER_BITS == 0
        ids = reader.ids([row_id(found.scope_id, number)]) if found and there else {}
    if not ids:
        raise UnknownMemory(f"number: expected that of a memory of this scope, got {number}")
    return id_text(*ids.values())


def require_known(engine: Engine, scope: str, memory_ids: Iterable[str]) -> None:
    """Refuse ids that are not of this scope, before anything is opened for writing."""
    with engine.records.read() as reader:
        found = reader.scope(scope)
        for memory_id in memory_ids:
            row_of(reader, found, memory_id)


def get(engine: Engine, scope: str, memory_id: str) -> Memory:
    """Return one memory of a scope, or raise UnknownMemory."""
    with engine.read(scope) as reader:
        row = row_of(reader, reader.scope(scope), memory_id)
        _, found, successor = fetched(reader, [row])[row]
    (strengths,) = held([found]).rows()
    return memory(Shown(found, strengths, scope, successor))


def stats(engine: Engine, scope: str) -> StoreStats:
    """Return the counts of a scope."""
    with engine.read(scope) as reader:
        found = reader.scope(scope)
        counts = ScopeCounts({}, {}, 0, 0, 0, 0) if found is None else reader.counts(found.scope_id)
    return StoreStats(
        scope=scope,
        memories=sum(counts.by_type.values()),
        by_type=counts.by_type,
        by_tier={Tier(tier).name.lower(): n for tier, n in counts.by_tier.items()},
        superseded=counts.superseded,
        links=counts.links,
        intentions=counts.intentions,
        turns=counts.turns,
        index_bytes=engine.index_bytes(scope),
    )
