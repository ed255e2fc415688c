"""Codes of 8 bits beside every row, and the bound that is proved for them."""

from __future__ import annotations

import math

import code_oracles
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core

ISAS = _core.isas()
DIMS = [1, 2, 15, 16, 17, 31, 32, 33, 100, 384, 1024, 4096]
testing = _core._testing


def arena_of(rows: np.ndarray) -> _core.Arena:
    arena = _core.Arena(rows.shape[1])
    arena.append(rows)
    return arena


def padded(row: np.ndarray) -> np.ndarray:
    return np.pad(row, (0, -len(row) % 16))


def rows_of_all_kinds(rng: np.random.Generator, dim: int) -> np.ndarray:
    """Return unit rows, counts, zeros, one-hot rows, and huge, tiny and mixed magnitudes."""
    plain = rng.standard_normal((4, dim))
    plain /= np.linalg.norm(plain, axis=1, keepdims=True)
    counts = rng.poisson(0.3, (3, dim)).astype(np.float64)
    counts /= np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1)
    hot = np.zeros((1, dim))
    hot[0, dim // 2] = -1.0
    wild = rng.standard_normal((6, dim)) * 10.0 ** rng.integers(-44, 38, (6, 1))
    mixed = rng.standard_normal((2, dim)) * 10.0 ** rng.integers(-30, 18, (2, dim))
    kinds = [plain, counts, hot, wild, mixed, np.zeros((1, dim)), np.full((1, dim), 3e38)]
    with np.errstate(over="ignore"):
        rows = np.concatenate(kinds).astype(np.float32)
    return np.nan_to_num(rows)


@pytest.mark.parametrize("name", ISAS)
@pytest.mark.parametrize("dim", [0, 16, 32, 48, 1008])
def test_extent_is_that_of_the_row(name: str, dim: int) -> None:
    row = np.random.default_rng(dim).standard_normal(dim).astype(np.float32)
    row[::3] = 0.0
    largest, smallest, squares = testing.row_extent(name, row)
    present = np.abs(row[row != 0])
    assert largest == (present.max() if dim else 0.0)
    assert smallest == (present.min() if dim else np.finfo(np.float32).max)
    assert squares == testing.dot_rows(name, row, row[None])[0]


@pytest.mark.parametrize("name", ISAS)
def test_extent_knows_the_smallest_floats(name: str) -> None:
    row = padded(np.array([0.0, -0.0, -1e-45, 5e-45], np.float32))
    assert testing.row_extent(name, row)[:2] == (np.float32(5e-45), np.float32(1e-45))


@pytest.mark.parametrize("name", ISAS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_extent_shows_what_is_not_finite(name: str, value: float) -> None:
    row = np.zeros(48, np.float32)
    row[20] = value
    assert not math.isfinite(testing.row_extent(name, row)[2])


@pytest.mark.parametrize("name", ISAS)
def test_codes_are_rounded_half_to_even(name: str) -> None:
    row = padded(np.array([127.25, -127.25, 0.5, 1.5, 2.5, -0.5, -1.5, 3.75], np.float32))
    codes, squares = testing.quantise_row(name, row, 1.0, 1.0)
    assert codes[:8].tolist() == [127, -127, 0, 2, 2, 0, -2, 4]
    assert squares == 2 * 0.25**2 + 5 * 0.5**2 + 0.25**2


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from([16, 32, 48, 400]))
def test_quantised_rows_have_the_same_bits_on_every_isa(seed: int, dim: int) -> None:
    row = np.random.default_rng(seed).uniform(-1, 1, dim).astype(np.float32)
    results = [testing.quantise_row(name, row, 127.0, 1 / 127) for name in ISAS]
    extents = [testing.row_extent(name, row) for name in ISAS]
    assert all(codes.tobytes() == results[0][0].tobytes() for codes, _ in results)
    assert len({squares for _, squares in results}) == 1
    assert len(set(extents)) == 1


@pytest.mark.parametrize("name", ISAS)
@pytest.mark.parametrize("dim", [0, 32, 64, 96, 1024])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 8, 9])
def test_code_dots_are_exact(name: str, dim: int, count: int) -> None:
    rng = np.random.default_rng(dim + count)
    query = rng.integers(-127, 128, dim).astype(np.int8)
    rows = rng.integers(-127, 128, (count, dim)).astype(np.int8)
    want = [code_oracles.integer_dot(query, row) for row in rows]
    in_order, anywhere = testing.dot_codes(name, query, rows)
    assert in_order.tolist() == want
    assert anywhere.tolist() == want


@pytest.mark.parametrize("name", ISAS)
@pytest.mark.parametrize("sign", [-1, 1])
def test_code_dots_do_not_saturate(name: str, sign: int) -> None:
    query = np.full(65536, 127, np.int8)
    in_order, anywhere = testing.dot_codes(name, query, sign * query[None])
    assert in_order.tolist() == anywhere.tolist() == [sign * 127 * 127 * 65536]


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from(DIMS))
def test_a_row_is_within_the_error_of_its_codes(seed: int, dim: int) -> None:
    rows = rows_of_all_kinds(np.random.default_rng(seed), dim)
    arena = arena_of(rows)
    for slot, row in enumerate(rows):
        codes, scale, error, norm = testing.codes_of(arena, slot)
        assert codes.size == -(-dim // 32) * 32
        assert abs(codes.astype(int)).max() <= 127
        assert not codes[dim:].any()
        exact = 1 - code_oracles.FLOAT64_SLACK
        assert code_oracles.missed(row, codes, scale) * exact <= error
        assert code_oracles.norm(row) * exact <= norm
        assert scale * code_oracles.norm(codes) * exact <= norm


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from(DIMS))
def test_every_dot_is_within_its_range(seed: int, dim: int) -> None:
    rows = rows_of_all_kinds(np.random.default_rng(seed), dim)
    arena = arena_of(rows)
    slots = np.random.default_rng(seed).permutation(len(rows))
    for query in rows:
        lower, upper = testing.dot_ranges(arena, query, slots.astype(np.int32))
        dots = _core.dots(arena, query, slots)
        assert np.all((lower <= dots) & (dots <= upper))
        assert np.all((lower >= -1) & (upper <= 1))


@pytest.mark.parametrize("dim", [16, 256, 1024, 4096])
def test_ranges_of_unit_rows_are_narrow(dim: int) -> None:
    rng = np.random.default_rng(dim)
    rows = rng.standard_normal((100, dim))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    lower, upper = testing.dot_ranges(arena_of(rows), rows[0], np.arange(1, 100, dtype=np.int32))
    assert np.median(upper - lower) < 0.04


@pytest.mark.parametrize("counts", [[0, 1, -2, 5], [127, 0, 0, 1], [2, 4, 0, 2]])
def test_words_are_counted_exactly(counts: list[int]) -> None:
    row = np.pad(np.array(counts, np.float64), (0, 300))
    row = (row / np.linalg.norm(row)).astype(np.float32)
    codes, scale, error, norm = testing.codes_of(arena_of(row[None]), 0)
    least = min(abs(count) for count in counts if count)
    assert codes[:4].tolist() == [count // least for count in counts]
    assert scale == np.abs(row[row != 0]).min()
    assert error < 1e-6 * norm


def test_a_row_without_a_bound_is_never_ruled_out() -> None:
    rows = np.zeros((3, 20), np.float32)
    rows[0] = 1e37
    rows[1, 3] = 1.0
    arena = arena_of(rows)
    codes, scale, error, norm = testing.codes_of(arena, 0)
    assert (scale, error, norm) == (0.0, np.inf, np.inf)
    assert not codes.any()
    slots = np.arange(3, dtype=np.int32)
    lower, upper = testing.dot_ranges(arena, rows[1], slots)
    assert (lower[0], upper[0]) == (-1, 1)
    lower, upper = testing.dot_ranges(arena, rows[0], slots)
    assert (lower.tolist(), upper.tolist()) == ([-1, -1, -1], [1, 1, 1])


def test_rows_too_long_for_codes_have_none() -> None:
    arena = arena_of(np.ones((2, 65_537), np.float32))
    assert testing.codes_of(arena, 1)[0].size == 0
    lower, upper = testing.dot_ranges(arena, np.ones(65_537, np.float32), np.zeros(1, np.int32))
    assert (lower.tolist(), upper.tolist()) == ([-1], [1])
    assert testing.codes_of(arena_of(np.ones((1, 65_536), np.float32)), 0)[0].all()


@settings(max_examples=40)
@given(
    st.integers(1, 40),
    st.lists(
        st.tuples(st.sampled_from(["append", "kill", "write", "compact"]), st.integers(0, 99))
    ),
)
def test_codes_stay_in_step_with_their_rows(dim: int, steps: list[tuple[str, int]]) -> None:
    arena, rng = _core.Arena(dim), np.random.default_rng(dim)
    for verb, n in steps:
        if verb == "append":
            arena.append(rng.standard_normal((n, dim)).astype(np.float32))
        elif verb == "compact":
            arena.compact()
        elif verb == "kill" and arena.size:
            arena.tombstone(rng.integers(0, arena.size, n))
        elif verb == "write" and arena.size:
            slot = n % arena.size
            if arena.copy_rows(np.array([slot])).any():
                arena.overwrite(slot, rng.standard_normal(dim).astype(np.float32))
    rows = arena.copy_rows(np.arange(arena.size))
    fresh = arena_of(rows)
    for slot in range(arena.size):
        codes, *bound = testing.codes_of(arena, slot)
        wanted, *wanted_bound = testing.codes_of(fresh, slot)
        assert codes.tobytes() == wanted.tobytes()
        assert bound == wanted_bound


def test_codes_are_the_same_on_every_isa() -> None:
    rows, before, kept = rows_of_all_kinds(np.random.default_rng(1), 100), _core.isa(), []
    for name in ISAS:
        _core.choose_isa(name)
        arena = arena_of(rows)
        kept.append([testing.codes_of(arena, slot) for slot in range(len(rows))])
    _core.choose_isa(before)
    for other in kept[1:]:
        for (codes, *bound), (wanted, *wanted_bound) in zip(other, kept[0], strict=True):
            assert codes.tobytes() == wanted.tobytes()
            assert bound == wanted_bound
