"""The sleep pass in its plainest form: episodes mature into knowledge, idle memories cool.

Nothing is deleted: a memory changes its type or its tier, and the history says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from ebbmem import arguments
from ebbmem.changes import Change
from ebbmem.clock import US_PER_DAY
from ebbmem.decay import PowerForgetting
from ebbmem.engine import Engine
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.index import ScopeIndex
from ebbmem.models import ConsolidationReport, Tier

EPISODIC = "episodic"
SEMANTIC = "semantic"
BATCH = 500
REPLACED = 0.5
"""What a memory that another one has replaced is worth of what it would be."""
_WORTH = PowerForgetting()


@dataclass(frozen=True, slots=True)
class SleepPolicy:
    """When a pass changes a memory.  Every threshold must be met.

    Parameters
    ----------
    mature_strength, mature_days : float
        An episodic memory becomes semantic at this storage strength and this age.
    cold_days : float
        Days without access until a warm memory turns cold.
    archive_days, archive_strength, archive_importance : float
        A cold memory is archived after this many days without access, if its storage strength
        and importance are below these.
    capacity : int, optional
        How many memories a scope may have outside the archive.  What is over goes to the archive,
        the least worth first: ``importance * R``, by the power law of the default recipe, and half
        of that where another memory has replaced it.  Ties: the older.

    Notes
    -----
    A memory that has expired goes to the archive at the next pass.  Pinned memories are left as
    they are, in type and tier, even once they have expired; recall leaves those out all the same.
    """

    mature_strength: float = 0.3
    mature_days: float = 7.0
    cold_days: float = 30.0
    archive_days: float = 365.0
    archive_strength: float = 0.3
    archive_importance: float = 7.0
    capacity: int | None = None

    def __post_init__(self) -> None:
        for one in fields(self):
            if one.name != "capacity":
                arguments.number(getattr(self, one.name), one.name, 0, math.inf)
        if self.capacity is not None:
            arguments.count(self.capacity, "capacity")
        if self.cold_days > self.archive_days:
            raise InvalidArgument.of("cold_days", "at most archive_days", self.cold_days)


def checked_policy(policy: SleepPolicy | None) -> SleepPolicy:
    """Return a policy, the default for None."""
    if policy is None:
        return SleepPolicy()
    if not isinstance(policy, SleepPolicy):
        raise InvalidType.of("policy", "a SleepPolicy or None", policy)
    return policy


@dataclass(frozen=True, slots=True)
class _Step:
    """One change a pass makes."""

    row: int
    event: str
    tier: Tier | None = None
    memory_type: str | None = None


def consolidate(
    engine: Engine, scopes: list[str], policy: SleepPolicy, now_us: int, *, dry_run: bool
) -> ConsolidationReport:
    """Visit scopes one by one, in batches that are each a transaction of their own."""
    report = ConsolidationReport(0, 0, 0, 0, 0, 0, dry_run)
    for scope in scopes:
        with engine.use(scope) as index:
            if index is None:
                continue
            steps = list(_steps(index, policy, now_us))
            report = replace(
                report,
                scopes=report.scopes + 1,
                visited=report.visited + int(np.count_nonzero(index.columns.alive)),
                matured=report.matured + _count(steps, "matured"),
                cooled=report.cooled + _count(steps, "cooled"),
                archived=report.archived + _count(steps, "archived"),
                expired=report.expired + _count(steps, "expired"),
            )
            for start in range(0, 0 if dry_run else len(steps), BATCH):
                with engine.change(scope, now_us) as change:
                    _apply(change, steps[start : start + BATCH], now_us)
    return report


def _steps(index: ScopeIndex, policy: SleepPolicy, now_us: int) -> Iterator[_Step]:
    """Yield what a pass would change, in order of row id within each kind of change."""
    columns = index.columns
    idle_days = np.maximum(now_us - columns.anchored_us, 0) / US_PER_DAY
    age_days = np.maximum(now_us - columns.created_us, 0) / US_PER_DAY
    free = columns.alive & ~columns.pinned
    expired = free & (columns.expires_us <= now_us) & (columns.tier != Tier.ARCHIVE)
    ripe = (
        free
        & (columns.expires_us > now_us)
        & (columns.kind == columns.code(EPISODIC))
        & (columns.strength >= policy.mature_strength)
        & (age_days >= policy.mature_days)
    )
    cooling = free & ~expired & (columns.tier == Tier.WARM) & (idle_days >= policy.cold_days)
    leaving = (
        free
        & ~expired
        & (columns.tier == Tier.COLD)
        & (idle_days >= policy.archive_days)
        & (columns.strength < policy.archive_strength)
        & (columns.importance < policy.archive_importance)
    )
    yield from _each(columns.row[ripe], "matured", memory_type=SEMANTIC)
    yield from _each(columns.row[cooling], "cooled", tier=Tier.COLD)
    yield from _each(columns.row[leaving], "archived", tier=Tier.ARCHIVE)
    yield from _each(columns.row[expired], "expired", tier=Tier.ARCHIVE)
    if policy.capacity is not None:
        staying = columns.alive & (columns.tier != Tier.ARCHIVE) & ~leaving & ~expired
        over = _least_worth(index, free & staying, now_us)
        count = max(int(np.count_nonzero(staying)) - policy.capacity, 0)
        yield from _each(columns.row[over[:count]], "archived", tier=Tier.ARCHIVE)


def _least_worth(index: ScopeIndex, among: NDArray[np.bool_], now_us: int) -> NDArray[np.int64]:
    """Return the slots of some memories, the least worth first; of equals the older."""
    columns, slots = index.columns, np.flatnonzero(among)
    traces = columns.traces().at(slots)
    worth = traces.importance * _WORTH.retrievability(traces, now_us)
    worth[columns.successor[slots] != 0] *= REPLACED
    return slots[np.lexsort((columns.created_us[slots], worth))]


def _each(
    rows: NDArray[np.int64], event: str, tier: Tier | None = None, memory_type: str | None = None
) -> Iterator[_Step]:
    """Yield the same step for each memory."""
    for row in rows.tolist():
        yield _Step(row, event, tier, memory_type)


def _apply(change: Change, steps: list[_Step], now_us: int) -> None:
    """Write some steps."""
    scope_id = change.scope.scope_id
    there = change.writer.ids([step.row for step in steps])
    for step in steps:
        if step.row not in there:
            continue  # erased by another process since the index was brought up to date
        change.writer.update_state(
            scope_id,
            step.row,
            tier=None if step.tier is None else int(step.tier),
            memory_type=step.memory_type,
        )
        change.writer.insert_event(scope_id, step.event, now_us, step.row)
        if step.tier is not None:
            change.tiers.append((step.row, int(step.tier)))
        change.rebuild |= step.memory_type is not None


def _count(steps: list[_Step], event: str) -> int:
    """Return how many steps are of a kind."""
    return sum(step.event == event for step in steps)
