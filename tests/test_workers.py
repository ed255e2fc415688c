"""One pool of threads for each store: of the engine, not of handles, and gone with the store."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import weakref

import pytest

from ebbmem import Fleet, errors, workers

PAIRS = [(scope, "rex") for scope in "abcd"]


@pytest.fixture(autouse=True)
def three_processors(monkeypatch):
    monkeypatch.setattr(workers, "_processors", lambda: 3)


def filled(path=":memory:"):
    fleet = Fleet(path)
    fleet.remember_many([(scope, f"rex {n}") for n in range(9) for scope in "abcd"])
    return fleet


def test_threads_start_when_a_call_first_asks_for_more_than_one():
    with filled() as fleet:
        pool = fleet.database.engine.workers
        fleet.recall_many(PAIRS)
        fleet["a"].recall_many(["rex", "rex"], threads=1)
        fleet["a"].recall("rex")
        assert pool.started == 0
        fleet.recall_many(PAIRS, threads=2)
        assert pool.started == 1
        fleet.recall_many(PAIRS, threads=64)
        assert pool.started == 3


def test_there_are_never_more_than_processors_or_than_the_bound(monkeypatch):
    assert workers.pool().most == 3
    monkeypatch.setattr(workers, "_processors", lambda: 1_000)
    assert workers.pool().most == workers.MOST_THREADS == 32
    monkeypatch.undo()
    assert 1 <= workers.pool().most <= 32


def test_every_handle_on_a_file_has_the_same_threads(tmp_path):
    path = tmp_path / "fleet.db"
    with filled(path) as one, Fleet(path) as other:
        one.recall_many(PAIRS, threads=3)
        other.recall_many(PAIRS, threads=3)
        other["a"].recall_many(["rex", "rex"], threads=3)
        assert one.database.engine.workers is other.database.engine.workers
        assert one.database.engine.workers.started == 2


def test_closing_the_store_ends_its_threads(tmp_path):
    path = tmp_path / "fleet.db"
    one, other = filled(path), Fleet(path)
    pool = one.database.engine.workers
    one.recall_many(PAIRS, threads=3)
    one.close()
    assert pool.started == 2
    other.close()
    assert pool.started == 0


def test_a_store_that_is_collected_leaves_no_threads():
    fleet = filled()
    fleet.recall_many(PAIRS, threads=3)
    pool = weakref.ref(fleet.database.engine.workers)
    del fleet
    gc.collect()
    assert pool() is None


def test_what_fails_leaves_the_scopes_free(monkeypatch):
    with filled() as fleet:
        engine = fleet.database.engine

        class Failing:
            most = 1

        monkeypatch.setattr(engine, "workers", Failing())
        with pytest.raises(errors.InvalidType, match="workers"):
            fleet.recall_many(PAIRS, threads=2)
        monkeypatch.undo()
        assert [len(one) for one in fleet.recall_many(PAIRS, threads=2)] == [9] * 4


def run(script):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_is_refused_and_can_open_the_file_anew(tmp_path):
    told = run(
        f"""
        import os
        from ebbmem import Fleet, errors, workers
        workers._processors = lambda: 3
        pairs = [(scope, "rex") for scope in "abcd"]
        fleet = Fleet({str(tmp_path / "fleet.db")!r})
        fleet.remember_many(pairs)
        fleet.recall_many(pairs, threads=3)
        child = os.fork()
        if child == 0:
            try:
                fleet.recall_many(pairs, threads=3)
            except errors.ForkedStore:
                with Fleet({str(tmp_path / "fleet.db")!r}) as own:
                    found = own.recall_many(pairs, threads=3)
                    started = own.database.engine.workers.started
                fleet.close()
                os._exit(0 if [len(one) for one in found] == [1] * 4 and started == 2 else 1)
            os._exit(2)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print(sum(len(one) for one in fleet.recall_many(pairs, threads=3)))
        fleet.close()
        """
    )
    assert told == ["0", "4"]


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads by /proc")
@pytest.mark.parametrize("closed", [True, False])
def test_an_interrupt_leaves_no_work_and_no_lock(closed, tmp_path):
    told = run(
        f"""
        import os, signal, threading
        from ebbmem import Fleet, workers
        workers._processors = lambda: 3
        before = len(os.listdir("/proc/self/task"))
        fleet = Fleet({str(tmp_path / "fleet.db")!r})
        fleet.remember_many([(s, f"rex {{n}} tom") for n in range(400) for s in "abcd"])
        pairs = [(scope, "rex tom") for scope in "abcd"] * 40
        fleet.recall_many(pairs, threads=3)
        calling, stop = False, threading.Event()
        def once(*_):
            global calling
            if calling:
                calling = False
                raise KeyboardInterrupt
        signal.signal(signal.SIGINT, once)
        def interrupt():
            while not stop.wait(0.01):
                os.kill(os.getpid(), signal.SIGINT)
        other, interrupts = threading.Thread(target=interrupt), 0
        other.start()
        while interrupts < 20:
            try:
                calling = True
                fleet.recall_many(pairs, threads=3)
                calling = False
            except KeyboardInterrupt:
                interrupts += 1
        stop.set()
        other.join()
        # Another thread finds every scope's lock free, and the answers as they were.
        found = []
        ask = lambda: found.append(fleet.recall_many(pairs[:8], threads=3, top_k=3))
        asking = threading.Thread(target=ask)
        asking.start()
        asking.join(30)
        print([len(one) for one in found[0]] == [3] * 8)
        if {closed}:
            fleet.close()
            print(len(os.listdir("/proc/self/task")) - before)
        """
    )
    assert told == (["True", "0"] if closed else ["True"])
