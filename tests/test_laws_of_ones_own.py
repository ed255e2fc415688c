"""Recipes whose laws are of a class of one's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ebbmem import CallableEmbedder, Database, EpisodicMemoryStore, HashingEmbedder, recipes
from ebbmem.decay import PowerForgetting

MODEL = CallableEmbedder(lambda texts: np.ones((len(texts), 2), np.float32), 2, "model")


@pytest.mark.parametrize("embedder", [HashingEmbedder(), MODEL])
def test_laws_of_one_class_that_are_equal_each_rank_by_themselves(embedder):
    class Steady(PowerForgetting):
        def __init__(self, r):
            super().__init__()
            object.__setattr__(self, "r", r)

        def retrievability(self, traces, now_us):
            return np.full(len(traces.created_us), self.r)

    laws = Steady(1.0), Steady(0.0)
    assert laws[0] == laws[1]
    with EpisodicMemoryStore(Database(":memory:"), embedder=embedder) as store:
        store.remember("rex")
        for law in laws:
            (hit,) = store.recall("rex", recipe=replace(recipes.DEFAULT, law=law))
            assert hit.retrievability == law.r
