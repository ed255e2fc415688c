"""Group commit waits for those it let go, and writes in one go what is alike."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import pytest
from gates import Gate, behind

from ebbmem import Fleet, ManualClock, commits
from ebbmem.commits import GroupCommit, Job, Last
from ebbmem.errors import InvalidArgument
from ebbmem.records import logs
from ebbmem.records.connection import Connection

NOW = 1_700_000_000
FOR_EVER_S = 30.0


@pytest.fixture
def fleet(tmp_path):
    with Fleet(tmp_path / "fleet.db", clock=ManualClock(NOW)) as opened:
        yield opened


class Opened:
    """A transaction that notes what was written in it."""

    def __init__(self) -> None:
        self.finished = False
        self.written: list[str] = []


class TestGathering:
    def test_a_leader_waits_for_as_many_as_the_last_commit_took(self):
        group, done = _group()
        group.last = Last(3, time.monotonic() + FOR_EVER_S)
        threads = [_running(group, name) for name in "ab"]
        _wait_for(lambda: len(group._waiting) == 2)
        time.sleep(0.02)
        assert done == []
        threads.append(_running(group, "c"))
        _joined(threads)
        assert [sorted(one.written) for one in done] == [["a", "b", "c"]]
        assert group.last.parts == 3

    def test_it_waits_no_longer_than_the_last_commit_took(self):
        group, done = _group()
        group.last = Last(2, time.monotonic() + 0.02)
        _joined([_running(group, "a")])
        assert [one.written for one in done] == [["a"]]
        assert group.last == Last(1, 0.0)

    def test_it_does_not_wait_for_one_that_has_other_work_first(self):
        group, done = _group()
        group.last = Last(3, time.monotonic() + FOR_EVER_S)
        threads = [_running(group, name) for name in "ab"]
        _wait_for(lambda: len(group._waiting) == 2)
        time.sleep(0.02)
        assert done == []
        group.expect_one_less()
        _joined(threads)
        assert [sorted(one.written) for one in done] == [["a", "b"]]

    def test_a_call_that_finds_the_log_long_moves_it_once_the_next_may_write(
        self, fleet, monkeypatch
    ):
        others = []
        original = Connection.move_log

        def move_log(connection):
            other = threading.Thread(target=fleet["b"].remember, args=("beside",))
            other.start()
            other.join(30)
            others.append(other.is_alive())
            monkeypatch.setattr(Connection, "move_log", original)
            return original(connection)

        monkeypatch.setattr(Connection, "move_log", move_log)
        monkeypatch.setattr(logs, "SOON_FRAMES", 5)
        fleet["a"].remember("a" * 100_000)
        assert others == [False]

    @pytest.mark.parametrize(
        ("parts", "took_s", "waits_s"),
        [(1, 0.5, None), (2, 0.001, 0.001), (9, 0.5, commits.MOST_GATHERING_S)],
    )
    def test_how_long_is_known_from_the_last_commit(self, monkeypatch, parts, took_s, waits_s):
        monkeypatch.setattr(commits.time, "monotonic", lambda: 100.0)
        last = Last.of(parts, 100.0 - took_s)
        until_s = 0.0 if waits_s is None else 100.0 + waits_s
        assert last.parts == parts
        assert last.until_s == pytest.approx(until_s)

    def test_an_interrupt_while_it_waits_leaves_nothing(self, monkeypatch):
        group, done = _group()
        group.last = Last(2, time.monotonic() + FOR_EVER_S)

        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(Job, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            group.run(Job(_noting("a")))
        monkeypatch.undo()
        assert done == []
        assert group._waiting == []
        _joined([_running(group, name) for name in "bc"])
        assert [sorted(one.written) for one in done] == [["b", "c"]]


class TestJoined:
    def test_works_that_follow_each_other_are_given_together(self):
        given = []

        def joined(transaction, works):
            given.append([work(transaction) for work in works])
            return given[-1]

        def other(transaction, works):
            return [work(transaction) for work in works]

        kinds = [joined, joined, None, joined, other, joined, joined]
        jobs = [Job(_noting(str(n)), kind) for n, kind in enumerate(kinds)]
        opened = Opened()
        written = 0
        while written < len(jobs):
            written += commits.write_first(jobs[written:], opened)
        assert given == [["0!", "1!"], ["3!"], ["5!", "6!"]]
        assert [job.result for job in jobs] == [f"{n}!" for n in range(7)]
        assert all(job.within is opened for job in jobs)
        assert opened.written == [str(n) for n in range(7)]

    def test_each_caller_gets_what_was_made_of_its_own(self, fleet):
        a, b = fleet["a"], fleet["b"]
        calls = [
            lambda: [a.remember("one")],
            lambda: fleet.remember_many([("b", "two"), ("a", "three"), ("b", "four")]),
            lambda: b.remember_many(["five", "six"]),
            lambda: [a.remember("seven")],
        ]
        done = [one.result() for one in behind(Gate(fleet.database.engine), calls)]
        told = [[memory(fleet, one.id) for one in part] for part in done]
        assert told == [
            [("a", 1, "one")],
            [("b", 1, "two"), ("a", 2, "three"), ("b", 2, "four")],
            [("b", 3, "five"), ("b", 4, "six")],
            [("a", 3, "seven")],
        ]
        assert not fleet.database.verify().problems

    def test_one_that_cannot_be_written_keeps_no_other(self, fleet):
        for scope in ("a", "full"):
            fleet[scope].remember("first")
        engine = fleet.database.engine
        with engine.records.write() as writer:
            full = writer.open_scope("full", NOW).scope_id
            writer._counters.scope(full).next_number = 2**32
            writer._counters.take(full)
        calls = [
            lambda: fleet["a"].remember("one"),
            lambda: fleet["full"].remember("two"),
            lambda: fleet["a"].remember("three"),
        ]
        one, two, three = behind(Gate(engine), calls)
        with pytest.raises(InvalidArgument):
            two.result()
        assert (one.result().number, three.result().number) == (2, 3)
        assert fleet["full"].stats().memories == 1


def memory(fleet, memory_id):
    """Return the scope, number and summary of a memory."""
    for scope in ("a", "b"):
        for hit in fleet[scope].recall("one two three four five six seven", reinforce=False):
            if hit.id == memory_id:
                return scope, hit.number, hit.summary
    raise AssertionError(memory_id)


def _group():
    """Return a group commit, and the transactions that it will have committed."""
    done: list[Opened] = []

    @contextmanager
    def transaction(_waited_s):
        opened = Opened()
        yield opened
        opened.finished = True
        done.append(opened)

    return GroupCommit(transaction), done


def _noting(name):
    def work(transaction):
        transaction.written.append(name)
        return f"{name}!"

    return work


def _running(group, name):
    thread = threading.Thread(target=lambda: group.run(Job(_noting(name))))
    thread.start()
    return thread


def _joined(threads):
    for thread in threads:
        thread.join(FOR_EVER_S)
        assert not thread.is_alive()


def _wait_for(there):
    deadline = time.monotonic() + FOR_EVER_S
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.001)
