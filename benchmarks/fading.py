"""Memories that fade: how fast, how old, and what was recalled since."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from data import F64, I64

from ebbmem import _core

S = 1_000_000
H = 3_600 * S
DAY = 24 * H
NOW_US = 1_700_000_000 * S


@dataclass(frozen=True)
class Case:
    """A rate per second, and over how long the memories were made."""

    name: str
    rate: float
    spread_us: int
    paced: bool = False


YEAR = Case("0.01/h over 1 y", 0.01 / 3600, 365 * DAY)
MONTH = Case("0.01/h over 30 d", 0.01 / 3600, 30 * DAY)
SECONDS = Case("0.05/s over 1 d", 0.05, DAY)
PACED = Case("own rates over 1 y", 0.01 / 3600, 365 * DAY, paced=True)
NEVER = Case("no forgetting", 0.0, DAY)


def lines(case: Case, count: int) -> tuple[F64, I64, F64 | None]:
    """Return importances from 1 to 10, moments of making in order, and paces as seed 001's."""
    rng = np.random.default_rng(7)
    importance = rng.integers(1, 11, count).astype(np.float64)
    since_us = NOW_US - np.sort(rng.integers(0, case.spread_us, count))[::-1]
    pace = (1 - 0.75 * rng.random(count)) * (1 - 0.8 * rng.random(count))
    return importance, since_us, pace if case.paced else None


def remembered(case: Case, count: int) -> _core.Fading:
    """Return the lines of memories as they were made."""
    made = _core.Fading()
    made.append(*lines(case, count))
    return made


def recalled_tenth(case: Case, count: int) -> tuple[I64, F64, I64, F64 | None]:
    """Return a tenth of the memories, any of them, as recalled in the last hour."""
    rng = np.random.default_rng(8)
    importance, _, pace = lines(case, count)
    slots = rng.choice(count, count // 10, replace=False)
    since_us = NOW_US - rng.integers(0, H, len(slots))
    return slots, importance[slots], since_us, None if pace is None else pace[slots]


def recalled_since(case: Case, count: int) -> tuple[I64, F64, I64, F64 | None]:
    """Return a tenth of the memories, any of them, as recalled at some time since their making."""
    rng = np.random.default_rng(9)
    importance, made_us, pace = lines(case, count)
    slots = rng.choice(count, count // 10, replace=False)
    age_us = (NOW_US - made_us[slots]) * rng.random(len(slots))
    since_us = NOW_US - age_us.astype(np.int64)
    return slots, importance[slots], since_us, None if pace is None else pace[slots]
