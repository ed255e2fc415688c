"""The core's own log, exp and pow against the C library's long-tried ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ebbmem import _core

RNG = np.random.default_rng(7)


def ulps_off(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """The library's own half ulp is part of what is measured."""
    return np.abs(got - want) / np.spacing(np.abs(want))


@pytest.mark.parametrize(
    "x",
    [
        np.exp2(RNG.uniform(-1074, 1023, 50_000)),
        RNG.uniform(0.5, 2.0, 50_000),
        1.0 + np.ldexp(RNG.uniform(-1, 1, 50_000), -RNG.integers(0, 52, 50_000)),
        np.arange(1.0, 10_001.0),
    ],
    ids=["all magnitudes", "around one", "close to one", "whole numbers"],
)
def test_log_is_within_one_ulp(x: np.ndarray) -> None:
    assert ulps_off(_core._testing.log(x), np.log(x)).max() <= 1.0


def true_ulps_off(got: np.ndarray, true: np.ndarray) -> float:
    """Against a long double, which has more digits where the machine has them."""
    return float(np.max(np.abs(got - true) / np.spacing(np.abs(true.astype(np.float64)))))


def test_results_are_as_near_as_promised() -> None:
    x = np.concatenate([RNG.uniform(0.5, 2, 400_000), np.exp2(RNG.uniform(-1020, 1020, 100_000))])
    assert true_ulps_off(_core._testing.log(x), np.log(np.longdouble(x))) < 1.0
    x = np.concatenate([RNG.uniform(-1, 1, 400_000), RNG.uniform(-700, 700, 100_000)])
    assert true_ulps_off(_core._testing.exp(x), np.exp(np.longdouble(x))) < 1.0
    base = np.exp2(RNG.uniform(-2, 2, 500_000))
    exponent = RNG.choice([-8.0, 8.0], 500_000) / np.log(base)
    true = np.longdouble(base) ** np.longdouble(exponent)
    assert true_ulps_off(_core._testing.pow(base, exponent), true) < 2.0


@pytest.mark.parametrize("span", [1.0, 50.0, 700.0])
def test_exp_is_within_one_ulp(span: float) -> None:
    x = RNG.uniform(-span, span, 50_000)
    assert ulps_off(_core._testing.exp(x), np.exp(x)).max() <= 1.0


def test_exp_goes_down_to_the_smallest_numbers() -> None:
    x = np.linspace(-745.1, -708.4, 10_000)
    assert np.abs(_core._testing.exp(x) - np.exp(x)).max() <= 5e-324


@pytest.mark.parametrize("power", [1.0, 8.0])
def test_pow_is_within_two_ulps_for_moderate_powers(power: float) -> None:
    base = np.exp2(RNG.uniform(-60, 60, 50_000))
    exponent = RNG.uniform(-power, power, 50_000) / np.log(base)
    assert ulps_off(_core._testing.pow(base, exponent), base**exponent).max() <= 2.0


def one(function: str, *arguments: float) -> float:
    return float(getattr(_core._testing, function)(*(np.array([a]) for a in arguments))[0])


def test_logarithms_at_the_ends() -> None:
    assert one("log", 0.0) == -math.inf
    assert one("log", 1.0) == 0.0
    assert one("log", math.inf) == math.inf
    assert one("log", 5e-324) == math.log(5e-324)
    assert math.isnan(one("log", -1.0))
    assert math.isnan(one("log", math.nan))


def test_exponentials_at_the_ends() -> None:
    assert one("exp", 0.0) == 1.0
    assert one("exp", 709.0) == pytest.approx(math.exp(709.0), rel=1e-15)
    assert one("exp", 710.0) == math.inf
    assert one("exp", -746.0) == 0.0
    assert one("exp", -math.inf) == 0.0
    assert math.isnan(one("exp", math.nan))


@pytest.mark.parametrize("base", [0.0, 0.5, 1.0, 2.0, 5e-324, 1 + 2**-52, math.inf])
@pytest.mark.parametrize("exponent", [0.0, 1.0, -1.0, 1e300, -1e300, 1e17, math.inf, -math.inf])
def test_powers_at_the_ends(base: float, exponent: float) -> None:
    with np.errstate(all="ignore"):
        assert one("pow", base, exponent) == float(np.float64(base) ** np.float64(exponent))


def test_a_negative_base_has_no_power() -> None:
    assert math.isnan(one("pow", -1.0, 0.5))


def test_golden_values() -> None:
    assert one("log", 10.0) == 2.302585092994046
    assert one("exp", 1.0) == 2.718281828459045
    assert one("pow", 2.0, 0.5) == 1.4142135623730951
    assert one("pow", 10.0, 3.0) == 1000.0
