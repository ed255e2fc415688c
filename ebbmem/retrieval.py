"""Recall from cue to result: the index answers, the records tell the text, recall is written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebbmem import reading, reconsolidation
from ebbmem.analysis import Analyzer
from ebbmem.embedders.base import Embedder
from ebbmem.engine import Engine
from ebbmem.hits import Answer, budgeted, known
from ebbmem.index import ScopeIndex, embedded
from ebbmem.models import Explanation, Memory, Recalled, RecallResult, deferred_hit
from ebbmem.pending import PendingRecall
from ebbmem.reading import Shown
from ebbmem.recall import Cue, Request, answer
from ebbmem.recipes import Recipe
from ebbmem.reconsolidation import Held
from ebbmem.records.identity import id_text, new_id
from ebbmem.shelf import Shelved

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Options:
    """Everything about a recall but its cue; every field checked."""

    recipe: Recipe
    top_k: int
    min_score: float
    now_us: int
    as_of_us: int | None
    run_id: str | None
    archive: bool
    token_budget: int | None
    reinforce: bool
    """Whether hits are strengthened by being recalled."""


def recall(
    engine: Engine, scope: str, embedder: Embedder, cues: Sequence[str], options: Options
) -> list[RecallResult]:
    """Answer cues of one scope, in order; each may strengthen what the next one sees."""
    analysed = analyse(engine.analyzer, embedder, cues, options.recipe)
    return [_recall(engine, scope, embedder, cue, options) for cue in analysed]


def analyse(
    analyzer: Analyzer, embedder: Embedder, cues: Sequence[str], recipe: Recipe
) -> list[Cue]:
    """Return cues with their distinct terms and, where the recipe needs it, their vectors."""
    if not cues:
        return []
    term_ids, ends = analyzer.terms(tuple(cues))
    terms = [_distinct(part) for part in np.split(term_ids, ends[:-1])]
    vectors = embedded(embedder, cues) if recipe.uses_vectors else [None] * len(cues)
    return [Cue(*parts) for parts in zip(cues, terms, vectors, strict=True)]


def _distinct(terms: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return each term once, in order of first occurrence."""
    _, first = np.unique(terms, return_index=True)
    return terms[np.sort(first)]


def _recall(
    engine: Engine, scope: str, embedder: Embedder, cue: Cue, options: Options
) -> RecallResult:
    """Answer one cue and keep what the recall changed."""
    started_ns = time.perf_counter_ns()
    recall_id = id_text(new_id(options.now_us))
    hits: tuple[Recalled, ...] = ()
    skipped: tuple[Recalled, ...] = ()
    with engine.alone(scope):
        index = engine.current(scope)
        if index is not None:
            found = _found(engine, index, embedder, cue, options)
            hits, skipped = found.recalled()
            if options.reinforce and hits:
                found.reconsolidate(engine, index, options)
    return RecallResult(
        id=recall_id,
        cue=cue.text,
        memories=hits,
        skipped=skipped,
        abstained=all(one.score < options.min_score for one in (*hits, *skipped)),
        degraded=False,
        took_us=(time.perf_counter_ns() - started_ns) // 1_000,
    )


def _found(
    engine: Engine, index: ScopeIndex, embedder: Embedder, cue: Cue, options: Options
) -> _Found:
    """Return what was found, with rows and strengths."""
    arena = engine.lane(index, embedder).arena if options.recipe.uses_vectors else None
    mask = index.columns.mask(
        options.now_us, as_of_us=options.as_of_us, run=options.run_id, archive=options.archive
    )
    request = Request(options.recipe, options.top_k, options.min_score, options.now_us, mask)
    answered = answer(index, arena, cue, request)
    slots = answered.slots()
    rows = engine.rows(index, slots)
    if len(rows) < len(slots):
        # Another process erased some since the index was brought up to date.
        answered = known(answered, rows)
    if options.token_budget is not None:
        sizes = {slot: _tokens(one.row.summary) for slot, one in rows.items()}
        answered = budgeted(answered, sizes, options.token_budget)
    slots = answered.slots()
    before = Held(*index.columns.held(np.array(slots, dtype=np.int64)))
    return _Found(answered, [rows[slot] for slot in slots], before, index.scope.name)


class _Found:
    """What one recall found, and how it looks to users.

    ``rows`` and ``before`` are of the hits and then of what was skipped.
    """

    __slots__ = ("_answer", "_before", "_rows", "_scope")

    def __init__(self, answered: Answer, rows: Sequence[Shelved], before: Held, scope: str) -> None:
        self._answer = answered
        self._rows = rows
        self._before = before
        self._scope = scope

    def recalled(self) -> tuple[tuple[Recalled, ...], tuple[Recalled, ...]]:
        """Return the hits, and what was skipped, as users see them."""
        ranked, hits = self._answer.ranked, self._answer.hits
        every = [
            deferred_hit(
                self._part,
                (at, place),
                (
                    ranked.scores[at],
                    ranked.similarity[at],
                    ranked.cascade[at],
                    ranked.retrievability[at],
                ),
            )
            for place, at in enumerate((*hits, *self._answer.skipped))
        ]
        return tuple(every[: len(hits)]), tuple(every[len(hits) :])

    def _part(self, key: tuple[int, int], name: str) -> Memory | Explanation:
        """Return the memory or the explanation of one of them."""
        at, place = key
        if name == "explanation":
            return self._answer.ranked.explanation(at)
        row, successor = self._rows[place]
        storage, anchor, anchored_us, count = (
            column[place].item() for column in self._before.shown()
        )
        return reading.memory(
            Shown(row, storage, anchor, anchored_us, count, self._scope, successor)
        )

    def reconsolidate(self, engine: Engine, index: ScopeIndex, options: Options) -> None:
        """Strengthen the hits; the records learn of it with the next commit."""
        hits, recipe = self._answer.hits, options.recipe
        ranked = self._answer.ranked
        before = self._before.where(slice(len(hits)))
        r = before.retrievability(options.now_us)
        similarity = np.array([ranked.similarity[at] for at in hits])
        slots = np.array([ranked.slots[at] for at in hits], dtype=np.int64)
        counted = reconsolidation.counted(before, similarity, recipe, options.now_us)
        after = reconsolidation.succeeded(
            before.where(counted), r[counted], recipe.reinforcement, options.now_us
        )
        recall = PendingRecall(
            index.scope.name,
            index.scope.scope_id,
            index.seq,
            options.now_us,
            recipe,
            before,
            r,
            similarity,
            after,
        )
        engine.keep(recall, index, slots[counted])


def _tokens(text: str) -> int:
    """Return the estimated size of a text in tokens: one per four characters, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
