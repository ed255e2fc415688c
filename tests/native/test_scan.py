"""The scan returns what sorting every row by its score would."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch


@pytest.fixture(params=_core.isas())
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _core.isa()
    _core.choose_isa(request.param)
    yield request.param
    _core.choose_isa(before)


class World:
    """An arena with columns; few distinct values, so that ties are everywhere."""

    def __init__(self, seed: int, size: int, dim: int = 17) -> None:
        rng = np.random.default_rng(seed)
        self.rows = rng.integers(-1, 2, (size, dim)).astype(np.float32)
        self.rows /= np.maximum(np.linalg.norm(self.rows, axis=1, keepdims=True), 1)
        self.query = self.rows[0].copy() if size else np.zeros(dim, np.float32)
        self.mul = rng.choice([-1.0, 0.0, 0.5, 1.0], size)
        self.add = rng.choice([0.0, 0.25, 1.0], size)
        self.log_weight = rng.choice([-np.inf, -1e6, -3.0, 0.0, 2.0], size)
        self.newness = rng.integers(-2, 3, size)
        self.mask = rng.random(size) < rng.choice([0.02, 0.5, 0.98])
        self.dead = np.flatnonzero(rng.random(size) < rng.choice([0.0, 0.3]))
        self.arena = _core.Arena(dim)
        self.arena.append(self.rows)
        self.arena.tombstone(self.dead)

    @property
    def allowed(self) -> np.ndarray:
        allowed = self.mask.copy()
        allowed[self.dead] = False
        return allowed

    def dots(self, query: np.ndarray) -> list[float]:
        return [oracles.dot32(query, row) for row in self.rows]


def worlds(size: st.SearchStrategy[int]) -> st.SearchStrategy[World]:
    return st.builds(World, st.integers(0, 2**32), size)


TOP_K = st.sampled_from([1, 3, 10, 1000])


@settings(max_examples=50)
@given(worlds(st.integers(0, 60)), TOP_K)
def test_affine_scan_equals_sorting_every_row(world: World, k: int) -> None:
    dots = world.dots(world.query)
    scores = [m * d + a for m, d, a in zip(world.mul, dots, world.add, strict=True)]
    want = oracles.best(scores, world.newness.tolist(), world.allowed, k)
    slots, got, got_dots = _core.top_affine(
        world.arena, world.query, world.mul, world.add, world.newness, world.mask, k
    )
    assert slots.tolist() == want
    assert got.tolist() == [scores[slot] for slot in want]
    assert got_dots.tolist() == [dots[slot] for slot in want]


@settings(max_examples=50)
@given(worlds(st.integers(0, 60)), TOP_K)
def test_product_scan_equals_sorting_every_row(world: World, k: int) -> None:
    dots = world.dots(world.query)
    halves = _core._testing.log(np.array([(1 + d) / 2 for d in dots]))
    scores = (world.log_weight + halves).tolist()
    want = oracles.best(scores, world.newness.tolist(), world.allowed, k)
    slots, got, _ = _core.top_product(
        world.arena, world.query, world.log_weight, world.newness, world.mask, k
    )
    keys = [oracles.product_key(w, d) for w, d in zip(world.log_weight, dots, strict=True)]
    assert slots.tolist() == want
    assert got.tolist() == [scores[slot] for slot in want]
    assert got.tolist() == pytest.approx([keys[slot] for slot in want], rel=1e-15, abs=1e-15)


def full_affine(world: World, k: int) -> list[int]:
    """The same scores from the core's own dots of all rows, sorted."""
    dots = _core.dots(world.arena, world.query, np.arange(world.arena.size))
    scores = (world.mul * dots.astype(np.float64) + world.add).tolist()
    return oracles.best(scores, world.newness.tolist(), world.allowed, k)


@settings(max_examples=25)
@given(worlds(st.integers(500, 3000)), TOP_K)
def test_blocks_opened_by_bound_give_the_full_scan(world: World, k: int) -> None:
    slots, _, _ = _core.top_affine(
        world.arena, world.query, world.mul, world.add, world.newness, world.mask, k
    )
    assert slots.tolist() == full_affine(world, k)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([1e-5, 1e-2, 0.05]), TOP_K)
def test_forgotten_blocks_change_nothing(seed: int, rate: float, k: int) -> None:
    world, rng = World(seed, 3000), np.random.default_rng(seed)
    weight = _core.log_weights(rng.uniform(1, 10, 3000), rng.uniform(0, 1e5, 3000), rate)
    dots = _core.dots(world.arena, world.query, np.arange(3000)).astype(np.float64)
    scores = (weight + _core._testing.log((1 + dots) / 2)).tolist()
    want = oracles.best(scores, world.newness.tolist(), world.allowed, k)
    slots, got, _ = _core.top_product(
        world.arena, world.query, weight, world.newness, world.mask, k
    )
    assert slots.tolist() == want
    assert got.tolist() == [scores[slot] for slot in want]


@settings(max_examples=25)
@given(worlds(st.integers(0, 700)), st.integers(0, 5), TOP_K)
def test_a_batch_equals_its_queries_one_by_one(world: World, count: int, k: int) -> None:
    queries = np.resize(world.rows, (count, 17)).astype(np.float32)
    columns = (world.mul, world.add, world.newness, world.mask, k)
    weights = (world.log_weight, world.newness, world.mask, k)
    for many, single, rest in (
        (_core.top_affine_many, _core.top_affine, columns),
        (_core.top_product_many, _core.top_product, weights),
    ):
        *columns_of_all, ends = many(world.arena, queries, *rest)
        assert ends.size == count
        for i, query in enumerate(queries):
            part = slice(ends[i - 1] if i else 0, ends[i])
            for got, want in zip(columns_of_all, single(world.arena, query, *rest), strict=True):
                assert got[part].tolist() == want.tolist()


@settings(max_examples=20)
@given(worlds(st.integers(0, 400)), TOP_K)
def test_every_isa_gives_the_same_bytes(world: World, k: int) -> None:
    before, results = _core.isa(), []
    for isa in _core.isas():
        _core.choose_isa(isa)
        affine = _core.top_affine(
            world.arena, world.query, world.mul, world.add, world.newness, world.mask, k
        )
        product = _core.top_product(world.arena, world.query, world.log_weight, None, world.mask, k)
        results.append([column.tobytes() for column in (*affine, *product)])
    _core.choose_isa(before)
    assert all(result == results[0] for result in results)


@settings(max_examples=25)
@given(worlds(st.integers(0, 300)), TOP_K)
def test_compaction_preserves_search(world: World, k: int) -> None:
    before = _core.top_affine(
        world.arena, world.query, world.mul, world.add, world.newness, world.mask, k
    )
    moved = world.arena.compact()
    kept = moved >= 0
    after = _core.top_affine(
        world.arena,
        world.query,
        *(column[kept] for column in (world.mul, world.add, world.newness, world.mask)),
        k,
    )
    assert moved[before[0]].tolist() == after[0].tolist()
    assert before[1].tolist() == after[1].tolist()


def unit(dim: int, *axes: int) -> np.ndarray:
    rows = np.zeros((len(axes), dim), dtype=np.float32)
    for row, axis in enumerate(axes):
        rows[row, abs(axis)] = math.copysign(1.0, axis)
    return rows


def arena_of(rows: np.ndarray) -> _core.Arena:
    arena = _core.Arena(rows.shape[1])
    arena.append(rows)
    return arena


@pytest.mark.parametrize("dim", [1, 15, 16, 17, 31, 33, 1000])
def test_dots_are_the_canonical_ones(isa: str, dim: int) -> None:
    rng = np.random.default_rng(dim)
    rows = rng.standard_normal((9, dim)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    arena, slots = arena_of(rows), np.array([8, 0, 8, 3])
    got = _core.dots(arena, rows[0], slots)
    assert got.tolist() == [oracles.dot32(rows[0], rows[slot]) for slot in slots]
    top = _core.top_affine(arena, rows[0], None, None, None, None, 9)
    assert sorted(top[2].tolist()) == sorted(_core.dots(arena, rows[0], np.arange(9)).tolist())


def test_dots_never_leave_the_unit_interval(isa: str) -> None:
    arena = arena_of(np.array([[2, 2], [-2, -2], [3e38, -3e38]], dtype=np.float32))
    got = _core.dots(arena, np.array([3e38, 3e38], dtype=np.float32), np.arange(3))
    assert got[:2].tolist() == [1.0, -1.0]
    assert -1.0 <= got[2] <= 1.0


def test_without_columns_the_score_is_the_dot_and_later_rows_win_ties() -> None:
    arena = arena_of(unit(4, 1, 2, 1, 3))
    slots, scores, dots = _core.top_affine(arena, unit(4, 1)[0], None, None, None, None, 3)
    assert slots.tolist() == [2, 0, 3]
    assert scores.tolist() == dots.tolist() == [1.0, 1.0, 0.0]


def test_ties_go_to_the_newer_then_to_the_lower_slot() -> None:
    arena = arena_of(unit(4, 1, 1, 1, 1))
    newness = np.array([5, 2**62, 5, -(2**62)])
    slots, _, _ = _core.top_affine(arena, unit(4, 1)[0], None, None, newness, None, 4)
    assert slots.tolist() == [1, 0, 2, 3]


@pytest.mark.parametrize("newest", [0, 700, 1299])
def test_a_newer_row_wins_a_tie_from_any_block(newest: int) -> None:
    arena = arena_of(np.tile(unit(4, 1), (1300, 1)))
    newness = np.zeros(1300, dtype=np.int64)
    newness[newest] = 1
    for column in (None, np.zeros(1300)):
        slots, _, _ = _core.top_affine(arena, unit(4, 1)[0], None, column, newness, None, 1)
        assert slots.tolist() == [newest]
    slots, _, _ = _core.top_product(arena, unit(4, 1)[0], np.zeros(1300), newness, None, 1)
    assert slots.tolist() == [newest]


def test_opposite_and_weightless_rows_rank_last_but_fill_up() -> None:
    arena = arena_of(unit(4, -1, 1, 2))
    weight = np.array([100.0, -np.inf, 0.0])
    slots, scores, _ = _core.top_product(arena, unit(4, 1)[0], weight, None, None, 9)
    assert slots.tolist() == [2, 1, 0]
    assert scores.tolist() == [pytest.approx(math.log(0.5)), -math.inf, -math.inf]


def test_ages_past_underflow_are_ranked() -> None:
    # Linear scores of all three are 0.0 in double: 0.05 per second, a day old and more.
    arena, ages = arena_of(unit(4, 1, 1, 2)), np.array([86_500.0, 86_400.0, 86_399.0])
    weight = _core.log_weights(np.array([5.0, 5.0, 5.0]), ages, 0.05)
    slots, scores, _ = _core.top_product(arena, unit(4, 1)[0], weight, None, None, 3)
    assert slots.tolist() == [1, 2, 0]
    want = [oracles.ebbinghaus_key(c, 5, a) for c, a in ((1, 86_400), (0, 86_399), (1, 86_500))]
    assert scores.tolist() == pytest.approx(want, rel=1e-15)


def test_masked_and_dead_rows_never_take_a_place() -> None:
    arena = arena_of(unit(4, 1, 1, 1, 2))
    arena.tombstone(np.array([1]))
    mask = np.array([False, True, True, True])
    slots, _, _ = _core.top_affine(arena, unit(4, 1)[0], None, None, None, mask, 2)
    assert slots.tolist() == [2, 3]


@pytest.mark.parametrize("k", [1, 2**31, 2**63, 2**100])
def test_an_empty_arena_and_a_huge_k(k: int) -> None:
    empty = _core.Arena(4)
    none = np.zeros(0)
    for result in (
        _core.top_affine(empty, unit(4, 1)[0], none, None, None, None, k),
        _core.top_product(empty, unit(4, 1)[0], none, None, None, k),
    ):
        assert [column.size for column in result] == [0, 0, 0]
    assert _core.top_affine(arena_of(unit(4, 1)), unit(4, 1)[0], *[None] * 4, k)[0].size == 1


def test_a_batch_of_no_queries_is_empty() -> None:
    queries = np.zeros((0, 4), dtype=np.float32)
    result = _core.top_affine_many(arena_of(unit(4, 1)), queries, None, None, None, None, 3)
    assert [column.size for column in result] == [0, 0, 0, 0]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite_are_refused(bad: float) -> None:
    arena, query = arena_of(unit(4, 1, 2)), unit(4, 1)[0]
    column, broken = np.array([0.0, bad]), query.copy()
    broken[3] = bad
    with pytest.raises(InvalidArgument, match=r"query: expected finite values, got .* at 3"):
        _core.top_affine(arena, broken, None, None, None, None, 1)
    with pytest.raises(InvalidArgument, match="mul: expected finite"):
        _core.top_affine(arena, query, column, None, None, None, 1)
    with pytest.raises(InvalidArgument, match="add: expected finite"):
        _core.top_affine(arena, query, None, column, None, None, 1)
    if bad != -math.inf:
        with pytest.raises(InvalidArgument, match="log_weight: expected finite"):
            _core.top_product(arena, query, column, None, None, 1)


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("query", np.zeros(5, np.float32), ShapeMismatch),
        ("query", np.zeros(4), InvalidType),
        ("query", [0.0] * 4, InvalidType),
        ("mul", np.zeros(1), ShapeMismatch),
        ("mul", np.zeros(2, np.float32), InvalidType),
        ("add", np.zeros(3), ShapeMismatch),
        ("add", np.zeros((2, 1)), ShapeMismatch),
        ("newness", np.zeros(1, np.int64), ShapeMismatch),
        ("newness", np.zeros(2, np.int32), InvalidType),
        ("mask", np.zeros(3, bool), ShapeMismatch),
        ("mask", np.zeros(2, np.uint8), InvalidType),
        ("mask", np.zeros(4, bool)[::2], InvalidType),
        ("k", 0, InvalidArgument),
        ("k", -(2**80), InvalidArgument),
        ("k", 1.0, InvalidType),
        ("k", True, InvalidType),
        ("k", None, InvalidType),
    ],
)
def test_wrong_arguments_are_named(argument: str, value: object, error: type) -> None:
    arguments = dict.fromkeys(("mul", "add", "newness", "mask"))
    arguments |= {"query": unit(4, 1)[0], "k": 1, argument: value}
    with pytest.raises(error, match=f"{argument}: expected"):
        _core.top_affine(arena_of(unit(4, 1, 2)), **arguments)


def test_unknown_slots_have_no_dots() -> None:
    with pytest.raises(InvalidArgument, match="slots: expected slots from 0 to below 1"):
        _core.dots(arena_of(unit(4, 1)), unit(4, 1)[0], np.array([0, 1]))
