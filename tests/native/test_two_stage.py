"""Codes first, then float32 rows: the same bytes as reading every float32 row."""

from __future__ import annotations

from dataclasses import dataclass

import code_oracles
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core

ONE, TWO = 1, 2
DIMS = [1, 3, 16, 17, 32, 33, 64, 100, 256]
KINDS = ["random", "clusters", "counts", "few", "equal", "zero", "wild", "unscaled", "huge"]
testing = _core._testing

Result = tuple[np.ndarray, ...]


def rows_of(kind: str, rng: np.random.Generator, size: int, dim: int) -> np.ndarray:
    """Return rows of one kind; all but the last three kinds are of norm 1 or 0."""
    if kind == "zero":
        return np.zeros((size, dim), np.float32)
    if kind == "huge":
        return rng.choice([-3e38, 0.0, 3e38], (size, dim)).astype(np.float32)
    made = {
        "random": lambda: rng.standard_normal((size, dim)),
        "clusters": lambda: (
            rng.standard_normal((5, dim))[rng.integers(0, 5, size)]
            + 0.05 * rng.standard_normal((size, dim))
        ),
        "counts": lambda: rng.poisson(3 / dim, (size, dim)).astype(np.float64),
        "few": lambda: rng.integers(-1, 2, (size, dim)).astype(np.float64),
        "equal": lambda: np.ones((size, dim)) * rng.standard_normal(dim),
        "wild": lambda: rng.standard_normal((size, dim)) * 10.0 ** rng.integers(-44, 37, (size, 1)),
        "unscaled": lambda: 3 * rng.standard_normal((size, dim)),
    }[kind]()
    if kind not in {"wild", "unscaled"}:
        made /= np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-9)
    return made.astype(np.float32)


@dataclass
class World:
    """An arena, columns with many ties, and queries that are rows or close to rows."""

    seed: int
    kind: str
    size: int
    dim: int
    count: int

    def __post_init__(self) -> None:
        rng, size = np.random.default_rng(self.seed), self.size
        rows = rows_of(self.kind, rng, size, self.dim)
        self.arena = _core.Arena(self.dim)
        self.arena.append(rows)
        self.arena.tombstone(np.flatnonzero(rng.random(size) < rng.choice([0.0, 0.3])))
        near = rows_of(self.kind, rng, self.count, self.dim)
        self.queries = np.where(
            rng.random((self.count, 1)) < 0.5, np.resize(rows, near.shape), near
        )
        self.mul = rng.choice([-1e300, -2.0, -1.0, 0.0, 0.5, 1.0, 1e-30, 1e38], size)
        self.add = rng.choice([-1e12, 0.0, 0.25, 1.0, 1e9], size)
        if rng.random() < 0.7:
            self.mul, self.add = rng.choice([-1.0, 0.5, 1.0], size), rng.normal(size=size).round(1)
        weights = [-np.inf, -1e9, -3.0, -0.1, 0.0, 2.0]
        self.log_weight = rng.choice(weights, size, p=[0.02, 0.08, 0.2, 0.3, 0.3, 0.1])
        self.newness = rng.integers(-2, 3, size)
        self.mask = rng.random(size) < rng.choice([0.02, 0.5, 0.98])

    def affine(self, stages: int, k: int, *, columns: bool, masked: bool) -> Result:
        mul, add = (self.mul, self.add) if columns else (None, None)
        mask = self.mask if masked else None
        args = (self.arena, self.queries, mul, add, self.newness, mask, k)
        return testing.top_affine_many(stages, *args)

    def product(self, stages: int, k: int, *, masked: bool) -> Result:
        mask = self.mask if masked else None
        args = (self.arena, self.queries, self.log_weight, self.newness, mask, k)
        return testing.top_product_many(stages, *args)


def worlds(count: st.SearchStrategy[int]) -> st.SearchStrategy[World]:
    seeds, sizes = st.integers(0, 2**32), st.integers(0, 900)
    return st.builds(World, seeds, st.sampled_from(KINDS), sizes, st.sampled_from(DIMS), count)


def same(got: Result, want: Result) -> bool:
    return [part.tobytes() for part in got] == [part.tobytes() for part in want]


TOP_K = st.sampled_from([1, 3, 10, 1000])


@settings(max_examples=150)
@given(worlds(st.integers(1, 3)), TOP_K, st.booleans(), st.booleans())
def test_two_stages_give_the_bytes_of_one(
    world: World, k: int, columns: bool, masked: bool
) -> None:
    for stages in (ONE, TWO):
        affine = world.affine(stages, k, columns=columns, masked=masked)
        product = world.product(stages, k, masked=masked)
        if stages == ONE:
            want = affine, product
    assert same(affine, want[0])
    assert same(product, want[1])


@settings(max_examples=60)
@given(worlds(st.integers(4, 40)), TOP_K, st.booleans(), st.booleans())
def test_panels_of_queries_give_the_bytes_of_one_stage(
    world: World, k: int, columns: bool, masked: bool
) -> None:
    got = world.affine(TWO, k, columns=columns, masked=masked)
    assert same(got, world.affine(ONE, k, columns=columns, masked=masked))
    assert same(world.product(TWO, k, masked=masked), world.product(ONE, k, masked=masked))


@settings(max_examples=30)
@given(worlds(st.integers(1, 20)), TOP_K)
def test_two_stages_give_the_same_bytes_on_every_isa(world: World, k: int) -> None:
    before, results = _core.isa(), []
    try:
        for isa in _core.isas():
            _core.choose_isa(isa)
            results.append(world.affine(TWO, k, columns=True, masked=True))
            results.append(world.product(TWO, k, masked=True))
    finally:
        _core.choose_isa(before)
    assert all(same(got, results[i % 2]) for i, got in enumerate(results))


@pytest.mark.parametrize("dim", [384, 1024, 4096])
@pytest.mark.parametrize("kind", ["random", "clusters", "counts"])
@pytest.mark.parametrize("count", [1, 5])
def test_long_rows(dim: int, kind: str, count: int) -> None:
    world = World(dim, kind, 600, dim, count)
    assert same(
        world.affine(TWO, 10, columns=False, masked=False),
        world.affine(ONE, 10, columns=False, masked=False),
    )
    assert same(world.product(TWO, 10, masked=False), world.product(ONE, 10, masked=False))


def test_many_equal_rows_are_settled_on_the_way() -> None:
    rng = np.random.default_rng(8)
    rows = np.repeat(rng.choice([-0.5, 0.5], (3, 4)).astype(np.float32), 7000, axis=0)
    arena = _core.Arena(4)
    arena.append(rows[rng.permutation(len(rows))])
    newness = rng.integers(0, 5000, len(rows))
    args = (arena, rows[::6000].copy(), None, None, newness, None, 10)
    assert same(testing.top_affine_many(TWO, *args), testing.top_affine_many(ONE, *args))


@pytest.mark.parametrize("count", [1, 2, 9])
def test_the_way_chosen_changes_nothing(count: int) -> None:
    world = World(3, "clusters", 900, 256, count)
    args = (world.arena, world.queries, world.mul, world.add, world.newness, None, 7)
    chosen = _core.top_affine_many(*args)
    assert same(chosen, testing.top_affine_many(ONE, *args))
    assert same(chosen, testing.top_affine_many(TWO, *args))


def panel_queries(dim: int, rng: np.random.Generator) -> np.ndarray:
    """Return 16 queries whose codes are as large as every kernel allows: of 16, two sums of 128."""
    codes = np.zeros((16, dim // 16, 2, 8), np.int8)
    for one, (size, many) in enumerate([(16, 8), (32, 4), (64, 2), (127, 1)] * 4):
        chosen = rng.permuted(np.tile(np.arange(8) < many, (dim // 16, 2, 1)), axis=-1)
        codes[one] = chosen * rng.choice([-size, size], chosen.shape)
    # Place 4 n + i of 16 belongs to the first sum where i < 2.
    return codes.reshape(16, dim // 16, 2, 4, 2).transpose(0, 1, 3, 2, 4).reshape(16, dim).copy()


@pytest.mark.parametrize("name", _core.isas())
@pytest.mark.parametrize("dim", [32, 64, 256])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 13])
def test_tiles_are_exact(name: str, dim: int, count: int) -> None:
    rng = np.random.default_rng(dim + count)
    queries = panel_queries(dim, rng)
    rows = rng.choice([-127, -3, 0, 127], (count, dim)).astype(np.int8)
    want = [[code_oracles.integer_dot(q, row) for row in rows] for q in queries]
    assert testing.dot_tile(name, queries, rows).tolist() == want


@pytest.mark.parametrize("name", _core.isas())
@pytest.mark.parametrize("sign", [-1, 1])
def test_tiles_do_not_saturate(name: str, sign: int) -> None:
    queries = np.abs(panel_queries(65_536, np.random.default_rng(3)))
    rows = np.full((1, 65_536), sign * 127, np.int8)
    want = [[sign * 127 * int(query.sum(dtype=np.int64))] for query in queries]
    assert testing.dot_tile(name, queries, rows).tolist() == want


@pytest.mark.parametrize("dim", [5, 16, 33, 384])
@pytest.mark.parametrize("kind", ["level", "spiked", "random", "counts"])
def test_batches_of_any_spread_rank_as_one_by_one(dim: int, kind: str, isa: str) -> None:
    """A panel's codes have as many levels as its sums of 16 bits allow: that differs by query."""
    rng = np.random.default_rng(dim)
    rows = rng.choice([-1.0, 1.0], (700, dim)) * np.where(rng.random((700, 1)) < 0.5, 1.0, 0.25)
    queries = rng.choice([-1.0, 1.0], (21, dim))
    if kind == "spiked":
        queries *= np.where(np.arange(dim) % 7 == 0, 1.0, 1e-3)
    elif kind == "random":
        queries = rng.standard_normal((21, dim))
    elif kind == "counts":
        queries = rng.integers(0, 40, (21, dim)).astype(np.float64)
    queries /= np.maximum(np.linalg.norm(queries, axis=1, keepdims=True), 1e-30)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    arena = _core.Arena(dim)
    arena.append(rows.astype(np.float32))
    args = (arena, queries.astype(np.float32), None, None, None, None, 10)
    assert same(testing.top_affine_many(TWO, *args), testing.top_affine_many(ONE, *args))


@pytest.mark.parametrize("name", _core.isas())
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 40, 256])
def test_reach_keeps_what_is_not_below_the_floor(name: str, weighted: bool, count: int) -> None:
    rng = np.random.default_rng(count)
    dots = rng.integers(-(10**6), 10**6, count).astype(np.int32)
    parts = rng.random((5, count)).astype(np.float32)
    parts[0] *= 1e-6
    parts[1, ::7] = np.inf
    query = np.array([1.0, 0.01, 0.02, 0.3], np.float32)
    with np.errstate(invalid="ignore"):
        upper = dots.astype(np.float32) * parts[0] * query[0]
        upper = upper + (parts[1] * query[2] + parts[2] * query[1])
        score = np.clip(upper, np.float32(-1), np.float32(1))
    if weighted:
        score = parts[3] * score + parts[4]
    got = testing.reach(name, dots, parts if weighted else parts[:3].copy(), query)
    assert got.tolist() == np.flatnonzero(~(score < query[3])).tolist()


@pytest.mark.parametrize("name", _core.isas())
def test_reach_lets_through_what_has_no_bound(name: str) -> None:
    parts = np.array([[0.0, 0.0], [np.inf, 0.0], [np.inf, 0.0]], np.float32)
    query = np.array([0.0, np.inf, np.inf, 0.9], np.float32)
    dots = np.zeros(2, np.int32)
    assert testing.reach(name, dots, parts, query).tolist() == [0, 1]
    query[1:3] = 0.0
    assert testing.reach(name, dots, parts, query).tolist() == [0]
