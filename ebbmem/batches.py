"""Recall of many cues in many scopes: what they look up is looked up in one native call."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final, TypeVar

from ebbmem.embedders.base import Embedder
from ebbmem.engine import Engine
from ebbmem.index import ScopeIndex
from ebbmem.models import RecallResult
from ebbmem.questions import Cue, Question, searches
from ebbmem.recall import answer
from ebbmem.recipes import Ranking
from ebbmem.retrieval import Call, Options, analyse, finished, known_in, put, recall_cue
from ebbmem.searches import made_together

T = TypeVar("T")

MOST_CUES: Final = 64
"""Cues that are looked up together: as long as it takes to answer them, their scopes are held."""
MOST_ROWS: Final = 1 << 20
"""Memories that they are compared with; a sum needs two columns of them for each cue."""
MOST_BUDGET: Final = 0.5
"""The part of the budget of indexes that those in use together may take."""


def recall_many(
    engine: Engine,
    embedder: Embedder,
    pairs: Sequence[tuple[str, str]],
    options: Options,
    threads: int,
) -> list[RecallResult]:
    """Answer (scope, cue) pairs as `retrieval.recall` would one by one, in the order given."""
    cues = analyse(engine.analyzer, embedder, [cue for _, cue in pairs], options.recipe)
    if options.also:
        every = zip(pairs, cues, strict=True)
        return [recall_cue(engine, scope, embedder, cue, options) for (scope, _), cue in every]
    done: dict[int, RecallResult] = {}
    for places in _waves([scope for scope, _ in pairs], options):
        left = places
        while left:
            batch = [(pairs[at][0], cues[at]) for at in left[:MOST_CUES]]
            results = _together(engine, embedder, batch, options, threads)
            done.update(zip(left, results, strict=False))
            left = left[len(results) :]
    return [done[at] for at in range(len(pairs))]


def _waves(scopes: Sequence[str], options: Options) -> list[list[int]]:
    """Return the places of cues that may be looked up at once, by scope and in the order given.

    What one cue strengthens changes what is looked up for the next of its scope only where a sum
    ranks by strengths.
    """
    by_scope = sorted(range(len(scopes)), key=scopes.__getitem__)
    if not options.reinforce or options.recipe.ranking is not Ranking.SUM:
        return [by_scope]
    waves: list[list[int]] = []
    seen: dict[str, int] = {}
    for at in by_scope:
        wave = seen[scopes[at]] = seen.get(scopes[at], -1) + 1
        waves += [[]] * (wave == len(waves))
        waves[wave] = [*waves[wave], at]
    return waves


def _together(
    engine: Engine,
    embedder: Embedder,
    batch: Sequence[tuple[str, Cue]],
    options: Options,
    threads: int,
) -> list[RecallResult]:
    """Answer cues, given by scope; at least the first, and no more of them than fit."""
    started_ns = time.perf_counter_ns()

    def answered_now() -> list[RecallResult]:
        return _answered(engine, embedder, batch, options, (threads, started_ns))

    # In the order of their names, so that two batches never wait for each other.
    scopes = dict.fromkeys(scope for scope, _ in batch)
    return _holding([engine.alone(one, write=options.reinforce) for one in scopes], answered_now)


def _holding(locks: Sequence[AbstractContextManager[object]], act: Callable[[], T]) -> T:
    """Act while locks are held.

    Each by a ``with`` of its own: an ExitStack that is interrupted after it has taken a lock, and
    before it has noted that, would never let it go.
    """
    if not locks:
        return act()
    with locks[0]:
        return _holding(locks[1:], act)


def _answered(
    engine: Engine,
    embedder: Embedder,
    batch: Sequence[tuple[str, Cue]],
    options: Options,
    how: tuple[int, int],
) -> list[RecallResult]:
    """Answer cues whose scopes are held; ``how``: the threads, and when it was begun."""
    threads, started_ns = how
    questions = _questions(engine, embedder, batch, options)
    lookups = [{} if one is None else searches(one) for one in questions]
    asked = [search for one in lookups for search in one.values()]
    rankings = iter(made_together(asked, threads, engine.workers))
    own_ns = (time.perf_counter_ns() - started_ns) // len(questions)
    results = []
    for (scope, cue), one, lanes in zip(batch, questions, lookups, strict=False):
        call = Call(scope, cue, time.perf_counter_ns() - own_ns)
        looked = None
        if one is not None:
            answered = answer(one, {lane: next(rankings) for lane in lanes})
            rows = engine.rows(one.index, answered.slots().tolist())
            looked = known_in(one.index, answered, rows)
        results.append(finished(engine, call, looked, options))
    return results


def _questions(
    engine: Engine, embedder: Embedder, batch: Sequence[tuple[str, Cue]], options: Options
) -> list[Question | None]:
    """Put as many of the cues as fit to their indexes; None where a scope has no memories."""
    indexes: dict[str, ScopeIndex | None] = {}
    questions: list[Question | None] = []
    rows, budget = 0, 0.0
    for scope, cue in batch:
        if scope not in indexes:
            indexes[scope] = engine.current(scope)
            engine.binding.fit(embedder)
            budget += engine.budget_share(scope)
        index = indexes[scope]
        rows += 0 if index is None else len(index)
        if questions and (rows > MOST_ROWS or budget > MOST_BUDGET):
            break
        questions.append(None if index is None else put(engine, index, embedder, cue, options))
    return questions
