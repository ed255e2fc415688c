"""Contests of recall under forgetting: rows in the order of their weights, against all rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import data
import fading
import numpy as np
import peers
from contest import Contest, Fact, Rival, least_s, turning
from rows_scan import K, Neighbours, arena_of, share
from sizes import Sizes

from ebbmem import _core

FIGURES = {fading.YEAR: 200.0, fading.MONTH: 40.0, fading.SECONDS: 800.0, fading.PACED: 80.0}
BANDWIDTH_SHARE = 0.8
FETCHED = 100
STEP_US = 1_000  # between calls: nothing that was worked out for one moment serves the next

Search = Callable[[data.F32], tuple[data.I64, data.F64, data.F32]]
Changes = Callable[[fading.Case, int], tuple[data.I64, data.F64, data.I64, data.F64 | None]]


def decayed(sizes: Sizes) -> Iterator[Contest]:
    """The ten best by similarity and weight, as made and after a tenth was recalled."""
    count, dim = sizes.rows[0]
    rows = data.unit_rows(count, dim, clustered=True)
    arena = arena_of(rows)
    queries = data.unit_rows(8, dim, clustered=True, seed=9)

    def dots(query: data.F32) -> data.F32:
        return _core._testing.dot_rows(_core.isa(), query, rows)

    facts = [bandwidth(rows, lambda: dots(queries[0]))]
    for case, figure in FIGURES.items():
        for told, recalled in RECALLED.items():
            lines = fading.remembered(case, count)
            if recalled.changes is not None:
                lines.overwrite(*recalled.changes(case, count))
            check(arena, lines, case, queries)
            least = figure if recalled.judged else None
            yield Contest(
                f"decayed top {K} of {sizes.shown(count)} x {dim}, {case.name}{told}",
                turning(search(arena, lines, case), queries),
                [Rival("own float32 dots of every row, unranked", turning(dots, queries), least)],
                facts=facts,
            )
            facts = []


@dataclass(frozen=True, slots=True)
class Recalled:
    """Which memories were recalled since they were made, and whether a figure is promised."""

    changes: Changes | None
    judged: bool = True


# The last is beyond the promise: where a tenth is equally fresh, nothing is left but a search
# without forgetting among them.
RECALLED = {
    "": Recalled(None),
    ", 10 % recalled since": Recalled(fading.recalled_since),
    ", 10 % within the hour": Recalled(fading.recalled_tenth, judged=False),
}


def search(arena: _core.Arena, lines: _core.Fading, case: fading.Case) -> Search:
    """Return the search by the lines, a moment later at each call."""
    clock = itertools.count(fading.NOW_US, STEP_US)
    return lambda query: _core.top_faded(arena, lines, query, next(clock), case.rate, None, None, K)


def check(arena: _core.Arena, lines: _core.Fading, case: fading.Case, queries: data.F32) -> None:
    """Hold the search to the ranking by a column of weights, bit for bit."""
    weight = lines.log_weights(np.arange(lines.size), fading.NOW_US, case.rate)
    for query in queries:
        want = _core.top_product(arena, query, weight, None, None, K)
        for ours, theirs in zip(search(arena, lines, case)(query), want, strict=True):
            assert ours.tobytes() == theirs.tobytes()


def bandwidth(rows: data.F32, scan: Callable[[], object]) -> Fact:
    """Say how near the scan of every row is to only reading them."""
    halves = np.split(rows.reshape(-1), 2)
    fastest_s = min(least_s(lambda: halves[0] @ halves[1]), least_s(rows.max))
    shared = fastest_s / least_s(scan)
    told = f"own float32 dots of every row read at {shared:.0%} of the bandwidth"
    return Fact(told, shared >= BANDWIDTH_SHARE)


def beside_hnsw(sizes: Sizes) -> Iterator[Contest]:
    """What an index of similarity alone finds of the decayed best, in the same time or more.

    hnswlib is asked for its 100 nearest, which are then ranked by decayed score.
    """
    near = Neighbours.of(sizes)
    arena = arena_of(near.rows)
    for case in (fading.YEAR, fading.MONTH, fading.SECONDS):
        yield _beside_hnsw(sizes, near, arena, case)


def _beside_hnsw(sizes: Sizes, near: Neighbours, arena: _core.Arena, case: fading.Case) -> Contest:
    lines = fading.remembered(case, len(near.rows))
    check(arena, lines, case, near.queries[:8])
    weight = lines.log_weights(np.arange(lines.size), fading.NOW_US, case.rate)
    rival, facts = None, []
    if near.index is not None:
        near.index.set_ef(FETCHED)
        true = np.stack([search(arena, lines, case)(query)[0] for query in near.queries])
        theirs = np.stack([reranked(near.index, weight, query) for query in near.queries])
        facts.append(Fact(f"hnswlib finds {share(theirs, true):.2f} of the true ten, ebbmem all"))
        rival = turning(lambda query: reranked(near.index, weight, query), near.queries)
    return Contest(
        f"decayed top {K} of {sizes.shown(len(near.rows))} x {near.rows.shape[1]}, {case.name}",
        turning(search(arena, lines, case), near.queries),
        (Rival(f"hnswlib fetching {FETCHED}, ranked again", rival, 1.0),),
        facts=facts,
    )


def reranked(index: object, log_weights: data.F64, query: data.F32) -> data.I64:
    """Return the best ten by decayed score among the 100 nearest."""
    found, distances = index.knn_query(query, FETCHED, num_threads=1)  # type: ignore[attr-defined]
    slots = found[0].astype(np.int64)
    scores = log_weights[slots] + np.log(np.maximum(2 - distances[0], 1e-30) / 2)
    return slots[peers.best_of(scores, K)]
