"""Recalls that wait for their commit: they count at once, are written in time, and never twice."""

from __future__ import annotations

import os
import signal
import time

import apsw
import pytest
from dumps import holds_text
from waiting import LONG, NOW, counts, events, run, unpacked

from ebbmem import Database, EpisodicMemoryStore, Fleet, ManualClock, recipes
from ebbmem.errors import InvalidArgument
from ebbmem.pending import PendingRecall, PendingRecalls
from ebbmem.reconsolidation import TRACE_BYTES

DAY = 86_400
STRENGTHS = "row_id, storage_strength, r_anchor, anchored_at, access_count"


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


class TestWaiting:
    def test_a_recall_counts_at_once_and_is_written_later(self, store, path):
        store.remember("rex")
        gained = []
        for _ in range(3):
            (hit,) = store.recall("rex")
            gained.append(hit.score)
        assert gained == sorted(set(gained))
        assert (list(counts(path).values()), events(path)) == ([1], [])
        store.flush()
        assert list(counts(path).values()) == [4]
        assert len(events(path)) == 3

    def test_what_is_written_is_what_one_by_one_commits_write(self, tmp_path):
        dumps = []
        for limit in (0, 100):
            file = tmp_path / f"{limit}.db"
            clock = ManualClock(NOW)
            with Database(file, clock=clock, pending_recalls=limit, pending_s=LONG) as db:
                store = EpisodicMemoryStore(db, recipe=recipes.ASSOCIATIVE)
                store.remember_many([f"rex {n}" for n in range(5)])
                for cue in ("rex 1", "rex", "rex 4 3", "rex"):
                    clock.advance(days=1)
                    store.recall(cue, top_k=3)
            with apsw.Connection(str(file)) as connection:
                kept = f"SELECT {STRENGTHS} FROM memories ORDER BY row_id"
                told = "SELECT at, kind, payload FROM events ORDER BY seq"
                dumps.append([connection.execute(query).fetchall() for query in (kept, told)])
            connection.close()
        assert dumps[0] == dumps[1]

    def test_one_event_per_recall_says_what_was_before(self, store, path, clock):
        made = store.remember("rex")
        clock.advance(days=20)
        store.recall("rex")
        store.recall("rex")
        store.flush()
        first, second = (unpacked(row[5]) for row in events(path))
        assert [row & 0xFFFF_FFFF for row, _ in first + second] == [made.number, made.number]
        assert first[0][1] == pytest.approx((0.1, 0.0064878), abs=1e-6)
        assert second[0][1] == pytest.approx((0.18941610, 0.59470805), abs=1e-7)

    @pytest.mark.parametrize("limit", [0, 1, 3])
    def test_no_more_wait_than_may(self, path, clock, limit):
        with Database(path, clock=clock, pending_recalls=limit, pending_s=LONG) as db:
            store = EpisodicMemoryStore(db)
            store.remember("rex")
            for done in range(1, 8):
                store.recall("rex")
                assert done - len(events(path)) <= limit
            assert len(events(path)) >= 4

    def test_no_more_hits_wait_than_may(self, store, path, monkeypatch):
        monkeypatch.setattr("ebbmem.pending.MOST_HITS", 5)
        store.remember_many([f"rex {n}" for n in range(3)])
        for written in (0, 2, 2, 4):
            store.recall("rex")
            assert len(events(path)) == written

    def test_a_recall_that_came_during_a_commit_keeps_its_time(self, monkeypatch):
        now_s = [0.0]
        monkeypatch.setattr("ebbmem.pending.time.monotonic_ns", lambda: int(now_s[0] * 1e9))
        traces = bytes(TRACE_BYTES)
        one = PendingRecall("a", 1, 0, 0, recipes.DEFAULT, traces)
        waiting = PendingRecalls(9, 10.0)
        waiting.add(one)
        now_s[0] = 5.0
        waiting.add(one)
        now_s[0] = 14.9
        waiting.settle(1)
        assert not waiting.due
        now_s[0] = 15.0
        assert waiting.due
        waiting.settle(1)
        assert not waiting.due

    def test_none_waits_longer_than_it_may(self, path, clock):
        with Database(path, clock=clock, pending_s=0.02) as db:
            store = EpisodicMemoryStore(db)
            store.remember("rex")
            store.recall("rex")
            time.sleep(0.03)
            assert events(path) == []
            store.recall("zebra")
            assert len(events(path)) == 1

    @pytest.mark.parametrize(
        "verb",
        [
            lambda s, i: s.remember("x"), lambda s, i: s.remember_intention("x"),
            lambda s, i: s.feedback(used=[i]), lambda s, i: s.archive(i),
            lambda s, i: s.get(i), lambda s, i: s.stats(), lambda s, i: s.flush(),
            lambda s, i: s._db.export(f"{s._db.path}.jsonl"), lambda s, i: s._db.flush(),
            lambda s, i: EpisodicMemoryStore(s._db, scope="other").remember("x"),
            lambda s, i: s._db.close(),
        ],
    )  # fmt: skip
    def test_every_write_and_every_reading_that_shows_it_ends_the_wait(self, store, path, verb):
        made = store.remember("rex").id
        store.recall("rex")
        assert events(path) == []
        verb(store, made)
        assert len(events(path)) == 1
        assert next(iter(counts(path).values())) >= 2

    def test_an_index_that_is_dropped_and_loaded_has_it(self, path, clock):
        with Fleet(path, clock=clock, index_budget=1, pending_s=LONG) as fleet:
            made = fleet["a"].remember("rex").id
            fleet["b"].remember("rex")
            for _ in range(3):
                fleet["a"].recall("rex", recipe=recipes.ASSOCIATIVE)
                fleet["b"].recall("rex", recipe=recipes.ASSOCIATIVE)
            assert fleet["a"].get(made).access_count == 4

    def test_its_index_stays_loaded(self, store, db):
        store.remember("rex")
        store.recall("rex")
        before = db.engine._indexes.get("default")
        for _ in range(3):
            store.recall("rex")
            EpisodicMemoryStore(db, scope="other").remember("x")
            store.recall("rex")
            store.remember("y")
            store.recall("rex")
        assert db.engine._indexes.get("default") is before

    def test_an_import_and_a_sleep_pass_take_it_along(self, store, db, path):
        store.remember("rex")
        store.recall("rex")
        db.import_(['{"summary": "told"}'])
        assert len(events(path)) == 1
        store.recall("rex")
        store.consolidate(now=NOW + 40 * DAY)
        assert len(events(path)) == 2

    @pytest.mark.parametrize(
        ("option", "values"),
        [
            ("pending_recalls", [-1, 1.5, "2", None, True]),
            ("pending_s", [-1, "1", None, float("nan")]),
        ],
    )
    def test_bounds_are_numbers(self, path, option, values):
        for value in values:
            with pytest.raises((InvalidArgument, TypeError), match=option):
                Database(path, **{option: value})
            with pytest.raises((InvalidArgument, TypeError), match=option):
                Fleet(path, **{option: value})


class TestErasing:
    def test_what_is_erased_leaves_nothing_that_waited(self, store, path, clock):
        gone = store.remember("rex unspeakable").id
        kept = store.remember("rex").number
        clock.advance(days=1)
        store.recall("rex")
        store.erase(gone)
        (event,) = events(path)
        assert [row & 0xFFFF_FFFF for row, _ in unpacked(event[5])] == [kept]
        assert list(counts(path).values()) == [2]
        store.flush()
        assert not holds_text(path, "unspeakable")

    def test_what_another_process_erased_is_left_out(self, store, path, clock):
        gone = store.remember("rex one").id
        kept = store.remember("rex two").number
        store.recall("rex")
        assert run(path, f"store.erase({gone!r}); db.close()") == 0
        store.flush()
        (event,) = events(path)
        assert [row & 0xFFFF_FFFF for row, _ in unpacked(event[5])] == [kept]
        assert [hit.number for hit in store.recall("rex")] == [kept]


class TestOtherProcesses:
    def test_what_they_wrote_meanwhile_is_gone_on_from(self, store, path):
        made = store.remember("rex").id
        store.recall("rex")
        store.recall("rex")
        assert run(path, f"store.feedback(used=[{made!r}] ); db.close()") == 0
        store.recall("rex")
        assert store.get(made).access_count == 5
        assert len(events(path)) == 3
        assert len(events(path, "used")) == 1
        (hit,) = store.recall("rex", reinforce=False)
        assert hit.memory.access_count == 5

    def test_what_waited_before_they_wrote_overwrites_nothing_whatever_came_later(
        self, store, path
    ):
        made = store.remember("rex").id
        store.remember("max")
        store.recall("rex", top_k=1)
        assert run(path, f"store.feedback(used=[{made!r}]); db.close()") == 0
        store.recall("max", top_k=1)
        store.flush()
        assert list(counts(path).values()) == [3, 2]

    def test_they_see_it_after_the_flush(self, store, path):
        made = store.remember("rex").id
        store.recall("rex")
        seen = f"os._exit(store.get({made!r}).access_count)"
        assert run(path, seen) == 1
        store.flush()
        assert run(path, seen) == 2

    def test_a_process_that_ends_writes_what_waits(self, store, path):
        store.remember("rex")
        assert run(path, "[store.recall('rex') for _ in range(3)]") == 0
        assert len(events(path)) == 3

    def test_a_killed_process_loses_no_more_than_may_wait(self, store, path):
        store.remember("rex")
        code = "[store.recall('rex') for _ in range(300)]; os.kill(os.getpid(), signal.SIGKILL)"
        assert run(path, code) == -signal.SIGKILL
        kept = len(events(path))
        assert 300 - 256 <= kept < 300
        assert list(counts(path).values()) == [1 + kept]
        assert store.recall("rex").memories

    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_a_forked_child_leaves_it_to_its_parent(self, path, clock):
        db = Database(path, clock=clock, pending_s=LONG)
        store = EpisodicMemoryStore(db)
        store.remember("rex")
        store.recall("rex")
        child = os.fork()
        if child == 0:
            db.close()
            with Database(path, clock=clock, pending_s=LONG) as own:
                EpisodicMemoryStore(own).recall("rex")
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(events(path)) == 1
        store.recall("rex")
        db.close()
        assert len(events(path)) == 3
