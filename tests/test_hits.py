"""What recall hands out: hits whose parts are made when read, and the rows they are made from."""

from __future__ import annotations

import copy
import gc
import pickle
import tracemalloc
from dataclasses import asdict, fields, replace

import pytest

from ebbmem import Database, EpisodicMemoryStore, Memory, Recalled, recipes
from ebbmem.records.base import MemoryRow
from ebbmem.shelf import Shelf, Shelved, fetched

NOW = 1_700_000_000
FULL = {
    "detail": "d", "keywords": ["dog", "pet"], "importance": 9, "emotional_valence": -0.5,
    "emotional_intensity": 0.25, "metadata": {"a": [1]}, "valid_from": NOW - 5,
    "valid_to": NOW + 10**8, "expires_in": "30d", "pinned": True, "key": "k", "source": "chat",
    "run_id": "r", "memory_type": "fact",
}  # fmt: skip


def plain(value):
    """Return an equal dataclass made by its own constructor."""
    return type(value)(**{f.name: getattr(value, f.name) for f in fields(value)})


class TestDeferred:
    @pytest.fixture
    def hit(self, store):
        store.remember("rex barks", **FULL)
        return store.recall("rex").memories[0]

    def test_a_hit_is_the_value_its_constructor_makes(self, hit):
        assert isinstance(hit, Recalled)
        assert isinstance(hit.memory, Memory)
        for one in (hit, hit.memory):
            same = plain(one)
            assert one == same == one
            assert (repr(one), asdict(one)) == (repr(same), asdict(same))

    def test_reading_order_does_not_matter(self, store):
        store.remember("rex barks", **FULL)
        for first in [f.name for f in fields(Memory)]:
            hit = store.recall("rex", reinforce=False).memories[0]
            value = getattr(hit.memory, first)
            assert value == getattr(plain(hit.memory), first)
            assert getattr(hit.memory, first) is value

    @pytest.mark.parametrize(
        "copied", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))]
    )
    def test_what_was_not_read_yet_can_be_copied(self, hit, copied):
        assert copied(hit) == hit
        assert copied(hit.memory) == hit.memory
        assert copied(hit).summary == hit.summary == "rex barks"

    def test_a_hit_has_the_text_of_its_memory_however_it_was_made(self, hit):
        assert (hit.summary, plain(hit).summary) == ("rex barks", "rex barks")
        other = replace(hit, memory=replace(hit.memory, summary="max barks"))
        assert other.summary == "max barks"

    def test_a_result_is_the_value_its_constructor_makes(self, store):
        store.remember("rex barks", **FULL)
        first, second = store.recall("rex"), store.recall("rex")
        assert first == plain(first) == copy.copy(first) == pickle.loads(pickle.dumps(first))
        assert first.id < second.id == second.id

    def test_fields_can_be_replaced_and_not_set(self, hit):
        assert replace(hit, score=2.0).memory == hit.memory
        assert replace(hit.memory, summary="x").metadata == {"a": [1]}
        for one, name in ((hit, "memory"), (hit, "summary"), (hit.memory, "summary")):
            # Where a frozen class with slots has no such field, CPython raises a TypeError.
            with pytest.raises((AttributeError, TypeError)):
                setattr(one, name, "x")
            with pytest.raises((AttributeError, TypeError)):
                delattr(one, name)
        assert (hit.summary, hit.memory.summary) == ("rex barks", "rex barks")

    def test_other_names_are_no_attributes(self, hit):
        for one in (hit, hit.memory, plain(hit.memory)):
            with pytest.raises(AttributeError, match="colour"):
                one.colour  # noqa: B018
            assert not hasattr(one, "__array__")

    def test_it_is_what_was_so_at_the_moment_of_recall(self, store, clock):
        made = store.remember("rex barks").id
        unread = store.recall("rex", recipe=recipes.ASSOCIATIVE).memories[0]
        before = plain(store.get(made))
        clock.advance(days=3)
        store.recall("rex", recipe=recipes.ASSOCIATIVE)
        store.correct(made, "rex meows")
        store.archive(made)
        assert (unread.memory.access_count, before.access_count) == (1, 2)
        assert unread.memory == replace(
            before, access_count=1, storage_strength=0.1, retrievability=0.55
        )
        store.erase(made)
        assert unread.summary == "rex barks"


class TestRows:
    def test_a_hit_tells_what_get_tells_whatever_changed(self, store, clock):
        def check():
            clock.advance(minutes=1)
            for hit in store.recall("rex", include_archive=True, reinforce=False):
                assert hit.memory == store.get(hit.id)
            return [hit.id for hit in store.recall("rex", include_archive=True)]

        made = [store.remember(f"rex {n}", **(FULL if n == 0 else {})).id for n in range(4)]
        assert len(check()) == 4
        store.correct(made[1], "rex corrected")
        assert len(check()) == 5
        store.archive(made[2])
        store.feedback(used=[made[3]])
        assert len(check()) == 5
        store.erase(made[3])
        assert len(check()) == 4
        store.link(made[0], made[1])
        store.consolidate(now=NOW + 40 * 86_400)
        assert len(check()) == 4

    def test_they_are_read_once(self, store, monkeypatch):
        store.remember_many([f"rex {n}" for n in range(5)])
        store.recall("rex")
        store.flush()

        def refused(*_):
            raise AssertionError("read again")

        monkeypatch.setattr("ebbmem.engine.fetched", refused)
        assert len(store.recall("rex")) == 5

    def test_they_count_in_the_size_of_the_index(self, store):
        store.remember("rex " + "x" * 10_000)
        store.recall("zebra")
        before = store.stats().index_bytes
        store.recall("rex")
        assert store.stats().index_bytes > before + 10_000

    def test_an_erased_text_is_not_kept(self, store):
        made = store.remember("rex unspeakable").id
        store.recall("rex")
        store.erase(made)
        index = store._db.engine._indexes.get("default")
        assert index is None or len(index.shelf) == 0


class TestShelf:
    def shelved(self, text, number=1):
        values = dict.fromkeys(MemoryRow._fields) | {"row_id": number, "summary": text}
        return Shelved(text, MemoryRow(**values), None)

    def test_what_is_put_is_taken(self):
        shelf, one = Shelf(), self.shelved("a")
        shelf.put({3: one})
        assert shelf.take([1, 3, 3]) == {3: one}
        shelf.remove([3, 4])
        assert (shelf.take([3]), shelf.bytes, len(shelf)) == ({}, 0, 0)

    def test_the_longest_there_go_first(self):
        shelf = Shelf(room_bytes=10_000)
        for slot in range(50):
            shelf.put({slot: self.shelved("x" * 100)})
            assert shelf.bytes <= 10_000
        # 950 bytes a row, about 149 the text.
        assert list(shelf.take(range(50))) == [41, 42, 43, 44, 45, 46, 47, 48, 49]

    @pytest.mark.parametrize(("letter", "size"), [("x", 1), ("\xe4", 1), ("€", 2), ("🦖", 4)])
    def test_texts_count_with_the_bytes_they_take(self, letter, size):
        shelf = Shelf()
        shelf.put({1: self.shelved(letter * 100)})
        before = shelf.bytes
        shelf.put({1: self.shelved(letter * 300)})
        assert before >= 950 + 100 * size
        assert shelf.bytes == before + 200 * size

    @pytest.mark.parametrize(
        ("memories", "room"),
        [(0, 1_048_576), (32_768, 1_048_576), (50_000, 1_600_000), (1_000_000, 4_194_304)],
    )
    def test_the_room_grows_with_the_memories_within_bounds(self, memories, room):
        shelf = Shelf()
        shelf.fit(memories)
        for slot in range(5_000):
            shelf.put({slot: self.shelved("x" * 100)})
        assert room - 1_200 < shelf.bytes <= room

    def test_a_row_takes_what_is_counted(self):
        """Within a tenth, by what Python allocates, which it rounds up to 16 bytes."""
        with Database(":memory:") as database:
            memory = EpisodicMemoryStore(database)
            memory.remember_many([f"a memory of the dog rex, number {n}" for n in range(300)])
            memory.recall("rex")
            index = database.engine._indexes.get("default")
            rows = index.columns.row.tolist()
            with database.engine.records.read() as reader:
                fetched(reader, rows)  # what the statements keep is there now
                shelf = Shelf(room_bytes=4 << 20)
                tracemalloc.start()
                try:
                    for slot, one in enumerate(fetched(reader, rows).values()):
                        shelf.put({slot: one})
                    gc.collect()
                    traces = tracemalloc.take_snapshot().traces
                    taken = sum(-(-trace.size // 16) * 16 for trace in traces)
                finally:
                    tracemalloc.stop()
        assert len(shelf) == 300
        assert 0.9 * shelf.bytes <= taken <= 1.1 * shelf.bytes

    def test_a_row_larger_than_all_room_is_not_kept(self):
        shelf = Shelf(room_bytes=10_000)
        shelf.put({1: self.shelved("a")})
        shelf.put({2: self.shelved("x" * 10_000)})
        assert (shelf.take([1, 2]), shelf.bytes) == ({}, 0)

    def test_putting_again_counts_once(self):
        shelf = Shelf()
        shelf.put({1: self.shelved("x" * 1_000)})
        shelf.put({1: self.shelved("a")})
        shelf.remove([1])
        assert shelf.bytes == 0
