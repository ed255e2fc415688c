"""The column form of every law equals its scalar form, and stays within its bounds."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import Ebbinghaus, NoForgetting, PowerForgetting, StorageStrength, WeightedSum
from ebbmem.decay import Traces
from ebbmem.errors import InvalidArgument, InvalidType

S = 1_000_000
HOUR = 3_600 * S
DAY = 24 * HOUR
NOW = 1_700_000_000 * S
FLOAT32 = 3e-7  # the exponential column is float32: a few units in the last place
SIZES = [0, 1, 15, 16, 17, 31, 33, 1000]
LAWS = [Ebbinghaus(1e-6), StorageStrength(), WeightedSum(), PowerForgetting(), NoForgetting()]
HUGE = 10**309  # too large for a float


def traces(n: int, seed: int = 7) -> Traces:
    """Random memories, some of them from the future."""
    rng = np.random.default_rng(seed)
    ages = rng.integers(-DAY, 400 * DAY, size=(2, n))
    unit = rng.random((3, n))
    return Traces(1 + 9 * rng.random(n), *unit, NOW - ages[0], NOW - ages[1])


def rows(known: Traces) -> list[tuple[float, ...]]:
    return list(zip(*known, strict=True))


@pytest.mark.parametrize("n", SIZES)
def test_ebbinghaus_column(n, isa):
    known, law = traces(n), Ebbinghaus(1e-6)
    expected = [law.retention((NOW - row[4]) / S) for row in rows(known)]
    assert law.retrievability(known, NOW) == pytest.approx(expected, rel=FLOAT32)


@pytest.mark.parametrize("n", SIZES)
def test_ebbinghaus_log_column(n):
    known = traces(n)
    expected = [oracles.ebbinghaus_key(1.0, row[0], (NOW - row[4]) / S) for row in rows(known)]
    assert Ebbinghaus().log_weights(known, NOW) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("n", SIZES)
def test_storage_strength_column(n, isa):
    known, law = traces(n), StorageStrength()
    expected = [
        law.effective(anchor, strength, intensity, (NOW - anchored) / HOUR)
        for _, strength, anchor, intensity, _, anchored in rows(known)
    ]
    assert law.retrievability(known, NOW) == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("n", SIZES)
def test_weighted_sum_column_is_recency(n, isa):
    known = traces(n)
    expected = [math.exp(-0.005 * max(NOW - row[4], 0) / HOUR) for row in rows(known)]
    assert WeightedSum().retrievability(known, NOW) == pytest.approx(expected, rel=5e-6)


@pytest.mark.parametrize("n", SIZES)
def test_power_column(n):
    known, law = traces(n), PowerForgetting()
    expected = [
        law.retention(
            (NOW - anchored) / DAY,
            30 * (1 + 2 * strength) * (1 + 2 * intensity) * (1 + 2 * (importance - 1) / 9),
        )
        for importance, strength, _, intensity, _, anchored in rows(known)
    ]
    assert law.retrievability(known, NOW) == pytest.approx(expected, rel=1e-13)


def test_no_forgetting_column():
    assert NoForgetting().retrievability(traces(3), NOW).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("law", LAWS)
def test_the_future_counts_as_now(law):
    known = traces(50)
    later = Traces(*known[:4], known.created_us * 0 + NOW + DAY, known.created_us * 0 + NOW)
    now = Traces(*known[:4], known.created_us * 0 + NOW, known.created_us * 0 + NOW)
    assert law.retrievability(later, NOW).tolist() == law.retrievability(now, NOW).tolist()


@pytest.mark.parametrize("law", LAWS)
@settings(max_examples=40)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 10_000 * DAY), min_size=2, max_size=9))
def test_retrievability_stays_in_bounds_and_never_grows(law, seed, waits):
    known = traces(20, seed)
    columns = [law.retrievability(known, NOW + wait) for wait in sorted(waits)]
    assert all(np.all((column >= 0) & (column <= 1)) for column in columns)
    assert all(np.all(b <= a * (1 + FLOAT32)) for a, b in pairwise(columns))


@pytest.mark.parametrize("law", LAWS)
def test_longest_ages_are_finite(law):
    ends = np.array([-62_135_596_800 * S, 253_402_300_799 * S], dtype=np.int64)
    ones = np.ones(2)
    known = Traces(ones, ones * 0, ones, ones * 0, ends, ends)
    found = law.retrievability(known, int(ends[1]))
    assert np.isfinite(found).all()
    assert found[1] == 1


def test_some_memories_are_picked_by_slot():
    known = traces(5)
    slots = np.array([4, 0, 4])
    picked = known.at(slots)
    assert picked.importance.tolist() == known.importance[[4, 0, 4]].tolist()
    assert picked.anchored_us.tolist() == known.anchored_us[[4, 0, 4]].tolist()


RATES = [
    (Ebbinghaus, "decay_factor"),
    (StorageStrength, "decay_rate"),
    (WeightedSum, "decay_lambda"),
]
POSITIVE = [(PowerForgetting, "stability_days"), (PowerForgetting, "exponent")]


@pytest.mark.parametrize(("law", "name"), RATES + POSITIVE)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1e-9, HUGE])
def test_a_rate_must_be_finite_and_not_negative(law, name, value):
    with pytest.raises(InvalidArgument, match=name):
        law(**{name: value})


@pytest.mark.parametrize(("law", "name"), RATES + POSITIVE)
@pytest.mark.parametrize("value", ["0.1", None, True, [0.1], 1j])
def test_a_rate_must_be_a_number(law, name, value):
    with pytest.raises(InvalidType, match=name):
        law(**{name: value})


@pytest.mark.parametrize(("law", "name"), RATES)
def test_a_rate_of_zero_forgets_nothing(law, name):
    assert law(**{name: 0}).retrievability(traces(1), NOW + DAY)[0] > 0


@pytest.mark.parametrize(("law", "name"), POSITIVE)
def test_power_law_refuses_zero(law, name):
    with pytest.raises(InvalidArgument, match=name):
        law(**{name: 0.0})


@pytest.mark.parametrize("name", ["alpha", "beta", "gamma"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_weights_of_a_sum_are_finite(name, value):
    with pytest.raises(InvalidArgument, match=name):
        WeightedSum(**{name: value})
