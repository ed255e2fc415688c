"""What a fleet tells of itself is exact, whoever calls and from however many threads."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from ebbmem import Fleet

SCOPES, THREADS, CALLS = 6, 8, 60


def lived(fleet, seed):
    """Make calls in scopes at random; return how many of each kind, and how many abstained."""
    chance, counted = Random(seed), Counter()
    for _ in range(CALLS):
        scope = f"agent {chance.randrange(SCOPES)}"
        if chance.random() < 0.3:
            fleet[scope].remember(f"rex the dog, number {chance.random()}")
            counted[scope, "remember"] += 1
        else:
            found = fleet[scope].recall(chance.choice(["rex", "xyzzy"]))
            counted[scope, "recall"] += 1
            counted[scope, "abstained"] += found.abstained
    return counted


@pytest.mark.parametrize("budget", ["2GiB", "40KiB"])
def test_counts_are_exact_under_threads(tmp_path, budget):
    with Fleet(tmp_path / "a.db", index_budget=budget) as fleet:
        fleet.remember_many((f"agent {n}", f"rex {i}") for n in range(SCOPES) for i in range(100))
        with ThreadPoolExecutor(THREADS) as pool:
            made = sum(pool.map(lambda seed: lived(fleet, seed), range(THREADS)), Counter())
        told = fleet.metrics()

    for scope, one in told.by_scope.items():
        assert one.recall.calls == made[scope, "recall"]
        assert one.remember.calls == made[scope, "remember"] + 1
        assert one.abstained == made[scope, "abstained"]
        assert one.recall.p50_us <= one.recall.p99_us
    recalls = sum(one.recall.calls for one in told.by_scope.values())
    assert told.total.recall.calls == recalls == told.hits + told.misses
    assert told.total.remember.calls == THREADS * CALLS - recalls + 1
    assert told.total.abstained == sum(one.abstained for one in told.by_scope.values())
    assert told.index_bytes == sum(one.index_bytes for one in told.by_scope.values())
    assert told.misses - told.evictions >= told.loaded_scopes
    assert (told.evictions == 0) == (budget == "2GiB")
