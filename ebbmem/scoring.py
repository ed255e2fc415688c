"""How the terms of a candidate make its score, for each kind of ranking."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem.clock import US_PER_S
from ebbmem.decay import F64, Ebbinghaus, Traces
from ebbmem.recipes import Ranking, Recipe, Weights

I64 = NDArray[np.int64]

IMPORTANCE_SCALE = 10.0


class Terms(NamedTuple):
    """What is known of some memories, one value per memory.

    ``similarity`` is a cosine in [-1, 1], or familiarity in [0, 1] for a bounded ranking;
    ``cascade`` and ``retrievability`` lie in [0, 1].
    """

    similarity: F64
    cascade: F64
    retrievability: F64


def affine(recipe: Recipe, traces: Traces, retrievability: F64) -> tuple[F64, F64]:
    """Return the columns ``mul``, ``add`` of a sum: its score without cascade is mul*cos + add."""
    weights = recipe.weights
    constant = (
        weights.retrievability * retrievability
        + weights.strength * traces.strength
        + weights.emotion * traces.intensity
        + weights.importance * traces.importance / IMPORTANCE_SCALE
    )
    return np.full(constant.shape, weights.similarity), constant


def breakdown(recipe: Recipe, traces: Traces, terms: Terms) -> dict[str, F64]:
    """Return every term of the score of a sum (its addends) or a bounded ranking (factors)."""
    if recipe.ranking is Ranking.SUM:
        return _addends(recipe.weights, traces, terms)
    floor = recipe.retention_floor
    return {
        "familiarity": terms.similarity,
        "cascade": recipe.weights.cascade * terms.cascade,
        "retention": floor + (1.0 - floor) * terms.retrievability,
    }


def score(recipe: Recipe, parts: dict[str, F64]) -> F64:
    """Return the score that the parts make."""
    if recipe.ranking is Ranking.SUM:
        total: F64 = np.sum(list(parts.values()), axis=0, dtype=np.float64)
        return total
    # Two kinds of evidence joined so that both count and the whole stays within [0, 1].
    evidence = 1.0 - (1.0 - parts["familiarity"]) * (1.0 - np.minimum(parts["cascade"], 1.0))
    return evidence * parts["retention"]


def product(
    slots: I64, cosines: F64, weighed: tuple[F64, I64], law: Ebbinghaus, now_us: int
) -> tuple[F64, F64, F64, F64]:
    """Return the factors of a product ranking's scores (nearness, importance, R), and the scores.

    ``weighed`` are the columns of importance and of when each memory was created.
    """
    return _core.product_scores(slots, cosines, *weighed, now_us, US_PER_S, law.decay_factor)


def order(scores: F64, created_us: I64, slots: I64) -> I64:
    """Return positions, best first: higher score, then newer, then lower number."""
    positions: I64 = np.lexsort((slots, -created_us, -scores))
    return positions


def best(scores: F64, created_us: I64, slots: I64, k: int) -> I64:
    """Return the first ``k`` positions of `order`, without ordering the rest."""
    if len(scores) <= 2 * k:
        return order(scores, created_us, slots)[:k]
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    chosen = np.flatnonzero(scores >= least)
    return chosen[order(scores[chosen], created_us[chosen], slots[chosen])[:k]]


def _addends(weights: Weights, traces: Traces, terms: Terms) -> dict[str, F64]:
    """Return the weighted terms of a sum; terms of weight 0 are left out."""
    values = {
        "similarity": (weights.similarity, terms.similarity),
        "cascade": (weights.cascade, terms.cascade),
        "retrievability": (weights.retrievability, terms.retrievability),
        "strength": (weights.strength, traces.strength),
        "emotion": (weights.emotion, traces.intensity),
        "importance": (weights.importance, traces.importance / IMPORTANCE_SCALE),
    }
    return {name: weight * value for name, (weight, value) in values.items() if weight > 0}
