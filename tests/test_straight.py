"""A recall that goes straight to its hits is the recall that goes by way of the stages."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest
from apart import opened_apart
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import (
    CallableEmbedder,
    Database,
    EpisodicMemoryStore,
    HashingEmbedder,
    ManualClock,
    recipes,
    straight,
)
from ebbmem.errors import EmbedderMismatch
from ebbmem.models import Memory, Recalled
from ebbmem.recipes import Guard

NOW = 1_700_000_000
WORDS = ("rex", "park", "ball", "red", "Kaffee", "日本", "x1")
RECIPES = (
    recipes.EBBINGHAUS,
    replace(recipes.EBBINGHAUS, guard=Guard(0.6, "10m")),
    replace(recipes.EBBINGHAUS, min_score=1.5),
)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
ENOUGH = 10**6
"""A budget in tokens that leaves nothing out, and the straight way."""


class Counting:
    """An embedder that keeps no vectors, and has some methods that tell counts of words."""

    stored = False
    name, dim = "counting", 64

    def __init__(self, methods):
        words = HashingEmbedder(self.dim)
        self.embed_many = words.embed_many
        for method in methods:
            setattr(self, method, getattr(words, method))


@pytest.fixture
def gone_straight(monkeypatch):
    """How often a recall went straight to its hits."""
    went = []

    def watched(*args, _recall=straight.recall):
        told = _recall(*args)
        went.append(told is not None)
        return told

    monkeypatch.setattr(straight, "recall", watched)
    return went


def opened(recipe=recipes.EBBINGHAUS):
    clock = ManualClock(NOW)
    database = Database(":memory:", clock=clock)
    return clock, EpisodicMemoryStore(database, embedder=HashingEmbedder(64), recipe=recipe)


def told(result):
    """Return all that a result says, but ids that are made at random and what time took."""
    values = {name: getattr(result, name) for name in ("cue", "abstained", "degraded", "evidence")}
    return values | {name: [of(hit) for hit in getattr(result, name)] for name in PARTS}


PARTS = ("memories", "skipped")


def of(hit):
    own = {one.name: getattr(hit, one.name) for one in fields(Recalled) if one.name != "memory"}
    left_out = ("id", "superseded_by")
    memory = {one.name: getattr(hit.memory, one.name) for one in fields(Memory)}
    return own | {name: value for name, value in memory.items() if name not in left_out}


@settings(max_examples=60)
@given(st.data())
def test_both_ways_tell_and_strengthen_the_same(data):
    recipe = data.draw(st.sampled_from(RECIPES))
    (clock, one), (other_clock, other) = opened(recipe), opened(recipe)
    every = data.draw(st.lists(st.tuples(texts, st.integers(1, 10)), min_size=1, max_size=20))
    for store in (one, other):
        store.remember_many([{"summary": text, "importance": much} for text, much in every])
    for cue in data.draw(st.lists(texts | st.just("?"), min_size=1, max_size=6)):
        much = {"seconds": data.draw(st.integers(0, 10**5))}
        clock.advance(**much)
        other_clock.advance(**much)
        how = {"top_k": data.draw(st.integers(1, 25))}
        how["reinforce"] = data.draw(st.sampled_from(["recall", "use", False]))
        if data.draw(st.booleans()):
            for store in (one, other):
                store.remember(cue)
        assert told(one.recall(cue, **how)) == told(other.recall(cue, token_budget=ENOUGH, **how))
    for store in (one, other):
        store.flush()
    assert rows(one) == rows(other)


def rows(store):
    with store._db.engine.read() as reader:
        found = reader.index_rows(reader.scope("default").scope_id)
        events = [event[1:] for event in reader.events(reader.scope("default").scope_id, 0, 10**6)]
    return [one._replace(seq=0) if hasattr(one, "seq") else one for one in found], events


def test_a_warm_recall_goes_straight(gone_straight):
    _, store = opened()
    store.remember_many(["rex in the park", "a red ball"])
    store.recall("rex")
    assert gone_straight == [False]  # the index was not there, nor the rows
    assert store.recall("rex").memories[0].summary == "rex in the park"
    assert gone_straight == [False, True]


@pytest.mark.parametrize(
    "methods", [(), ("counts",), ("counts_many",), ("counts", "counts_many")], ids="+".join
)
def test_an_embedder_that_tells_counts_one_way_only_is_asked_for_vectors(gone_straight, methods):
    store = EpisodicMemoryStore(
        Database(":memory:"), embedder=Counting(methods), recipe=recipes.EBBINGHAUS
    )
    store.remember_many(["rex in the park", "a red ball"])
    for _ in range(2):
        assert store.recall("rex").memories[0].summary == "rex in the park"
    assert gone_straight == [False, len(methods) == 2]


def test_what_is_not_in_ram_is_read_and_ranked_once(gone_straight):
    """It was ranked again by way of the stages, and its index counted as used twice."""
    _, store = opened()
    store.remember_many(["rex in the park", "a red ball"])
    store.recall("rex")
    store.remember("rex at home")
    used = store._db.engine.index_use().hits
    assert store.recall("rex").memories[0].summary == "rex at home"
    assert not store.recall("rex", min_score=9.0).memories
    assert gone_straight == [False, True, False]
    assert store._db.engine.index_use().hits == used + 2


@pytest.mark.parametrize(
    "how",
    [
        {"token_budget": 100},
        {"run_id": "run"},
        {"as_of": NOW},
        {"include_archive": True},
        {"also": ["team"]},
        {"filters": {"importance": 5.0}},
        {"recipe": recipes.DEFAULT},
        {"min_score": 9.0},
    ],
)
def test_what_asks_for_more_does_not(gone_straight, how):
    _, store = opened()
    store.remember_many(["rex in the park", "a red ball"])
    for _ in range(2):
        store.recall("rex")
    store.recall("rex", **how)
    assert gone_straight == [False, True, False]


def test_a_scope_with_corrections_does_not(gone_straight):
    _, store = opened()
    made = store.remember("rex in the park")
    store.correct(made.id, "rex at home")
    for _ in range(2):
        store.recall("rex")
    assert gone_straight == [False, False]


def test_what_another_process_wrote_is_found(tmp_path, gone_straight):
    with Database(tmp_path / "m.db") as ours:
        store = EpisodicMemoryStore(ours, recipe=recipes.EBBINGHAUS)
        store.remember("rex in the park")
        for _ in range(2):
            store.recall("rex")
        assert gone_straight[-1]
        script = (
            "import sys; from ebbmem import AgenticMemory\n"
            "with AgenticMemory(sys.argv[1]) as memory: memory.remember('rex at home')"
        )
        subprocess.run([sys.executable, "-c", script, str(tmp_path / "m.db")], check=True)
        assert {hit.summary for hit in store.recall("rex")} == {"rex in the park", "rex at home"}
        assert not gone_straight[-1]


def test_an_embedder_that_another_process_took_leave_of_is_refused(tmp_path, gone_straight):
    new = CallableEmbedder(lambda texts: np.ones((len(texts), 2), dtype=np.float32), 2, "new")
    path = tmp_path / "m.db"
    with opened_apart(path) as ours, opened_apart(path) as other:
        store = EpisodicMemoryStore(ours, recipe=recipes.EBBINGHAUS)
        store.remember("rex in the park")
        for _ in range(2):
            store.recall("rex")
        assert gone_straight[-1]
        other.reembed(new)
        with pytest.raises(EmbedderMismatch, match="'new'"):
            store.recall("rex")


@settings(max_examples=30)
@given(st.data())
def test_a_batch_tells_and_strengthens_the_same(data):
    recipe = data.draw(st.sampled_from(RECIPES))
    (clock, one), (other_clock, other) = opened(recipe), opened(recipe)
    every = data.draw(st.lists(texts, min_size=1, max_size=12))
    asked = data.draw(st.lists(texts | st.just("?"), min_size=1, max_size=5))
    how = {"top_k": data.draw(st.integers(1, 15))}
    how["reinforce"] = data.draw(st.sampled_from(["recall", False]))
    for store, time in ((one, clock), (other, other_clock)):
        store.remember_many(every)
        time.advance(days=1)
        store.recall_many(asked)  # what it finds is in RAM from now on
    many = one.recall_many(asked, threads=data.draw(st.integers(1, 3)), **how)
    alone = [other.recall(cue, token_budget=ENOUGH, **how) for cue in asked]
    assert [told(result) for result in many] == [told(result) for result in alone]
    for store in (one, other):
        store.flush()
    assert rows(one) == rows(other)
