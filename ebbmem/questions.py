"""What recall asks of one scope's index: a cue, what is wanted, and the rankings it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core, scoring, succession
from ebbmem.decay import Ebbinghaus
from ebbmem.errors import InvalidArgument
from ebbmem.index import ScopeIndex
from ebbmem.recipes import Ranking, Recipe
from ebbmem.searches import F64, Search
from ebbmem.spaces import Asked, AskedVectors, AskedWords, Query
from ebbmem.tense import Tense, tense

BoolRows = NDArray[np.bool_]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Names = Callable[[I64], U64]
"""The terms of the names in the text of the first of some memories, given by slot; none of an
erased one.  The others are likely to be looked at next."""

NEAR_SLACK = 1e-9


class Cue(NamedTuple):
    """What recall is asked with: its distinct terms, and what vectors are compared with."""

    text: str
    terms: NDArray[np.uint64]
    query: Query | None


class Request(NamedTuple):
    """What is wanted of one recall.

    ``mask`` says which slots may come back, ``seen`` which might in any run and without filters.
    """

    recipe: Recipe
    top_k: int
    min_score: float
    now_us: int
    mask: BoolRows
    seen: BoolRows


@dataclass(slots=True)  # not frozen, which takes a recall three times as long
class Question:
    """A cue put to an index.

    ``idf`` is the sum over the cue's terms: the BM25 score that counts as a familiarity of 1.
    """

    index: ScopeIndex
    cue: Cue
    request: Request
    asked: Asked | None
    """The lane of vectors, asked with the cue, where the recipe uses one."""
    idf: float
    names: Names | None = None
    """What tells the names in texts; without it none are compared."""

    @property
    def alike(self) -> tuple[int, float, bool]:
        """Return how many may change places, how near they have to be, and if the older leads.

        None do where a cue asks what happened, and not whether first or last.
        """
        recipe = self.request.recipe
        if recipe.precedence is None:
            return 0, 1.0, False
        asked = tense(self.cue.text, self.index.language)
        if asked is Tense.ONCE:
            return 0, 1.0, False
        return *recipe.alike, asked is Tense.BEFORE

    @property
    def vectors(self) -> Asked:
        """Return the lane of vectors that the recipe needs."""
        if self.asked is None:
            raise AssertionError("a recipe that compares vectors was run without any")
        return self.asked


def question(
    index: ScopeIndex,
    cue: Cue,
    request: Request,
    asked: Asked | None,
    names: Names | None = None,
) -> Question:
    """Return a cue put to an index."""
    terms = cue.terms
    idf = index.postings.idf(terms).sum() if request.recipe.uses_terms and len(terms) else 0.0
    return Question(index, cue, request, asked, idf, names)


def searches(one: Question) -> Mapping[str, Search]:
    """Return the rankings that a question needs, by lane.

    None where a product ranks word counts: that is scored at once.  Strengths play no part in
    them but for a sum, whose law may look at them.
    """
    if len(one.index) == 0:
        return {}
    ranking = one.request.recipe.ranking
    if ranking is Ranking.PRODUCT:
        return {} if isinstance(one.asked, AskedWords) else {"dense": _by_product(one)}
    if ranking is Ranking.SUM:
        return _by_sum(one)
    recipe, index, found = one.request.recipe, one.index, {}
    k, newness = min(recipe.candidates, len(index)), index.columns.created_us
    if recipe.uses_terms and len(one.cue.terms):
        asked = (one.cue.terms, recipe.k1, recipe.b, newness, one.request.mask, k, None)
        args = (index.postings, *asked, *_near(one))
        found["lexical"] = Search(_core.Postings.top_bm25, _core.Searches.bm25, args)
    if recipe.dense > 0:
        found["dense"] = one.vectors.affine(None, None, newness, one.request.mask, k)
    return found


def _by_product(one: Question) -> Search:
    """Return the ranking by ``((cos + 1) / 2) * importance * R``, in the log domain."""
    request, columns = one.request, one.index.columns
    law = request.recipe.law
    if not isinstance(law, Ebbinghaus):
        raise InvalidArgument.of("law", "Ebbinghaus, for a product ranking", law)
    among = (columns.created_us, request.mask)
    fading, asked = columns.fading(), cast(AskedVectors, one.vectors)
    return asked.faded(fading, request.now_us, law.decay_factor, among, request.top_k)


def _by_sum(one: Question) -> dict[str, Search]:
    """Return the ranking by a sum without cascade, and that of what activation starts from."""
    columns, request = one.index.columns, one.request
    recipe, newness = request.recipe, columns.created_us
    mul, add, demotable = _sum_columns(one)
    count = request.top_k + demotable
    found = {"dense": one.vectors.affine(mul, add, newness, request.mask, count)}
    if recipe.spread is not None:
        taking_part = succession.taking_part(columns, request.mask)
        seeds = one.vectors.affine(None, None, newness, taking_part, recipe.spread_seeds)
        found["similarity"] = seeds
    return found


def _sum_columns(one: Question) -> tuple[F64, F64, int]:
    """Return what a sum multiplies cosines with and adds, and how many may be demoted.

    Demotion can only push memories down, so as many more are taken as could be demoted; and what
    replaced a memory takes over its similarity, so that one stands for both.
    """
    columns, request = one.index.columns, one.request
    traces = columns.traces()
    retrievability = request.recipe.law.retrievability(traces, request.now_us)
    mul, add = scoring.affine(request.recipe, traces, retrievability)
    if not (request.recipe.demote_superseded and columns.any_superseded):
        return mul, add, 0
    superseded = np.flatnonzero(columns.successor)
    ends = succession.ends(columns, superseded, request.mask)
    old, new = superseded[ends >= 0], ends[ends >= 0]
    add[old] = np.maximum(add[old], add[new])
    return mul, add, len(superseded)


def _near(one: Question) -> tuple[int, float, float]:
    """Return count, share and spare for BM25: what is further behind cannot be among the best.

    Retention lies between the recipe's floor and 1.  So where BM25 is all the evidence, each of
    the best by BM25 scores at least the floor times its familiarity, and no other text more than
    its own.  As many have to be right as are wanted, may change places with these, or send
    activation.  That only raises scores, and what it reaches is looked at by itself, whatever
    these match.  Where corrections demote some, nothing is left out.  What rounding does to any of
    it is far below ``NEAR_SLACK``.
    """
    recipe, index = one.request.recipe, one.index
    if recipe.dense > 0 or index.columns.any_superseded:
        return 0, 0.0, 0.0
    count = max(one.request.top_k, recipe.alike[0])
    if recipe.spread is not None and len(index.links) > 0:
        count = max(count, recipe.spread_seeds)
    return count, recipe.retention_floor, NEAR_SLACK * one.idf
