"""How fast somebody forgets: a law of memory fitted to what was recalled and what was not.

The law has a stability in days for every item.  An item reviewed ``t`` days after the last review
is recalled with the probability

    R = (1 + F * t / stability) ** -exponent,    F = 0.9 ** (-1 / exponent) - 1

so that R is 0.9 after one stability.  The first review gives the stability by its grade; every
later one changes it:

    recalled:   stability *= 1 + gain * stability ** -flattening * (1 - R)
    forgotten:  stability  = min(lapse * stability ** lapse_power, stability)

The later a review comes and still succeeds, the more it adds.  It is a multiplicative stability law
in the manner of spaced repetition's (FSRS), without a difficulty of items.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ebbmem import arguments
from ebbmem.clock import US_PER_DAY, Moment, to_us
from ebbmem.decay import PowerForgetting
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

F64 = NDArray[np.float64]

GRADES: Final = (1, 2, 3, 4)
"""Forgotten, recalled with difficulty, recalled, recalled with ease."""
LEAST_GAP_DAYS: Final = 0.5
"""A review sooner after the one before changes the stability, but is nothing to predict."""
BINS: Final = 20
LEAST_REVIEWS: Final = 100
"""To be predicted, in either half; with fewer nothing is fitted."""
_SHORTEST_DAYS, _LONGEST_DAYS = 1e-3, 36_500.0
_LEAST_SHARE: Final = 1e-6


class Review(NamedTuple):
    """One try to recall an item.

    ``at`` is an aware datetime or epoch seconds, ``grade`` one of `GRADES`.
    """

    item: str
    at: Moment
    grade: int


@dataclass(frozen=True, slots=True)
class ReviewLaw:
    """The constants of the law; see the module.

    Parameters
    ----------
    first_days : tuple of 4 floats
        Stability after a first review of each grade.
    gain, flattening : float
        What a review that succeeds adds, and how much less at a greater stability.
    lapse, lapse_power : float
        What one that fails leaves.
    exponent : float
        Of the forgetting curve.
    """

    first_days: tuple[float, float, float, float] = (0.4, 1.2, 3.2, 15.0)
    gain: float = 2.2
    flattening: float = 0.2
    lapse: float = 1.0
    lapse_power: float = 0.3
    exponent: float = 0.1542

    def __post_init__(self) -> None:
        if not isinstance(self.first_days, tuple) or len(self.first_days) != len(GRADES):
            expected = f"a tuple of {len(GRADES)} numbers, in days, one for each grade"
            raise InvalidType.of("first_days", expected, self.first_days)
        for days in self.first_days:
            arguments.positive(days, "first_days")
        for name in ("gain", "lapse", "exponent"):
            arguments.positive(getattr(self, name), name)
        for name in ("flattening", "lapse_power"):
            arguments.not_negative(getattr(self, name), name)

    @property
    def forgetting(self) -> PowerForgetting:
        """Return the curve for a recipe: that of an item recalled once."""
        return PowerForgetting(stability_days=self.first_days[2], exponent=self.exponent)

    def predicted(self, reviews: Iterable[Review]) -> tuple[F64, NDArray[np.bool_]]:
        """Return how likely each review was to succeed, by those before it, and whether it did.

        Parameters
        ----------
        reviews : iterable of Review
            In any order; of one item, reviews of one moment keep theirs.

        Returns
        -------
        probabilities : (n,) float64
        successes : (n,) bool
            Of every review at least 12 hours after the one before of its item.
        """
        return _predicted(self, _histories(_checked_reviews(reviews)))


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted law, and how well it predicts reviews of items that it was not fitted to.

    ``accepted`` says whether it did better than the law it started from; otherwise ``law`` is that
    one.  Log losses are in nats; ``rmse`` is that of `BINS` bins of equally many reviews, between
    the mean prediction and the share that succeeded.
    """

    law: ReviewLaw
    accepted: bool
    reviews: int
    log_loss: float
    rmse: float
    start_log_loss: float


def fit(reviews: Iterable[Review], start: ReviewLaw | None = None) -> Calibration:
    """Fit the law to reviews.

    Parameters
    ----------
    reviews : iterable of Review
        In any order.
    start : ReviewLaw, optional
        Where to begin, and what has to be bettered.

    Returns
    -------
    Calibration
        The law is fitted to all reviews.  Its figures are those of two others, each fitted to the
        items of one half (by the lowest bit of the CRC-32 of their names) and judged by the other.

    Raises
    ------
    InvalidArgument
        If one half has fewer than `LEAST_REVIEWS` reviews to predict, or a review is none.
    InvalidType
        If something is of another type.
    """
    first = ReviewLaw() if start is None else start
    if not isinstance(first, ReviewLaw):
        raise InvalidType.of("start", "a ReviewLaw or None", start)
    every = _checked_reviews(reviews)
    halves = [_histories(one for one in every if _half(one) == side) for side in (0, 1)]
    counts = [len(_predicted(first, half)[0]) for half in halves]
    if min(counts) < LEAST_REVIEWS:
        hours = LEAST_GAP_DAYS * 24
        raise InvalidArgument(
            f"reviews: expected {LEAST_REVIEWS} or more to predict in either half of the items"
            f" (at least {hours:g} hours after the one before of their item), got {counts[0]} and"
            f" {counts[1]} among {len(every)}"
        )
    before, after, errors = [], [], []
    for learnt, judged in (halves, halves[::-1]):
        law = _fitted(first, learnt)
        before.append(log_loss(*_predicted(first, judged)))
        after.append(log_loss(*_predicted(law, judged)))
        errors.append(rmse(*_predicted(law, judged)))
    accepted = float(np.mean(after)) < float(np.mean(before))
    return Calibration(
        law=_fitted(first, _histories(every)) if accepted else first,
        accepted=accepted,
        reviews=sum(counts),
        log_loss=float(np.mean(after)),
        rmse=float(np.mean(errors)),
        start_log_loss=float(np.mean(before)),
    )


def log_loss(probabilities: F64, successes: NDArray[np.bool_]) -> float:
    """Return the mean of ``-ln`` of the probability of what happened, kept off 0 by 1e-6.

    Parameters
    ----------
    probabilities : (n,) float64
        Of success, in [0, 1]; at least one.
    successes : (n,) bool
    """
    return _log_loss(*_checked_predictions(probabilities, successes))


def _log_loss(probabilities: F64, successes: NDArray[np.bool_]) -> float:
    """Return the log loss of what was checked."""
    happened = np.where(successes, probabilities, 1.0 - probabilities)
    return float(-np.log(np.maximum(happened, _LEAST_SHARE)).mean())


def rmse(probabilities: F64, successes: NDArray[np.bool_], bins: int = BINS) -> float:
    """Return the root mean square over bins of mean prediction less share of successes.

    Parameters
    ----------
    probabilities : (n,) float64
        Of success, in [0, 1]; at least one.
    successes : (n,) bool
    bins : int
        They hold equally many reviews, in the order of their predictions, and count by them.
    """
    probabilities, successes = _checked_predictions(probabilities, successes)
    arguments.count(bins, "bins")
    order = np.argsort(probabilities, kind="stable")
    parts = [one for one in np.array_split(order, bins) if len(one)]
    squares = [len(at) * (probabilities[at].mean() - successes[at].mean()) ** 2 for at in parts]
    return math.sqrt(sum(squares) / len(order))


class _Histories(NamedTuple):
    """Reviews by item, the items with most first: days since the one before, and grades.

    ``live[j]`` items have a review ``j``; they are the first.
    """

    gaps_days: F64
    grades: NDArray[np.int64]
    live: Sequence[int]


def _checked_predictions(probabilities: object, successes: object) -> tuple[F64, NDArray[np.bool_]]:
    """Return what was predicted and what happened, or refuse what cannot be that."""
    if not isinstance(probabilities, np.ndarray) or probabilities.dtype.kind != "f":
        raise InvalidType.of("probabilities", "an array of floats", probabilities)
    if not isinstance(successes, np.ndarray) or successes.dtype != np.bool_:
        raise InvalidType.of("successes", "an array of bools", successes)
    if probabilities.ndim != 1 or not len(probabilities):
        got = f"shape {probabilities.shape}"
        raise ShapeMismatch(f"probabilities: expected shape (n,), n at least 1, got {got}")
    if successes.shape != probabilities.shape:
        expected = f"shape {probabilities.shape}, that of probabilities"
        raise ShapeMismatch(f"successes: expected {expected}, got shape {successes.shape}")
    outside = probabilities[~((probabilities >= 0.0) & (probabilities <= 1.0))]  # also NaN
    if len(outside):
        raise InvalidArgument.of("probabilities", "numbers in [0, 1]", float(outside[0]))
    return probabilities, successes


def _half(one: Review) -> int:
    return crc32(one.item.encode()) & 1


def _histories(reviews: Iterable[Review]) -> _Histories:
    """Return checked reviews by item."""
    every = sorted(reviews, key=lambda one: (one.item, one.at))
    items = [list(some) for _, some in groupby(every, key=attrgetter("item"))]
    items.sort(key=len, reverse=True)
    longest = len(items[0]) if items else 0
    gaps, grades = np.zeros((len(items), longest)), np.zeros((len(items), longest), np.int64)
    for row, some in enumerate(items):
        moments = np.array([one.at for one in some]) / US_PER_DAY
        gaps[row, 1 : len(some)] = np.diff(moments)
        grades[row, : len(some)] = [one.grade for one in some]
    return _Histories(gaps, grades, np.count_nonzero(grades, axis=0).tolist())


def _checked_reviews(reviews: object) -> list[Review]:
    """Return reviews with their moments in microseconds, or refuse what are none."""
    if isinstance(reviews, (str, bytes)) or not isinstance(reviews, Iterable):
        raise InvalidType.of("reviews", "an iterable of Review", reviews)
    return [_checked(one, f"reviews[{at}]") for at, one in enumerate(reviews)]


def _checked(one: object, argument: str) -> Review:
    """Return a review with its moment in microseconds."""
    if not isinstance(one, tuple) or len(one) != len(Review._fields):
        raise InvalidType.of(argument, "a Review(item, at, grade)", one)
    item, at, grade = one
    if isinstance(grade, bool) or not isinstance(grade, (int, np.integer)):
        raise InvalidType.of(f"{argument}.grade", "an integer", grade)
    if grade not in GRADES:
        expected = f"one of {', '.join(map(str, GRADES))}, {GRADES[0]} for forgotten"
        raise InvalidArgument.of(f"{argument}.grade", expected, grade)
    return Review(arguments.text(item, f"{argument}.item"), to_us(at, f"{argument}.at"), int(grade))


def _predicted(law: ReviewLaw, told: _Histories) -> tuple[F64, NDArray[np.bool_]]:
    """Return what a law predicts of every review that is to be predicted, and what happened."""
    if not told.live:
        return np.empty(0), np.empty(0, np.bool_)
    factor = 0.9 ** (-1.0 / law.exponent) - 1.0
    stability = np.array(law.first_days)[told.grades[:, 0] - 1]
    shares, successes = [], []
    for at in range(1, len(told.live)):
        stability = stability[: told.live[at]]
        gap, good = told.gaps_days[: told.live[at], at], told.grades[: told.live[at], at] > 1
        share = (1.0 + factor * gap / stability) ** -law.exponent
        counts = gap >= LEAST_GAP_DAYS
        shares.append(share[counts])
        successes.append(good[counts])
        stability = np.where(good, _grown(law, stability, share), _lapsed(law, stability))
        stability = np.clip(stability, _SHORTEST_DAYS, _LONGEST_DAYS)
    return np.concatenate([np.empty(0), *shares]), np.concatenate([np.empty(0, bool), *successes])


def _grown(law: ReviewLaw, stability: F64, share: F64) -> F64:
    """Return the stability after a review that succeeds."""
    grown: F64 = stability * (1.0 + law.gain * stability**-law.flattening * (1.0 - share))
    return grown


def _lapsed(law: ReviewLaw, stability: F64) -> F64:
    """Return the stability after a review that fails."""
    lapsed: F64 = np.minimum(law.lapse * stability**law.lapse_power, stability)
    return lapsed


def _fitted(start: ReviewLaw, told: _Histories) -> ReviewLaw:
    """Return the law of least log loss, found from ``start`` by a quasi-Newton method."""
    from scipy.optimize import minimize  # noqa: PLC0415  not before somebody fits

    def loss(x: F64) -> float:
        return _log_loss(*_predicted(_law(x), told))

    found = minimize(loss, _numbers(start), method="L-BFGS-B", bounds=_BOUNDS)
    return _law(found.x)


# Days, gains and the exponent are fitted by their logarithms, so that they stay above 0.
_LOGARITHMS: Final = np.array([True] * 5 + [False, True, False, True])
_BOUNDS: Final = (
    [(math.log(1e-3), math.log(1e4))] * 4
    + [(-5.0, 5.0), (0.0, 1.0)]
    + [(-5.0, 5.0), (0.0, 1.0)]
    + [(math.log(0.02), math.log(2.0))]
)


def _numbers(law: ReviewLaw) -> F64:
    first_days, *others = astuple(law)
    numbers = np.array([*first_days, *others])
    return np.where(_LOGARITHMS, np.log(np.where(_LOGARITHMS, numbers, 1.0)), numbers)


def _law(numbers: F64) -> ReviewLaw:
    values = np.where(_LOGARITHMS, np.exp(np.where(_LOGARITHMS, numbers, 0.0)), numbers).tolist()
    names = [one.name for one in fields(ReviewLaw)][1:]
    return ReviewLaw(tuple(values[:4]), **dict(zip(names, values[4:], strict=True)))
