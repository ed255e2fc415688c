"""Recall of what nothing but the cue's words calls up: ranked in one native call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np

from ebbmem import _core
from ebbmem.clock import US_PER_H
from ebbmem.decay import H_PER_DAY, PowerForgetting
from ebbmem.hits import Answer, Ranked, cut
from ebbmem.questions import Question
from ebbmem.recipes import Ranking as Kind
from ebbmem.searches import Ranking


def only_words_count(one: Question) -> bool:
    """Return whether a bounded ranking is by words alone: no vector, no link, no correction."""
    recipe, index = one.request.recipe, one.index
    if recipe.ranking is not Kind.BOUNDED or recipe.dense > 0:
        return False
    if recipe.spread is not None and len(index.links) > 0:
        return False
    # Whose law is a subclass's may say something else.
    return type(recipe.law) is PowerForgetting and not index.columns.any_superseded


def ranked_by_words(one: Question, rankings: Mapping[str, Ranking]) -> Answer:
    """Return what `recall.answer` does where only words count: the same bits."""
    request, recipe, columns = one.request, one.request.recipe, one.index.columns
    if not rankings:
        return Answer()
    matched, law = rankings["lexical"], cast(PowerForgetting, recipe.law)
    slots, scores, similarity, retrievability, retention = _core.top_bounded(
        matched.slots,
        matched.values,
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
        recipe.retention_floor,
        request.top_k,
    )
    nothing = np.zeros(len(slots))
    ranked = Ranked(
        recipe.name,
        slots,
        scores.tolist(),
        range(len(slots)),
        similarity,
        nothing,
        retrievability,
        {"familiarity": similarity, "cascade": nothing, "retention": retention},
        {"lexical": matched.slots},
        {},
        {},
    )
    return cut(ranked, request.min_score)
