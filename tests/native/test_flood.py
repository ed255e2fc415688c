"""Spreading that reaches most nodes: kept by node instead of by discovery, with the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core

WEIGHTS = {
    "all alike": lambda rng, n: np.ones(n),
    "few values": lambda rng, n: rng.choice([0.25, 0.5, 1.0], n),
    "uniform": lambda rng, n: rng.random(n),
    "of all sizes": lambda rng, n: 10.0 ** rng.uniform(-30, 20, n),
    "tiny": lambda rng, n: 10.0 ** rng.uniform(-45, -36, n),
    "some count for nothing": lambda rng, n: rng.choice([0.0, 0.1, 1.0], n),
}


def edges(size: int, degree: int, weights: str, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Return sources and targets, popular ones among them, and weights."""
    rng = np.random.default_rng(seed)
    source = np.sort(rng.integers(0, size, size * degree))
    target = (size * rng.random(len(source)) ** 2).astype(np.int64)
    keep = source != target
    weight = WEIGHTS[weights](rng, len(source)).astype(np.float32)
    return source[keep], target[keep], weight[keep]


def spreads(
    size: int, links: tuple[np.ndarray, ...], mask, depth: int, strength: float = 1.0, **rules
) -> list[tuple]:
    """Return the result densely and sparsely, over links and over a matrix."""
    source, target, weight = links
    seeds = np.unique(np.array([0, size // 2, size - 1]))
    amounts = strength * np.linspace(1.0, 0.3, len(seeds))
    graph = _core.LinkGraph(np.array([True]))
    graph.add_many(source, target, np.zeros(len(source), np.uint8), weight)
    indptr = np.searchsorted(source, np.arange(size + 1)).astype(np.int64)
    matrix = indptr, target.astype(np.int32), weight
    shared = {"mask": mask, "depth": depth, "hop_decay": 0.5, "threshold": 0.0, **rules}
    found = []
    for node_cap in (0, size):  # a cap that cuts nothing keeps spreading from going dense
        named = {"fan_cap": 0, "node_cap": node_cap, "fan_normalise": False, **shared}
        found.append(graph.spread(size, seeds, amounts, **named))
        found.append(_core.spread(*matrix, seeds, amounts, **named))
    return found


def check(found: list[tuple]) -> None:
    nodes, activation, _, _ = found[0]
    order = np.lexsort((nodes, -activation))
    assert (order == np.arange(len(nodes))).all()
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            assert one.tobytes() == same.tobytes()


@settings(max_examples=60)
@given(
    st.integers(1, 60),
    st.integers(0, 12),
    st.sampled_from(sorted(WEIGHTS)),
    st.integers(0, 8),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_dense_and_sparse_spreading_agree(
    size, degree, weights, depth, receive, normalise, masked
) -> None:
    mask = np.arange(size) % 5 != 3 if masked else None
    links = edges(size, degree, weights)
    rules = {"seeds_receive": receive, "fan_normalise": normalise}
    check(spreads(size, links, mask, depth, **rules))


@pytest.mark.parametrize("size", [25, 500, 4095, 4096, 9000])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_flood_is_in_order_whatever_its_size_and_ties(size: int, weights: str) -> None:
    found = spreads(size, edges(size, 6, weights), None, 6, seeds_receive=True)
    assert len(found[0][0]) > min(size / 4, 1000)
    check(found)


def test_a_flood_that_ends_leaves_nothing_behind() -> None:
    size, (source, target, weight) = 300, edges(300, 8, "uniform")
    graph = _core.LinkGraph(np.array([True]))
    graph.add_many(source, target, np.zeros(len(source), np.uint8), weight)
    rules = (None, 3, 0.5, 0.0, 0, 0, False, True)
    before = [array.tobytes() for array in graph.spread(size, np.array([7]), np.ones(1), *rules)]
    graph.spread(size, np.arange(0, size, 2), np.ones(150), *rules)
    after = graph.spread(size, np.array([7]), np.ones(1), *rules)
    assert [array.tobytes() for array in after] == before


def test_a_flood_keeps_what_goes_beyond_the_largest_number() -> None:
    size, (source, target, _) = 300, edges(300, 8, "uniform")
    links = source, target, np.full(len(source), 3e38, np.float32)
    found = spreads(size, links, None, 6, strength=1e300, seeds_receive=True)
    assert len(found[0][0]) > size / 4
    assert (found[0][1] == 1.0).all()
    check(found)
