"""What an import has to keep in mind from line to line."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from ebbmem.buffer import BufferLimits
from ebbmem.embedders.base import Embedder
from ebbmem.engine import Engine
from ebbmem.lines import Line, MemoryLine, TurnLine
from ebbmem.records.base import TurnRow

ALL: Final = 2**62


class Outcome(Enum):
    """What became of a line that could be taken."""

    IMPORTED = "imported"
    ADDED = "added"
    """The turn was there, and now has a memory."""
    EXISTING = "existing"
    ERASED = "erased"


class OnConflict(Enum):
    """What becomes of a memory or intention of an export whose id, or key, is there already."""

    SKIP = "skip"
    ERROR = "error"
    NEW = "new"


_Waiting = defaultdict[tuple[str, str, int | None], deque[TurnRow]]

Verdict = Outcome | str
"""An outcome, or the reason why a line could not be taken."""


@dataclass(frozen=True, slots=True)
class Item:
    """A line on its way: where it stood, and its turn where that was there before the import."""

    number: int
    line: Line
    known: TurnRow | None


class Correction(NamedTuple):
    """A memory of the file that another one supersedes; resolved when both can be there."""

    number: int
    scope: str
    line: MemoryLine


@dataclass(slots=True)
class Intake:
    """One import.

    ``aliases`` maps (scope, id in the file) to the row that stands for it here, where ids
    differ; ``gone`` holds those that were erased here, ``gone_runs`` the runs they belong to.
    ``folded`` counts, per (scope, run), the turns of the file that a summary stands for.
    """

    engine: Engine
    embedder: Embedder
    as_memories: bool
    limits: BufferLimits
    now_us: int
    on_conflict: OnConflict = OnConflict.SKIP
    aliases: dict[tuple[str, str], int] = field(default_factory=dict)
    gone: set[tuple[str, str]] = field(default_factory=set)
    gone_runs: set[tuple[str, str]] = field(default_factory=set)
    folded: Counter[tuple[str, str]] = field(default_factory=Counter)
    corrections: list[Correction] = field(default_factory=list)
    _waiting: dict[tuple[str, str], _Waiting] = field(default_factory=dict)
    _met: set[int] = field(default_factory=set)

    def meets(self, scope: str, run_id: str, turn: tuple[str, str, int | None]) -> TurnRow | None:
        """Return a turn that was there before and was not met yet, or None.

        Equal turns (role, content, moment) are met in their order: where two were there, two
        are met, and a third is new.  Without a moment, one of which no memory was made is met.
        """
        waiting = self._waiting.get((scope, run_id))
        if waiting is None:
            waiting = self._waiting[scope, run_id] = self._turns(scope, run_id)
        equal = waiting.get(turn, ())
        while equal:
            row = equal.popleft()
            if row.row_id not in self._met:
                self._met.add(row.row_id)
                return row
        return None

    def count_folded(
        self, scope: str, items: Sequence[Item], verdicts: Sequence[Verdict], times: int = 1
    ) -> None:
        """Count the turns of the file, among some lines, that a summary stands for."""
        for item, verdict in zip(items, verdicts, strict=True):
            if isinstance(item.line, TurnLine) and item.line.folded:
                there = not isinstance(verdict, str) and verdict is not Outcome.ERASED
                self.folded[scope, item.line.run_id] += times * there

    def forget(self, scope: str, items: Sequence[Item], verdicts: Sequence[Verdict]) -> None:
        """Forget what was noted of lines whose transaction was rolled back.

        ``verdicts`` are of the first of them, as far as they were taken.
        """
        self.count_folded(scope, items[: len(verdicts)], verdicts, -1)
        numbers = {item.number for item in items}
        self.corrections = [one for one in self.corrections if one.number not in numbers]
        for item in items:
            if isinstance(item.line, MemoryLine):
                self.aliases.pop((scope, item.line.id), None)

    def names(self, scope: str, key: str) -> bool:
        """Return whether a memory has a key."""
        with self.engine.records.read() as reader:
            found = reader.scope(scope)
            return found is not None and reader.find_key(found.scope_id, key) is not None

    def _turns(self, scope: str, run_id: str) -> _Waiting:
        """Return the turns of a run, by what they say, and when; the loose ones without it too."""
        with self.engine.records.read() as reader:
            found = reader.scope(scope)
            rows = [] if found is None else reader.turns(found.scope_id, run_id, 0, ALL)
        waiting: _Waiting = defaultdict(deque)
        for row in rows:
            waiting[row.role, row.content, row.created_at].append(row)
            if row.memory is None:
                waiting[row.role, row.content, None].append(row)
        return waiting
