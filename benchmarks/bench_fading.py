"""Decayed top ten: rows visited in the order of their weights, against reading every row.

A tenth of what ratios.py holds the same contests at.  Every answer is checked against the ranking
by a column of weights; extra_info has the rows weighed, compared and read, and bytes per row.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import data
import fading
import numpy as np
import pytest
from contest import turning
from timing import Timed

from ebbmem import _core

pytestmark = pytest.mark.benchmark(max_time=0.3, min_rounds=5)

K, DIM, ROWS = 10, 256, 100_000
GROUP = f"decayed top {K} of {ROWS} x {DIM}"
CASES = [fading.YEAR, fading.MONTH, fading.SECONDS, fading.PACED, fading.NEVER]


@cache
def arena() -> _core.Arena:
    made = _core.Arena(DIM)
    made.append(data.unit_rows(ROWS, DIM, clustered=True))
    return made


@cache
def queries() -> data.F32:
    return data.unit_rows(8, DIM, clustered=True, seed=9)


@pytest.mark.parametrize("recalled", [False, True], ids=["as made", "a tenth recalled"])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_top_faded(timed: Timed, case: fading.Case, recalled: bool) -> None:
    lines = fading.remembered(case, ROWS)
    if recalled:
        lines.overwrite(*fading.recalled_tenth(case, ROWS))
    weight = lines.log_weights(np.arange(ROWS), fading.NOW_US, case.rate)

    def by_order(query: data.F32) -> Any:
        return _core.top_faded(arena(), lines, query, fading.NOW_US, case.rate, None, None, K)

    for query in queries():
        by_column = _core.top_product(arena(), query, weight, None, None, K)
        for got, want in zip(by_order(query), by_column, strict=True):
            assert got.tobytes() == want.tobytes()

    work = [
        _core._testing.faded_work(arena(), lines, query, fading.NOW_US, case.rate, K)
        for query in queries()
    ]
    rows = dict(zip(("weighed", "compared", "read"), np.mean(work, axis=0).tolist(), strict=True))
    timed.benchmark.extra_info.update(rows, bytes_per_row=round(lines.bytes / ROWS, 1))
    timed(turning(by_order, queries()), group=GROUP, units=1, unit="call")


def test_reading_every_row(timed: Timed) -> None:
    """What the others are measured against: the float32 dots of all rows, nothing weighed."""
    every = np.arange(ROWS)
    dots = _core.dots(arena(), queries()[0], every)
    assert dots.max() == _core.top_affine(arena(), queries()[0], None, None, None, None, 1)[2][0]

    timed(
        turning(lambda query: _core.dots(arena(), query, every), queries()),
        group=GROUP,
        units=1,
        unit="call",
    )


def test_taking_memories_in(timed: Timed) -> None:
    rows = fading.lines(fading.YEAR, ROWS)

    def take_in() -> _core.Fading:
        lines = _core.Fading()
        lines.append(*rows)
        return lines

    assert timed(take_in, group="fading lines", units=ROWS, unit="row").live == ROWS


def test_moving_what_was_recalled(timed: Timed) -> None:
    lines = fading.remembered(fading.YEAR, ROWS)
    tenth = fading.recalled_tenth(fading.YEAR, ROWS)
    timed(lambda: lines.overwrite(*tenth), group="fading lines", units=ROWS // 10, unit="row")
    assert lines.live == ROWS
