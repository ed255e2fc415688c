"""Every kernel of every instruction set: same bits, right values, no step out of bounds."""

from __future__ import annotations

import numpy as np
import oracles
import pytest

from ebbmem import _core
from ebbmem.errors import InvalidType, ShapeMismatch, UnknownInstructionSet

ISAS = _core.isas()
LENGTHS = [0, 1, 15, 16, 17, 31, 33, 1000]


def bits(values: np.ndarray) -> np.ndarray:
    return values.view(np.uint32)


def padded(rows: np.ndarray) -> np.ndarray:
    return np.pad(rows, ((0, 0), (0, -rows.shape[1] % 16)))


def test_scalar_kernels_are_always_there() -> None:
    assert ISAS[-1] == "scalar"


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("dim", LENGTHS)
def test_dot_is_the_canonical_one(isa: str, dim: int) -> None:
    rng = np.random.default_rng(dim)
    rows = (rng.standard_normal((7, dim)) * 0.1 / max(dim, 1) ** 0.5).astype(np.float32)
    query = (rng.standard_normal(dim) / max(dim, 1) ** 0.5).astype(np.float32)
    dots = _core._testing.dot_rows(isa, padded(query[None])[0], padded(rows))
    assert [float(dot) for dot in dots] == [oracles.dot32(query, row) for row in rows]


@pytest.mark.parametrize("count", LENGTHS)
def test_dots_have_the_same_bits_on_every_isa(count: int) -> None:
    rng = np.random.default_rng(count)
    rows = (rng.standard_normal((count, 48)) * 10.0 ** rng.integers(-20, 18, (count, 48))).astype(
        np.float32
    )
    query = rng.standard_normal(48).astype(np.float32)
    results = [_core._testing.dot_rows(isa, query, rows) for isa in ISAS]
    assert all(np.array_equal(bits(r), bits(results[0])) for r in results)


def ulps_off(x: np.ndarray, got: np.ndarray) -> np.ndarray:
    true = np.exp(x.astype(np.float64))
    one_ulp = np.ldexp(1.0, np.frexp(true)[1] - 24)
    return np.abs(got.astype(np.float64) - true) / one_ulp


def strided_exponents() -> np.ndarray:
    """Every 1601st float32 of [-87, 0]: all exponents, all low bits."""
    lowest = int(np.float32(-87).view(np.uint32))
    patterns = np.arange(0x80000000, lowest + 1, 1601, dtype=np.uint32)
    return patterns.view(np.float32)


@pytest.mark.parametrize("isa", ISAS)
def test_exp_is_within_one_ulp(isa: str) -> None:
    x = strided_exponents()
    assert ulps_off(x, _core._testing.exp_f32(isa, x)).max() < 0.91


@pytest.mark.parametrize("isa", ISAS)
def test_exp_at_the_ends_of_its_range(isa: str) -> None:
    below = np.nextafter(np.float32(-87), np.float32(-100))
    x = np.array([0.0, -0.0, 1.0, 3e38, below, -1e30, -3e38, -1e-45], dtype=np.float32)
    got = _core._testing.exp_f32(isa, x)
    assert got.tolist() == [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("isa", ISAS)
def test_exp_never_rises_as_the_exponent_falls(isa: str) -> None:
    x = np.sort(strided_exponents())[::-1].copy()
    assert np.all(np.diff(_core._testing.exp_f32(isa, x)) <= 0)


@pytest.mark.parametrize("length", LENGTHS)
def test_exp_has_the_same_bits_on_every_isa_and_at_every_length(length: int) -> None:
    x = np.random.default_rng(length).uniform(-90, 1, length).astype(np.float32)
    one_by_one = [_core._testing.exp_f32("scalar", x[i : i + 1])[0] for i in range(length)]
    for isa in ISAS:
        got = _core._testing.exp_f32(isa, x)
        assert np.array_equal(bits(got), bits(np.array(one_by_one, dtype=np.float32)))


def test_exp_agrees_bit_for_bit_over_the_dense_sample() -> None:
    x = strided_exponents()
    results = [bits(_core._testing.exp_f32(isa, x)) for isa in ISAS]
    assert all(np.array_equal(r, results[0]) for r in results)


def test_unknown_instruction_set_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownInstructionSet, match="scalar"):
        _core._testing.exp_f32("abacus", np.zeros(1, dtype=np.float32))


def test_kernels_refuse_what_they_cannot_read() -> None:
    with pytest.raises(InvalidType, match="x: expected"):
        _core._testing.exp_f32("scalar", np.zeros(3))
    with pytest.raises(ShapeMismatch, match="multiple of 16"):
        _core._testing.dot_rows("scalar", np.zeros(3, np.float32), np.zeros((1, 3), np.float32))


# --- small sums -------------------------------------------------------------------------


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("words", [0, 1, 2, 3, 31, 128])
def test_an_amount_goes_to_the_rows_of_a_bitmap(isa: str, words: int) -> None:
    rng = np.random.default_rng(words)
    bits = rng.integers(0, 2**64, words, dtype=np.uint64) & rng.integers(0, 2**64, words, np.uint64)
    sums = rng.integers(-32768, 32768, 64 * words).astype(np.int16)
    held = [bool(int(bits[row // 64]) >> row % 64 & 1) for row in range(64 * words)]
    for amount in (1, -1, 0, 32767, -32768):
        got = _core._testing.add_where_i16(isa, bits, amount, sums)
        expected = [
            (int(s) + amount + 32768) % 65536 - 32768 if h else int(s)
            for s, h in zip(sums, held, strict=True)
        ]
        assert got.tolist() == expected


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("count", [0, 32, 64, 96, 992, 8192, 65536])
def test_rows_above_a_limit_are_told_in_order(isa: str, count: int) -> None:
    rng = np.random.default_rng(count)
    sums = rng.integers(-5, 6, count).astype(np.int16)
    sums[rng.random(count) < 0.1] = 32767
    sums[rng.random(count) < 0.1] = -32768
    for limit in (-32768, -3, 0, 4, 32766, 32767):
        got = _core._testing.select_above_i16(isa, sums, limit)
        assert got.tolist() == np.flatnonzero(sums > limit).tolist()


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("count", [0, 32, 64, 96, 992, 8192])
def test_rows_of_a_large_square_are_told_in_order(isa: str, count: int) -> None:
    rng = np.random.default_rng(count)
    sums = rng.integers(-20, 21, count).astype(np.int16)
    sums[rng.random(count) < 0.1] = 32767
    values = rng.integers(0, 60, count).astype(np.uint16)
    values[rng.random(count) < 0.1] = 65535
    squares = sums.astype(np.float32) * sums.astype(np.float32)
    for limit, least in ((0, 0.0), (0, 1.0), (4, 0.1), (4, 7.3), (19, 16384.25), (0, 1e30)):
        got = _core._testing.select_reaching_i16(isa, sums, values, limit, least)
        reaches = squares >= np.float32(least) * values.astype(np.float32)
        assert got.tolist() == np.flatnonzero((sums > limit) & reaches).tolist()
