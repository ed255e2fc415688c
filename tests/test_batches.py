"""Many cues in many scopes at once: what one by one would give, for any number of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import CallableEmbedder, EpisodicMemoryStore, Fleet, ManualClock, batches, recipes
from ebbmem.errors import EbbmemError

NOW = 1_700_000_000
DAY = 86_400
WORDS = ("rex", "tom", "dog", "cat", "barks", "sleeps", "runs")
EVERY = [
    recipes.DEFAULT,
    recipes.EBBINGHAUS,
    recipes.ASSOCIATIVE,
    recipes.GENERATIVE,
    recipes.SIMILARITY,
    replace(recipes.DEFAULT, name="both", dense=0.5),
    replace(recipes.DEFAULT, name="dense", lexical=0.0, dense=1.0),
]
DENSE = CallableEmbedder(
    lambda texts: np.array([[len(t), t.count("r"), t.count("o")] for t in texts], np.float32),
    3,
    "letters",
)

memories = st.fixed_dictionaries(
    {
        "summary": st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
        "importance": st.sampled_from([1.0, 5.0, 9.0]),
        "keywords": st.lists(st.sampled_from(["k1", "k2"]), max_size=1),
        "expires_in": st.sampled_from([None, "1h", "300d"]),
        "now": st.integers(NOW - 90 * DAY, NOW - 1),
    }
)
cue = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
    st.sampled_from(["", "the of and", "zebra", "?!"]),
)


def filled(fleet, shares):
    """Fill scopes, and let some memories be erased, corrected, archived."""
    for scope, share in shares.items():
        store = fleet[scope]
        made = store.remember_many(share)
        if len(made) > 2:
            store.erase(made[0].id)
            store.correct(made[1].id, "tom the cat", now=NOW - 1)
        if len(made) > 3:
            store.archive(made[3].id)


def told(result):
    hits = [
        (h.number, h.score, h.similarity, h.cascade_score, h.explanation) for h in result.memories
    ]
    return result.cue, hits, [(s.number, s.score) for s in result.skipped], result.abstained


def strengths(fleet, scopes):
    fleet.flush()
    found = []
    for scope in scopes:
        for word in WORDS:
            hits = fleet[scope].recall(word, reinforce=False, top_k=50)
            found += [(h.number, h.memory.storage_strength, h.memory.access_count) for h in hits]
    return found


@settings(max_examples=25)
@given(
    st.dictionaries(st.sampled_from("abcd"), st.lists(memories, max_size=9), max_size=4),
    st.lists(st.tuples(st.sampled_from("abcde"), cue), max_size=12),
    st.sampled_from(EVERY),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([None, DENSE]),
)
def test_many_are_those_of_one_by_one(shares, pairs, recipe, threads, embedder):
    kept = []
    for together in (True, False):
        with Fleet(":memory:", recipe=recipe, clock=ManualClock(NOW), embedder=embedder) as fleet:
            filled(fleet, {scope: share for scope, share in shares.items() if share})
            if together:
                found = fleet.recall_many(pairs, top_k=4, threads=threads)
            else:
                found = [fleet[scope].recall(cue, top_k=4) for scope, cue in pairs]
            kept.append(([told(one) for one in found], strengths(fleet, shares)))
    assert kept[0] == kept[1]


@pytest.mark.parametrize("cue", ["東京 の 猫", "京都に行く", "猫", "rex 東京 barks"])
def test_a_cue_of_a_script_without_spaces_alone(cue):
    texts = ["東京の猫", "東の海", "京の都", "京都に行く", "猫", "rex barks", "rex 東京"]
    with Fleet(":memory:", clock=ManualClock(NOW)) as fleet:
        fleet["a"].remember_many(texts)
        alone = fleet["a"].recall(cue, reinforce=False)
        (together,) = fleet.recall_many([("a", cue)], reinforce=False)
        assert told(alone) == told(together)


@contextmanager
def cut_small(patch):
    patch.setattr(batches, "MOST_CUES", 3)
    patch.setattr(batches, "MOST_ROWS", 7)
    yield


@pytest.mark.parametrize("recipe", EVERY, ids=lambda one: one.name)
@pytest.mark.parametrize("budget", [1, "1GiB"])
def test_however_a_batch_is_cut(recipe, budget, monkeypatch):
    kept = []
    pairs = [(scope, cue) for cue in ("rex", "tom dog", "") for scope in "cabdc"]
    for together in (True, False):
        clock = ManualClock(NOW)
        with Fleet(":memory:", recipe=recipe, clock=clock, index_budget=budget) as fleet:
            share = [{"summary": f"{w} {v}", "now": NOW - DAY} for w in WORDS for v in WORDS[:3]]
            filled(fleet, {scope: share[start:] for start, scope in enumerate("abc")})
            if together:
                with cut_small(monkeypatch):
                    found = fleet.recall_many(pairs, top_k=3, threads=2)
            else:
                found = [fleet[scope].recall(cue, top_k=3) for scope, cue in pairs]
            kept.append(([told(one) for one in found], strengths(fleet, "abc")))
    assert kept[0] == kept[1]


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2", None])
def test_wrong_numbers_of_threads(threads):
    with Fleet(":memory:") as fleet:
        for refused in (
            lambda: fleet.recall_many([("a", "x")], threads=threads),
            lambda: fleet["a"].recall_many(["x"], threads=threads),
            lambda: fleet.remember_many([("a", "x")], threads=threads),
            lambda: fleet["a"].remember_many(["x"], threads=threads),
        ):
            with pytest.raises(EbbmemError, match="threads"):
                refused()


@settings(max_examples=10)
@given(st.lists(st.tuples(st.sampled_from("abc"), memories), max_size=9), st.integers(2, 9))
def test_what_is_remembered_does_not_depend_on_threads(pairs, threads):
    kept = []
    for count in (1, threads):
        with Fleet(":memory:", clock=ManualClock(NOW)) as fleet:
            made = fleet.remember_many(pairs, threads=count)
            made += fleet["a"].remember_many(["rex", "tom"], threads=count)
            shown = [(one.number, one.created) for one in made]
            kept.append((shown, strengths(fleet, "abc")))
    assert kept[0] == kept[1]


def test_a_batch_looks_up_in_one_call(monkeypatch):
    calls = []
    made = batches.made_together

    def counted(searches, *how):
        calls.append(len(searches))
        return made(searches, *how)

    monkeypatch.setattr(batches, "made_together", counted)
    with Fleet(":memory:") as fleet:
        fleet.remember_many([(scope, "rex") for scope in "abc"])
        found = fleet.recall_many([(scope, "rex") for scope in "abcabc"])
    assert calls == [6]
    assert [len(one) for one in found] == [1] * 6


def test_threads_call_at_once_on_overlapping_scopes(tmp_path):
    scopes = [f"s{n}" for n in range(12)]
    with Fleet(tmp_path / "fleet.db", index_budget="96KiB") as fleet:
        fleet.remember_many([(scope, f"rex {n}") for n in range(4) for scope in scopes])

        def work(number):
            turned = scopes[number:] + scopes[:number]
            for turn in range(12):
                fleet.remember_many([(scope, f"tom {number} {turn}") for scope in turned])
                pairs = [(scope, "rex tom") for scope in reversed(turned)]
                assert all(fleet.recall_many(pairs, threads=2))
                fleet[turned[0]].recall("rex")

        pool = ThreadPoolExecutor(4)
        done = [pool.submit(work, number) for number in range(4)]
        # A deadlock would otherwise hang the whole run.
        for one in done:
            one.result(timeout=300)
        pool.shutdown()
        assert [fleet[scope].stats().memories for scope in scopes] == [4 + 48] * 12


def test_results_of_a_store_do_not_depend_on_threads():
    with Fleet(":memory:", clock=ManualClock(NOW)) as fleet:
        store: EpisodicMemoryStore = fleet["a"]
        store.remember_many([f"{w} {v} {n}" for n, w in enumerate(WORDS) for v in WORDS])
        cues = [f"{w} {v}" for w in WORDS for v in WORDS]
        alone = [told(store.recall(cue, reinforce=False)) for cue in cues]
        for threads in (1, 2, 7):
            found = store.recall_many(cues, reinforce=False, threads=threads)
            assert [told(one) for one in found] == alone
