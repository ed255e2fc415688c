"""Recall from cue to result: the index answers, the records tell the text, recall is written."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import pairwise, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core, reading, reconsolidation
from ebbmem.analysis import Analyzer
from ebbmem.embedders.base import Embedder
from ebbmem.engine import Engine
from ebbmem.filters import Filter, Indexed
from ebbmem.hits import Answer, budgeted, known
from ebbmem.index import ScopeIndex
from ebbmem.merging import Merged, Part, merged
from ebbmem.models import Memory, Recalled, RecallResult
from ebbmem.pending import PendingRecall
from ebbmem.questions import Cue, Question, Request, question, searches
from ebbmem.reading import Shown
from ebbmem.recall import answer
from ebbmem.recipes import Recipe
from ebbmem.records.identity import id_text, new_id
from ebbmem.shelf import Shelved
from ebbmem.spaces import Query, queries

CHARACTERS_PER_TOKEN = 4
NS_PER_US = 1_000
NO_TERMS = np.empty(0, dtype=np.uint64)
I64 = NDArray[np.int64]
# What hits and memories are made with; the rest is made when it is read.
_HIT_AT_ONCE = ("_source", "memory", "score")
_MEMORY_AT_ONCE = ("_source", "summary")
_RESULT_AT_ONCE = ("_source", "cue", "memories", "skipped", "abstained", "degraded", "took_us")


Looked = tuple[ScopeIndex, Answer, Mapping[int, Shelved]]
"""An index, what it answers, and the rows of that."""


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
    also: tuple[str, ...] = ()
    """Scopes that are read beside the one asked."""
    filters: Filter | None = None


class Call(NamedTuple):
    """One recall under way; ``started_ns`` by the performance counter."""

    scope: str
    cue: Cue
    started_ns: int


def recall(
    engine: Engine, scope: str, embedder: Embedder, cue: str, options: Options
) -> RecallResult:
    """Answer one cue, and keep what that changed."""
    analysed = _analysed(engine.analyzer, embedder, cue, options.recipe)
    return recall_cue(engine, scope, embedder, analysed, options)


def _analysed(analyzer: Analyzer, embedder: Embedder, cue: str, recipe: Recipe) -> Cue:
    """Return what `analyse` does of one cue."""
    terms, asked = NO_TERMS, None
    if recipe.uses_terms:
        terms = _distinct(analyzer.terms((cue,))[0])
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
    call = Call(scope, cue, time.perf_counter_ns())
    with engine.alone(scope, write=options.reinforce):
        return finished(engine, call, _looked(engine, scope, embedder, cue, options), options)


def finished(engine: Engine, call: Call, looked: Looked | None, options: Options) -> RecallResult:
    """Keep what a recall changed, and return what it found; None without memories.

    The caller holds the scope's lock.
    """
    recall_id = new_id(options.now_us)
    hits: tuple[Recalled, ...] = ()
    skipped: tuple[Recalled, ...] = ()
    if looked is not None:
        index, answered, rows = looked
        if options.token_budget is not None:
            answered = budgeted(answered, _sizes(rows), options.token_budget)
        found = _strengthened(index, answered, rows, options)
        # What the index says of its hits now has to be told, whatever comes between.
        found.keep(engine, index, options)
        hits, skipped = found.recalled()
    return _told(engine, call, recall_id, (hits, skipped), options)


def _told(
    engine: Engine,
    call: Call,
    recall_id: bytes,
    parts: tuple[tuple[Recalled, ...], tuple[Recalled, ...]],
    options: Options,
) -> RecallResult:
    """Return the result of a recall, and count it."""
    hits, skipped = parts
    abstained = not hits and all(one.score < options.min_score for one in skipped)
    took_ns = time.perf_counter_ns() - call.started_ns
    engine.meter.recalled(call.scope, took_ns, abstained=abstained)
    source = (_id_told, recall_id)
    values = (source, call.cue.text, hits, skipped, abstained, False, took_ns // NS_PER_US)
    (result,) = _core.made(RecallResult, _RESULT_AT_ONCE, tuple(zip(values)))
    return result


def _id_told(recall_id: bytes, _name: str) -> str:
    """Return the id of a recall: the one field of its result that is made when it is read."""
    return id_text(recall_id)


def _recall_beside(
    engine: Engine, scope: str, embedder: Embedder, cue: Cue, options: Options
) -> RecallResult:
    """Answer one cue from several scopes; what is strengthened is of the first alone.

    The lock of one scope is held at a time.
    """
    call = Call(scope, cue, time.perf_counter_ns())
    recall_id = new_id(options.now_us)
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
            found = _strengthened(index, whole.answers[0], rows, options)
            found.keep(engine, index, options)
    shares = [] if found is None else [(0, found)]
    shares += [
        (n, one.narrowed(answer))
        for n, ((_, one), answer) in enumerate(zip(others, whole.answers[1:], strict=True), 1)
    ]
    return _told(engine, call, recall_id, _in_order(shares, whole), options)


def _seen(
    engine: Engine, scope: str, embedder: Embedder, cue: Cue, options: Options
) -> tuple[Part, _Found] | None:
    """Return what a scope answers that is only read; None without memories."""
    with engine.alone(scope, write=False):
        looked = _looked(engine, scope, embedder, cue, options)
        if looked is None:
            return None
        return _part(*looked), _strengthened(*looked, options)


def _part(index: ScopeIndex, answered: Answer, rows: Mapping[int, Shelved]) -> Part:
    """Return an answer with what it is merged by."""
    return Part(answered, index.columns.created_us[answered.slots()].tolist(), _sizes(rows))


def _limits(options: Options) -> tuple[int, int | None]:
    return options.top_k, options.token_budget


def _in_order(
    shares: Sequence[tuple[int, _Found]], whole: Merged
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
        answered = _answer(put(engine, index, embedder, cue, options))
        # Looked at after the answer, so that one look tells of both.
        if engine.is_current(index):
            engine.binding.fit(embedder)
            return known_in(index, answered, engine.rows(index, answered.slots().tolist()))
    index = engine.current(scope)
    engine.binding.fit(embedder)
    if index is None:
        return None
    answered = _answer(put(engine, index, embedder, cue, options))
    return known_in(index, answered, engine.rows_now(index, answered.slots().tolist()))


def _answer(one: Question) -> Answer:
    """Return what an index answers by itself."""
    return answer(one, {lane: search.ranking() for lane, search in searches(one).items()})


def put(
    engine: Engine, index: ScopeIndex, embedder: Embedder, cue: Cue, options: Options
) -> Question:
    """Put a cue to an index."""
    asked = None if cue.query is None else engine.lane(index, embedder).asked(cue.query)
    mask = index.columns.mask(
        options.now_us, as_of_us=options.as_of_us, run=options.run_id, archive=options.archive
    )
    if options.filters is not None:
        mask = mask & options.filters.chosen(Indexed(index, engine.memories))
    request = Request(options.recipe, options.top_k, options.min_score, options.now_us, mask)
    return question(index, cue, request, asked)


def known_in(index: ScopeIndex, answered: Answer, rows: Mapping[int, Shelved]) -> Looked:
    """Return an answer without what has no row any more."""
    if len(rows) < len(answered.places()):
        # Another process erased some since the index was brought up to date.
        answered = known(answered, rows)
    return index, answered, rows


def _sizes(rows: Mapping[int, Shelved]) -> dict[int, int]:
    """Return the size of each summary in tokens."""
    return {slot: _tokens(one.row.summary) for slot, one in rows.items()}


def _strengthened(
    index: ScopeIndex, answered: Answer, rows: Mapping[int, Shelved], options: Options
) -> _Found:
    """Strengthen the hits in the index, where recalling does; return what was found."""
    slots = answered.slots()
    counted = _counted(index, answered, slots, options)
    traces = index.columns.succeed(
        slots,
        counted,
        options.now_us,
        reconsolidation.RATE_PER_H,
        options.recipe.reinforcement.beta,
    )
    texts = list(map(rows.__getitem__, slots.tolist()))
    return _Found(answered, texts, index.scope.name, counted, traces)


class _Found:
    """What one recall found, and how it looks to users: the hits, then what was skipped."""

    __slots__ = ("_answer", "_counted", "_rows", "_scope", "_traces")

    def __init__(
        self,
        answered: Answer,
        rows: Sequence[Shelved],
        scope: str,
        counted: NDArray[np.bool_] | None,
        traces: bytes,
    ) -> None:
        self._answer = answered
        self._rows = rows
        self._scope = scope
        self._counted = counted
        self._traces = traces

    def narrowed(self, answer: Answer) -> _Found:
        """Return what is left of it where nothing was strengthened."""
        where = {at: place for place, at in enumerate(self._answer.places())}
        places = [where[at] for at in answer.places()]
        size = reconsolidation.TRACE_BYTES
        traces = b"".join(self._traces[place * size : (place + 1) * size] for place in places)
        rows = [self._rows[place] for place in places]
        return _Found(answer, rows, self._scope, np.zeros(len(places), np.bool_), traces)

    def recalled(self) -> tuple[tuple[Recalled, ...], tuple[Recalled, ...]]:
        """Return the hits, and what was skipped, as users see them."""
        ranked, places = self._answer.ranked, self._answer.places()
        scores = ranked.scores
        if not isinstance(places, range):
            scores = [scores[at] for at in places]
        of_memories = zip(repeat(self._part), range(len(places)))
        texts = [row.summary for row, _ in self._rows]
        memories = _core.made(Memory, _MEMORY_AT_ONCE, (of_memories, texts))
        of_hits = zip(repeat(ranked.part), places)
        made = tuple(_core.made(Recalled, _HIT_AT_ONCE, (of_hits, memories, scores)))
        hits = len(self._answer.hits)
        return made[:hits], made[hits:]

    def _part(self, place: int, name: str) -> Any:
        """Return a field of one of the memories."""
        row, successor = self._rows[place]
        strengths = reconsolidation.strengths_at(self._traces, place)
        return reading.field(Shown(row, strengths, self._scope, successor), name)

    def keep(self, engine: Engine, index: ScopeIndex, options: Options) -> None:
        """Let the records learn with the next commit what was strengthened."""
        hits = len(self._answer.hits)
        if not (options.reinforce and hits):
            return
        scope, counted = index.scope, self._counted
        engine.keep(
            index,
            PendingRecall(
                scope.name,
                scope.scope_id,
                index.seq,
                options.now_us,
                options.recipe,
                self._traces[: hits * reconsolidation.TRACE_BYTES],
                self._answer.similarity()[:hits],
                None if counted is None else counted[:hits],
            ),
        )


def _counted(
    index: ScopeIndex, answered: Answer, slots: I64, options: Options
) -> NDArray[np.bool_] | None:
    """Return which of the hits and skipped recalling strengthens; None for all."""
    hits = len(answered.hits)
    if not (options.reinforce and hits):
        return np.zeros(len(slots), dtype=np.bool_)
    chosen: NDArray[np.bool_] | None = None
    if options.recipe.guard is not None:
        anchored_us = index.columns.anchored_us[slots]
        chosen = reconsolidation.counted(
            anchored_us, answered.similarity(), options.recipe, options.now_us
        )
    if answered.skipped:
        chosen = np.ones(len(slots), dtype=np.bool_) if chosen is None else chosen
        chosen[hits:] = False
    return chosen


def _tokens(text: str) -> int:
    """Return the estimated size of a text in tokens: one per four characters, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
