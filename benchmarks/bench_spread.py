"""Spreading activation over links."""

from __future__ import annotations

import data
import numpy as np
import pytest
import rivals
from scipy.sparse import csr_array
from timing import Timed

from ebbmem.csr import Csr
from ebbmem.graph import LinkTable
from ebbmem.spreading import SpreadConfig, spread, spread_links

pytestmark = pytest.mark.benchmark(max_time=0.5, min_rounds=3)

NODES = 100_000
HOP_DECAY = 0.5
UNBOUNDED = {"threshold": 0.0, "fan_cap": 0, "node_cap": 0, "fan_normalise": False}


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("who", ["ebbmem", "ebbmem over a matrix", "scipy", "python"])
def test_spread(timed: Timed, who: str, depth: int) -> None:
    """Time the same unbounded spreading everywhere, although ebbmem's default is bounded."""
    graph = data.graph(NODES)
    held = Csr(graph.indptr, graph.indices, graph.weights, (NODES, NODES))
    links = table(graph)
    config = SpreadConfig(depth=depth, hop_decay=HOP_DECAY, **UNBOUNDED)  # type: ignore[arg-type]
    edges = rivals.edges_of(graph)
    seeds = dict(zip(graph.seeds.tolist(), graph.activation.tolist(), strict=True))
    matrix = csr_array((graph.weights, graph.indices, graph.indptr), shape=(NODES, NODES))
    transposed = matrix.T.tocsr()
    start = np.zeros(NODES)
    start[graph.seeds] = graph.activation
    calls = {
        "ebbmem": lambda: spread_links(links, NODES, (graph.seeds, graph.activation), config),
        "ebbmem over a matrix": lambda: spread(held, (graph.seeds, graph.activation), config),
        "scipy": lambda: rivals.spread_scipy(transposed, start, depth, HOP_DECAY),
        "python": lambda: rivals.spread_python(edges, seeds, depth, HOP_DECAY),
    }
    reached = calls["ebbmem"]()
    expected = calls["python"]()
    assert set(reached.nodes.tolist()) == expected.keys()
    mine = dict(zip(reached.nodes.tolist(), reached.activation.tolist(), strict=True))
    assert mine == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(calls["scipy"]()[reached.nodes], reached.activation, rtol=1e-12)

    group = f"spread {len(seeds)} seeds, {depth} hops, {NODES} nodes"
    timed(calls[who], group=group, units=len(expected), unit="node_reached")


def test_spread_as_recall_does(timed: Timed) -> None:
    graph = data.graph(NODES)
    links, seeds = table(graph), (graph.seeds, graph.activation)
    assert 0 < len(spread_links(links, NODES, seeds)) <= SpreadConfig().node_cap

    timed(lambda: spread_links(links, NODES, seeds), group="spread, bounded", units=1, unit="call")


def test_add_a_link_and_spread(timed: Timed) -> None:
    """Time what used to build the whole matrix again."""
    graph = data.graph(NODES)
    links, seeds = table(graph), (graph.seeds, graph.activation)
    target = int(graph.seeds[0])
    source = int(spread_links(links, NODES, seeds).nodes[0])

    def add_and_spread() -> int:
        links.add(source, target, "related", 0.5)
        return len(spread_links(links, NODES, seeds))

    before = len(links)
    assert add_and_spread() > 0
    assert len(links) == before + 1
    timed(add_and_spread, group="add a link and spread, bounded", units=1, unit="call")


def table(graph: data.Graph) -> LinkTable:
    """Return the graph as a scope holds it."""
    source = np.repeat(np.arange(NODES), np.diff(graph.indptr))
    made = LinkTable()
    made.add_many(source, graph.indices, np.zeros(len(source), np.uint8), graph.weights)
    return made
