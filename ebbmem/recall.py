"""The stages of recall, each a small function over one scope's index.

``familiar`` (what matches the cue) -> ``spread`` (what that brings up) -> ``scored`` ->
``cut`` (best ``top_k``, at least ``min_score``).  Nothing here reads records or writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core, scoring, succession
from ebbmem.associating import activated, activates, paths
from ebbmem.bounded import ByWords, by_words, only_words_count
from ebbmem.decay import F64, Ebbinghaus
from ebbmem.hits import Answer, Ranked, cut, moved
from ebbmem.noting import in_conflict, superseded
from ebbmem.products import Products, products
from ebbmem.questions import BoolRows, Question, searches
from ebbmem.recipes import Ranking as Kind
from ebbmem.scoring import Terms
from ebbmem.searches import Ranking
from ebbmem.spaces import AskedWords
from ebbmem.spreading import Activation

I64 = NDArray[np.int64]

SUPERSEDED_FACTOR = 0.5


class Familiar(NamedTuple):
    """Candidates by slot with similarity, and what each lane put forward."""

    slots: I64
    similarity: F64
    lanes: Mapping[str, I64]


def answer(one: Question) -> Answer:
    """Run every stage for one cue.

    Parameters
    ----------
    one : Question
        The cue put to an index, which nothing else changes meanwhile.

    Returns
    -------
    Answer
        At most ``top_k`` memories in all.  Ties: higher score, then newer, then lower number.
    """
    ready = prepared(one, {lane: search.ranking() for lane, search in searches(one).items()})
    if isinstance(ready, ByWords):
        return ready.told(ready.ranking.best())
    if isinstance(ready, ByProduct):
        return FoundByProduct(one, ready.best()).answer()
    return ready


class ByProduct(NamedTuple):
    """A ranking of word counts by a product, to be made, and the cue it is made for."""

    one: Question
    asked: AskedWords

    @property
    def held(self) -> _core.Products:
        """Return what is ranked."""
        return self.one.index.columns.products(self.asked.words, self.one.request.mask)

    def best(self) -> _core.FoundProducts:
        """Make it."""
        request = self.one.request
        law = cast(Ebbinghaus, request.recipe.law)
        return self.held.best(*self.asked.query, request.now_us, law.decay_factor, request.top_k)


Prepared = ByWords | ByProduct | Answer
"""A ranking that is all an answer still needs, or the answer."""


def is_prepared(value: object) -> TypeGuard[Prepared]:
    """Return whether a value is what `prepared` returns."""
    return isinstance(value, (ByWords, ByProduct, Answer))


def prepared(one: Question, rankings: Mapping[str, Ranking]) -> Prepared:
    """Run the stages for one cue but for a last ranking that may be made with those of others.

    ``rankings`` are what `questions.searches` says is needed, by lane.
    """
    if len(one.index) == 0:
        return Answer()
    if one.request.recipe.ranking is Kind.PRODUCT:
        if isinstance(one.asked, AskedWords):
            return ByProduct(one, one.asked)
        return _product(one, rankings["dense"])
    if only_words_count(one):
        return by_words(one, rankings) or Answer()
    familiar = _familiar(one, rankings)
    return _scored(one, familiar, _activated(one, familiar))


class FoundByProduct(NamedTuple):
    """What a product found for a cue."""

    one: Question
    found: _core.FoundProducts

    def answer(self) -> Answer:
        """Return the answer that the best of it are."""
        return _by_product(self.one, products(self.found))


def answers(
    ready: Sequence[Prepared], threads: int, workers: _core.Workers
) -> list[Answer | FoundByProduct]:
    """Return the answers to several cues of one request, what they still need made in one call."""
    by_product = [one for one in ready if isinstance(one, ByProduct)]
    words = [one.ranking for one in ready if isinstance(one, ByWords)]
    best = iter(_core.best_bounded(words, threads, workers))
    found = iter(_best_products(by_product, threads, workers))
    told: list[Answer | FoundByProduct] = []
    for one in ready:
        if isinstance(one, ByWords):
            told.append(one.told(next(best)))
        else:
            told.append(FoundByProduct(one.one, next(found)) if isinstance(one, ByProduct) else one)
    return told


def _best_products(
    ready: Sequence[ByProduct], threads: int, workers: _core.Workers
) -> list[_core.FoundProducts]:
    """Return what each finds, in one call."""
    if not ready:
        return []
    request = ready[0].one.request
    law = cast(Ebbinghaus, request.recipe.law)
    asked = [(one.held, *one.asked.query) for one in ready]
    moment = request.now_us, law.decay_factor
    return _core.best_products(asked, *moment, request.top_k, threads, workers)


def _product(one: Question, ranking: Ranking) -> Answer:
    """Tell of the best by a product, by their cosines."""
    law, columns = cast(Ebbinghaus, one.request.recipe.law), one.index.columns
    weighed = columns.importance, columns.created_us
    terms = scoring.product(*ranking, weighed, law, one.request.now_us)
    near, importance, retained, scores = terms
    return _by_product(one, Products(*ranking, near, importance, retained, scores.tolist()))


def _by_product(one: Question, found: Products) -> Answer:
    """Return the answer that the best by a product are."""
    notes = in_conflict(one, found.slots, superseded(one.index, found.slots))
    return cut(found.ranked(one.request.recipe.name, notes), one.request.min_score)


def _familiar(one: Question, rankings: Mapping[str, Ranking]) -> Familiar:
    """Return what matches the cue: the union of the lanes, none a gate for another.

    For a sum that is every memory that can be among the best before cascade is added.
    """
    recipe = one.request.recipe
    lanes = {lane: ranking.slots for lane, ranking in rankings.items()}
    if recipe.ranking is Kind.SUM and recipe.spread is None:
        return Familiar(*rankings["dense"], lanes)
    if recipe.ranking is Kind.BOUNDED and recipe.dense == 0 and rankings:
        slots, scores = rankings["lexical"]
        by_slot = np.argsort(slots)
        share = recipe.lexical * scores[by_slot] / one.idf
        return Familiar(slots[by_slot], share / recipe.lexical, lanes)
    slots = _union(*lanes.values())
    return Familiar(slots, _fused(one, slots), lanes)


def _activated(one: Question, familiar: Familiar) -> Activation | None:
    """Return what the best matches bring up; superseded memories take no part."""
    if len(familiar.slots) == 0 or not activates(one):
        return None
    taking_part = succession.taking_part(one.index.columns, one.request.mask)
    slots, values = _seeds(one, familiar, taking_part)
    if len(slots) == 0:
        return None
    if one.request.recipe.ranking is Kind.SUM:
        values = values / values[0]
    return activated(one, (slots, values), taking_part)


def _seeds(one: Question, familiar: Familiar, taking_part: BoolRows) -> tuple[I64, F64]:
    """Return the best matches by slot and their similarity, the best first."""
    recipe, columns = one.request.recipe, one.index.columns
    eligible = (familiar.similarity > 0) & taking_part[familiar.slots]
    if recipe.ranking is Kind.BOUNDED and recipe.dense == 0:
        # In the order of the one lane, which tells scores apart that rounding makes one.
        at = np.searchsorted(familiar.slots, familiar.lanes["lexical"])
        first = at[eligible[at]][: recipe.spread_seeds]
        return familiar.slots[first], familiar.similarity[first]
    slots, values = familiar.slots[eligible], familiar.similarity[eligible]
    first = scoring.best(values, columns.created_us[slots], slots, recipe.spread_seeds)
    return slots[first], values[first]


def _scored(one: Question, familiar: Familiar, activation: Activation | None) -> Answer:
    """Score the union of what matched, what was activated and what replaced either."""
    index, request, recipe = one.index, one.request, one.request.recipe
    slots = familiar.slots if activation is None else _union(familiar.slots, activation.nodes)
    replaced: dict[int, int] = {}
    if recipe.demote_superseded:
        replaced = succession.successors(index.columns, slots, request.mask)
        if replaced:
            slots = _union(slots, np.array(list(replaced.values()), dtype=np.int64))
    similarity = _similarity(one, familiar, slots)
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
    if recipe.ranking is Kind.BOUNDED:
        return _preceding(one, table, traces.created_us)
    best = scoring.best(scores, traces.created_us, slots, request.top_k)
    return _cut(one, table, best, scores[best], {})


def _preceding(one: Question, table: _Table, created_us: I64) -> Answer:
    """Split the best candidates at ``min_score``, once matches alike have changed places."""
    alike = one.alike
    rule, past = (one.request.top_k, *alike), alike[-1]
    best, shown = one.index.postings.preceding(
        one.cue.terms, table.slots, table.scores, created_us, *rule
    )
    notes = moved(table.slots[best], table.scores[best], shown, past=past)
    return _cut(one, table, best, shown, notes)


class _Table(NamedTuple):
    """Scored candidates, one value per position."""

    slots: I64
    scores: F64
    terms: Terms
    parts: Mapping[str, F64]
    lanes: Mapping[str, I64]
    activation: Activation | None


def _cut(one: Question, table: _Table, best: I64, shown: F64, notes: Mapping[int, str]) -> Answer:
    """Split the best candidates, given by position with their scores, at ``min_score``."""
    slots, terms = table.slots[best], table.terms
    ranked = Ranked(
        one.request.recipe.name,
        slots,
        shown.tolist(),
        best.tolist(),
        terms.similarity,
        terms.cascade,
        terms.retrievability,
        table.parts,
        table.lanes,
        {} if table.activation is None else paths(one.index, table.activation, slots),
        in_conflict(one, slots, {**notes, **superseded(one.index, slots)}),
    )
    return cut(ranked, one.request.min_score)


def _similarity(one: Question, familiar: Familiar, slots: I64) -> F64:
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
        similarity[others] = _fused(one, slots[others])
    return similarity


def _fused(one: Question, slots: I64) -> F64:
    """Return the similarity of some memories: the cosine, or the lanes' weighted mean in [0, 1].

    Each lane is normalised absolutely: BM25 by the idf of all of the cue's terms, which no text
    can reach, the cosine by its greatest value with negative ones as 0.
    """
    recipe, terms = one.request.recipe, one.cue.terms
    if recipe.ranking is not Kind.BOUNDED:
        return one.vectors.cosines(slots)
    similarity = np.zeros(len(slots))
    if recipe.lexical > 0 and len(terms):
        scores = one.index.postings.bm25(terms, recipe.k1, recipe.b, slots)
        similarity += recipe.lexical * scores / one.idf
    if recipe.dense > 0:
        similarity += recipe.dense * np.maximum(one.vectors.cosines(slots), 0.0)
    return similarity / (recipe.lexical + recipe.dense)


def _union(*parts: I64) -> I64:
    """Return distinct slots, ascending."""
    if not parts:
        return np.empty(0, dtype=np.int64)
    return np.unique(np.concatenate(parts)).astype(np.int64, copy=False)
