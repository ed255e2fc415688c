"""Recall from cue to result: the index answers, the records tell the text, recall is written."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ebbmem import straight
from ebbmem.analysis import Analyzer
from ebbmem.embedders.base import Embedder
from ebbmem.engine import Engine
from ebbmem.errors import EmbedderFailed
from ebbmem.filters import Indexed
from ebbmem.found import Found
from ebbmem.hits import Answer, budgeted, known
from ebbmem.index import ScopeIndex
from ebbmem.merging import Merged, Part, merged
from ebbmem.models import Recalled, RecallResult
from ebbmem.naming import names
from ebbmem.options import Options
from ebbmem.questions import Cue, Question, Request, question
from ebbmem.recall import answer
from ebbmem.recipes import Recipe, by_words
from ebbmem.replies import Call, reply
from ebbmem.shelf import Shelved
from ebbmem.spaces import Query, queries

CHARACTERS_PER_TOKEN = 4
NO_TERMS = np.empty(0, dtype=np.uint64)
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
_AHEAD = 10
"""How many matches are read with the first, as they are likely to be among the hits."""

Looked = tuple[ScopeIndex, Answer, Mapping[int, Shelved]]
"""An index, what it answers, and the rows of that."""


def recall(
    engine: Engine, scope: str, embedder: Embedder, cue: str, options: Options
) -> RecallResult:
    """Answer one cue, and keep what that changed."""
    told = straight.recall(engine, scope, embedder, cue, options)
    if told is not None:
        return told
    try:
        analysed = _analysed(engine.analyzer, embedder, cue, options.recipe)
        return recall_cue(engine, scope, embedder, analysed, options)
    except EmbedderFailed as exc:
        return recall(engine, scope, embedder, cue, without_vectors(options, exc))


def without_vectors(options: Options, failure: EmbedderFailed) -> Options:
    """Return options by which words alone answer, or raise the failure where they cannot."""
    recipe = by_words(options.recipe)
    if recipe is None:
        raise failure
    return options._replace(recipe=recipe, degraded=True)


def _analysed(analyzer: Analyzer, embedder: Embedder, cue: str, recipe: Recipe) -> Cue:
    """Return what `analyse` does of one cue."""
    terms, asked = NO_TERMS, None
    if recipe.uses_terms:
        terms = _distinct(analyzer.terms((cue,), as_cues=True)[0])
    if recipe.uses_vectors:
        (asked,) = queries(embedder, (cue,))
    return Cue(cue, terms, asked)


def analyse(
    analyzer: Analyzer, embedder: Embedder, cues: Sequence[str], recipe: Recipe
) -> list[Cue]:
    """Return cues with their distinct terms and their vectors, where the recipe needs them."""
    if not cues:
        return []
    terms: list[NDArray[np.uint64]] = [NO_TERMS] * len(cues)
    if recipe.uses_terms:
        term_ids, ends = analyzer.terms(tuple(cues), as_cues=True)
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


def recall_cue(
    engine: Engine, scope: str, embedder: Embedder, cue: Cue, options: Options
) -> RecallResult:
    """Answer one cue that was analysed."""
    if options.also:
        return _recall_beside(engine, scope, embedder, cue, options)
    call = Call(scope, cue.text, time.perf_counter_ns())
    with engine.alone(scope, write=options.reinforce):
        return finished(engine, call, _looked(engine, scope, embedder, cue, options), options)


def finished(engine: Engine, call: Call, looked: Looked | None, options: Options) -> RecallResult:
    """Keep what a recall changed, and return what it found; None without memories.

    The caller holds the scope's lock.
    """
    if looked is None:
        return reply(engine.meter, call, ((), ()), options)
    if options.token_budget is not None:
        index, answered, rows = looked
        looked = index, budgeted(answered, sizes(rows), options.token_budget), rows
    return reply(engine.meter, call, _kept(engine, looked, options).recalled(), options)


def _kept(engine: Engine, looked: Looked, options: Options) -> Found:
    """Strengthen the hits where recalling does, and let the records learn of it."""
    if not options.reinforce:
        return _strengthened(looked, options)
    try:
        found = Found.strengthened(*looked, options.now_us, options.recipe)
        # What the index says of its hits now has to be told, whatever comes between.
        found.keep(engine, looked[0], options.now_us, options.recipe)
    except BaseException as exc:
        engine.doubt(looked[0], exc)
        raise
    return found


def _strengthened(looked: Looked, options: Options) -> Found:
    """Strengthen the hits in the index, where recalling does; return what was found."""
    by = options.recipe if options.reinforce else None
    return Found.strengthened(*looked, options.now_us, by)


def _recall_beside(
    engine: Engine, scope: str, embedder: Embedder, cue: Cue, options: Options
) -> RecallResult:
    """Answer one cue from several scopes; what is strengthened is of the first alone.

    The lock of one scope is held at a time.
    """
    call = Call(scope, cue.text, time.perf_counter_ns())
    aside = options._replace(reinforce=False)
    seen = [_seen(engine, name, embedder, cue, aside) for name in options.also]
    others = [one for one in seen if one is not None]
    parts = [part for part, _ in others]
    with engine.alone(scope, write=options.reinforce):
        looked = _looked(engine, scope, embedder, cue, options)
        if looked is None:
            whole, found = merged([Part(Answer(), (), {}), *parts], *_limits(options)), None
        else:
            index, answered, rows = looked
            own = _part(index, answered, rows)
            whole = merged([own, *parts], *_limits(options))
            found = _kept(engine, (index, whole.answers[0], rows), options)
    shares = [] if found is None else [(0, found)]
    shares += [
        (n, one.narrowed(answer))
        for n, ((_, one), answer) in enumerate(zip(others, whole.answers[1:], strict=True), 1)
    ]
    return reply(engine.meter, call, _in_order(shares, whole), options)


def _seen(
    engine: Engine, scope: str, embedder: Embedder, cue: Cue, options: Options
) -> tuple[Part, Found] | None:
    """Return what a scope answers that is only read; None without memories."""
    with engine.alone(scope, write=False):
        looked = _looked(engine, scope, embedder, cue, options)
        if looked is None:
            return None
        return _part(*looked), _strengthened(looked, options)


def _part(index: ScopeIndex, answered: Answer, rows: Mapping[int, Shelved]) -> Part:
    """Return an answer with what it is merged by."""
    return Part(answered, index.columns.created_us[answered.slots].tolist(), sizes(rows))


def _limits(options: Options) -> tuple[int, int | None]:
    return options.top_k, options.token_budget


def _in_order(
    shares: Sequence[tuple[int, Found]], whole: Merged
) -> tuple[tuple[Recalled, ...], tuple[Recalled, ...]]:
    """Return the hits and the skipped of several scopes in the order of the whole answer."""
    made = {n: found.recalled() for n, found in shares}
    parts = []
    for which, order in enumerate((whole.hits, whole.skipped)):
        waiting = {n: iter(one[which]) for n, one in made.items()}
        parts.append(tuple(next(waiting[n]) for n in order))
    return parts[0], parts[1]


def _looked(
    engine: Engine, scope: str, embedder: Embedder, cue: Cue, options: Options
) -> Looked | None:
    """Return an index that is current, its answer and the rows of that; None without memories."""
    index = engine.loaded(scope)
    if index is not None:
        answered = answer(put(engine, index, embedder, cue, options))
        # Looked at after the answer, so that one look tells of both.
        if engine.is_current(index):
            engine.binding.fit(embedder)
            return known_in(index, answered, engine.rows(index, answered.slots.tolist()))
    index = engine.current(scope)
    engine.binding.fit(embedder)
    if index is None:
        return None
    answered = answer(put(engine, index, embedder, cue, options))
    return known_in(index, answered, engine.rows_now(index, answered.slots.tolist()))


def put(
    engine: Engine, index: ScopeIndex, embedder: Embedder, cue: Cue, options: Options
) -> Question:
    """Put a cue to an index."""
    asked = None
    if cue.query is not None and options.recipe.uses_vectors:
        asked = engine.lane(index, embedder).asked(cue.query)
    mask = index.columns.mask(
        options.now_us, as_of_us=options.as_of_us, run=options.run_id, archive=options.archive
    )
    seen = mask
    if options.run_id is not None and index.any_conflicts:
        seen = index.columns.mask(
            options.now_us, as_of_us=options.as_of_us, run=None, archive=options.archive
        )
    if options.filters is not None:
        mask = mask & options.filters.chosen(Indexed(index, engine.memories))
    request = Request(options.recipe, options.top_k, options.min_score, options.now_us, mask, seen)
    return question(index, cue, request, asked, partial(_names, engine, index))


def _names(engine: Engine, index: ScopeIndex, slots: I64) -> U64:
    """Return the terms of the names in the text of the first of some memories."""
    first = int(slots[0])
    there = index.shelf.take([first]) or engine.rows_now(index, slots[:_AHEAD].tolist())
    found = names(there[first].row.summary) if first in there else ()
    return engine.analyzer.terms([" ".join(found)])[0] if found else NO_TERMS


def known_in(index: ScopeIndex, answered: Answer, rows: Mapping[int, Shelved]) -> Looked:
    """Return an answer without what has no row any more."""
    if len(rows) < len(answered.places):
        # Another process erased some since the index was brought up to date.
        answered = known(answered, rows)
    return index, answered, rows


def shown(
    index: ScopeIndex, answered: Answer, at: int, rows: Mapping[int, Shelved], options: Options
) -> Recalled:
    """Return one that an answer ranked, as users see it; nothing is strengthened."""
    aside = options._replace(reinforce=False)
    looked = index, Answer(answered.ranked, [at]), rows
    (hit,), _ = _strengthened(looked, aside).recalled()
    return hit


def sizes(rows: Mapping[int, Shelved]) -> dict[int, int]:
    """Return the size of each summary in tokens."""
    return {slot: _tokens(one.row.summary) for slot, one in rows.items()}


def _tokens(text: str) -> int:
    """Return the estimated size of a text in tokens: one per four characters, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
