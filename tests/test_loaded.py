"""Which indexes stay in RAM, and what is counted of them."""

from __future__ import annotations

from collections import OrderedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbmem import Database, EpisodicMemoryStore, Fleet, recipes
from ebbmem.loaded import LoadedIndexes


class FakeColumns:
    grown = True


class FakeScope:
    def __init__(self, name):
        self.name = name


class FakeIndex:
    """Of an index, only what is looked at here."""

    def __init__(self, name, size):
        self.scope, self.bytes, self.columns = FakeScope(name), size, FakeColumns()


class PlainIndexes:
    """The oracle: names and sizes, the least recently used first, and a budget."""

    def __init__(self, budget):
        self.budget, self.sizes, self.evictions = budget, OrderedDict(), 0

    def weighed(self, name, size):
        self.sizes[name] = size
        for other in list(self.sizes):
            if sum(self.sizes.values()) > self.budget and other != name:
                del self.sizes[other]
                self.evictions += 1


steps = st.lists(
    st.tuples(
        st.sampled_from(("put", "use", "weigh", "drop")),
        st.sampled_from("abcde"),
        st.integers(0, 60),
    ),
    max_size=40,
)


@given(st.integers(1, 120), steps)
def test_the_least_recently_used_go_and_sums_are_exact(budget, taken):
    loaded, plain = LoadedIndexes(budget), PlainIndexes(budget)
    for what, name, size in taken:
        if what == "put":
            loaded.put(name, FakeIndex(name, size), 1)
            plain.sizes[name] = plain.sizes.get(name, 0)
            plain.sizes.move_to_end(name)
            plain.weighed(name, size)
        elif what == "drop":
            loaded.drop(name)
            plain.sizes.pop(name, None)
        elif name in plain.sizes:
            assert loaded.used(name, 1)
            plain.sizes.move_to_end(name)
            if what == "weigh":
                index = loaded.get(name)
                index.bytes = size
                loaded.weigh(index)
                del index  # as long as somebody has one it is in use
                plain.weighed(name, size)
        else:
            assert not loaded.used(name, 1)
        use = loaded.use()
        assert use.bytes_by_scope == dict(plain.sizes)
        assert use.evictions == plain.evictions
        assert loaded.bytes(None) == sum(plain.sizes.values())
        assert len(loaded) <= 1 or loaded.bytes(None) <= budget


def test_the_one_in_use_stays_whatever_it_takes():
    loaded = LoadedIndexes(10)
    first = FakeIndex("a", 5)
    loaded.put("a", first, 1)
    loaded.put("b", FakeIndex("b", 5), 1)
    first.bytes = 50
    loaded.weigh(first)
    assert loaded.use().bytes_by_scope == {"a": 50}


def test_room_is_left_to_what_is_in_ram_beside_them():
    loaded = LoadedIndexes(100, beside_bytes=20)
    for name in "abc":
        loaded.put(name, FakeIndex(name, 40), 1)

    assert loaded.use().bytes_by_scope == {"b": 40, "c": 40}
    assert loaded.use().budget_bytes == 100


def test_those_that_others_use_stay_and_are_counted():
    loaded = LoadedIndexes(10)
    used = FakeIndex("used", 8)
    loaded.put("used", used, 1)
    loaded.put("idle", FakeIndex("idle", 1), 1)
    loaded.put("new", FakeIndex("new", 7), 1)

    assert loaded.use().bytes_by_scope == {"used": 8, "new": 7}
    assert loaded.used("used", 1)

    del used
    loaded.put("last", FakeIndex("last", 7), 1)
    assert loaded.use().bytes_by_scope == {"last": 7}


def test_an_interrupt_while_one_goes_leaves_nothing_counted_that_is_not_here(monkeypatch):
    loaded = LoadedIndexes(10)
    loaded.put("a", FakeIndex("a", 6), 1)

    def interrupted(index):
        del index
        raise KeyboardInterrupt

    monkeypatch.setattr("ebbmem.loaded.ref", interrupted)
    with pytest.raises(KeyboardInterrupt):
        loaded.put("b", FakeIndex("b", 6), 1)
    assert (loaded.use().bytes_by_scope, loaded.bytes(None)) == ({"b": 6}, 6)


def test_an_index_that_another_took_the_place_of_is_not_counted():
    loaded = LoadedIndexes(100)
    old = FakeIndex("a", 30)
    loaded.put("a", old, 1)
    loaded.put("a", FakeIndex("a", 5), 2)
    loaded.weigh(old)

    assert loaded.use().bytes_by_scope == {"a": 5}


def test_what_a_question_makes_is_counted_at_once():
    with Fleet(":memory:") as fleet:
        fleet["a"].remember_many(["rex 1", "rex 2", "rex 3"])
        # From the second recall on every row is on the shelf; fading lines are made in the third.
        for recipe in (recipes.DEFAULT, recipes.SIMILARITY, recipes.EBBINGHAUS):
            assert len(fleet["a"].recall("rex", recipe=recipe, reinforce=False)) == 3
            assert fleet.metrics().index_bytes == fleet["a"].stats().index_bytes


def test_what_waits_for_an_index_stays_little():
    with Database(":memory:") as db:
        store = EpisodicMemoryStore(db)
        made = [store.remember(f"rex {n}") for n in range(4)]
        store.recall("rex")
        desk = db.engine._desks.opened("default")
        for n in range(300):
            store.feedback(used=[made[n % 4].id])
            assert len(desk.posts) <= 64
        for n in range(100):
            store.remember(f"tom {n}: {'x' * 200}")
            assert desk.bytes <= 8 << 10
        store.recall("tom")
        assert (desk.bytes, desk.memories, len(desk.posts)) == (0, 0, 0)
