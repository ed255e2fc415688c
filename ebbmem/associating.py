"""What the best match brings up because it names the same: links that nobody has to make."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ebbmem.questions import Question
from ebbmem.spreading import Activation

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]


def associated(one: Question, seeds: tuple[I64, F64], mask: NDArray[np.bool_]) -> Activation | None:
    """Return the memories that the best match shares a rare name with.

    Parameters
    ----------
    one : Question
        The cue put to an index.  A name that the cue itself says is passed over: what has it has
        matched already.
    seeds : tuple of (n,) int64, (n,) float64
        Matches by slot, the best first, with their activation in [0, 1].
    mask : (len(index),) bool
        Which memories take part.

    Returns
    -------
    Activation or None
        Each memory that was reached, by the name that activates it most:
        ``min(1, activation * weight * 2 / n)`` for a name in n texts.
    """
    shared = one.request.recipe.names
    if shared is None or one.names is None:
        return None
    terms = one.names(seeds[0])
    if len(terms) == 0:
        return None
    first, much = int(seeds[0][0]), float(seeds[1][0])
    nodes, activation = one.index.postings.tied(
        first, much, terms, one.cue.terms, mask, shared.weight, shared.most
    )
    if len(nodes) == 0:
        return None
    return Activation(nodes, activation, np.full(len(nodes), first), np.ones(len(nodes), np.int32))


def joined(first: Activation | None, second: Activation | None) -> Activation | None:
    """Return both activations as one: what both reach adds up, to 1 at most.

    The path is the one of the greater of the two, the first's among equals.
    """
    if first is None or second is None:
        return second if first is None else first
    nodes = np.union1d(first.nodes, second.nodes)
    total, greatest = np.zeros(len(nodes)), np.zeros(len(nodes))
    parent, hop = np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.int32)
    for part in (first, second):
        at = np.searchsorted(nodes, part.nodes)
        total[at] += part.activation
        ahead = part.activation > greatest[at]
        there = at[ahead]
        greatest[there] = part.activation[ahead]
        parent[there], hop[there] = part.parent[ahead], part.hop[ahead]
    return Activation(nodes, np.minimum(total, 1.0), parent, hop)
