"""Contests of recall under forgetting: rows in the order of their weights, against all rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import data
import fading
import numpy as np
from contest import Contest, Fact, Rival, turning
from sizes import Sizes

from ebbmem import _core

K = 10
FIGURES = {fading.YEAR: 200.0, fading.MONTH: 40.0, fading.SECONDS: 800.0, fading.PACED: 80.0}
BANDWIDTH_SHARE = 0.8


def decayed(sizes: Sizes) -> Iterator[Contest]:
    """The ten best by similarity and weight, as made and after a tenth was recalled."""
    count, dim = sizes.rows[0]
    rows = data.unit_rows(count, dim, clustered=True)
    arena = _core.Arena(dim)
    arena.append(rows)
    queries = data.unit_rows(8, dim, clustered=True, seed=9)
    every = np.arange(count)

    def scan(query: data.F32) -> data.F32:
        return _core.dots(arena, query, every)

    facts = [bandwidth(sizes, rows, lambda: scan(queries[0]))]
    for case, figure in FIGURES.items():
        lines = fading.remembered(case, count)
        for recalled in (False, True):
            if recalled:
                lines.overwrite(*fading.recalled_tenth(case, count))
            check(arena, lines, case, queries)
            yield Contest(
                f"decayed top {K} of {sizes.shown(count)} x {dim}, {case.name}"
                + (", a tenth recalled" if recalled else ""),
                turning(search(arena, lines, case), queries),
                [Rival("own float32 scan of every row", turning(scan, queries), figure)],
                facts=facts,
            )
            facts = []


def search(
    arena: _core.Arena, lines: _core.Fading, case: fading.Case
) -> Callable[[data.F32], tuple[data.I64, data.F64, data.F32]]:
    """Return the search by the lines."""

    def top(query: data.F32) -> tuple[data.I64, data.F64, data.F32]:
        return _core.top_faded(arena, lines, query, fading.NOW_US, case.rate, None, None, K)

    return top


def check(arena: _core.Arena, lines: _core.Fading, case: fading.Case, queries: data.F32) -> None:
    """Hold the search to the ranking by a column of weights, bit for bit."""
    weight = lines.log_weights(np.arange(lines.size), fading.NOW_US, case.rate)
    for query in queries:
        want = _core.top_product(arena, query, weight, None, None, K)
        for ours, theirs in zip(search(arena, lines, case)(query), want, strict=True):
            assert ours.tobytes() == theirs.tobytes()


def bandwidth(sizes: Sizes, rows: data.F32, scan: Callable[[], object]) -> Fact:
    """Say how near the scan of every row is to only reading them."""

    def cpu_s(call: Callable[[], object]) -> float:
        start = time.thread_time()
        call()
        return time.thread_time() - start

    share = min(cpu_s(rows.max) for _ in range(5)) / max(min(cpu_s(scan) for _ in range(5)), 1e-9)
    return Fact(
        f"the scan of every row reads at {share:.0%} of the speed of finding their maximum",
        share >= BANDWIDTH_SHARE if sizes.judged else None,
    )
