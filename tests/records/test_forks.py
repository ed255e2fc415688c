"""What a forked child may do with a store that its parent has open, and what that costs nobody."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from contextlib import closing

import pytest
from records.samples import memory, remembered, scope_of

from ebbmem import Fleet, _core
from ebbmem.errors import ForkedStore
from ebbmem.records import forks
from ebbmem.records.sqlite import SqliteRecords

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


class Child:
    """A forked process that does its steps one by one, each when it is told to."""

    def __init__(self, *steps, fork=os.fork):
        told, self._tell = os.pipe()
        self._answers, answer = os.pipe()
        self._pid = fork()
        if self._pid == 0:
            signal.alarm(30)
            kept = None
            for step in steps:
                os.read(told, 1)
                try:
                    kept = step(kept)
                    os.write(answer, b"done\n")
                except BaseException as exc:  # noqa: BLE001
                    os.write(answer, f"{type(exc).__name__}\n".encode())
            os.read(told, 1)
            os._exit(0)
        os.close(told)
        os.close(answer)

    def go_on(self):
        os.write(self._tell, b"x")
        return os.read(self._answers, 100).decode().strip()

    def kill(self):
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._tell)
        os.close(self._answers)


def fork_by_c():
    """Fork as C code may: none of Python's hooks is called."""
    return ctypes.PyDLL(None).fork()


def texts(path):
    with closing(SqliteRecords(path)) as store, store.read() as reader:
        return sorted(text for _, text, _ in reader.texts(None, 1))


def held_open(path, text):
    store = SqliteRecords(path, busy_wait_s=20)
    remembered(store, text)
    return store


def test_what_a_child_writes_outlives_the_parent_that_closes_the_store_first(store, path):
    remembered(store, "of the parent")
    child = Child(lambda _: held_open(path, "before"), lambda own: remembered(own, "after"))
    assert child.go_on() == "done"
    store.close()
    assert child.go_on() == "done"
    seen = [text for text in texts(path) if text != "of the parent"]
    child.kill()
    assert seen == ["after", "before"]
    assert texts(path) == ["after", "before", "of the parent"]


def test_a_child_of_a_process_whose_threads_write_can_open_the_store_and_write(store, path):
    scope_of(store)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            remembered(store, "of the parent")

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    outcomes = []
    for number in range(6):
        child = Child(lambda _, number=number: held_open(path, f"of child {number}"))
        outcomes.append(child.go_on())
        child.kill()
    stop.set()
    for thread in threads:
        thread.join()
    assert outcomes == ["done"] * 6
    assert set(texts(path)) == {"of the parent", *(f"of child {n}" for n in range(6))}


def test_a_child_forked_inside_a_transaction_cannot_open_the_file_and_says_so(store, path):
    scope_id = scope_of(store)
    with store.write() as writer:
        writer.insert_memories(scope_id, [memory("a")])
        child = Child(lambda _: SqliteRecords(path), lambda _: SqliteRecords(f"{path}-other"))
    assert [child.go_on(), child.go_on()] == [ForkedStore.__name__, "done"]
    child.kill()
    assert texts(path) == ["a"]
    remembered(store, "b")
    assert texts(path) == ["a", "b"]


def test_a_fork_waits_no_longer_than_its_bound_for_a_transaction_of_another_thread(store, path):
    scope_id = scope_of(store)
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with store.write() as writer:
            writer.insert_memories(scope_id, [memory("a")])
            inside.set()
            leave.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(10)
    child = Child(lambda _: SqliteRecords(path))
    leave.set()
    thread.join()
    assert child.go_on() == ForkedStore.__name__
    child.kill()
    assert texts(path) == ["a"]


def test_a_closed_store_is_no_matter_to_a_child(store, path):
    remembered(store, "a")
    store.close()
    child = Child(lambda _: held_open(path, "b"))
    assert child.go_on() == "done"
    child.kill()
    assert texts(path) == ["a", "b"]


def looked(store):
    store.data_version()


def read(store):
    with store.read() as reader:
        reader.scopes()


@pytest.mark.parametrize("use", [looked, read, lambda store: remembered(store, "lost")])
def test_a_child_of_c_code_that_calls_no_hook_is_noticed(store, path, use):
    remembered(store, "of the parent")
    store.data_version()
    store.data_version()
    child = Child(lambda _: use(store), lambda _: held_open(path, "of the child"), fork=fork_by_c)
    assert child.go_on() == ForkedStore.__name__
    assert child.go_on() == "done"
    remembered(store, "later")
    assert sorted(texts(path)) == ["later", "of the child", "of the parent"]
    child.kill()
    assert sorted(texts(path)) == ["later", "of the child", "of the parent"]


def test_a_child_of_c_code_sees_no_memory_of_its_parent(path):
    with Fleet(path) as fleet:
        memory = fleet["ann"]
        memory.remember("of the parent")
        assert len(memory.recall("parent")) == 1
        child = Child(
            lambda _: memory.recall("parent"), lambda _: memory.remember("lost"), fork=fork_by_c
        )
        assert [child.go_on(), child.go_on()] == [ForkedStore.__name__] * 2
        child.kill()
        memory.remember("parent, later")
        assert len(memory.recall("parent")) == 2


def test_the_core_counts_forks():
    before = _core.forks()
    for fork in (os.fork, fork_by_c):
        pid = fork()
        if pid == 0:
            os._exit(int(_core.forks() == before + 1))
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
    assert _core.forks() == before


def test_a_fork_that_an_interrupt_kept_from_telling_its_end_is_waited_for_once() -> None:
    """Ctrl-C can come before what runs in the parent behind a fork; it is not raised there."""
    forks._calm.clear()
    forks.let_forks_go_first()
    assert forks._calm.is_set()
