"""Spreading activation as one would write it with scipy, with numpy, or with dicts.

Each is made for one graph, whose weights already carry what they can: fan normalisation and the
cap on links per node are worked into the matrix beforehand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np
import rivals
from data import F32, F64, I64, Graph
from scipy.sparse import csr_array

Spread = Callable[[I64], tuple[I64, F64]]


def prepared(graph: Graph, fan_cap: int) -> Graph:
    """Return the graph with weights divided by their sum where above 1, and the heaviest kept."""
    nodes, degree = len(graph.indptr) - 1, np.diff(graph.indptr)
    source = np.repeat(np.arange(nodes), degree)
    sums = np.bincount(source, graph.weights, minlength=nodes)
    weights = (graph.weights / np.maximum(sums, 1.0)[source]).astype(np.float32)
    order = np.lexsort((graph.indices, -graph.weights, source))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(graph.indptr[:-1], degree)
    kept = rank < fan_cap
    indptr = np.concatenate([[0], np.cumsum(np.bincount(source[kept], minlength=nodes))])
    indptr = indptr.astype(np.int64)
    return Graph(indptr, graph.indices[kept], weights[kept], graph.seeds, graph.activation)


class ScipySpread:
    """Three products of the transposed matrix with a vector over all nodes, in float32."""

    def __init__(self, graph: Graph, hop_decay: float) -> None:
        nodes = len(graph.indptr) - 1
        weights = graph.weights * np.float32(hop_decay)
        matrix = csr_array((weights, graph.indices, graph.indptr), shape=(nodes, nodes))
        self._transposed = matrix.T.tocsr()
        self._nodes = nodes

    def __call__(self, seeds: I64, depth: int) -> F32:
        """Return the activation of every node; no threshold, no cap at 1: products alone."""
        frontier = np.zeros(self._nodes, np.float32)
        frontier[seeds] = 1
        total = np.zeros(self._nodes, np.float32)
        for _ in range(depth):
            frontier = self._transposed @ frontier
            total += frontier
        return total


class NumpySpread:
    """Frontiers as arrays; a table over all nodes is kept and only what was touched is cleared."""

    def __init__(self, graph: Graph, hop_decay: float, threshold: float) -> None:
        self._indptr, self._indices = graph.indptr, graph.indices.astype(np.int64)
        self._weights = graph.weights.astype(np.float64) * hop_decay
        self._threshold = threshold
        self._total = np.zeros(len(graph.indptr) - 1)

    def __call__(self, seeds: I64, depth: int) -> tuple[I64, F64]:
        """Return the nodes reached and their activation."""
        frontier, activation = seeds, np.ones(len(seeds))
        touched = []
        for _ in range(depth):
            passing = activation >= self._threshold
            frontier, activation = frontier[passing], activation[passing]
            begins = self._indptr[frontier]
            counts = self._indptr[frontier + 1] - begins
            ends = np.cumsum(counts)
            edges = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
                begins - ends + counts, counts
            )
            arriving = self._weights[edges] * np.repeat(activation, counts)
            frontier, place = np.unique(self._indices[edges], return_inverse=True)
            activation = np.bincount(place, arriving, minlength=len(frontier))
            self._total[frontier] += activation
            touched.append(frontier)
        reached = np.unique(np.concatenate(touched))
        found = np.minimum(self._total[reached], 1.0)
        self._total[reached] = 0
        return reached, found


class DictSpread:
    """Breadth first over dicts of targets and weights."""

    def __init__(self, graph: Graph, hop_decay: float, threshold: float) -> None:
        self._edges = rivals.edges_of(graph)
        self._hop_decay, self._threshold = hop_decay, threshold

    def __call__(self, seeds: I64, depth: int) -> dict[int, float]:
        """Return what is activated, capped at 1."""
        total: defaultdict[int, float] = defaultdict(float)
        frontier = dict.fromkeys(seeds.tolist(), 1.0)
        for _ in range(depth):
            arriving: defaultdict[int, float] = defaultdict(float)
            for node, activation in frontier.items():
                if activation >= self._threshold:
                    passed = activation * self._hop_decay
                    for target, weight in self._edges[node]:
                        arriving[target] += passed * weight
            for node, gain in arriving.items():
                total[node] += gain
            frontier = arriving
        return {node: min(value, 1.0) for node, value in total.items()}
