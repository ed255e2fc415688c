"""Spreading in the core against the oracle, and what it refuses."""

from __future__ import annotations

import contextlib
import math
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

RULES = {
    "mask": None,
    "depth": 3,
    "hop_decay": 0.5,
    "threshold": 0.0,
    "fan_cap": 0,
    "node_cap": 0,
    "fan_normalise": False,
    "seeds_receive": True,
}
EDGES = (1, 15, 16, 17, 31, 33, 1000)


def csr(edges: oracles.Edges, size: int, weights=np.float32, index=np.int32) -> tuple:
    rows = [edges.get(node, []) for node in range(size)]
    indptr = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(index)
    flat = [edge for row in rows for edge in row]
    targets = np.array([t for t, _ in flat], index)
    return indptr, targets, np.array([w for _, w in flat], weights)


def run(matrix: tuple, seeds: dict[int, float], **rules) -> tuple:
    nodes = np.array(list(seeds), np.int64)
    activation = np.array(list(seeds.values()), np.float64)
    return _core.spread(*matrix, nodes, activation, **{**RULES, **rules})


def as_oracle_rules(rules: dict) -> dict:
    caps = {name: rules[name] or None for name in ("fan_cap", "node_cap")}
    mask = rules.pop("mask")
    return {**rules, **caps, "allowed": lambda node: mask is None or bool(mask[node])}


# Weights that a float32 holds exactly, ties among them, zeros and negative ones.
weight = st.sampled_from([-0.5, 0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 3.0])


@st.composite
def cases(draw):
    size = draw(st.integers(1, 9))
    node = st.integers(0, size - 1)
    edges = draw(st.dictionaries(node, st.lists(st.tuples(node, weight), max_size=6)))
    seeds = draw(st.dictionaries(node, st.sampled_from([0.0, 0.25, 0.6, 1.0, 2.0]), max_size=4))
    rules = {
        "mask": draw(st.none() | st.lists(st.booleans(), min_size=size, max_size=size)),
        "depth": draw(st.integers(0, 4)),
        "hop_decay": draw(st.sampled_from([0.3, 0.5, 1.0])),
        "threshold": draw(st.sampled_from([0.0, 0.01, 0.125, 0.3])),
        "fan_cap": draw(st.integers(0, 3)),
        "node_cap": draw(st.integers(0, 5)),
        "fan_normalise": draw(st.booleans()),
        "seeds_receive": draw(st.booleans()),
    }
    return size, edges, seeds, rules


@settings(max_examples=300)
@given(cases(), st.sampled_from(["f4", "f8"]), st.sampled_from(["i4", "i8"]))
def test_spread_equals_the_oracle(case, weights, index) -> None:
    size, edges, seeds, rules = case
    mask = None if rules["mask"] is None else np.array(rules["mask"], np.bool_)
    nodes, activation, _, _ = run(
        csr(edges, size, weights, index), seeds, **{**rules, "mask": mask}
    )
    expected = oracles.spread(edges, seeds, **as_oracle_rules(rules))
    order = sorted(expected, key=lambda node: (-expected[node], node))
    assert nodes.tolist() == order
    np.testing.assert_allclose(activation, [expected[n] for n in order], rtol=1e-12)


def random_edges(size: int) -> oracles.Edges:
    rng = np.random.default_rng(size)
    targets = rng.integers(0, size, (size, 6)).tolist()
    weights = rng.random((size, 6)).astype(np.float32).astype(float).tolist()
    return {n: list(zip(targets[n], weights[n], strict=True)) for n in range(size)}


@pytest.mark.parametrize("size", EDGES)
@pytest.mark.parametrize("rules", [{}, {"fan_cap": 4, "node_cap": 20, "threshold": 0.05}])
def test_spread_equals_the_oracle_at_size(size: int, rules: dict) -> None:
    edges, seeds = random_edges(size), {0: 1.0, size // 2: 0.5, size - 1: 0.25}
    nodes, activation, _, _ = run(csr(edges, size), seeds, fan_normalise=True, **rules)
    expected = oracles.spread(edges, seeds, fan_normalise=True, **rules)
    assert dict(zip(nodes.tolist(), activation.tolist(), strict=True)) == pytest.approx(
        expected, rel=1e-12
    )


@settings(max_examples=100)
@given(cases())
def test_paths_lead_to_a_seed_hop_by_hop(case) -> None:
    size, edges, seeds, rules = case
    mask = None if rules["mask"] is None else np.array(rules["mask"], np.bool_)
    nodes, _, parents, hops = run(csr(edges, size), seeds, **{**rules, "mask": mask})
    first = dict(zip(nodes.tolist(), hops.tolist(), strict=True))
    for node, parent in zip(nodes.tolist(), parents.tolist(), strict=True):
        assert any(t == node and w > 0 for t, w in edges[parent])
        assert parent in seeds if first[node] == 1 else first[parent] < first[node]


# --- worked by hand ---------------------------------------------------------------------


def test_a_chain_fades_by_half_a_hop() -> None:
    chain = csr({0: [(1, 1.0)], 1: [(2, 1.0)], 2: [(3, 1.0)], 3: [(4, 1.0)]}, 5)
    nodes, activation, parents, hops = run(chain, {0: 1.0})
    assert nodes.tolist() == [1, 2, 3]
    assert activation.tolist() == [0.5, 0.25, 0.125]
    assert (parents.tolist(), hops.tolist()) == ([0, 1, 2], [1, 2, 3])


def test_activation_exactly_at_the_threshold_passes() -> None:
    chain = csr({0: [(1, 1.0)], 1: [(2, 1.0)]}, 3)
    assert run(chain, {0: 1.0}, threshold=0.5)[0].tolist() == [1, 2]
    assert run(chain, {0: 1.0}, threshold=math.nextafter(0.5, 1))[0].tolist() == [1]


def test_seeds_below_the_threshold_pass_nothing() -> None:
    assert len(run(csr({0: [(1, 1.0)]}, 2), {0: 0.1}, threshold=0.2)[0]) == 0


def test_fan_cap_takes_the_heaviest_then_the_lowest_targets() -> None:
    star = csr({0: [(4, 0.5), (3, 0.5), (2, 1.0), (1, 0.25)]}, 5)
    assert run(star, {0: 1.0}, fan_cap=2)[0].tolist() == [2, 3]


@pytest.mark.parametrize("degree", EDGES)
@pytest.mark.parametrize("cap", [1, 3, 16])
def test_fan_cap_finds_the_best_of_many_edges(degree: int, cap: int) -> None:
    rng = np.random.default_rng(degree)
    row = [(int(t), int(rng.integers(1, 5)) / 4) for t in rng.permutation(degree) + 1]
    nodes, _, _, _ = run(csr({0: row}, degree + 1), {0: 1.0}, fan_cap=cap)
    assert nodes.tolist() == [t for t, _ in sorted(row, key=lambda e: (-e[1], e[0]))[:cap]]


def test_masked_targets_still_take_their_place_under_the_fan_cap() -> None:
    star = csr({0: [(1, 1.0), (2, 0.5), (3, 0.25)]}, 4)
    mask = np.array([True, False, True, True])
    assert run(star, {0: 1.0}, fan_cap=2, mask=mask)[0].tolist() == [2]


def test_node_cap_keeps_the_most_activated_then_the_lowest_numbers() -> None:
    star = csr({0: [(4, 0.5), (3, 0.5), (2, 1.0), (1, 0.25)]}, 5)
    assert run(star, {0: 1.0}, node_cap=2)[0].tolist() == [2, 3]


def test_nodes_already_reached_gain_more_when_the_cap_is_used_up() -> None:
    ring = csr({0: [(1, 1.0)], 1: [(0, 1.0), (2, 1.0)]}, 3)
    nodes, activation, _, _ = run(ring, {0: 1.0}, node_cap=1)
    assert (nodes.tolist(), activation.tolist()) == ([1], [0.5])


def test_normalised_weights_share_what_a_node_passes() -> None:
    star = csr({0: [(1, 3.0), (2, 1.0), (3, -5.0)]}, 4)
    _, activation, _, _ = run(star, {0: 1.0}, fan_normalise=True)
    assert activation.tolist() == [0.375, 0.125]


def test_parallel_edges_add_up() -> None:
    _, activation, _, _ = run(csr({0: [(1, 0.25), (1, 0.5)]}, 2), {0: 1.0})
    assert activation.tolist() == [0.375]


def test_parent_is_the_largest_contribution_then_the_lowest_number() -> None:
    edges = csr({0: [(3, 0.5)], 1: [(3, 1.0)], 2: [(3, 1.0)]}, 4)
    _, _, parents, _ = run(edges, {2: 1.0, 1: 1.0, 0: 1.0})
    assert parents.tolist() == [1]


def test_activation_is_capped_at_one() -> None:
    assert run(csr({0: [(1, 8.0)]}, 2), {0: 1.0})[1].tolist() == [1.0]


def test_seeds_that_do_not_receive_pass_only_at_the_start() -> None:
    ring = csr({0: [(1, 1.0)], 1: [(0, 1.0)]}, 2)
    assert run(ring, {0: 1.0})[0].tolist() == [1, 0]
    assert run(ring, {0: 1.0}, seeds_receive=False)[0].tolist() == [1]


def test_depth_zero_and_no_seeds_reach_nothing() -> None:
    star = csr({0: [(1, 1.0)]}, 2)
    assert len(run(star, {0: 1.0}, depth=0)[0]) == len(run(star, {})[0]) == 0


def test_a_graph_without_nodes_is_allowed() -> None:
    assert len(run(csr({}, 0), {})[0]) == 0


def test_huge_weights_give_no_nan() -> None:
    huge = np.finfo(np.float64).max
    matrix = csr({0: [(1, huge), (2, huge)], 1: [(2, huge), (0, 1.0)], 2: [(0, huge)]}, 3, "f8")
    for normalise in (False, True):
        _, activation, _, _ = run(matrix, {0: huge}, depth=8, fan_normalise=normalise)
        assert np.isfinite(activation).all()


def test_the_same_call_gives_the_same_bits_on_every_thread() -> None:
    matrix, seeds = csr(random_edges(500), 500), {1: 1.0, 7: 0.3}
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: run(matrix, seeds, threshold=0.01), range(24)))
    for result in results[1:]:
        for array, first in zip(result, results[0], strict=True):
            assert array.tobytes() == first.tobytes()


# --- refusals ---------------------------------------------------------------------------

GOOD = (np.array([0, 1, 2]), np.array([1, 0]), np.array([1.0, 1.0]))


@pytest.mark.parametrize(
    ("indptr", "indices", "weights", "argument"),
    [
        ([0, 2, 1], [1, 0], [1, 1], "indptr"),
        ([1, 1, 2], [1, 0], [1, 1], "indptr"),
        ([0, 1, 3], [1, 0], [1, 1], "indptr"),
        ([0, 1, 1], [1, 0], [1, 1], "indptr"),
        ([0, -1, 2], [1, 0], [1, 1], "indptr"),
        ([0, 1, 2], [1, 2], [1, 1], "indices"),
        ([0, 1, 2], [1, -1], [1, 1], "indices"),
        ([0, 1, 2], [1, 0], [1, math.nan], "weights"),
        ([0, 1, 2], [1, 0], [1, -math.inf], "weights"),
        ([0, 1, 2], [1, 0], [1], "weights"),
        ([], [], [], "indptr"),
    ],
)
@pytest.mark.parametrize("index", ["i4", "i8"])
def test_malformed_matrices_are_refused(indptr, indices, weights, argument, index) -> None:
    matrix = np.array(indptr, index), np.array(indices, index), np.array(weights, "f4")
    with pytest.raises(InvalidArgument, match=f"^{argument}: expected"):
        _core.check_csr(*matrix)
    with pytest.raises(InvalidArgument, match=f"^{argument}: expected"):
        run(matrix, {})


@pytest.mark.parametrize(("indptr", "indices"), [([0, 9, 2], [1, 0]), ([0, 1, 2], [7, 0])])
def test_a_matrix_changed_after_validation_is_refused_where_touched(indptr, indices) -> None:
    matrix = np.array(indptr), np.array(indices), np.ones(2)
    with pytest.raises(InvalidArgument, match="expected"):
        run(matrix, {0: 1.0}, scratches=_core.ScratchPool())


@pytest.mark.parametrize(
    ("seeds", "argument"),
    [({2: 1.0}, "seeds"), ({-1: 1.0}, "seeds"), ({0: -1.0}, "seed_activation"),
     ({0: math.nan}, "seed_activation"), ({0: math.inf}, "seed_activation")],
)  # fmt: skip
def test_seeds_out_of_range_are_refused(seeds: dict, argument: str) -> None:
    with pytest.raises(InvalidArgument, match=f"^{argument}: expected"):
        run(GOOD, seeds)


@pytest.mark.parametrize("bad", [-1, 2**31, 2**62])
def test_seeds_that_change_meanwhile_are_read_once(bad: int) -> None:
    seeds, done = np.arange(2000), threading.Event()
    matrix, activation = csr({}, 2000), np.ones(2000)

    def write() -> None:
        while not done.is_set():
            seeds[-1] = bad
            seeds[-1] = 1999

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            for _ in range(300):
                with contextlib.suppress(InvalidArgument):
                    reached = _core.spread(
                        *matrix, seeds, activation, **{**RULES, "seeds_receive": False}
                    )
                    assert reached[0].size == 0
        finally:
            done.set()
        writing.result()


def test_a_seed_named_twice_is_refused() -> None:
    seeds, activation = np.array([1, 1]), np.ones(2)
    with pytest.raises(InvalidArgument, match="distinct"):
        _core.spread(*GOOD, seeds, activation, **RULES)


@pytest.mark.parametrize(
    "rule",
    [{"depth": -1}, {"depth": 9}, {"hop_decay": 0.0}, {"hop_decay": 1.5}, {"hop_decay": math.nan},
     {"threshold": -0.1}, {"threshold": math.inf}, {"threshold": math.nan}, {"fan_cap": -1},
     {"node_cap": -1}],
)  # fmt: skip
def test_rules_out_of_range_are_refused(rule: dict) -> None:
    with pytest.raises(InvalidArgument, match=f"^{next(iter(rule))}: expected"):
        run(GOOD, {0: 1.0}, **rule)


@pytest.mark.parametrize("length", [0, 1, 3])
def test_masks_of_another_length_are_refused(length: int) -> None:
    with pytest.raises(ShapeMismatch, match="mask"):
        run(GOOD, {0: 1.0}, mask=np.ones(length, np.bool_))


def test_activation_of_another_length_than_seeds_is_refused() -> None:
    with pytest.raises(ShapeMismatch, match="seed_activation"):
        _core.spread(*GOOD, np.array([0]), np.ones(2), **RULES)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("wrong", ["list", "float16", "strided"])
def test_arrays_are_never_converted(place: int, wrong: str) -> None:
    parts = list(GOOD)
    turned = {
        "list": list,
        "float16": lambda a: a.astype("f2"),
        "strided": lambda a: a.repeat(2)[::2],
    }
    parts[place] = turned[wrong](parts[place])
    with pytest.raises(InvalidType, match=("indptr", "indices", "weights")[place]):
        run(tuple(parts), {0: 1.0})
