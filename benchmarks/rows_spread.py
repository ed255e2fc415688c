"""Contests of spreading activation over links."""

from __future__ import annotations

from collections.abc import Iterator

import data
import numpy as np
import peers
from contest import Contest, Rival, turning
from scipy.sparse import csr_array
from sizes import Sizes
from spreaders import DictSpread, NumpySpread, ScipySpread, prepared

from ebbmem.graph import LinkTable
from ebbmem.spreading import Activation, SpreadConfig, spread, spread_links

DEPTH, HOP_DECAY, THRESHOLD, FAN_CAP = 3, 0.5, 0.01, 64
SEEDS, SEED_SETS = 5, 32
CAPPED = SpreadConfig(DEPTH, HOP_DECAY, THRESHOLD, fan_cap=FAN_CAP, node_cap=0, fan_normalise=True)
UNCAPPED = SpreadConfig(DEPTH, HOP_DECAY, THRESHOLD, fan_cap=0, node_cap=0, fan_normalise=False)
AT_LEAST_SCIPY = {100_000: 100.0, 1_000_000: 500.0}


def capped(sizes: Sizes) -> Iterator[Contest]:
    """Fan-normalised, at most 64 links per node."""
    for nodes in sizes.nodes:
        graph = data.chung_lu(nodes)
        yield contest(
            f"spread depth {DEPTH}, fan-normalised, cap {FAN_CAP}, {sizes.shown(nodes)} nodes",
            (graph, prepared(graph, FAN_CAP)),
            CAPPED,
            (AT_LEAST_SCIPY.get(nodes), 3.0),
        )


def uncapped(sizes: Sizes) -> Iterator[Contest]:
    """Raw weights, no cap: hubs flood the graph."""
    graph = data.chung_lu(sizes.nodes[0])
    work = f"spread depth {DEPTH}, uncapped, {sizes.shown(sizes.nodes[0])} nodes"
    yield contest(work, (graph, graph), UNCAPPED, (None, 2.0), scipy_competes=True)


def contest(
    work: str,
    graphs: tuple[data.Graph, data.Graph],
    config: SpreadConfig,
    at_least: tuple[float | None, float],
    *,
    scipy_competes: bool = False,
) -> Contest:
    """Return the contest over one graph: as it is for ebbmem, prepared for the rivals."""
    graph, ready = graphs
    nodes = len(graph.indptr) - 1
    links = linked(graph)
    ones = np.ones(SEEDS)
    by_scipy = ScipySpread(ready, HOP_DECAY)
    by_numpy = NumpySpread(ready, HOP_DECAY, THRESHOLD)
    by_dict = DictSpread(ready, HOP_DECAY, THRESHOLD)
    by_graphblas = peers.graphblas_spread(ready, DEPTH, HOP_DECAY, THRESHOLD)

    def ours(seeds: data.I64) -> Activation:
        return spread_links(links, nodes, (seeds, ones), config)

    sets = seed_sets(nodes)
    for seeds in sets[:4]:
        found = ours(seeds)
        check(found, by_dict(seeds, DEPTH))
        for arrays in (by_numpy(seeds, DEPTH), by_graphblas and by_graphblas(seeds)):
            if arrays is not None:
                check(found, dict(zip(*(part.tolist() for part in arrays), strict=True)))
    return Contest(
        work,
        turning(ours, sets),
        (
            Rival(
                "scipy, 3 x A.T @ x",
                turning(lambda s: by_scipy(s, DEPTH), sets),
                at_least[0],
                candidate=scipy_competes,
            ),
            Rival("numpy frontier", turning(lambda s: by_numpy(s, DEPTH), sets), candidate=True),
            Rival("python-graphblas", by_graphblas and turning(by_graphblas, sets), candidate=True),
            Rival("dict BFS", turning(lambda s: by_dict(s, DEPTH), sets), candidate=True),
        ),
        best_at_least=at_least[1],
    )


def linked(graph: data.Graph) -> LinkTable:
    """Return the links of a graph as ebbmem keeps them."""
    links = LinkTable()
    sources = np.repeat(np.arange(len(graph.indptr) - 1), np.diff(graph.indptr))
    links.add_many(sources, graph.indices, np.zeros(len(sources), np.uint8), graph.weights)
    return links


def add_link(sizes: Sizes) -> Iterator[Contest]:
    """One link more between any two nodes, after which spreading sees it."""
    nodes = sizes.nodes[-1]
    graph = data.chung_lu(nodes)
    links = linked(graph)
    rng = np.random.default_rng(11)
    pairs = [(a, b) for a, b in rng.integers(0, nodes, (100_000, 2)).tolist() if a != b]
    sources = np.repeat(np.arange(nodes), np.diff(graph.indptr)).astype(np.int32)

    def rebuilt() -> csr_array:
        columns = (graph.weights, (sources, graph.indices))
        return csr_array(columns, shape=(nodes, nodes))

    assert (rebuilt().indptr == graph.indptr).all()
    for one, other in pairs[:100]:
        links.add(one, other, "related", 0.5)
    seeds = (seed_sets(nodes)[0], np.ones(SEEDS))
    grown = spread(links.csr(nodes), seeds, CAPPED)
    np.testing.assert_array_equal(spread_links(links, nodes, seeds, CAPPED).nodes, grown.nodes)
    yield Contest(
        f"add one link at {sizes.shown(nodes)} nodes, {sizes.shown(len(sources))} links",
        turning(lambda pair: links.add(*pair, "related", 0.5), pairs),
        (Rival("scipy, whole CSR anew", rebuilt, 1000.0),),
    )


def seed_sets(nodes: int) -> list[data.I64]:
    """Return the places that spreading starts from, drawn evenly."""
    rng = np.random.default_rng(10)
    drawn = [rng.choice(nodes, SEEDS, replace=False) for _ in range(SEED_SETS)]
    return [np.sort(seeds).astype(np.int64) for seeds in drawn]


def check(found: Activation, expected: dict[int, float]) -> None:
    """Compare; the threshold is a step, so another rounding may let a node or two through."""
    mine = dict(zip(found.nodes.tolist(), found.activation.tolist(), strict=True))
    common = mine.keys() & expected.keys()
    assert len(common) >= 0.999 * max(len(mine), len(expected), 1)
    close = [abs(mine[node] - expected[node]) <= 1e-3 * mine[node] + 1e-6 for node in common]
    assert np.mean(close) > 0.999
