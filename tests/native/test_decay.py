"""Columns of strengths: the laws as their formulas say, without underflow where it ranks."""

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

LENGTHS = [0, 1, 15, 16, 17, 31, 33, 511, 512, 513, 1000]


@pytest.fixture(params=_core.isas())
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _core.isa()
    _core.choose_isa(request.param)
    yield request.param
    _core.choose_isa(before)


def f64(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


@pytest.mark.parametrize("length", LENGTHS)
def test_exponential_retention_follows_the_law(isa: str, length: int) -> None:
    rng = np.random.default_rng(length)
    anchor, idle_h = rng.uniform(0, 1, length), rng.uniform(-10, 5000, length)
    rate = rng.uniform(0, 0.01, length)
    got = _core.exponential_retention(anchor, idle_h, rate)
    true = anchor * np.exp(-rate * np.maximum(idle_h, 0))
    assert got.dtype == np.float32
    assert np.all(np.abs(got - true) <= 2 * np.spacing(true.astype(np.float32)))


def test_exponential_retention_has_the_same_bits_on_every_isa() -> None:
    rng = np.random.default_rng(3)
    columns = rng.uniform(0, 1, 1000), rng.uniform(0, 1e4, 1000), rng.uniform(0, 0.02, 1000)
    before, results = _core.isa(), []
    for isa in _core.isas():
        _core.choose_isa(isa)
        results.append(_core.exponential_retention(*columns).tobytes())
    _core.choose_isa(before)
    assert len(set(results)) == 1


def test_a_fresh_memory_decays_at_its_effective_rate(isa: str) -> None:
    # R = 0.55, S = 0.1, intensity 0: rate 0.01 * (1 - 0.075) per hour; 100 h idle: 0.55 e^-0.925.
    rate = oracles.storage_rate_per_h(0.01, 0.1, 0.0)
    got = _core.exponential_retention(f64(0.55), f64(100.0), f64(rate))
    assert rate == pytest.approx(0.00925)
    assert got[0] == pytest.approx(0.2180923, abs=1e-7)
    assert got[0] == pytest.approx(oracles.storage_retrievability(0.55, 0.1, 0, 100), rel=2e-7)


def test_one_half_life_halves(isa: str) -> None:
    got = _core.exponential_retention(f64(1.0, 0.5), f64(50.0, 50.0), np.full(2, math.log(2) / 50))
    assert got.tolist() == pytest.approx([0.5, 0.25], rel=1e-7)


def test_retention_stays_in_the_unit_interval_at_the_extremes(isa: str) -> None:
    idle = f64(-1e300, -1.0, 0.0, 1e-320, 1e-9, 87.0, 88.0, 1e308)
    got = _core.exponential_retention(np.ones(8), idle, np.full(8, 1.0))
    assert got[:4].tolist() == [1.0] * 4
    assert np.all((got >= 0) & (got <= 1))
    assert got[-1] == 0.0
    assert _core.exponential_retention(f64(1.0), f64(1e308), f64(1e308))[0] == 0.0


def test_log_weights_of_the_ebbinghaus_law(isa: str) -> None:
    got = _core.log_weights(f64(5, 10, 1), f64(0, 60, -3), 0.05)
    # ln 5; ln 10 - 3; ln 1 with a clock that stepped back.
    assert got.tolist() == pytest.approx([1.6094379124341003, -0.6974149070059541, 0.0], abs=1e-15)


def test_memories_past_underflow_still_rank_by_age() -> None:
    # At 0.05 per second e^-745.15, reached after 14,903 s, is the last that a double can hold.
    ages = f64(14_903, 20_000, 1e6, 1e8)
    assert all(oracles.ebbinghaus_score(1, 1, age) == 0.0 for age in ages[1:])
    got = _core.log_weights(np.ones(4), ages, 0.05)
    assert np.all(np.diff(got) < 0)
    assert got.tolist() == pytest.approx([-745.15, -1000.0, -50_000.0, -5_000_000.0])


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.floats(0.001, 1e6), st.floats(-1e3, 1e9)), max_size=40),
    st.floats(0, 1),
)
def test_log_weights_equal_the_oracle(rows: list[tuple[float, float]], rate: float) -> None:
    importance, age = (f64(*column) for column in zip(*rows, strict=True)) if rows else (f64(),) * 2
    got = _core.log_weights(importance, age, rate)
    want = [math.log(i) - rate * max(a, 0.0) for i, a in rows]
    assert got.tolist() == pytest.approx(want, rel=1e-15, abs=1e-14)


def test_importance_zero_has_weight_zero() -> None:
    assert _core.log_weights(f64(0.0), f64(5.0), 0.05).tolist() == [-math.inf]


@settings(max_examples=50)
@given(st.floats(0, 1e7), st.floats(1e-3, 1e5), st.floats(0.05, 2))
def test_power_retention_equals_the_oracle(elapsed: float, stability: float, d: float) -> None:
    got = _core.power_retention(f64(elapsed), f64(stability), d)[0]
    assert got == pytest.approx(oracles.power_retention(elapsed, stability, d), rel=1e-12)


def test_power_retention_is_nine_tenths_at_stability() -> None:
    got = _core.power_retention(f64(0, 24, -5), f64(24, 24, 24), 0.1542)
    assert got.tolist() == pytest.approx([1.0, 0.9, 1.0], rel=1e-14)


def test_power_retention_a_hundred_stabilities_later() -> None:
    # F = 0.9^(-1/0.1542) - 1 = 0.980346; (1 + 98.0346)^-0.1542 = 0.492322
    got = _core.power_retention(f64(100.0), f64(1.0), 0.1542)[0]
    assert got == pytest.approx(0.492322, abs=1e-6)


US_PER_H = 3_600_000_000
NOW_US = 1_700_000_000_000_000


def moments(rng: np.random.Generator, length: int) -> np.ndarray:
    """Since when: some later than now, and both ends of what 64 bits hold."""
    since = NOW_US - rng.integers(-(10**9), 10**16, length)
    ends = np.array([NOW_US, np.iinfo(np.int64).max, np.iinfo(np.int64).min, 0, -1])
    since[: min(length, 5)] = ends[:length]
    return since


def elapsed_h(since: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.maximum(NOW_US - since, 0) / US_PER_H


def shares(rng: np.random.Generator, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return tuple(rng.integers(0, 5, length) / 4 for _ in range(3))


@pytest.mark.parametrize("length", LENGTHS)
def test_shares_of_moments_are_those_of_ages(isa: str, length: int) -> None:
    since = moments(np.random.default_rng(length), length)
    got = _core.exponential_share(since, NOW_US, US_PER_H, 0.005)
    ones, rates = np.ones(length), np.full(length, 0.005)
    want = _core.exponential_retention(ones, elapsed_h(since), rates)
    assert got.dtype == np.float64
    assert got.tolist() == want.astype(np.float64).tolist()


@pytest.mark.parametrize("length", LENGTHS)
def test_retention_of_strengths_is_that_of_their_rates(isa: str, length: int) -> None:
    rng = np.random.default_rng(length)
    since, (anchor, strength, intensity) = moments(rng, length), shares(rng, length)
    got = _core.strength_retention(anchor, strength, intensity, since, NOW_US, US_PER_H, 0.01)
    rate = 0.01 * ((1.0 - 0.75 * strength) * (1.0 - 0.8 * intensity))
    want = _core.exponential_retention(anchor, elapsed_h(since), rate)
    assert got.tolist() == want.astype(np.float64).tolist()


@pytest.mark.parametrize("length", LENGTHS)
def test_log_weights_of_moments_are_those_of_ages(isa: str, length: int) -> None:
    rng = np.random.default_rng(length)
    since, importance = moments(rng, length), rng.uniform(0, 10, length)
    got = _core.log_weights_since(importance, since, NOW_US, US_PER_H, 0.005)
    assert got.tolist() == _core.log_weights(importance, elapsed_h(since), 0.005).tolist()


@pytest.mark.parametrize("length", LENGTHS)
def test_powers_of_strengths_are_those_of_their_stabilities(isa: str, length: int) -> None:
    rng = np.random.default_rng(length)
    since, (_, strength, intensity) = moments(rng, length), shares(rng, length)
    importance = rng.uniform(1, 10, length)
    got = _core.power_of_strength(
        importance, strength, intensity, since, NOW_US, US_PER_H, 720.0, 0.1542
    )
    gain = (1.0 + 2.0 * strength) * (1.0 + 2.0 * intensity)
    stability = 720.0 * gain * (1.0 + 2.0 * ((importance - 1.0) / 9.0))
    assert got.tolist() == _core.power_retention(elapsed_h(since), stability, 0.1542).tolist()


def importances(rng: np.random.Generator, length: int) -> np.ndarray:
    """Of all magnitudes that a double has, with the ends."""
    values = np.exp2(rng.uniform(-1074, 1023, length))
    ends = [0.0, -0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1.0, 0.5**0.5]
    values[: min(length, 7)] = ends[:length]
    return values


@pytest.mark.parametrize("length", LENGTHS)
def test_log_weights_have_the_bits_of_the_logarithm(isa: str, length: int) -> None:
    rng = np.random.default_rng(length)
    importance, age = importances(rng, length), rng.uniform(-10, 1e6, length)
    want = _core._testing.log(importance) - 0.05 * np.maximum(age, 0.0)
    assert _core.log_weights(importance, age, 0.05).tolist() == want.tolist()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("exponent", [0.001, 0.1542, 1.0, 1000.0])
def test_power_retention_has_the_bits_of_the_power(isa: str, length: int, exponent: float) -> None:
    rng = np.random.default_rng(length)
    elapsed = np.exp2(rng.uniform(-30, 40, length))
    stability = np.exp2(rng.uniform(-10, 30, length))
    # Immediate, before, overflowing the ratio, and overflowing more than that.
    elapsed[: min(length, 4)] = [0.0, -5.0, 1e308, 1e308][:length]
    stability[: min(length, 4)] = [24.0, 24.0, 1e300, 1e-308][:length]
    factor = one_power(0.9, -1.0 / exponent) - 1.0
    with np.errstate(over="ignore"):
        base = 1.0 + factor * np.maximum(elapsed, 0.0) / stability
    want = _core._testing.pow(base, np.full(length, -exponent))
    assert _core.power_retention(elapsed, stability, exponent).tolist() == want.tolist()


def one_power(base: float, exponent: float) -> float:
    return float(_core._testing.pow(f64(base), f64(exponent))[0])


def test_power_retention_is_within_two_ulps(isa: str) -> None:
    rng = np.random.default_rng(8)
    elapsed, stability = rng.uniform(0, 1e5, 50_000), rng.uniform(1, 1e4, 50_000)
    # F by the C library, the rest in more digits than a double has, where a long double has them.
    base = 1.0 + (one_power(0.9, -1 / 0.1542) - 1.0) * elapsed / stability
    true = np.longdouble(base) ** np.longdouble(-0.1542)
    off = np.abs(_core.power_retention(elapsed, stability, 0.1542) - true)
    assert np.max(off / np.spacing(true.astype(np.float64))) <= 2.0


@pytest.mark.parametrize("row", [0, 15, 511, 512, 700])
def test_the_row_of_a_bad_value_is_told(isa: str, row: int) -> None:
    columns = [np.ones(701), np.ones(701), np.ones(701)]
    since = np.full(701, NOW_US - 1)
    columns[1][row] = math.nan
    moment = (since, NOW_US, US_PER_H)
    for call in (
        lambda: _core.exponential_retention(*columns),
        lambda: _core.log_weights(columns[1], columns[0], 0.1),
        lambda: _core.power_retention(*columns[:2], 0.15),
        lambda: _core.strength_retention(*columns, *moment, 0.1),
        lambda: _core.log_weights_since(columns[1], *moment, 0.1),
        lambda: _core.power_of_strength(*columns, *moment, 24.0, 0.15),
    ):
        with pytest.raises(InvalidArgument, match=rf"expected finite values.*nan at {row}$"):
            call()


def test_what_makes_no_rate_or_stability_is_refused() -> None:
    one, since = f64(1.0), np.array([0])
    moment = (since, NOW_US, US_PER_H)
    with pytest.raises(InvalidArgument, match="rate: expected finite values of at least 0"):
        _core.strength_retention(one, f64(1.5), f64(0.0), *moment, 0.1)
    with pytest.raises(InvalidArgument, match="stability: expected finite values above 0"):
        _core.power_of_strength(f64(-5.0), one, one, *moment, 24.0, 0.15)
    for rate in (-1.0, math.nan, math.inf):
        for call in (
            lambda rate=rate: _core.exponential_share(*moment, rate),
            lambda rate=rate: _core.strength_retention(one, one, one, *moment, rate),
            lambda rate=rate: _core.log_weights_since(one, *moment, rate),
        ):
            with pytest.raises(InvalidArgument, match="rate: expected"):
                call()
    for unit in (0, -1):
        with pytest.raises(InvalidArgument, match="unit_us: expected"):
            _core.exponential_share(since, NOW_US, unit, 0.1)
    with pytest.raises(InvalidArgument, match="now_us: expected an integer of 64 bits"):
        _core.exponential_share(since, 2**63, US_PER_H, 0.1)


@pytest.mark.parametrize("size", [10**400, 10**5000], ids=["1e400", "1e5000"])
def test_integers_beyond_every_machine_are_refused_by_name(size: int) -> None:
    # Python writes out no more than 4,300 digits, and says so by a plain ValueError.
    since = np.zeros(1, dtype=np.int64)
    for sign in (1, -1):
        with pytest.raises(InvalidArgument, match="now_us: expected an integer of 64 bits"):
            _core.exponential_share(since, sign * size, US_PER_H, 0.1)
        with pytest.raises(InvalidArgument, match="rate: expected a number that a double can"):
            _core.exponential_share(since, 0, US_PER_H, sign * size)
    with pytest.raises(InvalidArgument, match="k: expected an integer of at least 1"):
        _core.top_affine(_core.Arena(1), np.ones(1, np.float32), None, None, None, None, -size)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_values_that_are_not_finite_are_refused(bad: float, position: int) -> None:
    columns = [np.ones(3), np.ones(3), np.ones(3)]
    columns[position] = f64(1, bad, 1)
    with pytest.raises(InvalidArgument, match=r"(anchor|idle|rate): expected finite .* at 1"):
        _core.exponential_retention(*columns)


def test_values_out_of_range_are_refused() -> None:
    one = f64(1.0)
    with pytest.raises(InvalidArgument, match="rate: expected finite values of at least 0"):
        _core.exponential_retention(one, one, f64(-0.1))
    with pytest.raises(InvalidArgument, match="importance: expected"):
        _core.log_weights(f64(-1.0), one, 0.05)
    with pytest.raises(InvalidArgument, match="stability: expected finite values above 0"):
        _core.power_retention(one, f64(0.0), 0.15)
    for exponent in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InvalidArgument, match="exponent: expected"):
            _core.power_retention(one, one, exponent)
    for rate in (-1.0, math.nan, math.inf):
        with pytest.raises(InvalidArgument, match="rate: expected"):
            _core.log_weights(one, one, rate)


def test_columns_must_have_one_length_and_type() -> None:
    with pytest.raises(ShapeMismatch, match="idle: expected 3 values, got 2"):
        _core.exponential_retention(np.ones(3), np.ones(2), np.ones(3))
    with pytest.raises(ShapeMismatch, match="age"):
        _core.log_weights(np.ones(3), np.ones(4), 0.05)
    with pytest.raises(InvalidType, match="anchor"):
        _core.exponential_retention(np.ones(3, np.float32), np.ones(3), np.ones(3))
    with pytest.raises(InvalidType, match="rate: expected a number"):
        _core.log_weights(np.ones(3), np.ones(3), "0.05")
