"""Recall of what nothing but words and names call up: ranked in one native call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem.clock import US_PER_H
from ebbmem.decay import H_PER_DAY, PowerForgetting
from ebbmem.hits import Answer, Ranked, cut, moved
from ebbmem.index import ScopeIndex
from ebbmem.questions import Question
from ebbmem.recipes import Ranking as Kind
from ebbmem.records.base import number_of
from ebbmem.searches import Ranking

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

U64 = NDArray[np.uint64]
_Best = tuple[I64, F64, F64 | None, F64, F64 | None, F64, F64]

NO_TERMS = np.empty(0, dtype=np.uint64)


def only_words_count(one: Question) -> bool:
    """Return whether a bounded ranking is by words and names: no vector, link or correction."""
    recipe, index = one.request.recipe, one.index
    if recipe.ranking is not Kind.BOUNDED or recipe.dense > 0:
        return False
    if recipe.spread is not None and len(index.links) > 0:
        return False
    # Whose law is a subclass's may say something else.
    return type(recipe.law) is PowerForgetting and not index.columns.any_superseded


def ranked_by_words(one: Question, rankings: Mapping[str, Ranking]) -> Answer:
    """Return what `recall.answer` does where only words and names count: the same bits."""
    recipe, matched = one.request.recipe, rankings.get("lexical")
    if matched is None or len(matched.slots) == 0:
        return Answer()
    past, named = one.past, NO_TERMS
    if recipe.names is not None and one.names is not None:
        named = one.names(matched.slots)
    found = _best(one, matched, named, past=past)
    slots, scores, own, similarity, activation, retrievability, retention = found
    reached = np.zeros(len(slots)) if activation is None else activation
    ranked = Ranked(
        recipe.name,
        slots,
        scores.tolist(),
        range(len(slots)),
        similarity,
        reached,
        retrievability,
        {
            "familiarity": similarity,
            "cascade": reached if activation is None else recipe.weights.cascade * reached,
            "retention": retention,
        },
        {"lexical": matched.slots},
        {} if activation is None else _paths(one.index, int(matched.slots[0]), slots, reached),
        {} if own is None else moved(slots, own, scores, past=past),
    )
    return cut(ranked, one.request.min_score)


def _best(one: Question, matched: Ranking, named: U64, *, past: bool) -> _Best:
    """Return slots, scores of places, own scores, familiarity, activation, R and retention."""
    request, recipe, columns = one.request, one.request.recipe, one.index.columns
    law = cast(PowerForgetting, recipe.law)
    return _core.top_bounded(
        one.index.postings,
        one.cue.terms,
        recipe.k1,
        recipe.b,
        matched.slots,
        matched.values,
        named,
        request.mask,
        columns.importance,
        columns.strength,
        columns.intensity,
        columns.anchored_us,
        columns.created_us,
        request.now_us,
        US_PER_H,
        law.stability_days * H_PER_DAY,
        law.exponent,
        recipe.lexical,
        one.idf,
        recipe.weights.cascade,
        recipe.retention_floor,
        *recipe.tie,
        *recipe.alike,
        past,
        request.top_k,
    )


def _paths(
    index: ScopeIndex, first: int, slots: I64, activation: F64
) -> dict[int, tuple[int, ...]]:
    """Return the numbers of the best match and of each of some slots that it activated."""
    rows = index.columns.row
    start = number_of(int(rows[first]))
    reached = slots[activation > 0].tolist()
    return {slot: (start, number_of(int(rows[slot]))) for slot in reached}
