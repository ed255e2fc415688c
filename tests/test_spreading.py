"""Spreading over link tables and scipy matrices."""

from __future__ import annotations

import math

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from ebbmem import _core
from ebbmem.csr import Csr
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch
from ebbmem.graph import LinkTable
from ebbmem.spreading import Activation, SpreadConfig, spread

ALL = SpreadConfig(threshold=0.0, fan_cap=0, node_cap=0, fan_normalise=False)


def matrix(size: int, weights: str = "f8", index: str = "i4", kind=sparse.csr_array):
    rng = np.random.default_rng(size)
    made = kind(rng.random((size, size)) * (rng.random((size, size)) < 0.2))
    made.data = made.data.astype(weights)
    made.indices, made.indptr = made.indices.astype(index), made.indptr.astype(index)
    return made


def as_dict(activation: Activation) -> dict[int, float]:
    pairs = zip(activation.nodes.tolist(), activation.activation.tolist(), strict=True)
    return dict(pairs)


def as_edges(made) -> oracles.Edges:
    coo = made.tocoo()
    edges: oracles.Edges = {}
    for source, target, weight in zip(
        *map(np.ndarray.tolist, (coo.row, coo.col, coo.data)), strict=True
    ):
        edges.setdefault(source, []).append((target, weight))
    return edges


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("weights", ["f4", "f8"])
@pytest.mark.parametrize("index", ["i4", "i8"])
def test_scipy_matrices_are_read_where_they_lie(monkeypatch, kind, weights, index) -> None:
    made, passed, core = matrix(20, weights, index, kind), [], _core.spread
    monkeypatch.setattr(_core, "spread", lambda *a, **k: passed.extend(a[:3]) or core(*a, **k))
    found = spread(made, {0: 1.0, 5: 0.5})
    assert all(
        given is own
        for given, own in zip(passed, (made.indptr, made.indices, made.data), strict=True)
    )
    expected = oracles.spread(
        as_edges(made),
        {0: 1.0, 5: 0.5},
        threshold=0.01,
        fan_cap=64,
        node_cap=4096,
        fan_normalise=True,
    )
    assert as_dict(found) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(0, 8), st.sampled_from([0.25, 0.5, 1.0]))
def test_uncapped_spreading_is_a_sum_of_matrix_products(
    size: int, depth: int, decay: float
) -> None:
    made, start = matrix(size), np.zeros(size)
    start[[0, size - 1]] = 0.01
    expected, wave = np.zeros(size), start
    for _ in range(depth):
        wave = decay * (made.T @ wave)
        expected += wave
    found = spread(
        made, dict.fromkeys({0, size - 1}, 0.01), SpreadConfig(depth, decay, 0, 0, 0, False)
    )
    reached = np.zeros(size)
    reached[found.nodes] = found.activation
    np.testing.assert_allclose(reached, np.minimum(expected, 1), rtol=1e-12)


def linked() -> LinkTable:
    table = LinkTable()
    table.add(0, 1, "related", 1.0)
    table.add(0, 1, "keyword", 0.5)
    table.add(1, 2, "next_turn", 0.5)
    table.add(0, 3, "supersedes", 1.0)
    return table


def test_links_of_several_kinds_add_up_and_superseding_carries_nothing() -> None:
    found = spread(linked().csr(4), {0: 1.0}, ALL)
    assert as_dict(found) == {1: 0.75, 2: 0.1875}


def test_a_table_and_its_scipy_form_spread_alike() -> None:
    csr = linked().csr(4)
    one, other = spread(csr, {0: 1.0}), spread(csr.to_scipy(), {0: 1.0})
    assert as_dict(one) == as_dict(other)


def test_seeds_come_as_a_mapping_or_as_arrays() -> None:
    csr, nodes = linked().csr(4), np.array([1, 0], np.int32)
    found = spread(csr, (nodes, np.array([0.25, 1], np.float32)))
    assert as_dict(found) == as_dict(spread(csr, {0: 1, 1: 0.25}))
    assert len(spread(csr, {})) == len(spread(csr, (np.array([]), np.array([])))) == 0


def test_masked_nodes_neither_receive_nor_pass() -> None:
    mask = np.array([True, False, True, True])
    assert len(spread(linked().csr(4), {0: 1.0}, ALL, mask=mask)) == 0


def test_a_path_leads_from_a_seed_to_the_node() -> None:
    found = spread(linked().csr(4), {0: 1.0}, ALL)
    assert (found.path(2), found.path(1)) == ((0, 1, 2), (0, 1))
    with pytest.raises(InvalidArgument, match="node: expected a node that was reached"):
        found.path(3)


def test_a_path_stops_at_a_seed_that_was_reached_too() -> None:
    ring = sparse.csr_array(np.array([[0, 1.0], [1.0, 0]]))
    assert spread(ring, {0: 1.0}, ALL).path(0) == (0, 1, 0)


def test_the_default_config_bounds_what_is_reached() -> None:
    star = sparse.csr_array((np.ones(100), (np.zeros(100, int), np.arange(1, 101))), (101, 101))
    found = spread(star, {0: 1.0})
    assert found.nodes.tolist() == list(range(1, 65))
    assert found.activation.tolist() == pytest.approx([0.5 / 100] * 64, rel=1e-15)


# --- refusals ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["coo", "csc", "bsr", "lil", "dok", "dia"])
def test_other_sparse_formats_are_refused(name: str) -> None:
    with pytest.raises(InvalidType, match=r"graph: expected a Csr, scipy\.sparse\.csr_array"):
        spread(matrix(4).asformat(name), {0: 1.0})


@pytest.mark.parametrize("graph", [np.eye(3), [[0, 1], [1, 0]], None, LinkTable()])
def test_what_is_no_sparse_matrix_is_refused(graph: object) -> None:
    with pytest.raises(InvalidType, match="graph: expected"):
        spread(graph, {0: 1.0})


def test_matrices_that_are_not_square_are_refused() -> None:
    with pytest.raises(ShapeMismatch, match="graph: expected a square matrix"):
        spread(sparse.csr_array((3, 4)), {0: 1.0})


def test_matrices_of_other_numbers_are_refused() -> None:
    with pytest.raises(InvalidType, match=r"weights: expected .* float32 or float64"):
        spread(sparse.csr_array(np.eye(3, dtype=np.int64)), {0: 1.0})


def test_a_damaged_scipy_matrix_is_refused() -> None:
    made = matrix(10)
    made.indices[-1] = 10
    with pytest.raises(InvalidArgument, match="indices"):
        spread(made, {0: 1.0})


@pytest.mark.parametrize(
    ("seeds", "error"),
    [
        ({4: 1.0}, InvalidArgument),
        ({-1: 1.0}, InvalidArgument),
        ({0: -1.0}, InvalidArgument),
        ({0: math.nan}, InvalidArgument),
        ({0.5: 1.0}, InvalidType),
        ({"a": 1.0}, InvalidType),
        ({0: "a"}, InvalidType),
        ([0], InvalidType),
        (3, InvalidType),
        ((0, 1.0), ShapeMismatch),
        ((np.array([0, 0]), np.ones(2)), InvalidArgument),
        ((np.array([0, 1]), np.ones(3)), ShapeMismatch),
        ((np.array([[0]]), np.ones(1)), ShapeMismatch),
    ],
)
def test_seeds_that_make_no_sense_are_refused(seeds: object, error: type) -> None:
    with pytest.raises(error, match="seed"):
        spread(linked().csr(4), seeds)


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("depth", -1, InvalidArgument),
        ("depth", 9, InvalidArgument),
        ("depth", 2.0, InvalidType),
        ("depth", True, InvalidType),
        ("hop_decay", 0, InvalidArgument),
        ("hop_decay", 1.01, InvalidArgument),
        ("hop_decay", math.nan, InvalidArgument),
        ("hop_decay", "0.5", InvalidType),
        ("threshold", -0.01, InvalidArgument),
        ("threshold", math.inf, InvalidArgument),
        ("fan_cap", -1, InvalidArgument),
        ("fan_cap", None, InvalidType),
        ("node_cap", 2**63, InvalidArgument),
        ("fan_normalise", 1, InvalidType),
        ("seeds_receive", None, InvalidType),
    ],
)
def test_config_fields_out_of_range_are_refused(field: str, value: object, error: type) -> None:
    with pytest.raises(error, match=f"^{field}: expected"):
        SpreadConfig(**{field: value})


@pytest.mark.parametrize("length", [0, 3, 5])
def test_masks_of_another_length_are_refused(length: int) -> None:
    with pytest.raises(ShapeMismatch, match="mask"):
        spread(linked().csr(4), {0: 1.0}, mask=np.ones(length, np.bool_))


def test_a_csr_of_scipys_arrays_is_the_same_matrix() -> None:
    csr = Csr(*(getattr(matrix(5), part) for part in ("indptr", "indices", "data", "shape")))
    assert (csr.to_scipy() != matrix(5)).nnz == 0
