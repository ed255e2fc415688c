"""What the best matches bring up: through links, and because they name the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ebbmem.index import ScopeIndex
from ebbmem.questions import Question
from ebbmem.recipes import Ranking
from ebbmem.records.base import number_of
from ebbmem.spreading import Activation, spread_links

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]


def links_count(one: Question) -> bool:
    """Return whether activation spreads through links."""
    return one.request.recipe.spread is not None and len(one.index.links) > 0


def activates(one: Question) -> bool:
    """Return whether matches can bring up anything."""
    return links_count(one) or one.request.recipe.names is not None


def activated(one: Question, seeds: tuple[I64, F64], mask: NDArray[np.bool_]) -> Activation | None:
    """Return what the best matches, which come first, bring up of what takes part."""
    recipe, index = one.request.recipe, one.index
    named = associated(one, seeds, mask) if recipe.ranking is Ranking.BOUNDED else None
    if not links_count(one):
        return named
    through = spread_links(index.links, len(index), seeds, recipe.spread, mask=mask)
    return joined(through, named)


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


def paths(index: ScopeIndex, activation: Activation, slots: I64) -> dict[int, tuple[int, ...]]:
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
