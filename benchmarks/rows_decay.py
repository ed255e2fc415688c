"""Contests of forgetting: columns of strengths."""

from __future__ import annotations

from collections.abc import Iterator

import data
import numpy as np
from contest import Contest, Rival
from sizes import Sizes

from ebbmem import _core

RATE = 0.01


def columns(sizes: Sizes) -> Iterator[Contest]:
    """One number per memory from its strengths and times."""
    count = sizes.columns
    s = data.strengths(count)
    rate = RATE * (1 - 0.75 * s.strength) * (1 - 0.8 * s.intensity)
    anchor32, idle32, rate32 = (x.astype(np.float32) for x in (s.anchor, s.idle_h, rate))
    expected = s.anchor * np.exp(-rate * s.idle_h)
    np.testing.assert_allclose(
        _core.exponential_retention(s.anchor, s.idle_h, rate), expected, rtol=2e-6, atol=1e-37
    )
    yield Contest(
        f"decay column anchor * exp(-rate * idle), {sizes.shown(count)} rows",
        lambda: _core.exponential_retention(s.anchor, s.idle_h, rate),
        (
            Rival("numpy float64", lambda: s.anchor * np.exp(-rate * s.idle_h), 8.0),
            Rival("numpy float32", lambda: anchor32 * np.exp(-rate32 * idle32), 2.0),
        ),
    )
    np.testing.assert_allclose(
        _core.log_weights(s.importance, s.idle_h, RATE),
        np.log(s.importance) - RATE * s.idle_h,
        rtol=1e-12,
        atol=1e-12,
    )
    importance32 = s.importance.astype(np.float32)
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
