"""Recall straight from the cue to the hits, where a product ranks by word counts and that is all.

What it brings back is, to the bit, what `retrieval.recall` does by way of its stages; a few native
calls take it there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core, reconsolidation
from ebbmem.decay import Ebbinghaus
from ebbmem.embedders.base import Embedder, counts_words
from ebbmem.engine import Engine
from ebbmem.found import HITS, memory_of
from ebbmem.hits import Ranked
from ebbmem.index import ScopeIndex
from ebbmem.models import Recalled, RecallResult
from ebbmem.options import Options
from ebbmem.pending import PendingRecall
from ebbmem.products import products
from ebbmem.recipes import Ranking
from ebbmem.replies import Call, reply
from ebbmem.shelf import Shelved
from ebbmem.spaces import WordLane

# A named tuple, without the call that puts its names to the values.
_new: Final = tuple.__new__
Counts = tuple[NDArray[np.uint32], NDArray[np.int32]]


def recall(
    engine: Engine, scope: str, embedder: Embedder, cue: str, options: Options
) -> RecallResult | None:
    """Answer one cue, and keep what that changed; None where it takes more than this."""
    if not (options.recipe.ranking is Ranking.PRODUCT and suits(options)):
        return None
    if not counts_words(embedder):
        return None
    query = embedder.counts(cue)
    call = _new(Call, (scope, cue, time.perf_counter_ns()))
    with engine.alone(scope, write=options.reinforce):
        index = engine.loaded(scope)
        if index is None:
            return None
        told = _found(engine, index, embedder, query, options)
        return None if told is None else reply(engine.meter, call, (told, ()), options)


def _found(
    engine: Engine, index: ScopeIndex, embedder: Embedder, query: Counts, options: Options
) -> tuple[Recalled, ...] | None:
    """Return the hits of one cue, strengthened; None where an index cannot tell them alone."""
    lane = index.lane(embedder, engine.binding.fit(embedder))
    if not (isinstance(lane, WordLane) and alone(index)):
        return None
    held = index.columns.plain_products(lane.words)
    if held is None:
        return None
    law = cast(Ebbinghaus, options.recipe.law)
    found = held.best(*query, options.now_us, law.decay_factor, options.top_k)
    # Looked at after the answer, so that one look tells of both.
    if not engine.is_current(index):
        return None
    engine.binding.fit(embedder)
    return hits(engine, index, found, options)


def hits(
    engine: Engine, index: ScopeIndex, found: _core.FoundProducts, options: Options
) -> tuple[Recalled, ...] | None:
    """Return the hits that were found in an index, strengthened; None where one was erased.

    The caller holds the scope's lock; the options are such as `suits`, the index is `alone`.
    """
    rows = engine.shelved(index, found)
    if rows is None:
        return None
    try:
        told = _Straight(found, rows, index, options)
        # What the index says of its hits now has to be told, whatever comes between.
        told.keep(engine, index, options)
    except BaseException as exc:
        engine.doubt(index, exc)
        raise
    return HITS.made(told.part, rows, found.scores)


def suits(options: Options) -> bool:
    """Return whether all that a product finds are hits; no score is below 0."""
    return options.plain and options.min_score <= 0.0


def alone(index: ScopeIndex) -> bool:
    """Return whether nothing has to be told of hits but what ranks them."""
    return not (index.any_conflicts or index.columns.any_superseded)


class _Straight:
    """The hits of one recall; what few ask of them is made when it is read."""

    __slots__ = ("_found", "_ranked", "_recipe", "_rows", "_scope", "_traces")

    def __init__(
        self,
        found: _core.FoundProducts,
        rows: Sequence[Shelved],
        index: ScopeIndex,
        options: Options,
    ) -> None:
        """Strengthen in the index what was found, where recalling does."""
        self._found = found
        self._rows = rows
        self._scope = index.scope.name
        self._recipe = options.recipe.name
        self._ranked: Ranked | None = None
        by = options.recipe if options.reinforce else None
        strengths = index.columns.strengths()
        self._traces = reconsolidation.recalled_products(strengths, found, options.now_us, by)

    def keep(self, engine: Engine, index: ScopeIndex, options: Options) -> None:
        """Let the records learn with the next commit what was strengthened."""
        if options.reinforce and self._traces:
            scope_id, now_us = index.scope.scope_id, options.now_us
            recall = (self._scope, scope_id, index.seq, now_us, options.recipe, self._traces)
            engine.keep(index, _new(PendingRecall, recall))

    def part(self, place: int, name: str) -> Any:
        """Return a field of one of the hits."""
        if name == "memory":
            return memory_of(self._rows[place], self._traces, place, self._scope)
        if self._ranked is None:
            self._ranked = products(self._found).ranked(self._recipe, {})
        return self._ranked.part(place, name)
