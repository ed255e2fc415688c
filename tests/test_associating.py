"""What matches bring up because they name the same."""

import pytest

from ebbmem import Database, EpisodicMemoryStore, ManualClock

NOW = 1_700_000_000


@pytest.fixture
def store():
    with Database(":memory:", clock=ManualClock(NOW)) as db:
        yield EpisodicMemoryStore(db)


def recalled(store, cue, **options):
    return [hit.summary for hit in store.recall(cue, reinforce=False, **options)]


def test_a_name_leads_from_a_match_to_what_says_nothing_of_the_cue(store):
    store.remember("My uncle's dog is called Coco")
    store.remember("Coco only ever touches goat milk")
    store.remember("The train was late")

    found = store.recall("uncle's dog", reinforce=False)

    assert [hit.number for hit in found] == [1, 2]
    assert found.memories[1].explanation.path == (1, 2)
    first, second = (hit.score for hit in found)
    assert 0 < second < first


def test_a_name_that_many_texts_have_leads_nowhere(store):
    store.remember("The plumber came with Ann")
    store.remember_many([f"Today Ann said {n}" for n in range(31)])
    assert len(recalled(store, "plumber")) == 10
    store.remember("Today Ann said more")
    assert recalled(store, "plumber") == ["The plumber came with Ann"]


def test_a_name_of_the_cue_brings_up_nothing_more(store):
    store.remember("The dog of Ann barks")
    store.remember("Ann has a bike")
    found = store.recall("Does the dog of Ann bark?", reinforce=False)
    assert [hit.cascade_score for hit in found] == [0, 0]


def test_an_identifier_is_a_name(store):
    store.remember("The import stopped with ERR_42")
    store.remember("ERR_42 means that the disk is full")
    assert recalled(store, "import stopped")[1] == "ERR_42 means that the disk is full"


def test_what_was_superseded_is_not_brought_up(store):
    store.remember("My dog is called Coco")
    old = store.remember("The vet of Coco is Rosa")
    store.correct(old.id, "The vet is Hugo")
    assert recalled(store, "my dog") == ["My dog is called Coco"]


def test_what_was_erased_is_not_brought_up(store):
    store.remember("My dog is called Coco")
    gone = store.remember("Coco likes milk")
    assert len(recalled(store, "my dog")) == 2
    store.erase(gone.id)
    assert recalled(store, "my dog") == ["My dog is called Coco"]


def test_recall_many_brings_up_the_same(store):
    store.remember("My dog is called Coco")
    store.remember("Coco likes milk")
    (one,) = store.recall_many(["my dog"], reinforce=False)
    assert [hit.summary for hit in one] == recalled(store, "my dog")
