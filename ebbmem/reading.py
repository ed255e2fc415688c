"""Rows as users see them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ebbmem.clock import to_datetime
from ebbmem.engine import Engine
from ebbmem.errors import UnknownMemory
from ebbmem.models import Intention, Memory, StoreStats, Tier, Turn
from ebbmem.records.base import (
    NUMBER_BITS,
    IntentionRow,
    MemoryRow,
    Reader,
    ScopeCounts,
    ScopeRow,
    TurnRow,
    number_of,
)
from ebbmem.records.identity import id_text, parse_id


def memories(reader: Reader, scope: str, rows: Sequence[int]) -> dict[int, Memory]:
    """Return memories by row id; unknown ones are left out."""
    found = reader.memories(rows)
    successors = [m.superseded_by for m in found.values() if m.superseded_by is not None]
    ids = {row: id_text(value) for row, value in reader.ids(successors).items()}
    return {row: memory(found[row], scope, ids) for row in rows if row in found}


def memory(row: MemoryRow, scope: str, ids: Mapping[int, str]) -> Memory:
    """Return one memory; ``ids`` holds the public ids of those that replaced others."""
    return Memory(
        id=id_text(row.id),
        number=number_of(row.row_id),
        scope=scope,
        summary=row.summary,
        memory_type=row.memory_type,
        importance=row.importance,
        emotional_valence=row.emotional_valence,
        emotional_intensity=row.emotional_intensity,
        storage_strength=row.storage_strength,
        retrievability=row.r_anchor,
        anchored_at=to_datetime(row.anchored_at),
        access_count=row.access_count,
        created_at=to_datetime(row.created_at),
        tier=Tier(row.tier),
        verified=bool(row.verified),
        pinned=bool(row.pinned),
        detail=row.detail,
        keywords=tuple(row.keywords.split("\n")) if row.keywords else (),
        metadata={} if row.metadata is None else json.loads(row.metadata),
        valid_from=None if row.valid_from is None else to_datetime(row.valid_from),
        valid_to=None if row.valid_to is None else to_datetime(row.valid_to),
        expires_at=None if row.expires_at is None else to_datetime(row.expires_at),
        superseded_by=None if row.superseded_by is None else ids.get(row.superseded_by),
        key=row.key,
        source=row.source,
        run_id=row.run_id,
    )


def intention(row: IntentionRow, scope: str) -> Intention:
    """Return one intention."""
    return Intention(
        id=id_text(row.id),
        scope=scope,
        action=row.action,
        trigger=row.trigger,
        due_at=None if row.due_at is None else to_datetime(row.due_at),
        created_at=to_datetime(row.created_at),
        expires_at=None if row.expires_at is None else to_datetime(row.expires_at),
        completed_at=None if row.completed_at is None else to_datetime(row.completed_at),
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


def get(engine: Engine, scope: str, memory_id: str) -> Memory:
    """Return one memory of a scope, or raise UnknownMemory."""
    with engine.read() as reader:
        row = row_of(reader, reader.scope(scope), memory_id)
        return memories(reader, scope, [row])[row]


def stats(engine: Engine, scope: str) -> StoreStats:
    """Return the counts of a scope."""
    with engine.read() as reader:
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
