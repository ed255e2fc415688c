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
from ebbmem.index import ScopeIndex, embedded
from ebbmem.models import Memory, Recalled, RecallResult
from ebbmem.pending import PendingRecall
from ebbmem.recall import Answer, Cue, Found, Request, answer, budgeted
from ebbmem.recipes import Recipe
from ebbmem.records.identity import id_text, new_id

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
    """Answer one cue and write what the recall changed."""
    started_ns = time.perf_counter_ns()
    recall_id = id_text(new_id(options.now_us))
    known: dict[int, Memory] = {}
    with engine.use(scope) as index:
        found = Answer((), ())
        if index is not None:
            found, known = _answer(engine, index, embedder, cue, options)
            if options.reinforce and found.hits:
                _reconsolidate(engine, index, found.hits, options)
    took_us = (time.perf_counter_ns() - started_ns) // 1_000
    return RecallResult(
        id=recall_id,
        cue=cue.text,
        memories=tuple(_hit(one, known) for one in found.hits),
        skipped=tuple(_hit(one, known) for one in found.skipped),
        abstained=all(one.score < options.min_score for one in (*found.hits, *found.skipped)),
        degraded=False,
        took_us=took_us,
    )


def _answer(
    engine: Engine, index: ScopeIndex, embedder: Embedder, cue: Cue, options: Options
) -> tuple[Answer, dict[int, Memory]]:
    """Return what was found, and its memories by slot."""
    arena = engine.lane(index, embedder).arena if options.recipe.uses_vectors else None
    mask = index.columns.mask(
        options.now_us, as_of_us=options.as_of_us, run=options.run_id, archive=options.archive
    )
    request = Request(options.recipe, options.top_k, options.min_score, options.now_us, mask)
    found = answer(index, arena, cue, request)
    parts = (found.hits, found.skipped)
    slots = [one.slot for part in parts for one in part]
    rows = [int(index.columns.row[slot]) for slot in slots]
    with engine.records.read() as reader:
        by_row = reading.memories(reader, index.scope.name, rows)
    # Another process may have erased some since the index was brought up to date.
    known = {s: by_row[row] for s, row in zip(slots, rows, strict=True) if row in by_row}
    found = Answer(*(tuple(one for one in part if one.slot in known) for part in parts))
    if options.token_budget is not None:
        sizes = {slot: _tokens(memory.summary) for slot, memory in known.items()}
        found = budgeted(found, sizes, options.token_budget)
    return found, known


def _reconsolidate(
    engine: Engine, index: ScopeIndex, hits: Sequence[Found], options: Options
) -> None:
    """Strengthen hits; the records learn of it with the next commit."""
    columns = index.columns
    similarity = {int(columns.row[hit.slot]): hit.similarity for hit in hits}
    before = reconsolidation.indexed(columns, list(similarity))
    after = reconsolidation.strengthened(before, similarity, options.recipe, options.now_us)
    scope = index.scope
    engine.keep(
        PendingRecall(
            scope.name,
            scope.scope_id,
            index.seq,
            options.now_us,
            options.recipe,
            similarity,
            before,
            after,
        )
    )


def _tokens(text: str) -> int:
    """Return the estimated size of a text in tokens: one per four characters, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _hit(one: Found, known: dict[int, Memory]) -> Recalled:
    """Return a hit as users see it."""
    return Recalled(
        memory=known[one.slot],
        score=one.score,
        similarity=one.similarity,
        cascade_score=one.cascade,
        retrievability=one.retrievability,
        explanation=one.explanation,
    )
