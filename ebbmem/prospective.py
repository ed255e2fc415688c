"""Intentions: things to do later, kept apart from facts."""

from __future__ import annotations

from ebbmem import reading
from ebbmem.changes import Change
from ebbmem.engine import Engine
from ebbmem.models import Intention
from ebbmem.records.base import IntentionRow
from ebbmem.records.identity import new_id, parse_id


def intend(
    engine: Engine,
    scope: str,
    action: str,
    *,
    trigger: str | None,
    due_us: int | None,
    expires_us: int | None,
    now_us: int,
) -> Intention:
    """Keep an intention."""

    def work(change: Change) -> IntentionRow:
        row = IntentionRow(
            id=new_id(now_us),
            scope_id=change.scope.scope_id,
            action=action,
            trigger=trigger,
            due_at=due_us,
            created_at=now_us,
            expires_at=expires_us,
            completed_at=None,
        )
        change.writer.insert_intention(row)
        digest = engine.digest(scope, intention_text(action, trigger))
        change.writer.lift_erased(change.scope.scope_id, [digest])
        return row

    return reading.intention(engine.commit(scope, now_us, work), scope)


def intention_text(action: str, trigger: str | None) -> str:
    """Return the text that stands for an intention where its digest is kept."""
    return action if trigger is None else f"{action}\n{trigger}"


def due(engine: Engine, scope: str, now_us: int) -> list[Intention]:
    """Return what is open: due by now, or waiting for its trigger; never what has expired.

    Dated intentions come first, by due time; then the others, oldest first.
    """
    with engine.records.read() as reader:
        found = reader.scope(scope)
        rows = [] if found is None else reader.intentions(found.scope_id)
    alive = [row for row in rows if row.expires_at is None or row.expires_at > now_us]
    ready = [row for row in alive if row.due_at is None or row.due_at <= now_us]
    ready.sort(key=lambda row: (row.due_at is None, row.due_at or 0, row.created_at))
    return [reading.intention(row, scope) for row in ready]


def complete(engine: Engine, scope: str, intention_id: str, now_us: int) -> bool:
    """Mark an intention as done; return whether it was open."""
    wanted = parse_id(intention_id)
    with engine.records.read() as reader:
        if reader.scope(scope) is None:
            return False
    return engine.commit(
        scope,
        now_us,
        lambda change: change.writer.complete_intention(change.scope.scope_id, wanted, now_us),
    )
