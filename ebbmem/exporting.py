"""What an export holds: every memory, link, intention and turn of some scopes, as lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

from ebbmem import lines
from ebbmem._version import __version__
from ebbmem.engine import Engine
from ebbmem.lines import moment
from ebbmem.models import Tier
from ebbmem.records.base import (
    WANTS,
    IntentionRow,
    LinkRow,
    MemoryRow,
    Reader,
    ScopeRow,
    TurnRow,
    number_of,
)
from ebbmem.records.identity import id_text

PAGE: Final = 500


def exported(engine: Engine, scopes: Sequence[str]) -> Iterator[str]:
    """Yield the lines of an export, each with its end, from one moment of the store.

    The history of events and stored vectors are left out: vectors are made anew by the store
    that imports.

    Parameters
    ----------
    engine : Engine
        The store.  It goes on being read and written meanwhile.
    scopes : sequence of str
        Their names; one to which nothing was ever written has no lines.
    """
    with engine.snapshot() as reader:
        found = [scope for scope in map(reader.scope, scopes) if scope is not None]
        yield lines.header(__version__, [scope.name for scope in found])
        for scope in found:
            parts = (_memories, _links, _intentions, _turns)
            yield from chain.from_iterable(part(reader, scope) for part in parts)


def _memories(reader: Reader, scope: ScopeRow) -> Iterator[str]:
    """Yield memories by number."""
    wanted: dict[int, list[str]] = {}
    for keyword, row in reader.keywords(scope.scope_id, WANTS):
        wanted.setdefault(row, []).append(keyword)
    rows = [row.row_id for row in reader.index_rows(scope.scope_id)]
    for start in range(0, len(rows), PAGE):
        page = reader.memories(rows[start : start + PAGE])
        successors = [one.superseded_by for one in page.values() if one.superseded_by is not None]
        ids = {row: id_text(value) for row, value in reader.ids(successors).items()}
        for row, memory in page.items():
            fields = _memory(memory, wanted.get(row, []))
            if memory.superseded_by is not None:
                fields["superseded_by"] = ids.get(memory.superseded_by)
            yield lines.written("memory", scope.name, fields)


def _memory(row: MemoryRow, related_to: list[str]) -> dict[str, Any]:
    """Return the fields of a memory; all but what names another one."""
    return {
        "id": id_text(row.id),
        "number": number_of(row.row_id),
        "summary": row.summary,
        "detail": row.detail,
        "keywords": row.keywords.split("\n") if row.keywords else [],
        "related_to": related_to,
        "memory_type": row.memory_type,
        "importance": row.importance,
        "emotional_valence": row.emotional_valence,
        "emotional_intensity": row.emotional_intensity,
        "storage_strength": row.storage_strength,
        "retrievability": row.r_anchor,
        "anchored_at": moment(row.anchored_at),
        "access_count": row.access_count,
        "created_at": moment(row.created_at),
        "recorded_at": moment(row.recorded_at),
        "valid_from": moment(row.valid_from),
        "valid_to": moment(row.valid_to),
        "expires_at": moment(row.expires_at),
        "pinned": bool(row.pinned),
        "verified": bool(row.verified),
        "tier": Tier(row.tier).name.lower(),
        "superseded_by": None,
        "superseded_at": moment(row.superseded_at),
        "key": row.key,
        "source": row.source,
        "run_id": row.run_id,
        "metadata": None if row.metadata is None else json.loads(row.metadata),
    }


def _links(reader: Reader, scope: ScopeRow) -> Iterator[str]:
    """Yield links, by the numbers of their ends."""
    found = reader.links(scope.scope_id)
    ends = {row for link in found for row in (link.source, link.target)}
    ids = {row: id_text(value) for row, value in reader.ids(sorted(ends)).items()}
    for link in found:
        yield lines.written("link", scope.name, _link(link, ids))


def _link(link: LinkRow, ids: dict[int, str]) -> dict[str, Any]:
    """Return the fields of a link."""
    return {
        "source": ids[link.source],
        "target": ids[link.target],
        "kind": link.kind,
        "weight": link.weight,
        "created_at": moment(link.created_at),
    }


def _intentions(reader: Reader, scope: ScopeRow) -> Iterator[str]:
    """Yield intentions, the open ones first."""
    for row in reader.all_intentions(scope.scope_id):
        yield lines.written("intention", scope.name, _intention(row))


def _intention(row: IntentionRow) -> dict[str, Any]:
    """Return the fields of an intention."""
    return {
        "id": id_text(row.id),
        "action": row.action,
        "trigger": row.trigger,
        "due_at": moment(row.due_at),
        "created_at": moment(row.created_at),
        "expires_at": moment(row.expires_at),
        "completed_at": moment(row.completed_at),
    }


def _turns(reader: Reader, scope: ScopeRow) -> Iterator[str]:
    """Yield turns, oldest first, then the summary of each run that has one."""
    through: dict[str, int] = {}
    summaries = []
    for turn in _pages(reader, scope.scope_id):
        if turn.run_id not in through:
            summary = reader.summary(scope.scope_id, turn.run_id)
            through[turn.run_id] = 0 if summary is None else summary.through
            if summary is not None:
                summaries.append(summary)
        folded = turn.row_id <= through[turn.run_id]
        ids = reader.ids([] if turn.memory is None else [turn.memory])
        yield lines.written("turn", scope.name, _turn(turn, ids, folded=folded))
    for summary in summaries:
        fields = {
            "run_id": summary.run_id,
            "text": summary.text,
            "updated_at": moment(summary.updated_at),
        }
        yield lines.written("run_summary", scope.name, fields)


def _pages(reader: Reader, scope_id: int) -> Iterator[TurnRow]:
    """Yield every turn of a scope, read some at a time."""
    after = 0
    while page := reader.turns(scope_id, None, after, PAGE):
        yield from page
        after = page[-1].row_id


def _turn(turn: TurnRow, ids: dict[int, bytes], *, folded: bool) -> dict[str, Any]:
    """Return the fields of a turn."""
    return {
        "run_id": turn.run_id,
        "role": turn.role,
        "content": turn.content,
        "created_at": moment(turn.created_at),
        "memory_id": None if turn.memory is None else id_text(ids[turn.memory]),
        "folded": folded,
    }
