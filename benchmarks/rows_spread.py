"""Contests of spreading activation over links."""

from __future__ import annotations

from collections.abc import Iterator

import data
import numpy as np
import peers
from contest import Contest, Rival, turning
from sizes import Sizes
from spreaders import DictSpread, NumpySpread, ScipySpread, prepared

from ebbmem.csr import Csr
from ebbmem.spreading import SpreadConfig, spread

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
    held = Csr(graph.indptr, graph.indices, graph.weights, (nodes, nodes))
    ones = np.ones(SEEDS)
    by_scipy = ScipySpread(ready, HOP_DECAY)
    by_numpy = NumpySpread(ready, HOP_DECAY, THRESHOLD)
    by_dict = DictSpread(ready, HOP_DECAY, THRESHOLD)
    by_graphblas = peers.graphblas_spread(ready, DEPTH, HOP_DECAY, THRESHOLD)

    def ours(seeds: data.I64) -> object:
        return spread(held, (seeds, ones), config)

    sets = seed_sets(nodes)
    for seeds in sets[:4]:
        check(spread(held, (seeds, ones), config), by_dict(seeds, DEPTH))
        check(
            spread(held, (seeds, ones), config),
            dict(zip(*map(list, by_numpy(seeds, DEPTH)), strict=True)),
        )
        if by_graphblas is not None:
            check(
                spread(held, (seeds, ones), config),
                dict(zip(*map(list, by_graphblas(seeds)), strict=True)),
            )
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


def seed_sets(nodes: int) -> list[data.I64]:
    """Return the places that spreading starts from, drawn evenly."""
    rng = np.random.default_rng(10)
    drawn = [rng.choice(nodes, SEEDS, replace=False) for _ in range(SEED_SETS)]
    return [np.sort(seeds).astype(np.int64) for seeds in drawn]


def check(found: object, expected: dict[int, float]) -> None:
    """Compare; the threshold is a step, so another rounding may let a node or two through."""
    mine = dict(zip(found.nodes.tolist(), found.activation.tolist(), strict=True))  # type: ignore[attr-defined]
    common = mine.keys() & expected.keys()
    assert len(common) >= 0.999 * max(len(mine), len(expected), 1)
    close = [abs(mine[node] - expected[node]) <= 1e-3 * mine[node] + 1e-6 for node in common]
    assert np.mean(close) > 0.999
