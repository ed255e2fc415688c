"""Contests of forgetting: columns of strengths."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import data
import numpy as np
from contest import Contest, Rival
from numpy.typing import NDArray
from sizes import Sizes

from ebbmem import _core
from ebbmem.decay import exponential_retention

RATE = 0.01


def in_numpy(anchor: NDArray[Any], idle: NDArray[Any], rate: NDArray[Any]) -> NDArray[Any]:
    """Return what is left of each anchor, in the type of the columns."""
    left: NDArray[Any] = anchor * np.exp(-rate * idle)
    return left


def columns(sizes: Sizes) -> Iterator[Contest]:
    """One number per memory from its strengths and times."""
    count = sizes.columns
    s = data.strengths(count)
    rate = RATE * (1 - 0.75 * s.strength) * (1 - 0.8 * s.intensity)
    wide = (s.anchor, s.idle_h, rate)
    narrow = tuple(x.astype(np.float32) for x in wide)
    for given, ours, at_least in (("float32", narrow, (8.0, 2.0)), ("float64", wide, (None, None))):
        expected = in_numpy(*(x.astype(np.float64) for x in ours))
        np.testing.assert_allclose(exponential_retention(*ours), expected, rtol=2e-6, atol=1e-37)
        yield Contest(
            f"decay column anchor * exp(-rate * idle), {sizes.shown(count)} rows of {given}"
            " -> float32",
            partial(exponential_retention, *ours),
            (
                Rival("numpy float64", partial(in_numpy, *wide), at_least[0]),
                Rival("numpy float32", partial(in_numpy, *narrow), at_least[1]),
            ),
        )
    np.testing.assert_allclose(
        _core.log_weights(s.importance, s.idle_h, RATE),
        np.log(s.importance) - RATE * s.idle_h,
        rtol=1e-12,
        atol=1e-12,
    )
    importance32, idle32 = s.importance.astype(np.float32), s.idle_h.astype(np.float32)
    yield Contest(
        f"decay column ln(importance) - rate * age, {sizes.shown(count)} rows",
        lambda: _core.log_weights(s.importance, s.idle_h, RATE),
        (
            Rival(
                "numpy importance * exp, float64", lambda: s.importance * np.exp(-RATE * s.idle_h)
            ),
            Rival(
                "numpy importance * exp, float32",
                lambda: importance32 * np.exp(np.float32(-RATE) * idle32),
            ),
        ),
    )
    stability_h = 24 * (1 + 30 * s.strength)
    grown = 0.9 ** (-1 / 0.1542) - 1
    np.testing.assert_allclose(
        _core.power_retention(s.idle_h, stability_h, 0.1542),
        (1 + grown * s.idle_h / stability_h) ** -0.1542,
        rtol=1e-12,
    )
    yield Contest(
        f"decay column of the power law, {sizes.shown(count)} rows",
        lambda: _core.power_retention(s.idle_h, stability_h, 0.1542),
        (Rival("numpy float64", lambda: (1 + grown * s.idle_h / stability_h) ** -0.1542),),
    )
