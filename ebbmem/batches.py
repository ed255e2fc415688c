"""Recall of many cues in many scopes: what they look up is looked up in one native call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final, NamedTuple, TypeVar

from ebbmem import _core, straight
from ebbmem.embedders.base import Embedder
from ebbmem.engine import Engine
from ebbmem.errors import CorruptStore, EmbedderFailed, PartlyAnswered
from ebbmem.hits import Answer
from ebbmem.index import ScopeIndex
from ebbmem.models import RecallResult
from ebbmem.options import Options, beside
from ebbmem.questions import Cue, Question, searches
from ebbmem.recall import FoundByProduct, Prepared, answers, is_prepared, prepared
from ebbmem.recipes import Ranking
from ebbmem.replies import Call, reply
from ebbmem.retrieval import (
    Looked,
    analyse,
    finished,
    known_in,
    put,
    recall_cue,
    without_vectors,
)
from ebbmem.searches import Ranking as Ranked
from ebbmem.searches import made_together

T = TypeVar("T")
Outcome = RecallResult | CorruptStore
"""What becomes of a cue."""
Asked = Question | CorruptStore | None
"""A cue put to an index; None where there is none, or why it cannot be put."""

Told = Answer | FoundByProduct | CorruptStore | None
"""What is found for a cue, None without memories, or why there is no answer."""

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
    """Answer (scope, cue) pairs as `retrieval.recall` would one by one, in the order given.

    Raises
    ------
    PartlyAnswered
        If some cannot be answered because something does not match; once the others were.
    """
    try:
        cues = analyse(engine.analyzer, embedder, [cue for _, cue in pairs], options.recipe)
    except EmbedderFailed as exc:
        return recall_many(engine, embedder, pairs, without_vectors(options, exc), threads)
    done: dict[int, Outcome] = {}
    refused: dict[int, CorruptStore] = {}
    for places in _waves([scope for scope, _ in pairs], options):
        left = places
        while left:
            some = left[:MOST_CUES]
            batch = _Batch([(pairs[at][0], cues[at]) for at in some], some, refused)
            outcomes = _outcomes(engine, embedder, batch, options, threads)
            done.update(zip(left, outcomes, strict=False))
            left = left[len(outcomes) :]
    return _results([scope for scope, _ in pairs], [done[at] for at in range(len(pairs))])


class _Batch(NamedTuple):
    """Cues that are looked up together, by scope.

    ``places`` says where each is among all that are asked; ``refused``, by that place, has what
    was raised instead of letting one be asked, also for those that are asked later.
    """

    cues: Sequence[tuple[str, Cue]]
    places: Sequence[int]
    refused: dict[int, CorruptStore]


def _kept(exc: CorruptStore) -> CorruptStore:
    """Return an error without the frames it went through: they would keep indexes in RAM."""
    one: BaseException | None = exc
    while one is not None:
        one.__traceback__ = None
        one = one.__cause__ or one.__context__
    return exc


def _results(scopes: Sequence[str], outcomes: Sequence[Outcome]) -> list[RecallResult]:
    """Return the results, or raise what some have instead."""
    results = [one for one in outcomes if isinstance(one, RecallResult)]
    if len(results) == len(outcomes):
        return results
    failures = {at: one for at, one in enumerate(outcomes) if isinstance(one, CorruptStore)}
    answered = [None if at in failures else one for at, one in enumerate(outcomes)]
    raise PartlyAnswered(answered, failures, scopes) from next(iter(failures.values()))


def _outcomes(
    engine: Engine, embedder: Embedder, batch: _Batch, options: Options, threads: int
) -> list[Outcome]:
    """Answer the first of some cues at least, by words alone where the embedder fails."""
    try:
        if options.also:
            return [_beside(engine, embedder, *batch.cues[0], options)]
        return _together(engine, embedder, batch, options, threads)
    except EmbedderFailed as exc:
        # Vectors that memories wait for are made before any cue is answered.
        return _outcomes(engine, embedder, batch, without_vectors(options, exc), threads)


def _beside(engine: Engine, embedder: Embedder, scope: str, cue: Cue, options: Options) -> Outcome:
    """Answer one cue from several scopes: the lock of one of them is held at a time."""
    try:
        return recall_cue(engine, scope, embedder, cue, beside(options, scope))
    except CorruptStore as exc:
        return _kept(exc)


def _waves(scopes: Sequence[str], options: Options) -> list[list[int]]:
    """Return the places of cues that may be looked up at once, by scope and in the order given.

    What one cue strengthens changes what is looked up for the next of its scope only where a sum
    ranks by strengths.
    """
    by_scope = sorted(range(len(scopes)), key=scopes.__getitem__)
    if options.also:
        return [list(range(len(scopes)))]
    if not options.reinforce or options.recipe.ranking is not Ranking.SUM:
        return [by_scope]
    return _one_by_one(scopes, by_scope)


def _one_by_one(scopes: Sequence[str], places: Iterable[int]) -> list[list[int]]:
    """Return places in waves: in each a scope comes once at most."""
    waves: list[list[int]] = []
    seen: dict[str, int] = {}
    for at in places:
        wave = seen[scopes[at]] = seen.get(scopes[at], -1) + 1
        waves += [[]] * (wave == len(waves))
        waves[wave] = [*waves[wave], at]
    return waves


def _together(
    engine: Engine,
    embedder: Embedder,
    batch: _Batch,
    options: Options,
    threads: int,
) -> list[Outcome]:
    """Answer cues, given by scope; at least the first, and no more of them than fit."""
    started_ns = time.perf_counter_ns()

    def answered_now() -> list[Outcome]:
        questions = _questions(engine, embedder, batch, options)
        return _answered(engine, batch.cues, questions, options, (threads, started_ns))

    # In the order of their names, so that two batches never wait for each other.
    locks: dict[str, AbstractContextManager[object]] = {}
    for place, (scope, _) in zip(batch.places, batch.cues, strict=True):
        if scope not in locks:
            try:
                locks[scope] = engine.alone(scope, write=options.reinforce)
            except CorruptStore as exc:
                # Earlier recalls were given up: said once, to the first who asks.
                batch.refused[place] = _kept(exc)
                locks[scope] = engine.alone(scope, write=False)
    return _holding(list(locks.values()), answered_now)


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
    batch: Sequence[tuple[str, Cue]],
    questions: Sequence[Asked],
    options: Options,
    how: tuple[int, int],
) -> list[Outcome]:
    """Answer cues whose scopes are held; ``how``: the threads, and when it was begun."""
    threads, started_ns = how
    lookups = [searches(one) if isinstance(one, Question) else {} for one in questions]
    asked = [search for one in lookups for search in one.values()]
    rankings = iter(made_together(asked, threads, engine.workers))
    made = [{lane: next(rankings) for lane in lanes} for lanes in lookups]
    own_ns = (time.perf_counter_ns() - started_ns) // len(questions)
    done: dict[int, Outcome] = {}
    for places in _turns([scope for scope, _ in batch[: len(questions)]], options):
        begun_ns = time.perf_counter_ns()
        told = _told([(questions[at], made[at]) for at in places], threads, engine.workers)
        share_ns = own_ns + (time.perf_counter_ns() - begun_ns) // len(places)
        for at, one in zip(places, told, strict=True):
            scope, cue = batch[at]
            call = Call(scope, cue.text, time.perf_counter_ns() - share_ns)
            done[at] = _finished(engine, call, questions[at], one, options)
    return [done[at] for at in range(len(questions))]


def _told(
    asked: Sequence[tuple[Asked, Mapping[str, Ranked]]], threads: int, workers: _core.Workers
) -> list[Told]:
    """Return the answers to questions, None or an error to what is none."""
    ready = [_prepared(one, rankings) for one, rankings in asked]
    found = iter(answers([one for one in ready if is_prepared(one)], threads, workers))
    return [one if one is None or isinstance(one, CorruptStore) else next(found) for one in ready]


def _prepared(one: Asked, rankings: Mapping[str, Ranked]) -> Prepared | CorruptStore | None:
    """Return what an answer still needs, None without memories, or why there is none."""
    if not isinstance(one, Question):
        return one
    try:
        return prepared(one, rankings)
    except CorruptStore as exc:
        return _kept(exc)


def _finished(engine: Engine, call: Call, one: Asked, told: Told, options: Options) -> Outcome:
    """Return the result of one cue, or what it has instead."""
    if isinstance(told, CorruptStore):
        return told
    try:
        if (
            isinstance(told, FoundByProduct)
            and straight.suits(options)
            and straight.alone(told.one.index)
        ):
            hits = straight.hits(engine, told.one.index, told.found, options)
            if hits is not None:
                return reply(engine.meter, call, (hits, ()), options)
        return finished(engine, call, _looked(engine, one, told), options)
    except CorruptStore as exc:
        return _kept(exc)


def _looked(engine: Engine, one: Asked, told: Answer | FoundByProduct | None) -> Looked | None:
    """Return an index, its answer and the rows of that; None without memories."""
    if not isinstance(one, Question) or told is None:
        return None
    answered = told.answer() if isinstance(told, FoundByProduct) else told
    return known_in(one.index, answered, engine.rows(one.index, answered.slots.tolist()))


def _turns(scopes: Sequence[str], options: Options) -> list[list[int]]:
    """Return the places of cues that may be answered at once, in the order given.

    What one cue strengthens changes what comes back for the next of its scope, but by a product.
    """
    if not options.reinforce or options.recipe.ranking is Ranking.PRODUCT:
        return [list(range(len(scopes)))]
    return _one_by_one(scopes, range(len(scopes)))


def _questions(
    engine: Engine,
    embedder: Embedder,
    batch: _Batch,
    options: Options,
) -> list[Asked]:
    """Put as many of the cues as fit to their indexes.

    None where a scope has no memories, an error where it cannot be loaded or the cue was refused.
    """
    indexes: dict[str, ScopeIndex | CorruptStore | None] = {}
    questions: list[Asked] = []
    rows, budget = 0, 0.0
    for place, (scope, cue) in zip(batch.places, batch.cues, strict=True):
        if scope not in indexes:
            indexes[scope] = _index(engine, scope)
            engine.binding.fit(embedder)
            budget += engine.budget_share(scope)
        index = indexes[scope]
        rows += len(index) if isinstance(index, ScopeIndex) else 0
        if questions and (rows > MOST_ROWS or budget > MOST_BUDGET):
            break
        if place in batch.refused:
            questions.append(batch.refused[place])
        elif isinstance(index, ScopeIndex):
            questions.append(_put(engine, index, embedder, cue, options))
        else:
            questions.append(index)
    return questions


def _index(engine: Engine, scope: str) -> ScopeIndex | CorruptStore | None:
    """Return the index of a scope, None without memories, or why it cannot be loaded."""
    try:
        return engine.current(scope)
    except CorruptStore as exc:
        return _kept(exc)


def _put(
    engine: Engine, index: ScopeIndex, embedder: Embedder, cue: Cue, options: Options
) -> Question | CorruptStore:
    """Put a cue to an index, or return why it cannot be: its vectors, say, are damaged."""
    try:
        return put(engine, index, embedder, cue, options)
    except CorruptStore as exc:
        return _kept(exc)
