"""Exponential retention of float32 columns: near the real value however large the exponent."""

from __future__ import annotations

import math

import numpy as np
import oracles
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.decay import exponential_retention
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

LENGTHS = [0, 1, 15, 16, 17, 31, 127, 128, 129, 511, 512, 513, 1000]
MOST = 87.0
ULPS = 2.0
HUGE, LEAST = 2.0**127, 2.0**-149

Row = tuple[float, float, float]


def f32(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def columns(rows: list[Row]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    anchor, idle, rate = np.array(rows, dtype=np.float32).reshape(-1, 3).T.copy()
    return anchor, idle, rate


def drawn(length: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns whose products reach from nothing to beyond the end."""
    rng = np.random.default_rng(seed)
    anchor, idle = rng.uniform(0, 1, length), rng.uniform(-10, 5000, length)
    return tuple(x.astype(np.float32) for x in (anchor, idle, rng.uniform(0, 0.02, length)))


def assert_near(got: np.ndarray, rows: list[Row]) -> None:
    """Within 2 ulp of what the oracle says; 0 where the product, as a float32, is above 87."""
    assert got.dtype == np.float32
    for value, (anchor, idle, rate) in zip(got.tolist(), rows, strict=True):
        with np.errstate(over="ignore"):
            product = np.float32(rate) * np.float32(max(idle, 0.0))
        true = 0.0 if product > MOST else oracles.exponential_retention(anchor, idle, rate)
        assert abs(value - true) <= ULPS * abs(np.spacing(np.float32(true))), (anchor, idle, rate)


ANCHORS = st.one_of(st.floats(0, 1, width=32), st.floats(-HUGE, HUGE, width=32))
IDLES = st.one_of(
    st.floats(-1e3, 1e4, width=32), st.floats(allow_nan=False, allow_infinity=False, width=32)
)
RATES = st.one_of(
    st.floats(0, 0.0625, width=32),
    st.floats(0, allow_nan=False, allow_infinity=False, width=32),
)


@settings(max_examples=300)
@given(st.lists(st.tuples(ANCHORS, IDLES, RATES), max_size=40))
@example([(1.0, HUGE, HUGE), (1.0, LEAST, LEAST), (-HUGE, 2.0, 0.5), (LEAST, HUGE, 0.0)])
def test_retention_is_that_of_the_oracle_on_every_isa(rows: list[Row]) -> None:
    before, results = _core.isa(), []
    try:
        for isa in _core.isas():
            _core.choose_isa(isa)
            results.append(_core.exponential_retention(*columns(rows)))
    finally:
        _core.choose_isa(before)
    assert len({got.tobytes() for got in results}) == 1
    assert_near(results[0], rows)


@pytest.mark.parametrize("length", LENGTHS)
def test_every_length(isa: str, length: int) -> None:
    given = drawn(length, length)
    rows = list(zip(*(x.tolist() for x in given), strict=True))
    assert_near(_core.exponential_retention(*given), rows)


def ulps_off(given: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    anchor, idle, rate = (x.astype(np.float64) for x in given)
    true = anchor * np.exp(-rate * idle)  # a product of two float32 is exact
    one_ulp = np.ldexp(1.0, np.maximum(np.frexp(true)[1] - 24, -149))
    return np.abs(_core.exponential_retention(*given) - true) / one_ulp


@pytest.mark.parametrize("rate", [1.0, 1 + 2**-23, 2**-7 - 2**-31, 1 + 2**-11, 0.01, 7.3e4])
def test_retention_is_within_two_ulps_for_exponents_of_all_sizes(isa: str, rate: float) -> None:
    """Every 1601st float32 that a rate takes to an exponent of at most 87."""
    last = np.float32(86.99 / rate) if rate != 1.0 else np.float32(MOST)
    idle = np.arange(0, int(last.view(np.uint32)) + 1, 1601, dtype=np.uint32).view(np.float32)
    one, rates = np.ones(len(idle), np.float32), np.full(len(idle), rate, np.float32)
    assert ulps_off((one, idle, rates)).max() < (0.91 if rate == 1.0 else 1.0)
    anchor = np.random.default_rng(1).uniform(0, 1, len(idle)).astype(np.float32)
    assert ulps_off((anchor, idle, rates)).max() < 1.9


def test_retention_by_hand(isa: str) -> None:
    # 0.75 e^-3 with an exact product; (1 + 2^-12) * 80 (1 + 2^-12) = 80.03906726837158, which no
    # float32 is: the nearest, 80.03907012939453, has a power of e that is 24 ulp less.
    got = _core.exponential_retention(
        f32(0.75, 1.0), f32(6.0, 80.0 + 80.0 / 4096), f32(0.5, 1 + 2**-12)
    )
    true = [0.03734030127589790, 1.735700340501533e-35]
    assert np.all(np.abs(got - true) <= 1.0 * np.spacing(f32(*true)))
    assert abs(math.exp(-80.03907012939453) - true[1]) > 23 * np.spacing(f32(true[1]))[0]


def test_one_half_life_halves(isa: str) -> None:
    got = _core.exponential_retention(f32(1.0, 0.5), f32(1.0, 1.0), np.full(2, f32(math.log(2))[0]))
    assert got.tolist() == [0.5, 0.25]


def test_the_ends(isa: str) -> None:
    beyond = float(np.nextafter(f32(MOST)[0], f32(100)[0]))
    idle = f32(-3e38, -1.0, -0.0, 0.0, 1e-45, 1e-9, MOST, beyond, 88.0, 3e38)
    got = _core.exponential_retention(np.ones(10, np.float32), idle, np.ones(10, np.float32))
    assert got[:6].tolist() == [1.0] * 6
    assert got[6] == pytest.approx(1.645811431e-38, rel=2.4e-7)
    assert got[7:].tolist() == [0.0] * 3
    assert np.all(got <= 1)
    huge = f32(3e38)
    assert _core.exponential_retention(f32(1.0), huge, huge).tolist() == [0.0]
    # A rate of -0 is 0; the largest anchor stays, though the check of all three overflows.
    largest = f32(3.4028235e38)
    assert _core.exponential_retention(largest, f32(-3e38), f32(-0.0))[0] == largest[0]


@pytest.mark.parametrize("row", [0, 15, 511, 512, 700])
@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_the_row_of_a_value_that_is_not_finite_is_told(
    isa: str, row: int, position: int, bad: float
) -> None:
    given = [np.ones(701, np.float32) for _ in range(3)]
    given[position][row] = bad
    name = ("anchor", "idle", "rate")[position]
    with pytest.raises(InvalidArgument, match=rf"{name}: expected finite values.* at {row}$"):
        _core.exponential_retention(*given)


def test_a_rate_below_zero_is_refused_whatever_it_meets(isa: str) -> None:
    for idle in (0.0, -1.0, 1.0):
        given = [np.ones(40, np.float32), np.full(40, idle, np.float32), np.ones(40, np.float32)]
        given[2][39] = -1e-45
        with pytest.raises(InvalidArgument, match=r"rate: expected .* of at least 0, got .* at 39"):
            _core.exponential_retention(*given)


def test_columns_share_a_length_and_a_type() -> None:
    one = np.ones(3, np.float32)
    with pytest.raises(ShapeMismatch, match="idle: expected 3 values, got 2"):
        _core.exponential_retention(one, one[:2], one)
    same = r"as anchor is \(all float64, or all float32\)"
    with pytest.raises(InvalidType, match=rf"rate: .* of float32, {same}, got dtype float64"):
        _core.exponential_retention(one, one, np.ones(3))
    with pytest.raises(InvalidType, match=rf"idle: .* of float64, {same}, got dtype float32"):
        _core.exponential_retention(np.ones(3), one, np.ones(3))
    for other, got in ((np.ones(3, np.int64), "dtype int64"), ([1.0], "list")):
        with pytest.raises(InvalidType, match=rf"anchor: .* of float64 or float32, got {got}"):
            exponential_retention(other, one, one)
        with pytest.raises(InvalidType, match=rf"rate: .* of float32, {same}, got {got}"):
            exponential_retention(one, one, other)
    with pytest.raises(InvalidType, match=r"rate: expected .* got a strided view"):
        _core.exponential_retention(one, one, np.ones(6, np.float32)[::2])
    with pytest.raises(ShapeMismatch, match="anchor: expected a C-contiguous 1-d array of float32"):
        _core.exponential_retention(one[None], one, one)


def test_the_public_function_takes_either_type() -> None:
    floats = drawn(100, 3)
    assert exponential_retention(*floats).tolist() == _core.exponential_retention(*floats).tolist()
    doubles = tuple(x.astype(np.float64) for x in floats)
    got = exponential_retention(*doubles)
    assert got.dtype == np.float32
    assert got.tolist() == _core.exponential_retention(*doubles).tolist()
