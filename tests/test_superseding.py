"""One memory in the place of several others."""

import pytest
from dumps import dump

from ebbmem import Database, EpisodicMemoryStore, Fleet, ManualClock
from ebbmem.errors import InvalidType, UnknownMemory

NOW = 1_700_000_000


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def store(path):
    with Database(path, clock=ManualClock(NOW)) as db:
        yield EpisodicMemoryStore(db)


def test_one_memory_takes_the_place_of_several(store):
    gym, card = store.remember("My gym is Olympus"), store.remember("Leg day at the gym Olympus")
    new = store.remember("Cancelled Olympus, the gym is Pulse now", supersedes=[gym.id, card.id])

    found = store.recall("gym Olympus", reinforce=False)

    assert found.memories[0].id == new.id
    assert [store.get(one.id).superseded_by for one in (gym, card, new)] == [new.id, new.id, None]
    assert {link.target for link in store.neighbors(new.id)} == {gym.id, card.id}
    assert store.stats().superseded == 2


def test_what_was_corrected_before_is_superseded_at_its_newest_correction(store):
    first = store.remember("Lives in Lisbon")
    second = store.correct(first.id, "Lives in Berlin")
    third = store.remember("Lives in Ghent", supersedes=[first.id, second.id])
    chain = [store.get(one.id).superseded_by for one in (first, second, third)]
    assert chain == [second.id, third.id, None]


def test_a_single_id_may_be_a_str(store):
    old = store.remember("tea")
    new = store.remember("coffee", supersedes=old.id)
    assert store.get(old.id).superseded_by == new.id


def test_an_unknown_id_stores_nothing(store, path):
    old = store.remember("tea").id
    with Fleet(path) as fleet:
        other = fleet["other"].remember("rex").id
        before = dump(path)
        for ids in ([old, "0" * 32], [other], [old, other]):
            with pytest.raises(UnknownMemory):
                store.remember("coffee", supersedes=ids)
            with pytest.raises(UnknownMemory):
                store.remember_many(["water", {"summary": "coffee", "supersedes": ids}])
        assert dump(path) == before


@pytest.mark.parametrize("ids", [7, b"id", [7]])
def test_what_is_no_id_is_refused(store, ids):
    with pytest.raises(InvalidType, match="supersedes"):
        store.remember("coffee", supersedes=ids)


def test_a_memory_that_is_there_supersedes_nothing(store):
    kept = store.remember("tea", key="drink")
    old = store.remember("coffee")
    for options in ({"key": "drink"}, {"dedupe": True}):
        again = store.remember("tea", supersedes=[old.id], **options)
        assert (again.id, again.created) == (kept.id, False)
    assert store.get(old.id).superseded_by is None


def test_a_batch_supersedes_in_order(store, path):
    old = store.remember("one").id
    made = store.remember_many(
        [{"summary": "two", "supersedes": old}, {"summary": "three", "supersedes": [old]}, "four"]
    )
    assert store.get(old).superseded_by == made[0].id
    assert store.get(made[0].id).superseded_by == made[1].id
    assert store.get(made[1].id).superseded_by is None
    assert Database(path).verify().ok
