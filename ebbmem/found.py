"""What one recall found: the hits and what was skipped, with the rows and strengths of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ebbmem import _core, reading, reconsolidation
from ebbmem.engine import Engine
from ebbmem.hits import Answer
from ebbmem.index import ScopeIndex
from ebbmem.models import Memory, Recalled
from ebbmem.pending import PendingRecall
from ebbmem.reading import Shown
from ebbmem.recipes import Recipe
from ebbmem.shelf import Shelved

HITS: Final = _core.HitMaker(Recalled)


def memory_of(shelved: Shelved, traces: bytes, place: int, scope: str) -> Memory:
    """Return a hit's memory, whose strengths were those of a trace."""
    _, row, successor = shelved
    strengths = reconsolidation.strengths_at(traces, place)
    return reading.memory(Shown(row, strengths, scope, successor))


class Found:
    """What one recall found, and how it looks to users: the hits, then what was skipped."""

    __slots__ = ("_answer", "_rows", "_scope", "_traces")

    def __init__(
        self, answered: Answer, rows: Sequence[Shelved], scope: str, traces: bytes
    ) -> None:
        self._answer = answered
        self._rows = rows
        self._scope = scope
        self._traces = traces

    @classmethod
    def strengthened(
        cls,
        index: ScopeIndex,
        answered: Answer,
        rows: Mapping[int, Shelved],
        now_us: int,
        by: Recipe | None,
    ) -> Found:
        """Strengthen the hits in the index as a recipe has it, None: not at all."""
        slots = answered.slots
        found, strengths = (slots, answered.similarity), index.columns.strengths()
        if by is None:
            traces = strengths.succeed(*found, 0, now_us, 0.0)
        else:
            traces = reconsolidation.recalled(strengths, found, len(answered.hits), now_us, by)
        texts = list(map(rows.__getitem__, slots.tolist()))
        return cls(answered, texts, index.scope.name, traces)

    def narrowed(self, answer: Answer) -> Found:
        """Return what is left of it where nothing was strengthened."""
        where = {at: place for place, at in enumerate(self._answer.places)}
        places = [where[at] for at in answer.places]
        size = reconsolidation.TRACE_BYTES
        traces = b"".join(self._traces[place * size : (place + 1) * size] for place in places)
        return Found(answer, [self._rows[place] for place in places], self._scope, traces)

    def recalled(self) -> tuple[tuple[Recalled, ...], tuple[Recalled, ...]]:
        """Return the hits, and what was skipped, as users see them."""
        answer = self._answer
        made = HITS.made(self._part, self._rows, answer.scores)
        hits = len(answer.hits)
        return made[:hits], made[hits:]

    def _part(self, place: int, name: str) -> Any:
        """Return a field of one of them."""
        if name == "memory":
            return memory_of(self._rows[place], self._traces, place, self._scope)
        return self._answer.ranked.part(self._answer.places[place], name)

    def keep(self, engine: Engine, index: ScopeIndex, now_us: int, by: Recipe) -> None:
        """Let the records learn with the next commit what was strengthened."""
        hits = len(self._answer.hits)
        if hits:
            scope, traces = index.scope, self._traces[: hits * reconsolidation.TRACE_BYTES]
            one = PendingRecall(scope.name, scope.scope_id, index.seq, now_us, by, traces)
            engine.keep(index, one)
