"""Recalls that wait where something fails: none is lost silently, counted twice, or in the way."""

from __future__ import annotations

import threading

import apsw
import pytest
from waiting import LONG, NOW, counts, events, held, run

from ebbmem import Database, EpisodicMemoryStore, ManualClock, recipes
from ebbmem.errors import CorruptStore, LockTimeout, StorageFailed, StoreClosed


@pytest.fixture
def clock():
    return ManualClock(NOW)


@pytest.fixture
def db(path, clock):
    with Database(path, clock=clock, pending_s=LONG, busy_wait_s=0.05) as opened:
        yield opened


@pytest.fixture
def store(db):
    return EpisodicMemoryStore(db, recipe=recipes.ASSOCIATIVE)


class TestFailure:
    def test_a_commit_that_fails_says_so_and_the_recalls_go_on_waiting(self, store, path):
        store.remember("rex")
        store.recall("rex")
        with held(path):
            for call in (store.flush, store.stats, lambda: store.remember("x")):
                with pytest.raises(LockTimeout):
                    call()
            assert store.recall("rex").memories
        assert events(path) == []
        store.remember("x")
        assert len(events(path)) == 2
        assert sorted(counts(path).values()) == [1, 3]

    def test_a_recall_that_cannot_wait_says_so(self, path, clock):
        with Database(path, clock=clock, pending_recalls=1, pending_s=LONG, busy_wait_s=0.05) as db:
            store = EpisodicMemoryStore(db, recipe=recipes.ASSOCIATIVE)
            made = store.remember("rex").id
            store.recall("rex")
            with held(path):
                for _ in range(3):
                    with pytest.raises(LockTimeout):
                        store.recall("rex")
            # What raised strengthened nothing.
            assert store.get(made).access_count == 2
            assert len(events(path)) == 1

    @pytest.mark.parametrize("recipe", [recipes.ASSOCIATIVE, recipes.DEFAULT])
    def test_a_recall_that_raised_and_is_tried_again_counts_once(self, path, clock, recipe):
        with Database(path, clock=clock, pending_recalls=0, pending_s=LONG, busy_wait_s=0.05) as db:
            store = EpisodicMemoryStore(db, recipe=recipe)
            store.remember("rex")
            clock.advance(days=1)
            store.recall("rex")
            clock.advance(days=1)
            before = store.recall("rex", reinforce=False).memories
            with held(path), pytest.raises(LockTimeout):
                store.recall("rex")
            assert store.recall("rex", reinforce=False).memories == before
            store.recall("rex")
            assert list(counts(path).values()) == [3]
            (hit,) = store.recall("rex", reinforce=False)
            assert hit.memory.access_count == 3
            assert len(events(path)) == 2

    @pytest.mark.parametrize("reinforce", ["recall", "use", False])
    def test_a_recall_does_not_fail_for_earlier_ones(self, path, clock, reinforce):
        with Database(path, clock=clock, pending_s=0.0, busy_wait_s=0.05) as db:
            store = EpisodicMemoryStore(db, recipe=recipes.ASSOCIATIVE)
            store.remember("rex")
            store.recall("rex")
            with held(path):
                for _ in range(3):
                    (hit,) = store.recall("rex", reinforce=reinforce)
                for reading in (store.stats, lambda: store.get(hit.memory.id)):
                    with pytest.raises(LockTimeout):
                        reading()
            assert events(path) == []
            store.flush()
            assert len(events(path)) == (4 if reinforce == "recall" else 1)

    def test_a_recall_does_not_wait_for_who_writes(self, path, clock):
        with Database(path, clock=clock, pending_s=0.0) as db:
            store = EpisodicMemoryStore(db, recipe=recipes.ASSOCIATIVE)
            store.remember("rex")
            store.recall("rex")
            asking = threading.Thread(target=store.recall, args=("rex",))
            with db.engine._writes.lock:
                asking.start()
                asking.join(30)
                assert not asking.is_alive()
            assert events(path) == []
            store.recall("rex")
            assert len(events(path)) == 2

    def test_an_overdue_recall_is_not_written_by_one_that_does_not_write(self, path, clock):
        with Database(path, clock=clock, pending_s=0.0) as db:
            store = EpisodicMemoryStore(db)
            store.remember("rex")
            store.recall("rex")
            store.recall("rex", reinforce=False)
            store.recall_many(["rex", "rex"], reinforce=False)
            assert events(path) == []

    @pytest.mark.parametrize("recipe", [recipes.ASSOCIATIVE, recipes.DEFAULT])
    @pytest.mark.parametrize("elsewhere", [False, True])
    def test_an_index_loaded_while_recalls_wait_is_as_if_they_were_written(
        self, db, path, clock, recipe, elsewhere
    ):
        store = EpisodicMemoryStore(db, recipe=recipe)
        store.remember_many([f"rex {n}" for n in range(4)])
        gone = store.remember("rex zebra").id
        for cue in ("rex 1", "rex", "rex 3"):
            clock.advance(days=1)
            store.recall(cue, top_k=3)
        if elsewhere:
            assert run(path, f"store.erase({gone!r}); db.close()") == 0
        db.engine._indexes.drop("default")
        with held(path):
            loaded = store.recall("rex", reinforce=False, top_k=9).memories
            clock.advance(days=1)
            store.recall("rex", top_k=2)
        assert events(path) == []
        clock.advance(days=1)
        in_ram = store.recall("rex", reinforce=False, top_k=9).memories
        store.flush()
        db.engine._indexes.drop("default")
        assert store.recall("rex", reinforce=False, top_k=9).memories == in_ram
        assert len(loaded) == len(in_ram) == (4 if elsewhere else 5)
        first, second = (sum(h.memory.access_count for h in hits) for hits in (loaded, in_ram))
        assert second > first > len(loaded)

    def test_closing_can_be_tried_again(self, path, clock):
        db = Database(path, clock=clock, pending_s=LONG, busy_wait_s=0.05)
        store = EpisodicMemoryStore(db)
        store.remember("rex")
        store.recall("rex")
        with held(path), pytest.raises(LockTimeout):
            db.close()
        assert store.recall("rex").memories
        db.close()
        db.close()
        assert len(events(path)) == 2
        with pytest.raises(StoreClosed):
            store.recall("rex")

    @pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
    def test_an_interrupted_close_keeps_what_waits(self, path, clock, monkeypatch, error):
        db = Database(path, clock=clock, pending_s=LONG)
        store = EpisodicMemoryStore(db)
        store.remember("rex")
        store.recall("rex")

        def interrupted(*_):
            raise error

        monkeypatch.setattr(db.engine._pending, "write", interrupted)
        with pytest.raises(error):
            db.close()
        monkeypatch.undo()
        assert store.recall("rex").memories
        db.close()
        assert len(events(path)) == 2

    def test_what_nothing_can_write_does_not_keep_a_store_open(self, path, clock):
        db = Database(path, clock=clock, pending_s=LONG)
        store = EpisodicMemoryStore(db)
        store.remember("rex")
        store.recall("rex")
        db.engine.records._connection.lost = "a sync to disk failed"
        with pytest.raises(StorageFailed, match="sync"):
            db.close()
        with pytest.raises(StoreClosed):
            store.recall("rex")
        with Database(path, clock=clock) as again:
            assert EpisodicMemoryStore(again).recall("rex").memories

    def test_a_corrupt_memory_keeps_no_other_scope_from_being_written(self, store, db, path):
        other = EpisodicMemoryStore(db, scope="other", recipe=recipes.ASSOCIATIVE)
        store.remember("rex")
        other.remember("rex")
        for one in (store, other, store, other):  # the first of each loads its index
            one.recall("rex")
        waiting = 4 - len(events(path))
        with apsw.Connection(str(path)) as connection:
            connection.execute("UPDATE memories SET importance = 9 WHERE row_id >> 32 = 1")
        connection.close()
        other.remember("x")
        assert (waiting, len(events(path))) == (4, 2)
        for _ in range(2):
            other.recall("rex")
            other.flush()
            with pytest.raises(CorruptStore, match="checksum"):
                store.recall("rex")
        with apsw.Connection(str(path)) as connection:
            connection.execute("UPDATE memories SET importance = 5 WHERE row_id >> 32 = 1")
        connection.close()
        (hit,) = store.recall("rex")
        assert hit.memory.access_count == 1  # as before the recall; the corrupt ones are given up
        store.flush()
        assert len(events(path)) == 5

    @pytest.mark.parametrize(
        "call",
        [
            lambda s, i: s.recall("rex", reinforce=False), lambda s, i: s.flush(),
            lambda s, i: s.stats(), lambda s, i: s.get(i),
        ],
    )  # fmt: skip
    def test_who_lost_recalls_is_told_once(self, store, db, path, call):
        other = EpisodicMemoryStore(db, scope="other", recipe=recipes.ASSOCIATIVE)
        made = store.remember("rex").id
        other.remember("rex")
        store.recall("rex")
        for importance in (9, 5):
            with apsw.Connection(str(path)) as connection:
                connection.execute(
                    "UPDATE memories SET importance = ? WHERE row_id >> 32 = 1", (importance,)
                )
            connection.close()
            db.flush()
        other.recall("rex")
        with pytest.raises(CorruptStore, match="checksum"):
            call(store, made)
        call(store, made)
        assert store.get(made).access_count == 1

    def test_a_change_that_fails_leaves_them_waiting(self, store, path, monkeypatch):
        store.remember("rex")
        store.recall("rex")
        monkeypatch.setattr("ebbmem.remembering._links", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            store.remember("half", keywords=["x"])
        monkeypatch.undo()
        assert events(path) == []
        store.flush()
        store.flush()
        assert len(events(path)) == 1
