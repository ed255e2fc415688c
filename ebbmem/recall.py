"""The stages of recall, each a small function over one scope's index.

``familiar`` (what matches the cue) -> ``spread`` (what that brings up) -> ``scored`` ->
``cut`` (best ``top_k``, at least ``min_score``).  Nothing here reads records or writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core, scoring
from ebbmem.decay import F64, Ebbinghaus
from ebbmem.errors import InvalidArgument
from ebbmem.index import ScopeIndex
from ebbmem.models import Explanation
from ebbmem.recipes import Ranking, Recipe
from ebbmem.records.base import number_of
from ebbmem.scoring import Terms
from ebbmem.spreading import Activation, spread_links

I64 = NDArray[np.int64]
BoolRows = NDArray[np.bool_]

SUPERSEDED_FACTOR = 0.5


@dataclass(frozen=True, slots=True)
class Cue:
    """What recall is asked with: its distinct terms, and its vector where a lane needs one."""

    text: str
    terms: NDArray[np.uint64]
    vector: NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class Request:
    """What is wanted of one recall.  ``mask`` says which slots may come back."""

    recipe: Recipe
    top_k: int
    min_score: float
    now_us: int
    mask: BoolRows


@dataclass(frozen=True, slots=True)
class Familiar:
    """Candidates by slot, with similarity and the place in each lane (from 1)."""

    slots: I64
    similarity: F64
    ranks: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """One memory that recall looked at, by slot."""

    slot: int
    score: float
    similarity: float
    cascade: float
    retrievability: float
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Answer:
    """What recall found: hits, and what fell below ``min_score``; both best first."""

    hits: tuple[Found, ...]
    skipped: tuple[Found, ...]


def answer(index: ScopeIndex, arena: _core.Arena | None, cue: Cue, request: Request) -> Answer:
    """Run every stage for one cue.

    Parameters
    ----------
    index : ScopeIndex
        The scope; nothing else changes it meanwhile.
    arena : Arena or None
        The dense lane, where the recipe uses one.
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
        return Answer((), ())
    if request.recipe.ranking is Ranking.PRODUCT:
        return _product(index, arena, cue, request)
    familiar = _familiar(index, arena, cue, request)
    activation = _spread(index, familiar, request)
    return _scored(index, arena, cue, familiar, activation, request)


def _product(index: ScopeIndex, arena: _core.Arena | None, cue: Cue, request: Request) -> Answer:
    """Rank every memory by ``((cos + 1) / 2) * importance * R``, in the log domain."""
    law = request.recipe.law
    if not isinstance(law, Ebbinghaus):
        raise InvalidArgument.of("law", "Ebbinghaus, for a product ranking", law)
    traces = index.columns.traces()
    slots, _, cosines = _core.top_product(
        _vectors(arena),
        _vector(cue),
        law.log_weights(traces, request.now_us),
        traces.created_us,
        request.mask,
        request.top_k,
    )
    chosen = traces.at(slots)
    retained = law.shares(chosen, request.now_us)
    terms = Terms(cosines.astype(np.float64), np.zeros(len(slots)), retained)
    parts = scoring.breakdown(request.recipe, chosen, terms)
    ranks = {"dense": {int(slot): place for place, slot in enumerate(slots, 1)}}
    table = _Table(slots, scoring.score(request.recipe, parts), terms, parts, ranks, None)
    return _cut(index, table, np.arange(len(slots)), request)


def _familiar(index: ScopeIndex, arena: _core.Arena | None, cue: Cue, request: Request) -> Familiar:
    """Return what matches the cue: the union of the lanes, none a gate for another."""
    if request.recipe.ranking is Ranking.SUM:
        return _familiar_by_sum(index, _vectors(arena), cue, request)
    recipe = request.recipe
    lanes: dict[str, I64] = {}
    newness, k = index.columns.created_us, min(recipe.candidates, len(index))
    if recipe.lexical > 0 and len(cue.terms):
        lanes["lexical"], _ = index.postings.top_bm25(
            cue.terms, recipe.k1, recipe.b, newness, request.mask, k
        )
    if recipe.dense > 0:
        lanes["dense"], _, _ = _core.top_affine(
            _vectors(arena), _vector(cue), None, None, newness, request.mask, k
        )
    slots = _union(*lanes.values())
    return Familiar(slots, _fused(index, arena, cue, recipe, slots), _places(lanes))


def _familiar_by_sum(index: ScopeIndex, arena: _core.Arena, cue: Cue, request: Request) -> Familiar:
    """Return every memory that can be among the best of a sum before cascade is added."""
    traces = index.columns.traces()
    retrievability = request.recipe.law.retrievability(traces, request.now_us)
    mul, add = scoring.affine(request.recipe, traces, retrievability)
    newness, vector = index.columns.created_us, _vector(cue)
    # Demotion can only push memories down, so as many more are taken as could be demoted; and
    # what replaced a memory takes over its similarity, so that one stands for both.
    demotable = 0
    if request.recipe.demote_superseded:
        superseded = np.flatnonzero(index.columns.successor)
        demotable = len(superseded)
        ends = _ends(index, superseded, request.mask)
        old, new = superseded[ends >= 0], ends[ends >= 0]
        add[old] = np.maximum(add[old], add[new])
    slots, _, cosines = _core.top_affine(
        arena, vector, mul, add, newness, request.mask, request.top_k + demotable
    )
    lanes = {"dense": slots}
    if request.recipe.spread is not None:
        seeds, _, _ = _core.top_affine(
            arena,
            vector,
            None,
            None,
            newness,
            _taking_part(index, request),
            request.recipe.spread_seeds,
        )
        slots = _union(slots, seeds)
        cosines = _core.dots(arena, vector, slots)
        lanes["similarity"] = seeds
    return Familiar(slots, cosines.astype(np.float64), _places(lanes))


def _spread(index: ScopeIndex, familiar: Familiar, request: Request) -> Activation | None:
    """Return what the best matches bring up; superseded memories take no part."""
    recipe = request.recipe
    if recipe.spread is None or len(familiar.slots) == 0 or len(index.links) == 0:
        return None
    taking_part = _taking_part(index, request)
    created_us = index.columns.created_us[familiar.slots]
    positions = scoring.order(familiar.similarity, created_us, familiar.slots)
    positions = positions[
        (familiar.similarity[positions] > 0) & taking_part[familiar.slots[positions]]
    ][: recipe.spread_seeds]
    if len(positions) == 0:
        return None
    values = familiar.similarity[positions]
    if recipe.ranking is Ranking.SUM:
        values = values / values[0]
    seeds = (familiar.slots[positions], values)
    return spread_links(index.links, len(index), seeds, recipe.spread, mask=taking_part)


def _scored(
    index: ScopeIndex,
    arena: _core.Arena | None,
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
        replaced = _successors(index, slots, request.mask)
        slots = _union(slots, np.array(sorted(set(replaced.values())), dtype=np.int64))
    similarity = _fused(index, arena, cue, recipe, slots)
    place = {int(slot): at for at, slot in enumerate(slots)}
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
    table = _Table(slots, scores, terms, parts, familiar.ranks, activation)
    best = scoring.order(scores, traces.created_us, slots)
    if recipe.ranking is Ranking.BOUNDED:
        best = best[scores[best] > 0]
    return _cut(index, table, best[: request.top_k], request)


@dataclass(frozen=True, slots=True)
class _Table:
    """Scored candidates, one value per position."""

    slots: I64
    scores: F64
    terms: Terms
    parts: Mapping[str, F64]
    ranks: Mapping[str, Mapping[int, int]]
    activation: Activation | None


def _cut(index: ScopeIndex, table: _Table, positions: I64, request: Request) -> Answer:
    """Split the best candidates at ``min_score`` and explain each."""
    rows = index.columns.row
    routes = _routes(table.activation)
    found = []
    for at in positions.tolist():
        slot = int(table.slots[at])
        explanation = Explanation(
            recipe=request.recipe.name,
            terms={name: float(values[at]) for name, values in table.parts.items()},
            ranks={lane: places[slot] for lane, places in table.ranks.items() if slot in places},
            path=tuple(number_of(int(rows[step])) for step in _path(routes, slot)),
            note="superseded" if index.columns.successor[slot] else "",
        )
        found.append(
            Found(
                slot,
                float(table.scores[at]),
                float(table.terms.similarity[at]),
                float(table.terms.cascade[at]),
                float(table.terms.retrievability[at]),
                explanation,
            )
        )
    hits = tuple(f for f in found if f.score >= request.min_score)
    return Answer(hits, tuple(f for f in found if f.score < request.min_score))


def budgeted(answered: Answer, sizes: Mapping[int, int], token_budget: int) -> Answer:
    """Return the answer with the hits that fit a budget, taken greedily in order.

    ``sizes`` maps a slot to its size in tokens.  A hit that does not fit is marked and moves to
    the skipped ones; later, smaller ones may still fit.
    """
    left = token_budget
    kept, cut = [], []
    for hit in answered.hits:
        if sizes[hit.slot] <= left:
            left -= sizes[hit.slot]
            kept.append(hit)
        else:
            cut.append(replace(hit, explanation=replace(hit.explanation, note="over budget")))
    return Answer(tuple(kept), tuple(cut) + answered.skipped)


def _fused(
    index: ScopeIndex, arena: _core.Arena | None, cue: Cue, recipe: Recipe, slots: I64
) -> F64:
    """Return the similarity of some memories: the cosine, or the lanes' weighted mean in [0, 1].

    Each lane is normalised absolutely: BM25 by the idf of all of the cue's terms (no text can
    reach that sum), the cosine by its greatest value with negative ones as 0.
    """
    if recipe.ranking is not Ranking.BOUNDED:
        return _core.dots(_vectors(arena), _vector(cue), slots).astype(np.float64)
    similarity = np.zeros(len(slots))
    if recipe.lexical > 0 and len(cue.terms):
        scores = index.postings.bm25(cue.terms, recipe.k1, recipe.b, slots)
        similarity += recipe.lexical * scores / index.postings.idf(cue.terms).sum()
    if recipe.dense > 0:
        dots = _core.dots(_vectors(arena), _vector(cue), slots).astype(np.float64)
        similarity += recipe.dense * np.maximum(dots, 0.0)
    return similarity / (recipe.lexical + recipe.dense)


def _taking_part(index: ScopeIndex, request: Request) -> BoolRows:
    """Return which memories activation may come from and go to.

    Left out is what a correction stands for that may come back itself: at a moment before the
    correction, the memory takes part as it did then.
    """
    superseded = np.flatnonzero(index.columns.successor)
    live: BoolRows = request.mask.copy()
    live[superseded[_ends(index, superseded, request.mask) >= 0]] = False
    return live


def _successors(index: ScopeIndex, slots: I64, mask: BoolRows) -> dict[int, int]:
    """Return, for each superseded memory, the newest correction of it that may come back."""
    old = slots[index.columns.successor[slots] != 0]
    ends = _ends(index, old, mask)
    return dict(zip(old[ends >= 0].tolist(), ends[ends >= 0].tolist(), strict=True))


def _ends(index: ScopeIndex, slots: I64, mask: BoolRows) -> I64:
    """Return the newest correction of each memory that the mask allows, or -1."""
    columns = index.columns
    at, ends = slots.copy(), np.full(len(slots), -1, dtype=np.int64)
    going = np.arange(len(slots))
    while len(going):
        following = columns.slots(columns.successor[at[going]])
        goes_on = following > at[going]  # a correction is younger than what it corrects
        going = going[goes_on]
        at[going] = following[goes_on]
        allowed = going[mask[at[going]]]
        ends[allowed] = at[allowed]
    return ends


def _routes(activation: Activation | None) -> dict[int, tuple[int, int]]:
    """Return, for each activated memory, whence activation first came and at which hop."""
    if activation is None:
        return {}
    steps = zip(activation.parent.tolist(), activation.hop.tolist(), strict=True)
    return dict(zip(activation.nodes.tolist(), steps, strict=True))


def _path(routes: Mapping[int, tuple[int, int]], slot: int) -> list[int]:
    """Return the slots from the cue's match to this memory; empty where none led here."""
    if slot not in routes:
        return []
    path, hop = [slot], 0
    while hop != 1:  # hops fall at every step: a node is first reached after its parent
        parent, hop = routes[path[-1]]
        path.append(parent)
    return path[::-1]


def _places(lanes: Mapping[str, I64]) -> dict[str, dict[int, int]]:
    """Return each memory's place in each lane, from 1."""
    return {
        lane: {slot: place for place, slot in enumerate(slots.tolist(), 1)}
        for lane, slots in lanes.items()
    }


def _union(*parts: I64) -> I64:
    """Return distinct slots, ascending."""
    if not parts:
        return np.empty(0, dtype=np.int64)
    return np.unique(np.concatenate(parts)).astype(np.int64, copy=False)


def _vectors(arena: _core.Arena | None) -> _core.Arena:
    """Return the dense lane that the recipe needs."""
    if arena is None:
        raise AssertionError("a recipe with a dense lane was run without one")
    return arena


def _vector(cue: Cue) -> NDArray[np.float32]:
    """Return the cue's vector."""
    if cue.vector is None:
        raise AssertionError("a recipe with a dense lane was given a cue without vector")
    return cue.vector
