"""Threads that help callers: how many, for how long, and what is left of them."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

from ebbmem import _core

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="counts threads by /proc")


def threads_here() -> set[str]:
    return set(os.listdir("/proc/self/task"))


def are_gone(threads: set[str]) -> bool:
    """Return whether threads end before long.

    The kernel lists a thread for a moment after it was joined.
    """
    deadline = time.monotonic() + 10
    while threads & threads_here() and time.monotonic() < deadline:
        time.sleep(0.001)
    return not threads & threads_here()


def batch(count: int = 40, size: int = 20_000) -> _core.Searches:
    """Return rankings that take long enough for help to come."""
    arena = _core.Arena(16)
    arena.append(np.ones((size, 16), np.float32))
    made = _core.Searches()
    for _ in range(count):
        made.affine(arena, np.ones(16, np.float32), None, None, None, None, 3)
    return made


def test_no_thread_before_one_is_wanted() -> None:
    workers = _core.Workers(4)
    batch(9, 10).run(1, workers)
    batch(1, 10).run(4, workers)
    _core.Searches().run(4, workers)

    assert (workers.most, workers.started) == (4, 0)


def test_as_many_as_are_wanted_and_never_more_than_most() -> None:
    workers = _core.Workers(3)
    for threads, started in [(2, 1), (3, 2), (2, 2), (4, 3), (99, 3)]:
        batch(9, 10).run(threads, workers)

        assert workers.started == started


def test_a_pool_of_none_leaves_the_work_to_its_caller() -> None:
    workers = _core.Workers(0)
    slots, _, _ = batch(4, 10).run(8, workers)

    assert slots.tolist() == [9, 8, 7] * 4
    assert workers.started == 0


@linux_only
@pytest.mark.parametrize("end", ["close", "collect"])
def test_threads_end_with_the_pool(end: str) -> None:
    before = threads_here()
    workers = _core.Workers(3)
    gone = weakref.ref(workers)
    batch(9, 10).run(4, workers)
    # Those of other pools may end meanwhile, and none begins.
    own = threads_here() - before
    assert len(own) == 3
    if end == "close":
        workers.close()
        assert workers.started == 0
    else:
        del workers
        gc.collect()
        assert gone() is None

    assert are_gone(own)


def test_a_closed_pool_leaves_the_work_to_its_callers() -> None:
    workers = _core.Workers(2)
    workers.close()
    workers.close()
    slots, _, _ = batch(4, 10).run(3, workers)

    assert slots.tolist() == [9, 8, 7] * 4
    assert workers.started == 0


def test_many_callers_share_a_pool_while_it_is_closed() -> None:
    workers = _core.Workers(2)
    expected = batch(5, 2_000).run(1)[0].tolist()
    right = []

    def call() -> None:
        found = (batch(5, 2_000).run(3, workers)[0].tolist() for _ in range(30))
        right.extend(slots == expected for slots in found)

    callers = [threading.Thread(target=call) for _ in range(4)]
    for one in callers:
        one.start()
    workers.close()
    for one in callers:
        one.join(120)

    assert right == [True] * 120
    assert not any(one.is_alive() for one in callers)
    assert workers.started == 0


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_first_search_that_fails_comes_out_and_the_pool_goes_on(threads: int) -> None:
    workers = _core.Workers(4)
    arena = _core.Arena(2)
    arena.append(np.ones((5, 2), np.float32))
    for _ in range(20):
        made = _core.Searches()
        for at in range(12):
            mask = None if at % 5 else np.ones(at + 1, np.bool_)
            made.affine(arena, np.ones(2, np.float32), None, None, None, mask, 3)
        with pytest.raises(ValueError, match=r"mask.*\b1\b"):
            made.run(threads, workers)

    assert batch(4, 10).run(threads, workers)[0].tolist() == [9, 8, 7] * 4


@pytest.mark.parametrize("wrong", [1, "2", object(), _core.Arena(1)])
def test_what_is_no_pool_is_refused(wrong: object) -> None:
    made = batch(2, 10)
    with pytest.raises(TypeError, match="workers"):
        made.run(2, wrong)  # type: ignore[arg-type]
    assert len(made) == 2


@pytest.mark.parametrize("wrong", [-1, 1.5, True, None])
def test_wrong_numbers_of_threads(wrong: object) -> None:
    with pytest.raises((TypeError, ValueError), match="most"):
        _core.Workers(wrong)  # type: ignore[arg-type]


def run(script: str) -> str:
    """Run Python, and return what it printed; a hang fails."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


FILLED = """
    import os, signal, sys, threading, time
    import numpy as np
    from ebbmem import _core, workers
    arena = _core.Arena(16)
    arena.append(np.ones((2_000, 16), np.float32))
    def batch(count=9):
        made = _core.Searches()
        for _ in range(count):
            made.affine(arena, np.ones(16, np.float32), None, None, None, None, 3)
        return made
    workers._processors = lambda: 3
    pool = workers.pool()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_has_no_threads_and_starts_its_own() -> None:
    told = run(
        FILLED
        + """
    stop = threading.Event()
    def call():
        while not stop.is_set():
            batch().run(3, pool)
    busy = threading.Thread(target=call)
    busy.start()
    codes = []
    for turn in range(30):
        child = os.fork()
        if child == 0:
            fresh = pool.started == 0
            found = batch().run(3, pool)[0].tolist() == [1999, 1998, 1997] * 9
            pool.close()
            os._exit(0 if fresh and found and pool.started == 0 else 1)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.set()
    busy.join()
    print(set(codes), pool.started)
    """
    )

    assert told == "{0} 2"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_that_only_exits_does_not_hang() -> None:
    told = run(
        FILLED
        + """
    batch().run(3, pool)
    child = os.fork()
    if child == 0:
        sys.exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), pool.started)
    """
    )

    assert told == "0 2"


@linux_only
def test_the_interpreter_ends_the_threads() -> None:
    told = run(
        """
    import atexit, os
    atexit.register(lambda: print(len(os.listdir("/proc/self/task")) - before))
    """
        + FILLED
        + """
    before = len(os.listdir("/proc/self/task"))
    batch().run(3, pool)
    print(len(os.listdir("/proc/self/task")) - before)
    """
    )

    assert told.split() == ["2", "0"]


@linux_only
def test_signals_are_for_the_threads_of_the_program() -> None:
    told = run(
        FILLED
        + """
    before = set(os.listdir("/proc/self/task"))
    batch().run(3, pool)
    elsewhere = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
    faults = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
    for task in set(os.listdir("/proc/self/task")) - before:
        for _ in range(500):  # the C library blocks every signal until a thread has begun
            status = open(f"/proc/self/task/{task}/status").read()
            blocked = next(l for l in status.splitlines() if l.startswith("SigBlk")).split()[1]
            blocked = int(blocked, 16)
            if not any(blocked >> (s - 1) & 1 for s in faults):
                break
            time.sleep(0.01)
        print(all(blocked >> (s - 1) & 1 for s in elsewhere))
        print(any(blocked >> (s - 1) & 1 for s in faults))
    own = open("/proc/thread-self/status").read()
    print(int(next(l for l in own.splitlines() if l.startswith("SigBlk")).split()[1], 16))
    """
    )

    assert told.split() == ["True", "False", "True", "False", "0"]
