"""Group commit: callers that wait are written together, and each has an outcome of its own."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import apsw
import pytest
from gates import Gate, behind
from naps import Naps

from ebbmem import Database, EpisodicMemoryStore, Fleet, ManualClock, recipes
from ebbmem.desks import Desks
from ebbmem.errors import InvalidArgument, LockTimeout, StoreError, UnknownMemory
from ebbmem.pending import PendingRecalls
from ebbmem.records.sqlite import SqliteRecords

NOW = 1_700_000_000
THREADS = 8


@pytest.fixture
def path(tmp_path):
    return tmp_path / "commits.db"


@pytest.fixture
def fleet(path):
    with Fleet(path, clock=ManualClock(NOW)) as opened:
        yield opened


@pytest.fixture
def commits(monkeypatch):
    """Count the transactions that are committed."""
    done: Counter[str] = Counter()
    commit = SqliteRecords.write

    def counted(records, *args):
        done["begun"] += 1
        return commit(records, *args)

    monkeypatch.setattr(SqliteRecords, "write", counted)
    return done


class TestTogether:
    def test_those_that_wait_share_a_commit(self, fleet, commits):
        gate = Gate(fleet.database.engine)
        agents = [fleet[f"s{n % 3}"] for n in range(THREADS)]
        calls = [lambda n=n: agents[n].remember(f"rex {n}") for n in range(THREADS)]
        futures = behind(gate, calls)
        assert commits["begun"] == 1
        assert [f.result().number for f in futures] == [n // 3 + 1 for n in range(THREADS)]

    def test_groups_form_by_themselves(self, fleet, commits):
        each = 25
        with ThreadPoolExecutor(THREADS) as pool:
            list(
                pool.map(
                    lambda n: [fleet["a"].remember(f"rex {n} {k}") for k in range(each)],
                    range(THREADS),
                )
            )
        assert commits["begun"] < THREADS * each
        assert fleet["a"].stats().memories == THREADS * each

    def test_what_is_written_together_is_what_one_by_one_writes(self, tmp_path):
        def calls(fleet):
            a, b = fleet["a"], fleet["b"]
            return [
                lambda: a.remember("rex", keywords=["dog"], key="k"),
                lambda: a.remember("rex again", key="k"),
                lambda: b.remember_many(["one", {"summary": "two", "dedupe": True}, "three"]),
                lambda: a.remember("leash", related_to=["dog"]),
                lambda: b.remember("two", dedupe=True),
                lambda: a.add_turn("user", "hello"),
                lambda: a.remember("bone", keywords=["dog", "bone"]),
                lambda: a.add_turn("assistant", "hi"),
            ]

        told = []
        for together in (False, True):
            clock = ManualClock(NOW)
            with Fleet(tmp_path / f"{together}.db", clock=clock) as fleet:
                for scope in ("gate", "a", "b"):
                    fleet[scope].remember("first", keywords=["dog"])
                if together:
                    done = [f.result() for f in behind(Gate(fleet.database.engine), calls(fleet))]
                else:
                    done = [call() for call in calls(fleet)]
                told.append((shown(done), contents(fleet)))
        assert told[0] == told[1]

    def test_an_index_follows_a_group(self, fleet, path):
        for scope in ("a", "b"):
            fleet[scope].remember("rex zero")
            fleet[scope].recall("rex", reinforce=False)
        kept = {scope: fleet.database.engine._indexes.get(scope) for scope in ("a", "b")}
        agents = [fleet["a"], fleet["b"]]
        calls = [
            lambda n=n: agents[n % 2].remember(f"rex {n}", keywords=["dog"]) for n in range(THREADS)
        ]
        behind(Gate(fleet.database.engine), calls)
        seen = {s: hits(fleet[s].recall("rex", top_k=20, reinforce=False)) for s in ("a", "b")}
        for scope in ("a", "b"):
            assert fleet.database.engine._indexes.get(scope) is kept[scope]
        fleet.close()
        with Fleet(path, clock=ManualClock(NOW)) as again:
            for scope in ("a", "b"):
                assert hits(again[scope].recall("rex", top_k=20, reinforce=False)) == seen[scope]
                assert len(seen[scope]) == 1 + THREADS // 2

    def test_a_long_inbox_goes_into_the_index_without_a_recall(self, fleet):
        fleet["a"].remember("rex")
        fleet["a"].recall("rex")
        for n in range(150):
            fleet["a"].remember(f"rex {n}")
        index = fleet.database.engine._indexes.get("a")
        assert len(index) > 100
        assert len(fleet["a"].recall("rex", top_k=300)) == 151

    def test_many_threads_make_one_memory_of_a_key_or_an_equal_text(self, fleet):
        def work(n):
            made = fleet["a"].remember(f"text {n}", key="k")
            same = fleet["a"].remember("kettle", dedupe=True)
            return made, same

        with ThreadPoolExecutor(32) as pool:
            pairs = list(pool.map(work, range(32)))
        for side in zip(*pairs, strict=True):
            assert len({one.id for one in side}) == 1
            assert sum(one.created for one in side) == 1
        assert fleet["a"].stats().memories == 2
        assert fleet["a"].get(pairs[0][1].id).access_count == 32


@pytest.fixture
def sigint():
    """Let SIGINT interrupt: a shell that starts the tests in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class TestErrors:
    def test_what_one_caller_raises_is_raised_to_no_other(self, fleet, monkeypatch):
        fleet["a"].remember("first", keywords=["dog"])
        monkeypatch.setattr("ebbmem.remembering._links", lambda _, one, __: bad(one))
        calls = [
            lambda n=n, a=fleet["a"]: a.remember(f"rex {n}", keywords=["dog"] * (n % 4 == 1))
            for n in range(THREADS)
        ]
        futures = behind(Gate(fleet.database.engine), calls)
        for n, future in enumerate(futures):
            if n % 4 == 1:
                with pytest.raises(ZeroDivisionError, match=f"rex {n}"):
                    future.result()
            else:
                assert future.result().created
        assert fleet["a"].stats().memories == 1 + THREADS * 3 // 4
        found = fleet["a"].recall("rex", reinforce=False, top_k=20)
        assert len(found) == THREADS * 3 // 4

    def test_an_error_of_the_leader_keeps_nobody_from_being_written(self, fleet):
        gate = Gate(fleet.database.engine)
        gate.error = InvalidArgument("of the gate")
        calls = [lambda n=n, a=fleet["a"]: a.remember(f"rex {n}") for n in range(THREADS)]
        futures = behind(gate, calls)
        assert all(future.result().created for future in futures)
        assert isinstance(gate.raised, InvalidArgument) or gate.raised is None

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
    def test_an_interrupted_leader_leaves_the_others_to_another(self, fleet, error):
        gate = Gate(fleet.database.engine)
        gate.error = error("stop")
        calls = [lambda n=n, a=fleet["a"]: a.remember(f"rex {n}") for n in range(THREADS)]
        futures = behind(gate, calls)
        assert sorted(f.result().number for f in futures) == list(range(1, THREADS + 1))
        assert type(gate.raised) is error
        assert fleet["a"].stats().memories == THREADS

    @pytest.mark.parametrize("committed", [False, True])
    def test_an_interrupt_at_the_commit_makes_nothing_twice(self, fleet, monkeypatch, committed):
        connection = fleet.database.engine.records._connection
        run, done = connection.run, []

        def interrupted(sql, *args):
            if sql == "COMMIT" and not done:
                done.append(1)
                if committed:
                    run(sql, *args)
                raise KeyboardInterrupt
            return run(sql, *args)

        calls = [lambda n=n, a=fleet["a"]: a.remember(f"rex {n}") for n in range(THREADS)]
        gate = Gate(fleet.database.engine)
        monkeypatch.setattr(connection, "run", interrupted)
        futures = behind(gate, calls)
        assert isinstance(gate.raised, KeyboardInterrupt)
        assert sorted(f.result().number for f in futures) == list(range(1, THREADS + 1))
        assert fleet["a"].stats().memories == THREADS
        assert len(fleet["a"].recall("rex", top_k=20)) == THREADS

    @pytest.mark.parametrize(("told", "name"), [(PendingRecalls, "settle"), (Desks, "leave")])
    def test_an_interrupt_behind_the_commit_makes_nothing_twice(
        self, fleet, monkeypatch, told, name
    ):
        memory = fleet["a"]
        memory.remember("wolf")
        memory.recall("wolf", recipe=recipes.ASSOCIATIVE)  # a recall that waits for the commit
        real, done = getattr(told, name), []

        def interrupted(*args):
            if not done:
                done.append(1)
                raise KeyboardInterrupt
            return real(*args)

        calls = [lambda n=n, a=memory: a.remember(f"rex {n}") for n in range(THREADS)]
        gate = Gate(fleet.database.engine)
        monkeypatch.setattr(told, name, interrupted)
        futures = behind(gate, calls)
        assert isinstance(gate.raised, KeyboardInterrupt)
        numbers = [future.result().number for future in futures]
        assert sorted(numbers) == list(range(2, THREADS + 2))
        assert memory.stats().memories == THREADS + 1
        assert len(memory.recall("rex", top_k=20, reinforce=False)) == THREADS
        fleet.database.flush()
        assert memory.get(memory.recall("wolf", reinforce=False).memories[0].id).access_count == 2

    @pytest.mark.usefixtures("sigint")
    def test_an_interrupted_follower_takes_its_part_back(self, path):
        fleet = Fleet(path, clock=ManualClock(NOW))
        gate = Gate(fleet.database.engine)
        memory = fleet["a"]
        with gate:
            later = threading.Thread(target=lambda: memory.remember("later"))
            main = threading.main_thread().ident

            def interrupt():
                gate.wait_for(2)
                signal.pthread_kill(main, signal.SIGINT)

            first = threading.Thread(target=lambda: memory.remember("first"))
            first.start()
            gate.wait_for(1)
            ending = threading.Thread(target=interrupt)
            ending.start()
            with pytest.raises(KeyboardInterrupt):
                memory.remember("interrupted")
            ending.join(30)
            later.start()
            gate.wait_for(2)
        first.join(30)
        later.join(30)
        found = fleet["a"].recall("first later interrupted", recipe=recipes.ASSOCIATIVE)
        assert sorted(hit.summary for hit in found) == ["first", "later"]
        fleet.close()

    def test_each_waits_for_another_process_no_longer_than_it_may(self, path, monkeypatch):
        naps = Naps()
        monkeypatch.setattr("ebbmem.records.busy.time", naps)
        monkeypatch.setattr("ebbmem.commits.time", naps)
        with (
            Database(path, busy_wait_s=40) as db,
            closing(apsw.Connection(str(path))) as other,
            ThreadPoolExecutor(4) as pool,
        ):
            store = EpisodicMemoryStore(db)
            other.execute("BEGIN IMMEDIATE")

            def waited(n):
                started_s = naps.monotonic()
                with pytest.raises(LockTimeout):
                    store.remember(f"{n}")
                return naps.monotonic() - started_s

            waits_s = list(pool.map(waited, range(4)))
            other.execute("ROLLBACK")
            assert max(waits_s) == pytest.approx(40)
            assert store.remember("after").number == 1

    def test_a_write_inside_a_write_is_refused(self, fleet):
        engine = fleet.database.engine
        for inner in (lambda: fleet["a"].remember("x"), lambda: fleet["a"].archive("0" * 32)):
            with engine.change("a", NOW), pytest.raises((StoreError, UnknownMemory)):
                inner()
        assert fleet["a"].stats().memories == 0

    def test_a_half_batch_is_none(self, fleet):
        with pytest.raises(InvalidArgument):
            fleet["a"].remember_many(["one", "two", {"summary": "three", "importance": 99}])
        assert fleet["a"].stats().memories == 0


def test_an_index_that_cannot_follow_is_loaded_anew(fleet, monkeypatch):
    fleet["a"].remember("rex")
    fleet["a"].recall("rex")
    monkeypatch.setattr("ebbmem.index.ScopeIndex.append", lambda *_: 1 / 0)
    made = fleet["a"].remember_many([f"rex {n}" for n in range(100)])
    monkeypatch.undo()
    assert len(made) == 100
    assert len(fleet["a"].recall("rex", top_k=200)) == 101


def test_locks_of_scopes_do_not_pile_up(fleet):
    for n in range(50):
        fleet[f"s{n}"].remember("rex")
        fleet[f"s{n}"].recall("rex", reinforce=False)
    engine = fleet.database.engine
    engine._indexes.clear()
    assert len(engine._desks._locks) == len(engine._desks._desks) == 0


def bad(one):
    raise ZeroDivisionError(one.summary)


def shown(done):
    """What calls returned, without what differs between stores."""
    flat = [one for part in done for one in (part if isinstance(part, list) else [part])]
    return [
        (one.number, one.created) if hasattr(one, "number") else (one.role, one.content)
        for one in flat
    ]


def hits(result):
    return [(hit.number, hit.score) for hit in result]


def contents(fleet):
    """What stores hold of scopes, without ids and the order of seq."""
    found = {}
    for scope in ("a", "b"):
        memory = fleet[scope]
        answers = memory.recall("rex two dog", recipe=recipes.ASSOCIATIVE, top_k=50)
        found[scope] = (hits(answers), memory.stats().links, memory.stats().by_type)
        found[scope] += ([turn.content for turn in memory.turns()],)
    return found
