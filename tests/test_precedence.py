"""Which of matches alike comes first, and what a recall says of it."""

import pytest

from ebbmem import Database, EpisodicMemoryStore, ManualClock

NOW = 1_700_000_000
DAY = 86_400


@pytest.fixture
def store():
    with Database(":memory:", clock=ManualClock(NOW)) as db:
        made = EpisodicMemoryStore(db)
        made.remember("My gym is Olympus", now=NOW - 90 * DAY)
        made.remember("My gym is Ironworks", now=NOW - 9 * DAY)
        made.remember("The bank is closed", now=NOW - 5 * DAY)
        yield made


def test_the_newer_of_matches_alike_comes_first_and_both_say_so(store):
    found = store.recall("Which gym do I go to?")
    assert [hit.summary for hit in found] == ["My gym is Ironworks", "My gym is Olympus"]


def test_what_was_before_turns_it_round(store):
    found = store.recall("Which gym did I go to before?", reinforce=False)
    assert [hit.summary for hit in found] == ["My gym is Olympus", "My gym is Ironworks"]
    assert [hit.explanation.note for hit in found] == [
        "ahead of a newer match alike: the cue asks about the past",
        "behind an older match alike: the cue asks about the past",
    ]


def test_what_happened_leaves_them_as_they_match(store):
    store.remember("gym, gym", now=NOW - 80 * DAY)
    found = store.recall("Which gym did I go to?", reinforce=False)
    assert found.memories[0].summary == "gym, gym"
    assert {hit.explanation.note for hit in found} == {""}
    assert store.recall("Which gym do I go to?").memories[0].summary == "My gym is Ironworks"


def test_an_older_match_that_fits_a_little_better_makes_room(store):
    store.remember("My gym is Olympus, my old gym", now=NOW - 80 * DAY)
    found = store.recall("gym", reinforce=False)
    assert found.memories[0].summary == "My gym is Ironworks"
    notes = [hit.explanation.note for hit in found]
    assert (notes[0], "behind a newer match alike" in notes) == (
        "ahead of an older match alike",
        True,
    )
    assert sorted((hit.score for hit in found), reverse=True) == [hit.score for hit in found]


def test_a_smaller_k_gives_the_head_of_a_larger_one(store):
    for n in range(30):
        store.remember(f"My gym {'gym ' * (n % 3)}is number {n}", now=NOW - n * DAY)
    for cue in ("Which gym is mine?", "Which gym was mine before?", "Which gym was mine?"):
        whole = [hit.id for hit in store.recall(cue, top_k=40, reinforce=False)]
        for k in (1, 2, 5, 13):
            assert [hit.id for hit in store.recall(cue, top_k=k, reinforce=False)] == whole[:k]
