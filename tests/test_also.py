"""Shared scopes read beside the private one: `recall(also=["team"])`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from dumps import dump
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import Database, EpisodicMemoryStore, Fleet, ManualClock, recipes
from ebbmem.errors import InvalidArgument, InvalidType

NOW = 1_700_000_000
RECIPES = [recipes.DEFAULT, recipes.ASSOCIATIVE, recipes.EBBINGHAUS, recipes.GENERATIVE]


def told(result):
    return [(hit.scope, hit.summary) for hit in result]


@pytest.fixture
def fleet(path, clock):
    with Fleet(path, clock=clock) as opened:
        opened["me"].remember_many(["rex the dog barks", "guitar lesson", "rain"])
        clock.advance(days=1)
        opened["team"].remember_many(["rex is our mascot", "rex rex rex", "deploy on monday"])
        opened["secret"].remember("rex is a canary")
        clock.advance(days=1)
        yield opened


def test_both_are_read_and_each_hit_says_whose_it_is(fleet):
    found = told(fleet["me"].recall("rex", also=["team"]))
    assert {scope for scope, _ in found} == {"me", "team"}
    assert sorted(found) == [
        ("me", "rex the dog barks"),
        ("team", "rex is our mascot"),
        ("team", "rex rex rex"),
    ]


@pytest.mark.parametrize("recipe", RECIPES)
def test_each_scope_ranks_as_it_does_alone(fleet, recipe):
    options = {"recipe": recipe, "reinforce": False, "top_k": 50, "min_score": -9.0}
    alone = [
        (hit.score, hit.id, hit.similarity, hit.explanation)
        for scope in ("me", "team")
        for hit in fleet[scope].recall("rex barks", **options)
    ]
    both = fleet["me"].recall("rex barks", also=["team"], **options)
    found = [(hit.score, hit.id, hit.similarity, hit.explanation) for hit in both]
    assert sorted(found, key=lambda one: one[1]) == sorted(alone, key=lambda one: one[1])
    scores = [hit.score for hit in both]
    assert scores == sorted(scores, reverse=True)


def test_no_scope_that_is_not_named_appears(fleet):
    me = fleet["me"]
    for also in ([], ["team"], ["me"], ["nobody"], ["team", "team", "me"], ["secre"], ["*"]):
        result = me.recall("rex canary", also=also, min_score=0.0)
        every = [*result.memories, *result.skipped]
        assert not [hit for hit in every if hit.scope == "secret" or "canary" in hit.summary]
        assert len({hit.id for hit in every}) == len(every)


def test_nothing_is_written_to_the_others(fleet, path):
    fleet.flush()
    before = {name: [r for r in rows if 2 in r[:2]] for name, rows in dump(path).items()}
    strength = fleet["team"].recall("rex", reinforce=False).memories[0].memory.access_count
    result = fleet["me"].recall("rex", also=["team", "nobody"])
    assert {hit.scope for hit in result} == {"me", "team"}
    fleet.flush()
    after = {name: [r for r in rows if 2 in r[:2]] for name, rows in dump(path).items()}
    assert {n: r for n, r in after.items() if n != "meta"} == {
        n: r for n, r in before.items() if n != "meta"
    }
    again = fleet["team"].recall("rex", reinforce=False).memories[0]
    assert again.memory.access_count == strength
    own = next(hit for hit in result if hit.scope == "me")
    assert fleet["me"].get(own.id).access_count == 2
    assert "nobody" not in fleet.database.scopes()


def test_only_own_hits_that_came_back_are_strengthened(fleet):
    me = fleet["me"]
    result = me.recall("rex", also=["team"], top_k=1)
    (hit,) = result.memories
    assert hit.scope == "team"
    assert me.recall("rex", reinforce=False).memories[0].memory.access_count == 1


def test_limits_apply_to_all_together(fleet):
    me = fleet["me"]
    whole = me.recall("rex", also=["team"], reinforce=False)
    assert told(me.recall("rex", also=["team"], top_k=2, reinforce=False)) == told(whole)[:2]
    bar = whole.memories[1].score
    cut = me.recall("rex", also=["team"], min_score=bar, reinforce=False)
    assert (told(cut), told(cut.skipped)) == (told(whole)[:2], told(whole)[2:])
    size = sum(-(-len(hit.summary) // 4) for hit in whole.memories[:2])
    tight = me.recall("rex", also=["team"], token_budget=size, reinforce=False)
    assert told(tight) == told(whole)[:2]
    assert [hit.explanation.note for hit in tight.skipped] == ["over budget"]
    assert [hit.explanation.note for hit in tight] == ["", ""]


def test_a_smaller_one_after_one_that_does_not_fit(path, clock):
    with Fleet(path, clock=clock) as fleet:
        fleet["me"].remember("rex " + "and much more besides " * 9)
        fleet["team"].remember("rex")
        result = fleet["me"].recall("rex", also=["team"], token_budget=2)
        assert told(result) == [("team", "rex")]
        assert not result.abstained


def test_an_own_scope_that_is_new_reads_the_others(fleet):
    result = fleet["new"].recall("rex", also=["team"], top_k=1)
    assert [hit.scope for hit in result] == ["team"]
    assert "new" not in fleet.database.scopes()
    nothing = fleet["new"].recall("xylophone", also=["team", "gone"])
    assert (nothing.memories, nothing.abstained) == ((), True)


def test_ties_newer_first_then_the_own_scope(path, clock):
    with Fleet(path, clock=clock) as fleet:
        for scope in ("b", "a", "c"):
            fleet[scope].remember("rex", now=NOW)
        fleet["a"].remember("rex", now=NOW + 1)
        found = fleet["c"].recall("rex", also=["b", "a"], recipe=recipes.SIMILARITY, now=NOW + 9)
        assert [(h.scope, h.number) for h in found] == [("a", 2), ("c", 1), ("b", 1), ("a", 1)]


def test_matches_alike_stay_as_they_come_for_a_cue_about_the_past(path):
    with Fleet(path, clock=ManualClock(NOW)) as fleet:
        for n in range(3):
            # Not yet made: as retrievable as each other.
            fleet["me"].remember("rex barks", now=NOW + n)
        fleet["team"].remember("rain")
        for cue, order in (("does rex bark?", [3, 2, 1]), ("did rex bark before?", [1, 2, 3])):
            alone = fleet["me"].recall(cue, reinforce=False)
            both = fleet["me"].recall(cue, also=["team"], reinforce=False)
            assert [hit.number for hit in alone] == [hit.number for hit in both] == order


def test_several_cues(fleet):
    me = fleet["me"]
    many = me.recall_many(["rex", "deploy", "guitar"], also=["team"], reinforce=False)
    ones = [me.recall(c, also=["team"], reinforce=False) for c in ("rex", "deploy", "guitar")]
    assert [told(one) for one in many] == [told(one) for one in ones]


@pytest.mark.parametrize(
    ("also", "error"),
    [("team", InvalidType), (b"team", InvalidType), (None, InvalidType), (5, InvalidType),
     ([""], InvalidArgument), ([None], InvalidType), ([" "], InvalidArgument)],
)  # fmt: skip
def test_names_are_checked(fleet, also, error):
    for call in (fleet["me"].recall, lambda cue, also: fleet["me"].recall_many([cue], also=also)):
        with pytest.raises(error, match="also"):
            call("rex", also=also)


def test_two_that_read_each_other_do_not_wait_for_each_other(fleet):
    def ask(own, other):
        return all(fleet[own].recall("rex", also=[other]).memories for _ in range(100))

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask, *pair) for pair in [("me", "team"), ("team", "me")] * 2]
        assert all(one.result(timeout=60) for one in asked)


@settings(max_examples=40)
@given(
    texts=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "x y", "y z z", "w"])),
        max_size=12,
    ),
    top_k=st.integers(1, 14),
    budget=st.none() | st.integers(1, 6),
    bar=st.sampled_from([0.0, 0.2, 0.6]),
)
def test_the_whole_answer_is_that_of_the_parts(texts, top_k, budget, bar):
    with Database(":memory:", clock=ManualClock(NOW)) as db:
        stores = {name: EpisodicMemoryStore(db, scope=name) for name in "abc"}
        for at, (scope, text) in enumerate(texts):
            stores[scope].remember(text, now=NOW + at % 3)
        ask = {"reinforce": False, "min_score": bar, "now": NOW + 9}
        every = []
        for place, name in enumerate("abc"):
            found = stores[name].recall("x y z", top_k=top_k, **ask)
            every += [
                (-h.score, -h.memory.created_at.timestamp(), place, h.number, h)
                for h in (*found.memories, *found.skipped)
            ]
        best = [one[-1] for one in sorted(every, key=lambda one: one[:4])][:top_k]
        hits, over, left = [], [], budget
        for hit in (one for one in best if one.score >= bar):
            size = -(-len(hit.summary) // 4)
            if left is None or size <= left:
                hits.append(hit)
                left = None if left is None else left - size
            else:
                over.append(hit)
        skipped = [*over, *(one for one in best if one.score < bar)]
        got = stores["a"].recall("x y z", top_k=top_k, also=["b", "c"], token_budget=budget, **ask)
        assert [(h.id, h.score) for h in got] == [(h.id, h.score) for h in hits]
        assert [(h.id, h.score) for h in got.skipped] == [(h.id, h.score) for h in skipped]
