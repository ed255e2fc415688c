"""A law of memory fitted to reviews: the formula, the fit, and what it refuses."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.quality.reviews import reviews
from ebbmem import calibrate
from ebbmem.calibrate import Review, ReviewLaw
from ebbmem.decay import PowerForgetting
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

DAY = 86_400
NOW = 1_700_000_000
KNOWN = ReviewLaw((0.8, 2.0, 5.0, 12.0), 3.0, 0.3, 0.7, 0.5, 0.3)


def predicted(law: ReviewLaw, history: list[tuple[float, int]]) -> list[tuple[float, bool]]:
    """Return the same as `ReviewLaw.predicted` of one item, given by days and grades in order."""
    stability = law.first_days[history[0][1] - 1]
    found = []
    for (before, _), (day, grade) in pairwise(history):
        factor = math.pow(0.9, -1 / law.exponent) - 1
        share = math.pow(1 + factor * (day - before) / stability, -law.exponent)
        if day - before >= 0.5:
            found.append((share, grade > 1))
        if grade > 1:
            stability *= 1 + law.gain * stability**-law.flattening * (1 - share)
        else:
            stability = min(law.lapse * stability**law.lapse_power, stability)
        stability = min(max(stability, 1e-3), 36_500)
    return found


def simulated(law: ReviewLaw, items: int, length: int, seed: int) -> list[Review]:
    """Return reviews by chance, as the law has it, at intervals around the stability."""
    rng = np.random.default_rng(seed)
    grades = rng.integers(1, 5, items)
    stability, day = np.array(law.first_days)[grades - 1], np.zeros(items)
    reviews = [Review(str(n), NOW, int(grade)) for n, grade in enumerate(grades)]
    factor = 0.9 ** (-1 / law.exponent) - 1
    for _ in range(length - 1):
        gap = np.maximum(stability * np.exp(rng.uniform(-1, 3, items)), 0.6)
        day += gap
        share = (1 + factor * gap / stability) ** -law.exponent
        good = rng.random(items) < share
        grown = stability * (1 + law.gain * stability**-law.flattening * (1 - share))
        lapsed = np.minimum(law.lapse * stability**law.lapse_power, stability)
        stability = np.clip(np.where(good, grown, lapsed), 1e-3, 36_500)
        told = zip(day.tolist(), good.tolist(), strict=True)
        reviews += [
            Review(str(n), NOW + at * DAY, 3 if ok else 1) for n, (at, ok) in enumerate(told)
        ]
    return reviews


histories = st.dictionaries(
    st.text(max_size=3),
    st.lists(st.tuples(st.integers(0, 400 * 24), st.integers(1, 4)), min_size=1, max_size=6),
    max_size=6,
)


class TestTheFormula:
    def test_by_hand(self):
        law = ReviewLaw((1.0, 1.0, 2.0, 1.0), 3.0, 1.0, 0.5, 0.5, 1.0)
        # With an exponent of 1, F is 1/9: R = 1 / (1 + t / (9 S)).
        reviews = [
            Review("a", NOW, 3),  # stability 2
            Review("a", NOW + 18 * DAY, 3),  # R 1/2; 2 * (1 + 3 / 2 * 1/2) = 3.5
            Review("a", NOW + (18 + 31.5) * DAY, 1),  # R 1/2; 0.5 * sqrt(3.5)
            Review("a", NOW + 60 * DAY, 3),
        ]
        probabilities, successes = law.predicted(reviews)
        left = 0.5 * math.sqrt(3.5)
        expected = [1 / 2, 1 / 2, 1 / (1 + 10.5 / (9 * left))]
        assert probabilities == pytest.approx(expected)
        assert successes.tolist() == [True, False, True]

    @example({"00": [(0, 1)], "": [(0, 3), (70, 2)], "0": [(60, 2), (88, 1)]}, Random(1))
    @given(histories, st.randoms())
    def test_is_the_oracle_in_any_order(self, items, random):
        reviews = [
            Review(item, NOW + hour * 3600, grade)
            for item, tries in items.items()
            for hour, grade in tries
        ]
        expected = []
        for tries in items.values():
            # Of one moment in the order given.
            in_order = sorted(tries, key=lambda one: one[0])
            expected += predicted(KNOWN, [(hour / 24, grade) for hour, grade in in_order])
        probabilities, successes = KNOWN.predicted(reviews)
        assert len(expected) == len(successes)
        for outcome in (True, False):
            # Apart: of two that round alike, either may come first.
            wanted = sorted(one for one, success in expected if success == outcome)
            assert sorted(probabilities[successes == outcome].tolist()) == pytest.approx(wanted)
        by_time = sorted(reviews, key=lambda one: one.at)
        random.shuffle(reviews)
        assert len(KNOWN.predicted(reviews)[0]) == len(KNOWN.predicted(by_time)[0])

    def test_soon_after_is_nothing_to_predict(self):
        hours = [0, 11.9, 24]
        reviews = [Review("a", NOW + hour * 3600, 3) for hour in hours]
        assert len(KNOWN.predicted(reviews)[0]) == 1

    def test_moments_may_be_datetimes(self):
        seconds = [Review("a", NOW + n * DAY, 3) for n in range(3)]
        moments = [
            Review("a", datetime.fromtimestamp(one.at, timezone.utc), one.grade) for one in seconds
        ]
        assert KNOWN.predicted(seconds)[0].tolist() == KNOWN.predicted(moments)[0].tolist()

    def test_losses_by_hand(self):
        shares, good = np.array([0.25, 0.5, 1.0, 0.0]), np.array([True, False, True, True])
        expected = (math.log(4) + math.log(2) + 0 + math.log(1e6)) / 4
        assert calibrate.log_loss(shares, good) == pytest.approx(expected)
        # Two bins: 0 and 0.25 of which both succeed, 0.5 and 1 of which one does.
        squares = 2 * (0.125 - 1) ** 2 + 2 * (0.75 - 0.5) ** 2
        assert calibrate.rmse(shares, good, bins=2) == pytest.approx(math.sqrt(squares / 4))


class TestTheFit:
    def test_finds_the_constants_of_simulated_reviews_again(self):
        found = calibrate.fit(simulated(KNOWN, 20_000, 14, seed=1))
        assert found.accepted
        assert found.law.first_days == pytest.approx(KNOWN.first_days, rel=0.1)
        for name in ("gain", "flattening", "lapse", "lapse_power", "exponent"):
            assert getattr(found.law, name) == pytest.approx(getattr(KNOWN, name), rel=0.1), name

    def test_that_is_no_better_than_the_start_is_refused(self):
        # So few that a fit can only follow their chances.
        reviews = simulated(KNOWN, 60, 6, seed=3)
        found = calibrate.fit(reviews, start=KNOWN)
        assert found.log_loss >= found.start_log_loss
        assert not found.accepted
        assert found.law == KNOWN

    def test_predicts_reviews_of_other_cards(self, data_dir: Path):
        found = calibrate.fit(reviews(data_dir / "review_logs.csv"))
        assert found.accepted
        assert found.reviews == 6_372
        assert found.log_loss < 0.47
        assert found.rmse < 0.05

    def test_its_curve_is_one_for_recipes(self):
        assert KNOWN.forgetting == PowerForgetting(stability_days=5.0, exponent=0.3)

    @pytest.mark.parametrize("reviews", [[], [Review("a", NOW, 3), Review("a", NOW + DAY, 3)]])
    def test_too_few_reviews_are_refused(self, reviews):
        said = r"^reviews: expected 100 or more to predict in either half of the items .*12 hours"
        with pytest.raises(
            InvalidArgument, match=rf"{said}.*, got \d+ and \d+ among {len(reviews)}$"
        ):
            calibrate.fit(reviews)

    @pytest.mark.parametrize("start", [(1, 2, 3, 4), {}, ReviewLaw, "law"])
    def test_what_is_no_law_to_start_from_is_refused(self, start):
        with pytest.raises(InvalidType, match=r"^start: expected a ReviewLaw or None, got "):
            calibrate.fit([], start)


@pytest.mark.parametrize(
    ("review", "error"),
    [
        (Review("a", NOW, 0), InvalidArgument),
        (Review("a", NOW, 5), InvalidArgument),
        (Review("a", NOW, True), InvalidType),
        (Review("a", NOW, "3"), InvalidType),
        (Review(3, NOW, 3), InvalidType),
        (Review("a\ud800", NOW, 3), InvalidArgument),
        (("a", NOW), InvalidType),
        ("abc", InvalidType),
        (None, InvalidType),
        (Review("a", datetime(2024, 1, 1), 3), InvalidArgument),
        (Review("a", math.nan, 3), InvalidArgument),
    ],
)
def test_a_review_that_is_none_is_refused_by_its_place(review, error):
    for asked in (KNOWN.predicted, calibrate.fit):
        with pytest.raises(error, match=r"^reviews\[1\](\.item|\.at|\.grade)?: expected "):
            asked([Review("a", NOW, 3), review])


ONE = (np.array([0.5, 0.25]), np.array([True, False]))


@pytest.mark.parametrize("measure", [calibrate.log_loss, calibrate.rmse])
@pytest.mark.parametrize(
    ("probabilities", "successes", "error", "said"),
    [
        ([0.5, 0.25], ONE[1], InvalidType, "probabilities: expected an array of floats, got list"),
        (np.array([1, 0]), ONE[1], InvalidType, "probabilities: expected an array of floats"),
        (ONE[0], [True, False], InvalidType, "successes: expected an array of bools, got list"),
        (ONE[0], np.array([1, 0]), InvalidType, "successes: expected an array of bools"),
        (np.empty(0), np.empty(0, bool), ShapeMismatch, "n at least 1, got shape (0,)"),
        (ONE[0][None], ONE[1][None], ShapeMismatch, "expected shape (n,), n at least 1, got shape"),
        (ONE[0], np.array([True]), ShapeMismatch, "successes: expected shape (2,), that of prob"),
        (np.array([0.5, 1.5]), ONE[1], InvalidArgument, "numbers in [0, 1], got 1.5"),
        (np.array([0.5, np.nan]), ONE[1], InvalidArgument, "numbers in [0, 1], got nan"),
    ],
)
def test_predictions_that_are_none_are_refused(measure, probabilities, successes, error, said):
    assert measure(*ONE) > 0
    with pytest.raises(error) as refused:
        measure(probabilities, successes)
    assert said in str(refused.value)


def test_bins_are_counted():
    for bins in (0, -1, 1.5, None):
        with pytest.raises((InvalidArgument, InvalidType), match=r"^bins: "):
            calibrate.rmse(*ONE, bins=bins)


@pytest.mark.parametrize("asked", [KNOWN.predicted, calibrate.fit])
def test_what_are_no_reviews_is_refused(asked):
    for none in (None, 3, "abc"):
        with pytest.raises(InvalidType, match="reviews"):
            asked(none)


@pytest.mark.parametrize(
    "constants",
    [
        {"first_days": (1.0, 2.0)},
        {"first_days": [1.0, 2.0, 3.0, 4.0]},
        {"first_days": (0.0, 1.0, 2.0, 3.0)},
        {"gain": 0.0},
        {"exponent": math.inf},
        {"flattening": -0.1},
        {"lapse": "half"},
    ],
)
def test_a_law_that_is_none_is_refused(constants):
    with pytest.raises((InvalidArgument, InvalidType)):
        ReviewLaw(**constants)
