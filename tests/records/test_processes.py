from __future__ import annotations

import os
import signal
import threading
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from naps import Naps
from records.samples import NOW, memory, python, remembered, scope_of

from ebbmem.errors import ForkedStore, LockTimeout
from ebbmem.records import busy, transactions
from ebbmem.records.busy import BusyWait
from ebbmem.records.sqlite import SqliteRecords

OPEN = """
import sys
from ebbmem.records.sqlite import SqliteRecords
from naps import Naps
from records.samples import NOW, memory
store = SqliteRecords(sys.argv[1])
"""
FIRST_OPEN = """
import sys
import ebbmem.records.sqlite, records.samples
print("ready", flush=True)
sys.stdin.readline()
""" + OPEN + """
store.migrate()
with store.write() as writer:
    scope_id = writer.open_scope("ann", NOW).scope_id
    writer.insert_memories(scope_id, [memory(sys.argv[2])])
store.close()
"""  # fmt: skip
HOLD_WRITE = OPEN + """
with store.write() as writer:
    writer.open_scope("held", NOW)
    print("held", flush=True)
    sys.stdin.readline()
"""  # fmt: skip
WRITE_FOR_EVER = OPEN + """
scope_id = None
for n in range(10**9):
    with store.write() as writer:
        scope_id = writer.open_scope("ann", NOW).scope_id
        writer.insert_memories(scope_id, [memory(f"{n} {i}") for i in range(3)])
    print(n, flush=True)
"""  # fmt: skip
FORK = OPEN + """
import os
from records.samples import remembered
remembered(store, "a")
if os.fork() == 0:
    END
    sys.exit()
assert os.wait()[1] == 0
assert os.path.getsize(store.path + "-wal") > 0
remembered(store, "b")
"""  # fmt: skip
WAIT_FOR_LOCK = """
import signal, sys
from ebbmem.records import transactions
from ebbmem.records.sqlite import SqliteRecords

class Told(transactions.BusyWait):
    def __call__(self, calls_before):
        if calls_before == 1:
            print("waiting", flush=True)
        return super().__call__(calls_before)

transactions.BusyWait = Told
# A job in the background is born with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
store = SqliteRecords(sys.argv[1], busy_wait_s=1e6)
try:
    with store.write():
        pass
except KeyboardInterrupt:
    print("interrupted")
"""


def finish(process):
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


@pytest.fixture
def holder(store, path):
    """A process that holds the write lock until it is told to end."""
    process = python(HOLD_WRITE, str(path))
    assert process.stdout.readline() == "held\n"
    yield process
    finish(process)


@pytest.mark.parametrize("round_", range(3))
def test_eight_processes_open_a_new_store_at_once(path, round_):
    processes = [python(FIRST_OPEN, str(path), str(i)) for i in range(8)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        finish(process)
    with closing(SqliteRecords(path)) as store, store.read() as reader:
        assert sorted(text for _, text, _ in reader.texts(None, 1)) == [str(i) for i in range(8)]
        assert len(reader.index_rows(1)) == 8


@pytest.fixture
def naps(monkeypatch):
    """Let naps of the busy wait take no time, and tell how long they were."""
    naps = Naps()
    monkeypatch.setattr(busy, "time", naps)
    return naps


def test_a_lock_of_another_process_is_waited_for_up_to_the_bound(holder, path, naps):
    with closing(SqliteRecords(path, busy_wait_s=500)) as store:
        with pytest.raises(LockTimeout, match="busy_wait_s"), store.write():
            pass
        assert naps.monotonic() == pytest.approx(500)


def test_reading_does_not_wait_for_a_writer(holder, path):
    with closing(SqliteRecords(path, busy_wait_s=0)) as store, store.read() as reader:
        assert reader.scope("held") is None


def test_a_write_goes_on_once_the_lock_is_free(holder, path, monkeypatch):
    class Freeing(BusyWait):
        def __call__(self, calls_before):
            if calls_before == 1:
                print(file=holder.stdin, flush=True)
            return super().__call__(calls_before)

    monkeypatch.setattr(transactions, "BusyWait", Freeing)
    with closing(SqliteRecords(path, busy_wait_s=1e6)) as store:
        scope_of(store)
        with store.read() as reader:
            assert [scope.name for scope in reader.scopes()] == ["held", "ann"]


def test_ctrl_c_ends_the_wait(holder, path):
    waiting = python(WAIT_FOR_LOCK, str(path))
    assert waiting.stdout.readline() == "waiting\n"
    waiting.send_signal(signal.SIGINT)
    assert finish(waiting) == "interrupted\n"


def test_naps_never_outlast_the_bound(naps):
    wait = BusyWait(0.05)
    calls = 0
    while wait(calls):
        calls += 1
    assert calls == naps.taken > 1
    assert naps.monotonic() == pytest.approx(0.05)
    assert wait(0)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_transaction_that_failed_holds_no_lock(store, path, error):
    with pytest.raises(error), store.write() as writer:  # noqa: PT012
        writer.open_scope("ann", NOW)
        raise error
    with closing(SqliteRecords(path, busy_wait_s=0)) as other:
        scope_of(other, "bob")


def locks_on(path):
    """Return the kernel's locks on a file, without the serial numbers of the list.

    As a set: where others lock and unlock while the list is read, it may have a lock twice.
    """
    file = f":{path.stat().st_ino} "
    lines = Path("/proc/locks").read_text().splitlines()
    return {line.split(":", 1)[1] for line in lines if file in line}


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="no list of locks here")
def test_a_second_store_on_the_same_path_keeps_the_locks_of_the_first(store, path):
    remembered(store, "before")
    held = locks_on(path)
    assert held
    SqliteRecords(path).close()
    assert locks_on(path) == held


def test_a_commit_of_another_connection_changes_the_data_version(store, path):
    remembered(store, "mine")
    before = store.data_version()
    assert store.data_version() == before
    with closing(SqliteRecords(path)) as other:
        remembered(other, "theirs")
    assert store.data_version() != before
    with store.read() as reader:
        assert len(reader.index_rows(1)) == 2


class InterruptedOnce:
    """A cursor that an interrupt stops after its first statement, before its rows were taken."""

    def __init__(self, cursor):
        self._cursor = cursor
        self.close = cursor.close

    def execute(self, sql):
        self._cursor.execute(sql)
        raise KeyboardInterrupt


def test_a_question_that_was_interrupted_keeps_no_view_open(store, path):
    before = store.data_version()
    looking = store._readers._looking.connection
    looking._version_at = (b"", before)  # else nothing would have to be asked
    looking._asking = InterruptedOnce(looking._asking)
    with pytest.raises(KeyboardInterrupt):
        store.data_version()
    with closing(SqliteRecords(path)) as other:
        remembered(other, "theirs")
    assert store.data_version() != before
    remembered(store, "mine")
    with store.read() as reader:
        assert len(reader.index_rows(1)) == 2


def test_a_view_does_not_change_while_it_is_open(store, path):
    remembered(store, "first")
    with closing(SqliteRecords(path)) as other, store.read() as reader:
        assert len(reader.index_rows(1)) == 1
        remembered(other, "second")
        assert len(reader.index_rows(1)) == 1
    with store.read() as reader:
        assert len(reader.index_rows(1)) == 2


@pytest.mark.parametrize("heard", [1, 12, 60])
def test_what_was_committed_outlives_kill_9_and_nothing_half_does(store, path, heard):
    store.close()
    process = python(WRITE_FOR_EVER, str(path))
    for _ in range(heard):
        process.stdout.readline()
    process.kill()
    acknowledged = max(map(int, process.stdout.read().split()), default=heard - 1)
    process.communicate()
    with closing(SqliteRecords(path, busy_wait_s=1)) as survivor, survivor.read() as reader:
        texts = [text for _, text, _ in reader.texts(None, 1)]
        assert len(reader.index_rows(1)) == len(texts)
    assert len(texts) // 3 in (acknowledged + 1, acknowledged + 2)
    assert texts == [f"{n} {i}" for n in range(len(texts) // 3) for i in range(3)]


def test_kill_9_inside_a_transaction_leaves_none_of_it_and_no_lock(store, path):
    process = python(HOLD_WRITE, str(path))
    assert process.stdout.readline() == "held\n"
    process.kill()
    process.communicate()
    with store.write() as writer:
        assert writer.scope("held") is None


def in_child(action):
    """Return what ``action`` returns or raises in a forked child."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            answer = repr(action())
        except BaseException as exc:  # noqa: BLE001
            answer = type(exc).__name__
        os.write(write_end, answer.encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write_end)
    with os.fdopen(read_end) as answer:
        return answer.read()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
class TestFork:
    @pytest.mark.parametrize("call", ["data_version", "migrate"])
    def test_a_child_cannot_use_the_store(self, store, call):
        assert in_child(getattr(store, call)) == ForkedStore.__name__
        assert in_child(lambda: store.read().__enter__()) == ForkedStore.__name__
        assert in_child(lambda: store.write().__enter__()) == ForkedStore.__name__

    @pytest.mark.parametrize("end", ["store.close()", "del store", "pass"])
    def test_a_child_may_close_or_drop_the_store_without_harm(self, store, path, end):
        store.close()
        finish(python(FORK.replace("END", end), str(path)))
        with closing(SqliteRecords(path)) as again, again.read() as reader:
            assert [text for _, text, _ in reader.texts(None, 1)] == ["a", "b"]

    def test_a_fork_inside_a_transaction_leaves_it_to_the_parent(self, store):
        scope_id = scope_of(store)
        with store.write() as writer:
            writer.insert_memories(scope_id, [memory("a")])
            used = lambda: writer.insert_memories(scope_id, [memory("b")])  # noqa: E731
            assert in_child(used) == ForkedStore.__name__
        with store.read() as reader:
            assert [text for _, text, _ in reader.texts(None, scope_id)] == ["a"]

    def test_a_child_does_not_wait_for_a_lock_of_a_thread_it_has_not(self, store):
        inside, leave = threading.Event(), threading.Event()

        def hold():
            with store.write():
                inside.set()
                leave.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        inside.wait(10)
        assert in_child(store.data_version) == ForkedStore.__name__
        leave.set()
        thread.join(10)

    def test_a_child_opens_the_store_anew(self, store, path):
        remembered(store, "a")

        def reopened():
            with closing(SqliteRecords(path)) as mine, mine.read() as reader:
                return len(reader.index_rows(1))

        assert in_child(reopened) == "1"


def test_the_sqlite_in_use_is_the_one_apsw_brings():
    assert apsw.using_amalgamation
