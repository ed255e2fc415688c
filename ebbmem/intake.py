"""What an import has to keep in mind from line to line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from ebbmem.buffer import BufferLimits
from ebbmem.embedders.base import Embedder
from ebbmem.engine import Engine
from ebbmem.lines import Line, MemoryLine

ALL: Final = 2**62


class Outcome(Enum):
    """What became of a line that could be taken."""

    IMPORTED = "imported"
    EXISTING = "existing"
    ERASED = "erased"


class OnConflict(Enum):
    """What becomes of a memory or intention of an export whose id, or key, is there already."""

    SKIP = "skip"
    ERROR = "error"
    NEW = "new"


Verdict = Outcome | str
"""An outcome, or the reason why a line could not be taken."""


@dataclass(frozen=True, slots=True)
class Item:
    """A line on its way: where it stood, and whether its turn was there before the import."""

    number: int
    line: Line
    known: bool


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
    _waiting: dict[tuple[str, str], Counter[tuple[str, str, int]]] = field(default_factory=dict)

    def meets(self, scope: str, run_id: str, turn: tuple[str, str, int]) -> bool:
        """Return whether a turn was there before, and count it as met.

        Equal turns (role, content, moment) are told apart by number: where two were there, two
        are met, and a third is new.
        """
        waiting = self._waiting.get((scope, run_id))
        if waiting is None:
            waiting = self._waiting[scope, run_id] = self._turns(scope, run_id)
        if waiting[turn] <= 0:
            return False
        waiting[turn] -= 1
        return True

    def forget(self, scope: str, items: Sequence[Item]) -> None:
        """Forget what was noted of lines whose transaction was rolled back."""
        numbers = {item.number for item in items}
        self.corrections = [one for one in self.corrections if one.number not in numbers]
        for item in items:
            if isinstance(item.line, MemoryLine):
                self.aliases.pop((scope, item.line.id), None)

    def _turns(self, scope: str, run_id: str) -> Counter[tuple[str, str, int]]:
        """Return the turns of a run, counted."""
        with self.engine.records.read() as reader:
            found = reader.scope(scope)
            rows = [] if found is None else reader.turns(found.scope_id, run_id, 0, ALL)
        return Counter((row.role, row.content, row.created_at) for row in rows)
