"""The laws of forgetting: how strongly a memory can be reached at a given moment.

A law has a scalar form, which is its definition, and a column form over many memories, which
the native core computes.  None of them asks for the time: it is an argument.  Ages below zero
(a clock that stepped back, a machine that runs ahead) count as zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core, arguments
from ebbmem.clock import US_PER_H, US_PER_S

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

STRENGTH_PROTECTION = 0.75
EMOTION_PROTECTION = 0.8
H_PER_DAY = 24.0


class Traces(NamedTuple):
    """What a law may look at, one value per memory.

    ``importance`` in [1, 10]; ``strength`` (S), ``anchor`` (R at ``anchored_us``) and
    ``intensity`` (emotional) in [0, 1]; times in UTC microseconds.
    """

    importance: F64
    strength: F64
    anchor: F64
    intensity: F64
    created_us: I64
    anchored_us: I64

    def at(self, slots: I64) -> Traces:
        """Return the traces of some memories."""
        return Traces(
            self.importance[slots],
            self.strength[slots],
            self.anchor[slots],
            self.intensity[slots],
            self.created_us[slots],
            self.anchored_us[slots],
        )


class Law(Protocol):
    """How retrievability falls with time."""

    def retrievability(self, traces: Traces, now_us: int) -> F64:
        """Return R in [0, 1] of each memory at a moment."""
        ...


@dataclass(frozen=True, slots=True)
class Ebbinghaus:
    """Exponential forgetting since creation: ``exp(-decay_factor * age_s)``.

    Parameters
    ----------
    decay_factor : float
        Per **second**; 0.05 halves retention every 13.9 s.

    Notes
    -----
    The score ``((cos + 1) / 2) * importance * exp(-decay_factor * age_s)`` is 0 in float64 from
    an age of 14,903 s at the default, so memories are ranked by its logarithm (`log_weights`).
    """

    decay_factor: float = 0.05

    def __post_init__(self) -> None:
        _settle(self, arguments.not_negative, "decay_factor")

    def retention(self, age_s: float) -> float:
        """Return the share still there after ``age_s`` seconds."""
        return math.exp(-self.decay_factor * max(age_s, 0.0))

    def score(self, cosine: float, importance: float, age_s: float) -> float:
        """Return the linear score of one memory; cosine in [-1, 1], importance in [1, 10]."""
        return ((cosine + 1.0) / 2.0) * importance * self.retention(age_s)

    def retrievability(self, traces: Traces, now_us: int) -> F64:
        """Return the share still there of each memory."""
        return _core.exponential_share(traces.created_us, now_us, US_PER_S, self.decay_factor)

    def log_weights(self, traces: Traces, now_us: int) -> F64:
        """Return ``ln(importance) - decay_factor * age_s`` of each memory."""
        return _core.log_weights_since(
            traces.importance, traces.created_us, now_us, US_PER_S, self.decay_factor
        )


RATE_PER_H: Final = 0.01
"""At which memories fade between successes, whatever law a recipe ranks by."""


@dataclass(frozen=True, slots=True)
class StorageStrength:
    """Exponential forgetting since the last access, slowed by storage strength and emotion.

    ``R = R_anchor * exp(-decay_rate * (1 - 0.75 S) * (1 - 0.8 intensity) * idle_h)``

    Parameters
    ----------
    decay_rate : float
        Per **hour**.
    """

    decay_rate: float = RATE_PER_H

    def __post_init__(self) -> None:
        _settle(self, arguments.not_negative, "decay_rate")

    def rate_per_h(self, strength: float, intensity: float) -> float:
        """Return the effective rate per hour for S and emotional intensity in [0, 1]."""
        slowed = (1.0 - STRENGTH_PROTECTION * strength) * (1.0 - EMOTION_PROTECTION * intensity)
        return self.decay_rate * slowed

    def effective(self, anchor: float, strength: float, intensity: float, idle_h: float) -> float:
        """Return R of one memory after ``idle_h`` hours without access."""
        rate = self.rate_per_h(strength, intensity)
        return anchor * math.exp(-rate * max(idle_h, 0.0))

    def retrievability(self, traces: Traces, now_us: int) -> F64:
        """Return R of each memory."""
        return _core.strength_retention(
            traces.anchor,
            traces.strength,
            traces.intensity,
            traces.anchored_us,
            now_us,
            US_PER_H,
            self.decay_rate,
        )


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """Relevance, recency and importance added: the generative-agents score.

    ``alpha * cos + beta * exp(-decay_lambda * age_h) + gamma * importance / 10``

    Parameters
    ----------
    alpha, beta, gamma : float
        Weights of relevance, recency and importance.
    decay_lambda : float
        Per **hour** since creation.
    """

    alpha: float = 0.5
    beta: float = 0.3
    gamma: float = 0.2
    decay_lambda: float = 0.005

    def __post_init__(self) -> None:
        _settle(self, arguments.not_negative, "alpha", "beta", "gamma", "decay_lambda")

    def score(self, cosine: float, importance: float, age_h: float) -> float:
        """Return the score of one memory; cosine in [-1, 1], importance in [1, 10]."""
        recency = math.exp(-self.decay_lambda * max(age_h, 0.0))
        return self.alpha * cosine + self.beta * recency + self.gamma * importance / 10.0

    def retrievability(self, traces: Traces, now_us: int) -> F64:
        """Return the recency of each memory."""
        return _core.exponential_share(traces.created_us, now_us, US_PER_H, self.decay_lambda)


@dataclass(frozen=True, slots=True)
class PowerForgetting:
    """Power-law forgetting since the last access: slow at the far end, never a veto.

    ``R = (1 + F t / stability)^-exponent``, with F such that R is 0.9 after ``stability``.

    Parameters
    ----------
    stability_days : float
        Days until R is 0.9, for a memory with S = 0, no emotion and importance 1.
    exponent : float
        Of the power law; 0.1542 is the published fit to spaced-repetition reviews.

    Notes
    -----
    ``stability = stability_days * (1 + 2 S) * (1 + 2 intensity) * (1 + 2 (importance - 1) / 9)``:
    it grows threefold with each of the three, as they go from their least to their greatest value.
    """

    stability_days: float = 30.0
    exponent: float = 0.1542

    def __post_init__(self) -> None:
        _settle(self, arguments.positive, "stability_days", "exponent")

    @property
    def factor(self) -> float:
        """Return F."""
        return float(0.9 ** (-1.0 / self.exponent) - 1.0)

    def retention(self, elapsed_days: float, stability_days: float) -> float:
        """Return R after ``elapsed_days`` at a stability in days."""
        ratio = max(elapsed_days, 0.0) / stability_days
        return float((1.0 + self.factor * ratio) ** -self.exponent)

    def retrievability(self, traces: Traces, now_us: int) -> F64:
        """Return R of each memory."""
        return _core.power_of_strength(
            traces.importance,
            traces.strength,
            traces.intensity,
            traces.anchored_us,
            now_us,
            US_PER_H,
            self.stability_days * H_PER_DAY,
            self.exponent,
        )


@dataclass(frozen=True, slots=True)
class NoForgetting:
    """Nothing fades."""

    def retrievability(self, traces: Traces, now_us: int) -> F64:  # noqa: ARG002
        """Return 1 for every memory."""
        return np.ones(traces.created_us.shape)


def exponential_retention(anchor: F32 | F64, idle: F32 | F64, rate: F32 | F64) -> F32:
    """Return ``anchor * exp(-rate * idle)``, row by row: columns of one's own, and a rate for each.

    Parameters
    ----------
    anchor : ndarray of shape (n,)
        What there was at the last access; any finite values.
    idle : ndarray of shape (n,)
        Time since then; below 0 counts as 0.
    rate : ndarray of shape (n,)
        Decay per unit of ``idle``, at least 0.

    Returns
    -------
    ndarray of shape (n,) and dtype float32
        Within 2 units in the last place of the real value for the numbers given, however large
        ``rate * idle`` is, and 0 where that is above 87.  The same bits on every processor.

    Raises
    ------
    InvalidType
        When the three are not C-contiguous arrays, all of float64 or all of float32.
    ShapeMismatch
        When they have not one length.
    InvalidArgument
        When a value is not finite, or a rate below 0.

    Notes
    -----
    Columns of float32 take half the time of float64.  What recall ranks by is computed from
    float64 columns.
    """
    return _core.exponential_retention(anchor, idle, rate)


def _settle(law: object, check: Callable[[object, str], float], *names: str) -> None:
    """Check fields of a law and keep them as floats: columns are made of them."""
    for name in names:
        object.__setattr__(law, name, check(getattr(law, name), name))
