"""Recall from cue to result: the index answers, the records tell the text, recall is written."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem import reading, reconsolidation
from ebbmem.analysis import Analyzer
from ebbmem.embedders.base import Embedder
from ebbmem.engine import Engine
from ebbmem.hits import Answer, budgeted, known
from ebbmem.index import ScopeIndex
from ebbmem.models import Recalled, RecallResult, deferred_hit, deferred_memory
from ebbmem.pending import PendingRecall
from ebbmem.reading import Shown
from ebbmem.recall import Cue, Request, answer, with_lexical
from ebbmem.recipes import Recipe
from ebbmem.reconsolidation import Held
from ebbmem.records.identity import id_text, new_id
from ebbmem.shelf import Shelved
from ebbmem.spaces import Query, queries

CHARACTERS_PER_TOKEN = 4
NO_TERMS = np.empty(0, dtype=np.uint64)


class Options(NamedTuple):
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
    return _recall_all(engine, scope, embedder, analysed, options)


def recall_in_scopes(
    engine: Engine, embedder: Embedder, pairs: Sequence[tuple[str, str]], options: Options
) -> list[RecallResult]:
    """Answer (scope, cue) pairs as `recall` does each scope's; the cues are analysed together."""
    analysed = analyse(engine.analyzer, embedder, [cue for _, cue in pairs], options.recipe)
    shares: dict[str, list[int]] = {}
    for at, (scope, _) in enumerate(pairs):
        shares.setdefault(scope, []).append(at)
    done: dict[int, RecallResult] = {}
    for scope, share in shares.items():
        cues = [analysed[at] for at in share]
        results = _recall_all(engine, scope, embedder, cues, options)
        done.update(zip(share, results, strict=True))
    return [done[at] for at in range(len(pairs))]


def _recall_all(
    engine: Engine, scope: str, embedder: Embedder, cues: Sequence[Cue], options: Options
) -> list[RecallResult]:
    """Answer cues of one scope, in order; what no recall changes is looked up at once."""
    if len(cues) > 1:
        with engine.alone(scope, write=options.reinforce):
            index = engine.current(scope)
            if index is not None:
                cues = with_lexical(index, cues, _request(index, options))
            return [_recall(engine, scope, embedder, cue, options) for cue in cues]
    return [_recall(engine, scope, embedder, cue, options) for cue in cues]


def analyse(
    analyzer: Analyzer, embedder: Embedder, cues: Sequence[str], recipe: Recipe
) -> list[Cue]:
    """Return cues with their distinct terms and their vectors, where the recipe needs them."""
    if not cues:
        return []
    terms: list[NDArray[np.uint64]] = [NO_TERMS] * len(cues)
    if recipe.uses_terms:
        term_ids, ends = analyzer.terms(tuple(cues))
        starts = [0, *ends.tolist()]
        terms = [_distinct(term_ids[start:end]) for start, end in pairwise(starts)]
    asked: Sequence[Query | None] = [None] * len(cues)
    if recipe.uses_vectors:
        asked = queries(embedder, cues)
    return [Cue(*parts) for parts in zip(cues, terms, asked, strict=True)]


def _distinct(terms: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return each term once, in order of first occurrence."""
    once = dict.fromkeys(terms.tolist())
    return terms if len(once) == len(terms) else np.array(list(once), dtype=np.uint64)


def _recall(
    engine: Engine, scope: str, embedder: Embedder, cue: Cue, options: Options
) -> RecallResult:
    """Answer one cue and keep what the recall changed."""
    started_ns = time.perf_counter_ns()
    recall_id = id_text(new_id(options.now_us))
    hits: tuple[Recalled, ...] = ()
    skipped: tuple[Recalled, ...] = ()
    with engine.alone(scope, write=options.reinforce):
        looked = _looked(engine, scope, embedder, cue, options)
        if looked is not None:
            index, found = looked
            hits, skipped = found.recalled()
            if options.reinforce and hits:
                found.reconsolidate(engine, index, options)
    return RecallResult(
        recall_id,
        cue.text,
        hits,
        skipped,
        not hits and all(one.score < options.min_score for one in skipped),
        False,
        (time.perf_counter_ns() - started_ns) // 1_000,
    )


def _looked(
    engine: Engine, scope: str, embedder: Embedder, cue: Cue, options: Options
) -> tuple[ScopeIndex, _Found] | None:
    """Return what was found in an index that is current, and the index; None without memories."""
    index = engine.loaded(scope)
    if index is not None:
        answered = _answer(engine, index, embedder, cue, options)
        # Looked at after the answer, so that one look tells of both.
        if engine.is_current(index):
            return index, _found(index, answered, engine.rows(index, answered.slots()), options)
    index = engine.current(scope)
    if index is None:
        return None
    answered = _answer(engine, index, embedder, cue, options)
    return index, _found(index, answered, engine.rows_now(index, answered.slots()), options)


def _answer(
    engine: Engine, index: ScopeIndex, embedder: Embedder, cue: Cue, options: Options
) -> Answer:
    """Return what the index answers."""
    asked = None if cue.query is None else engine.lane(index, embedder).asked(cue.query)
    return answer(index, asked, cue, _request(index, options))


def _request(index: ScopeIndex, options: Options) -> Request:
    """Return what is wanted of an index."""
    mask = index.columns.mask(
        options.now_us, as_of_us=options.as_of_us, run=options.run_id, archive=options.archive
    )
    return Request(options.recipe, options.top_k, options.min_score, options.now_us, mask)


def _found(
    index: ScopeIndex, answered: Answer, rows: Mapping[int, Shelved], options: Options
) -> _Found:
    """Return what was answered with rows and strengths, as far as it is within the budget."""
    slots = answered.slots()
    if len(rows) < len(slots):
        # Another process erased some since the index was brought up to date.
        answered = known(answered, rows)
        slots = answered.slots()
    if options.token_budget is not None:
        sizes = {slot: _tokens(one.row.summary) for slot, one in rows.items()}
        answered = budgeted(answered, sizes, options.token_budget)
        slots = answered.slots()
    return _Found(index, answered, slots, [rows[slot] for slot in slots])


class _Found:
    """What one recall found, and how it looks to users: the hits, then what was skipped."""

    __slots__ = ("_answer", "_before", "_rows", "_scope", "_slots")

    def __init__(
        self, index: ScopeIndex, answered: Answer, slots: list[int], rows: list[Shelved]
    ) -> None:
        self._answer = answered
        self._rows = rows
        self._slots = np.array(slots, dtype=np.int64)
        self._before = Held(*index.columns.held(self._slots))
        self._scope = index.scope.name

    def recalled(self) -> tuple[tuple[Recalled, ...], tuple[Recalled, ...]]:
        """Return the hits, and what was skipped, as users see them."""
        ranked, count = self._answer.ranked, len(self._answer.hits)
        chosen = self._answer.places()
        scores, of_hit, of_memory = ranked.scores, ranked.part, self._part
        made = [
            deferred_hit(of_hit, at, deferred_memory(of_memory, place, one.row.summary), scores[at])
            for place, (at, one) in enumerate(zip(chosen, self._rows, strict=True))
        ]
        if count == len(made):
            return tuple(made), ()
        return tuple(made[:count]), tuple(made[count:])

    def _part(self, place: int, name: str) -> Any:
        """Return a field of one of the memories."""
        row, successor = self._rows[place]
        return reading.field(Shown(row, self._before, place, self._scope, successor), name)

    def reconsolidate(self, engine: Engine, index: ScopeIndex, options: Options) -> None:
        """Strengthen the hits; the records learn of it with the next commit."""
        hits, recipe, now_us = self._answer.hits, options.recipe, options.now_us
        before, slots = self._before, self._slots
        if len(hits) < len(slots):
            before, slots = before.where(slice(len(hits))), slots[: len(hits)]
        similarity = [self._answer.ranked.similarity[at] for at in hits]
        counted = reconsolidation.counted(before.anchored_us, similarity, recipe, now_us)
        r = index.columns.succeed(
            slots, counted, now_us, reconsolidation.RATE_PER_H, recipe.reinforcement.beta
        )
        scope = index.scope
        engine.keep(
            index,
            PendingRecall(
                scope.name,
                scope.scope_id,
                index.seq,
                now_us,
                recipe,
                before,
                r,
                similarity,
                counted,
            ),
        )


def _tokens(text: str) -> int:
    """Return the estimated size of a text in tokens: one per four characters, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
