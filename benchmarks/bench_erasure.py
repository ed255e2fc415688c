"""Erasing one memory from a store with a long history."""

from __future__ import annotations

import itertools
from pathlib import Path

import data
import numpy as np
import pytest
from timing import Timed

from ebbmem import Database, EpisodicMemoryStore, reconsolidation

pytestmark = pytest.mark.benchmark(max_time=1.0, min_rounds=5)

COUNT, HITS, PAGE = 100_000, 10, 5_000
NOW_US = 1_700_000_000_000_000


def filled(db: Database) -> tuple[EpisodicMemoryStore, list[str]]:
    """Return a store of many memories, of which as many recalls told, and their ids."""
    store = EpisodicMemoryStore(db)
    texts, ids = data.texts(PAGE), []
    for _ in range(COUNT // PAGE):
        ids += [one.id for one in store.remember_many(texts)]
    random = np.random.default_rng(0)
    zeros = np.zeros(HITS)
    events = []
    for _ in range(COUNT):
        rows = (1 << 32) | random.integers(1, COUNT + 1, HITS)
        held = reconsolidation.Held(rows, zeros, zeros, zeros, rows, rows)
        events.append((NOW_US, reconsolidation.packed(held, zeros)))
    with store._engine.change(store.scope, NOW_US) as change:
        change.writer.insert_events(change.scope.scope_id, "recalled", events)
    return store, ids


def test_erase_one(timed: Timed, tmp_path: Path) -> None:
    with Database(tmp_path / "store.db") as db:
        store, ids = filled(db)
        store.recall(data.texts(1)[0])
        going = itertools.count()
        assert store.erase(ids[next(going)]).count == 1
        assert store.stats().memories == COUNT - 1

        timed(
            lambda: store.erase(ids[next(going)]),
            group=f"erase one of {COUNT}, with {COUNT} recalls in the history",
            units=1,
            unit="memory",
        )
