"""The stages of recall, each a small function over one scope's index.

``familiar`` (what matches the cue) -> ``spread`` (what that brings up) -> ``scored`` ->
``cut`` (best ``top_k``, at least ``min_score``).  Nothing here reads records or writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem import scoring, succession
from ebbmem.decay import F64, Ebbinghaus
from ebbmem.errors import InvalidArgument
from ebbmem.hits import SUPERSEDED, Answer, Ranked, cut
from ebbmem.index import ScopeIndex
from ebbmem.recipes import Ranking, Recipe
from ebbmem.records.base import number_of
from ebbmem.scoring import Terms
from ebbmem.spaces import Asked, Query
from ebbmem.spreading import Activation, spread_links

I64 = NDArray[np.int64]
BoolRows = NDArray[np.bool_]

SUPERSEDED_FACTOR = 0.5
NEAR_SLACK = 1e-9


class Cue(NamedTuple):
    """What recall is asked with: its distinct terms, and what vectors are compared with."""

    text: str
    terms: NDArray[np.uint64]
    query: Query | None
    lexical: Lexical | None = None
    """What the lexical lane of one index puts forward, where it was looked up beforehand."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """The best of an index for a cue by BM25, best first."""

    index: ScopeIndex
    slots: I64
    scores: F64


class Request(NamedTuple):
    """What is wanted of one recall.  ``mask`` says which slots may come back."""

    recipe: Recipe
    top_k: int
    min_score: float
    now_us: int
    mask: BoolRows


class Familiar(NamedTuple):
    """Candidates by slot with similarity, and what each lane put forward."""

    slots: I64
    similarity: F64
    lanes: Mapping[str, I64]


def answer(index: ScopeIndex, vectors: Asked | None, cue: Cue, request: Request) -> Answer:
    """Run every stage for one cue.

    Parameters
    ----------
    index : ScopeIndex
        The scope; nothing else changes it meanwhile.
    vectors : Asked or None
        The lane of vectors, asked with the cue, where the recipe uses one.
    cue : Cue
        What is asked.
    request : Request
        What is wanted.

    Returns
    -------
    Answer
        At most ``top_k`` memories in all.  Ties: higher score, then newer, then lower number.
    """
    if len(index) == 0:
        return Answer()
    if request.recipe.ranking is Ranking.PRODUCT:
        return _product(index, _given(vectors), request)
    familiar = _familiar(index, vectors, cue, request)
    activation = _spread(index, familiar, request)
    return _scored(index, vectors, cue, familiar, activation, request)


def _product(index: ScopeIndex, vectors: Asked, request: Request) -> Answer:
    """Rank every memory by ``((cos + 1) / 2) * importance * R``, in the log domain."""
    law = request.recipe.law
    if not isinstance(law, Ebbinghaus):
        raise InvalidArgument.of("law", "Ebbinghaus, for a product ranking", law)
    traces = index.columns.traces()
    slots, cosines = vectors.top_faded(
        index.columns.fading(),
        request.now_us,
        law.decay_factor,
        (traces.created_us, request.mask),
        request.top_k,
    )
    scores, parts = scoring.product(slots, cosines, traces, law, request.now_us)
    ranked = Ranked(
        request.recipe.name,
        slots,
        scores.tolist(),
        range(len(slots)),
        cosines,
        np.zeros(len(slots)),
        parts["retrievability"],
        parts,
        {"dense": slots},
        {},
        _superseded(index, slots),
    )
    return cut(ranked, request.min_score)


def _familiar(index: ScopeIndex, vectors: Asked | None, cue: Cue, request: Request) -> Familiar:
    """Return what matches the cue: the union of the lanes, none a gate for another."""
    if request.recipe.ranking is Ranking.SUM:
        return _familiar_by_sum(index, _given(vectors), request)
    recipe = request.recipe
    lanes: dict[str, I64] = {}
    if recipe.uses_terms and len(cue.terms):
        idf = index.postings.idf(cue.terms).sum()
        slots, scores = _lexical(index, cue, request, idf)
        lanes["lexical"] = slots
        if recipe.dense == 0:
            by_slot = np.argsort(slots)
            share = recipe.lexical * scores[by_slot] / idf
            return Familiar(slots[by_slot], share / recipe.lexical, lanes)
    if recipe.dense > 0:
        newness, k = index.columns.created_us, min(recipe.candidates, len(index))
        lanes["dense"], _ = _given(vectors).top_affine(None, None, newness, request.mask, k)
    slots = _union(*lanes.values())
    return Familiar(slots, _fused(index, vectors, cue, recipe, slots), lanes)


def with_lexical(index: ScopeIndex, cues: Sequence[Cue], request: Request) -> list[Cue]:
    """Return cues with what the lexical lane puts forward, where there is one: in one call."""
    recipe = request.recipe
    if not recipe.uses_terms or len(index) == 0:
        return list(cues)
    terms = np.concatenate([cue.terms for cue in cues])
    ends = np.cumsum([len(cue.terms) for cue in cues])
    k = min(recipe.candidates, len(index))
    newness = index.columns.created_us
    near = _near(index, request, index.postings.idf(terms).sum())
    slots, scores, found_ends = index.postings.top_bm25_many(
        terms, ends, recipe.k1, recipe.b, newness, request.mask, k, None, 1, *near
    )
    bounds = pairwise([0, *found_ends.tolist()])
    return [
        cue._replace(lexical=Lexical(index, slots[start:end], scores[start:end]))
        for cue, (start, end) in zip(cues, bounds, strict=True)
    ]


def _lexical(index: ScopeIndex, cue: Cue, request: Request, idf: float) -> tuple[I64, F64]:
    """Return slots and scores that the lexical lane puts forward; ``idf`` is the cue's sum."""
    known, recipe = cue.lexical, request.recipe
    if known is not None and known.index is index:
        return known.slots, known.scores
    k = min(recipe.candidates, len(index))
    newness = index.columns.created_us
    near = _near(index, request, idf)
    return index.postings.top_bm25(
        cue.terms, recipe.k1, recipe.b, newness, request.mask, k, None, *near
    )


def _near(index: ScopeIndex, request: Request, idf: float) -> tuple[int, float, float]:
    """Return count, share and spare for BM25: what is further behind cannot be among the best.

    Retention lies between the recipe's floor and 1.  So where BM25 is all the evidence, each of
    the best ``top_k`` by BM25 scores at least the floor times its familiarity, and no other text
    more than its own.  What rounding does to either is far below ``NEAR_SLACK``; ``idf``, of all
    the terms asked with, is the BM25 score that counts as a familiarity of 1.
    """
    recipe = request.recipe
    activates = recipe.spread is not None and len(index.links) > 0
    demotes = recipe.demote_superseded and index.columns.any_superseded
    if recipe.ranking is not Ranking.BOUNDED or recipe.dense > 0 or activates or demotes:
        return 0, 0.0, 0.0
    return request.top_k, recipe.retention_floor, NEAR_SLACK * idf


def _familiar_by_sum(index: ScopeIndex, vectors: Asked, request: Request) -> Familiar:
    """Return every memory that can be among the best of a sum before cascade is added."""
    traces = index.columns.traces()
    retrievability = request.recipe.law.retrievability(traces, request.now_us)
    mul, add = scoring.affine(request.recipe, traces, retrievability)
    newness = index.columns.created_us
    # Demotion can only push memories down, so as many more are taken as could be demoted; and
    # what replaced a memory takes over its similarity, so that one stands for both.
    demotable = 0
    if request.recipe.demote_superseded and index.columns.any_superseded:
        superseded = np.flatnonzero(index.columns.successor)
        demotable = len(superseded)
        ends = succession.ends(index.columns, superseded, request.mask)
        old, new = superseded[ends >= 0], ends[ends >= 0]
        add[old] = np.maximum(add[old], add[new])
    slots, cosines = vectors.top_affine(mul, add, newness, request.mask, request.top_k + demotable)
    lanes = {"dense": slots}
    if request.recipe.spread is not None:
        taking_part = succession.taking_part(index.columns, request.mask)
        seeds, _ = vectors.top_affine(None, None, newness, taking_part, request.recipe.spread_seeds)
        slots = _union(slots, seeds)
        cosines = vectors.cosines(slots)
        lanes["similarity"] = seeds
    return Familiar(slots, cosines, lanes)


def _spread(index: ScopeIndex, familiar: Familiar, request: Request) -> Activation | None:
    """Return what the best matches bring up; superseded memories take no part."""
    recipe = request.recipe
    if recipe.spread is None or len(familiar.slots) == 0 or len(index.links) == 0:
        return None
    taking_part = succession.taking_part(index.columns, request.mask)
    eligible = (familiar.similarity > 0) & taking_part[familiar.slots]
    slots, values = familiar.slots[eligible], familiar.similarity[eligible]
    if len(slots) == 0:
        return None
    first = scoring.best(values, index.columns.created_us[slots], slots, recipe.spread_seeds)
    slots, values = slots[first], values[first]
    if recipe.ranking is Ranking.SUM:
        values = values / values[0]
    seeds = (slots, values)
    return spread_links(index.links, len(index), seeds, recipe.spread, mask=taking_part)


def _scored(
    index: ScopeIndex,
    vectors: Asked | None,
    cue: Cue,
    familiar: Familiar,
    activation: Activation | None,
    request: Request,
) -> Answer:
    """Score the union of what matched, what was activated and what replaced either."""
    recipe = request.recipe
    slots = familiar.slots if activation is None else _union(familiar.slots, activation.nodes)
    replaced: dict[int, int] = {}
    if recipe.demote_superseded:
        replaced = succession.successors(index.columns, slots, request.mask)
        if replaced:
            slots = _union(slots, np.array(list(replaced.values()), dtype=np.int64))
    similarity = _similarity(index, vectors, cue, recipe, familiar, slots)
    place = {slot: at for at, slot in enumerate(slots.tolist())} if replaced else {}
    for old, new in replaced.items():
        # What replaced a memory answers whatever that memory answered.
        similarity[place[new]] = max(similarity[place[new]], similarity[place[old]])
    cascade = np.zeros(len(slots))
    if activation is not None:
        cascade[np.searchsorted(slots, activation.nodes)] = activation.activation
    traces = index.columns.traces().at(slots)
    terms = Terms(similarity, cascade, recipe.law.retrievability(traces, request.now_us))
    parts = scoring.breakdown(recipe, traces, terms)
    scores = scoring.score(recipe, parts)
    for old, new in sorted(replaced.items(), reverse=True):
        own = scores[place[old]]
        just_below = np.nextafter(scores[place[new]], -np.inf)
        scores[place[old]] = min(own, own * SUPERSEDED_FACTOR, just_below)
    table = _Table(slots, scores, terms, parts, familiar.lanes, activation)
    best = scoring.best(scores, traces.created_us, slots, request.top_k)
    if recipe.ranking is Ranking.BOUNDED:
        best = best[scores[best] > 0]
    return _cut(index, table, best, request)


class _Table(NamedTuple):
    """Scored candidates, one value per position."""

    slots: I64
    scores: F64
    terms: Terms
    parts: Mapping[str, F64]
    lanes: Mapping[str, I64]
    activation: Activation | None


def _superseded(index: ScopeIndex, slots: I64) -> dict[int, str]:
    """Return the notes of those that were replaced by another memory."""
    columns = index.columns
    if not columns.any_superseded:
        return {}
    return dict.fromkeys(slots[columns.successor[slots] != 0].tolist(), SUPERSEDED)


def _cut(index: ScopeIndex, table: _Table, best: I64, request: Request) -> Answer:
    """Split the best candidates, given by position, at ``min_score``."""
    slots, terms = table.slots[best], table.terms
    ranked = Ranked(
        request.recipe.name,
        slots,
        table.scores[best].tolist(),
        best.tolist(),
        terms.similarity,
        terms.cascade,
        terms.retrievability,
        table.parts,
        table.lanes,
        {} if table.activation is None else _paths(index, table.activation, slots),
        _superseded(index, slots),
    )
    return cut(ranked, request.min_score)


def _similarity(
    index: ScopeIndex,
    vectors: Asked | None,
    cue: Cue,
    recipe: Recipe,
    familiar: Familiar,
    slots: I64,
) -> F64:
    """Return the similarity of the familiar slots, or of ascending ones that they are among."""
    if slots is familiar.slots:
        own: F64 = familiar.similarity.copy()
        return own
    similarity = np.empty(len(slots))
    at = np.searchsorted(slots, familiar.slots)
    similarity[at] = familiar.similarity
    if len(slots) > len(familiar.slots):
        others = np.ones(len(slots), dtype=np.bool_)
        others[at] = False
        similarity[others] = _fused(index, vectors, cue, recipe, slots[others])
    return similarity


def _lexical_share(index: ScopeIndex, cue: Cue, recipe: Recipe, scores: F64) -> F64:
    """Return what the lexical lane adds to similarity: BM25 by the idf of all of the cue's terms.

    No text can reach that sum.
    """
    share: F64 = recipe.lexical * scores / index.postings.idf(cue.terms).sum()
    return share


def _fused(index: ScopeIndex, vectors: Asked | None, cue: Cue, recipe: Recipe, slots: I64) -> F64:
    """Return the similarity of some memories: the cosine, or the lanes' weighted mean in [0, 1].

    Each lane is normalised absolutely: BM25 by `_lexical_share`, the cosine by its greatest value
    with negative ones as 0.
    """
    if recipe.ranking is not Ranking.BOUNDED:
        return _given(vectors).cosines(slots)
    similarity = np.zeros(len(slots))
    if recipe.lexical > 0 and len(cue.terms):
        scores = index.postings.bm25(cue.terms, recipe.k1, recipe.b, slots)
        similarity += _lexical_share(index, cue, recipe, scores)
    if recipe.dense > 0:
        similarity += recipe.dense * np.maximum(_given(vectors).cosines(slots), 0.0)
    return similarity / (recipe.lexical + recipe.dense)


def _paths(index: ScopeIndex, activation: Activation, slots: I64) -> dict[int, tuple[int, ...]]:
    """Return, for each of some slots that was activated, the numbers from a match to it."""
    by_node = np.argsort(activation.nodes)
    sorted_nodes = activation.nodes[by_node]
    rows, paths = index.columns.row, {}
    for slot in slots.tolist():
        path, hop = [slot], 0
        while hop != 1:  # hops fall at every step: a node is first reached after its parent
            at = int(sorted_nodes.searchsorted(path[-1]))
            if at == len(by_node) or sorted_nodes[at] != path[-1]:
                break
            parent, hop = int(activation.parent[by_node[at]]), int(activation.hop[by_node[at]])
            path.append(parent)
        if hop == 1:
            paths[slot] = tuple(number_of(int(rows[step])) for step in reversed(path))
    return paths


def _union(*parts: I64) -> I64:
    """Return distinct slots, ascending."""
    if not parts:
        return np.empty(0, dtype=np.int64)
    return np.unique(np.concatenate(parts)).astype(np.int64, copy=False)


def _given(vectors: Asked | None) -> Asked:
    """Return the lane of vectors that the recipe needs."""
    if vectors is None:
        raise AssertionError("a recipe that compares vectors was run without any")
    return vectors
