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


def test_log_weights_of_the_ebbinghaus_law() -> None:
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


@settings(max_examples=50, deadline=None)
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


@settings(max_examples=50, deadline=None)
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
