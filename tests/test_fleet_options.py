"""What a fleet's batch may be given is what one recall may be given, and means the same."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import EpisodicMemoryStore, Fleet, ManualClock, recipes
from ebbmem.errors import InvalidArgument, InvalidType

NOW = 1_700_000_000
DAY = 86_400
PAIRS = [(scope, cue) for cue in ("rex", "tom barks", "", "rex") for scope in ("a", "b", "team")]


def filled(fleet):
    for scope in ("a", "b", "team"):
        for n, text in enumerate(["rex barks", "tom sleeps", "rex tom", "dog barks loud"]):
            made = fleet[scope].remember(
                text, run_id=f"r{n % 2}", keywords=["dog"], now=NOW - (9 - n) * DAY
            )
            if n == 3:
                fleet[scope].archive(made.id)


def told(result):
    parts = [[(h.scope, h.number, h.score, h.explanation) for h in one]
             for one in (result.memories, result.skipped)]  # fmt: skip
    return result.cue, parts, result.abstained


def strengths(fleet):
    fleet.flush()
    return [
        (hit.scope, hit.number, hit.memory.storage_strength, hit.memory.access_count)
        for scope in ("a", "b", "team")
        for hit in fleet[scope].recall("rex tom dog", include_archive=True, reinforce=False)
    ]


options = st.fixed_dictionaries(
    {},
    optional={
        "top_k": st.integers(1, 5),
        "token_budget": st.integers(1, 9),
        "min_score": st.sampled_from([0.0, 0.2, 0.9]),
        "recipe": st.sampled_from([recipes.DEFAULT, recipes.ASSOCIATIVE, recipes.EBBINGHAUS]),
        "run_id": st.sampled_from(["r0", "r1", "r2"]),
        "as_of": st.integers(NOW - 10 * DAY, NOW),
        "include_archive": st.booleans(),
        "also": st.lists(st.sampled_from(["team", "a", "nobody"]), max_size=2),
        "reinforce": st.sampled_from(["recall", "use", False]),
        "now": st.integers(NOW, NOW + DAY),
    },
)


@settings(max_examples=40)
@given(options, st.sampled_from([1, 2, 4]))
def test_a_batch_is_one_recall_after_the_other(given_options, threads):
    kept = []
    for many in (True, False):
        with Fleet(":memory:", clock=ManualClock(NOW)) as fleet:
            filled(fleet)
            if many:
                found = fleet.recall_many(PAIRS, threads=threads, **given_options)
            else:
                found = [fleet[scope].recall(cue, **given_options) for scope, cue in PAIRS]
            kept.append(([told(one) for one in found], strengths(fleet)))
    assert kept[0] == kept[1]


def test_every_option_of_one_recall_is_one_of_a_batch():
    one = inspect.signature(EpisodicMemoryStore.recall).parameters
    for batch in (Fleet.recall_many, EpisodicMemoryStore.recall_many):
        many = inspect.signature(batch).parameters
        names = [name for name in one if name not in ("self", "cue")]
        assert [name for name in many if name not in ("self", "cues", "threads")] == names
        for name in names:
            assert str(many[name]) == str(one[name])


@pytest.mark.parametrize(
    ("name", "wrong", "error"),
    [
        ("also", "team", InvalidType),
        ("also", [""], InvalidArgument),
        ("also", 5, InvalidType),
        ("min_score", float("nan"), InvalidArgument),
        ("token_budget", 0, InvalidArgument),
        ("recipe", "default", InvalidType),
        ("reinforce", "yes", InvalidArgument),
        ("reinforce", True, InvalidArgument),
        ("include_archive", 1, InvalidType),
        ("run_id", " ", InvalidArgument),
        ("as_of", "now", InvalidType),
    ],
)
def test_a_wrong_option_strengthens_nothing(name, wrong, error):
    with Fleet(":memory:", clock=ManualClock(NOW)) as fleet:
        filled(fleet)
        before = strengths(fleet)
        with pytest.raises(error, match=name):
            fleet.recall_many(PAIRS, **{name: wrong})
        assert strengths(fleet) == before
