"""Recall where nothing but words match: ranked in one native call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem.associating import activated, links_count, paths
from ebbmem.clock import US_PER_H
from ebbmem.decay import H_PER_DAY, PowerForgetting
from ebbmem.hits import Answer, Ranked, cut, moved
from ebbmem.noting import in_conflict
from ebbmem.questions import Question
from ebbmem.recipes import Ranking as Kind
from ebbmem.records.base import number_of
from ebbmem.searches import Ranking
from ebbmem.spreading import Activation

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

U64 = NDArray[np.uint64]
_Best = tuple[I64, F64, F64 | None, F64, F64 | None, F64, F64]
"""Slots, scores of places, own scores, familiarity, activation, R and retention."""

NO_SLOTS, NO_VALUES = np.empty(0, dtype=np.int64), np.empty(0)
NO_TERMS = np.empty(0, dtype=np.uint64)


def only_words_count(one: Question) -> bool:
    """Return whether nothing but words matches in a bounded ranking, and nothing was corrected."""
    recipe, index = one.request.recipe, one.index
    if recipe.ranking is not Kind.BOUNDED or recipe.dense > 0:
        return False
    # Whose law is a subclass's may say something else.
    return type(recipe.law) is PowerForgetting and not index.columns.any_superseded


class ByWords(NamedTuple):
    """A ranking that is to be made, and what is told with it."""

    one: Question
    matched: Ranking
    through: Activation | None
    past: bool
    ranking: _core.Bounded

    def told(self, found: _Best) -> Answer:
        """Return the answer that the best of it are."""
        one, recipe = self.one, self.one.request.recipe
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
            {"lexical": self.matched.slots},
            {} if activation is None else self._paths(slots[reached > 0]),
            in_conflict(one, slots, {} if own is None else self._moved(slots, own, scores)),
        )
        return cut(ranked, one.request.min_score)

    def _moved(self, slots: I64, own: F64, scores: F64) -> dict[int, str]:
        """Return the notes of those whose place has another score than their own."""
        return moved(slots, own, scores, past=self.past)

    def _paths(self, reached: I64) -> dict[int, tuple[int, ...]]:
        """Return the numbers of the memories along which activation came to some slots."""
        if self.through is not None:
            return paths(self.one.index, self.through, reached)
        rows = self.one.index.columns.row
        start = number_of(int(rows[self.matched.slots[0]]))
        return {slot: (start, number_of(int(rows[slot]))) for slot in reached.tolist()}


def by_words(one: Question, rankings: Mapping[str, Ranking]) -> ByWords | None:
    """Return what is to be ranked where only words match; None where none do."""
    recipe, matched = one.request.recipe, rankings.get("lexical")
    if matched is None or len(matched.slots) == 0:
        return None
    alike, named, through = one.alike, NO_TERMS, None
    if links_count(one):
        through = activated(one, _seeds(one, matched), one.request.mask)
    elif recipe.names is not None and one.names is not None:
        named = one.names(matched.slots)
    ranking = _ranking(one, matched, (named, through), alike)
    return ByWords(one, matched, through, alike[-1], ranking)


def _seeds(one: Question, matched: Ranking) -> tuple[I64, F64]:
    """Return the best matches and their familiarity."""
    recipe = one.request.recipe
    first = recipe.spread_seeds
    familiar = recipe.lexical * matched.values[:first] / one.idf / recipe.lexical
    some = np.count_nonzero(familiar > 0)
    return matched.slots[:some], familiar[:some]


def _ranking(
    one: Question,
    matched: Ranking,
    brought: tuple[U64, Activation | None],
    alike: tuple[int, float, bool],
) -> _core.Bounded:
    """Return the ranking of what words match and what was brought up."""
    request, recipe, columns = one.request, one.request.recipe, one.index.columns
    law, (named, through) = cast(PowerForgetting, recipe.law), brought
    among, near, past = alike
    reached = (NO_SLOTS, NO_VALUES) if through is None else (through.nodes, through.activation)
    return _core.Bounded(
        one.index.postings,
        one.cue.terms,
        recipe.k1,
        recipe.b,
        matched.slots,
        matched.values,
        named,
        request.mask,
        *reached,
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
        among,
        near,
        past,
        request.top_k,
    )
