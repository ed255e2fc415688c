"""Columns of retrievability."""

from __future__ import annotations

import data
import numpy as np
import pytest
import rivals
from timing import Timed

from ebbmem import Ebbinghaus, StorageStrength, _core
from ebbmem.clock import US_PER_H, US_PER_S
from ebbmem.decay import Traces, exponential_retention

pytestmark = pytest.mark.benchmark(max_time=0.5, min_rounds=3)

COUNT = 1_000_000
RATE = 0.01
NOW_US = 10**15


def traces(s: data.Strengths) -> Traces:
    since_us = NOW_US - np.rint(s.idle_h * US_PER_H).astype(np.int64)
    return Traces(s.importance, s.strength, s.anchor, s.intensity, since_us, since_us)


@pytest.mark.parametrize("who", ["ebbmem", "numpy", "python"])
def test_storage_strength_law(timed: Timed, who: str) -> None:
    s = data.strengths(COUNT)
    law, held = StorageStrength(RATE), traces(s)
    calls = {
        "ebbmem": lambda: law.retrievability(held, NOW_US),
        "numpy": lambda: rivals.decay_numpy(s, RATE),
        "python": lambda: rivals.decay_python(s, RATE),
    }
    np.testing.assert_allclose(calls[who](), calls["numpy"](), rtol=2e-6, atol=1e-37)

    timed(calls[who], group=f"decay of {COUNT} memories", units=COUNT, unit="memory")


@pytest.mark.parametrize("who", ["ebbmem", "numpy"])
def test_ebbinghaus_log_weights(timed: Timed, who: str) -> None:
    law, held = Ebbinghaus(), traces(data.strengths(COUNT))
    calls = {
        "ebbmem": lambda: law.log_weights(held, NOW_US),
        "numpy": lambda: (
            np.log(held.importance) - 0.05 * (np.maximum(NOW_US - held.created_us, 0) / US_PER_S)
        ),
    }
    np.testing.assert_allclose(calls[who](), calls["numpy"](), rtol=1e-12)

    timed(calls[who], group=f"log weights of {COUNT} memories", units=COUNT, unit="memory")


@pytest.mark.parametrize("who", ["ebbmem", "numpy"])
def test_exponential_column(timed: Timed, who: str) -> None:
    s = data.strengths(COUNT)
    rate = np.full(COUNT, RATE)
    calls = {
        "ebbmem": lambda: _core.exponential_retention(s.anchor, s.idle_h, rate),
        "numpy": lambda: s.anchor * np.exp(-rate * s.idle_h),
    }
    np.testing.assert_allclose(calls[who](), calls["numpy"](), rtol=2e-6, atol=1e-37)

    timed(calls[who], group=f"exponential column of {COUNT}", units=COUNT, unit="memory")


@pytest.mark.parametrize("who", ["ebbmem", "numpy"])
def test_exponential_column_of_float32(timed: Timed, who: str) -> None:
    s = data.strengths(COUNT)
    anchor, idle_h, rate = (
        x.astype(np.float32) for x in (s.anchor, s.idle_h, np.full(COUNT, RATE))
    )
    calls = {
        "ebbmem": lambda: exponential_retention(anchor, idle_h, rate),
        "numpy": lambda: anchor * np.exp(-rate * idle_h),
    }
    np.testing.assert_allclose(calls[who](), calls["numpy"](), rtol=2e-6, atol=1e-37)

    timed(calls[who], group=f"exponential column of {COUNT}, float32", units=COUNT, unit="memory")


@pytest.mark.parametrize("who", ["ebbmem", "numpy"])
def test_log_column(timed: Timed, who: str) -> None:
    s = data.strengths(COUNT)
    calls = {
        "ebbmem": lambda: _core.log_weights(s.importance, s.idle_h, RATE),
        "numpy": lambda: np.log(s.importance) - RATE * s.idle_h,
    }
    np.testing.assert_allclose(calls[who](), calls["numpy"](), rtol=1e-12, atol=1e-12)

    timed(calls[who], group=f"log column of {COUNT}", units=COUNT, unit="memory")


@pytest.mark.parametrize("who", ["ebbmem", "numpy"])
def test_power_column(timed: Timed, who: str) -> None:
    s = data.strengths(COUNT)
    stability_h = 24 * (1 + 30 * s.strength)
    factor = 0.9 ** (-1 / 0.1542) - 1
    calls = {
        "ebbmem": lambda: _core.power_retention(s.idle_h, stability_h, 0.1542),
        "numpy": lambda: (1 + factor * s.idle_h / stability_h) ** -0.1542,
    }
    np.testing.assert_allclose(calls[who](), calls["numpy"](), rtol=1e-12)

    timed(calls[who], group=f"power column of {COUNT}", units=COUNT, unit="memory")
