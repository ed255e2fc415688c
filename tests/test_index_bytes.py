"""What the index of a scope takes in RAM."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ebbmem import Database, EpisodicMemoryStore, HashingEmbedder

MEMORIES = 1_000
MOST_BYTES = 250


def test_a_memory_takes_few_bytes_once_its_scope_is_loaded(tmp_path: Path) -> None:
    drawn = np.random.default_rng(1).integers(0, 20_000, (MEMORIES, 10)).tolist()
    texts = [" ".join(f"w{number}" for number in words) for words in drawn]
    path = str(tmp_path / "memory.sqlite")
    with Database(path) as database:
        EpisodicMemoryStore(database, embedder=HashingEmbedder()).remember_many(texts)
    with Database(path) as database:
        store = EpisodicMemoryStore(database, embedder=HashingEmbedder())
        assert store.recall(texts[7]).memories[0].summary == texts[7]
        assert 0 < store.stats().index_bytes <= MOST_BYTES * MEMORIES
