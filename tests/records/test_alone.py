"""A store where processes cannot share memory: one process has it, and the others are told so."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from contextlib import closing, contextmanager

import apsw
import pytest
from records.samples import python, remembered

import ebbmem
from ebbmem import AgenticMemory, Database
from ebbmem.errors import InvalidArgument, LockTimeout, StoreInUse
from ebbmem.records import connection, journals
from ebbmem.records.sqlite import SqliteRecords

KIND = "nfs4"
OPENED = """
import sys, warnings
from ebbmem import AgenticMemory, Database
from ebbmem.errors import StoreInUse
from ebbmem.records import connection

warnings.simplefilter("ignore", RuntimeWarning)
if sys.argv[2]:
    connection.remote_filesystem = lambda path: sys.argv[2]
"""
HOLD = OPENED + """
with Database(sys.argv[1]) as db:
    AgenticMemory(db).remember("of another process")
    print("held", flush=True)
    sys.stdin.readline()
"""  # fmt: skip
BEGIN = OPENED + """
from ebbmem.records.sqlite import SqliteRecords
store = SqliteRecords(sys.argv[1])
print("begun", flush=True)
sys.stdin.readline()
"""  # fmt: skip
TRY = OPENED + """
try:
    with Database(sys.argv[1], busy_wait_s=0.05) as db:
        print([one.memories for one in db.stats()])
except StoreInUse as exc:
    print(exc)
"""  # fmt: skip
COMPETE = OPENED + """
print("ready", flush=True)
sys.stdin.readline()
with Database(sys.argv[1], busy_wait_s=60) as db:
    AgenticMemory(db).remember(sys.argv[3])
"""  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot share a write-ahead log:RuntimeWarning")


@pytest.fixture(params=["told apart by its type", "a real one"])
def place(request, tmp_path, monkeypatch):
    """Return a folder whose file system cannot share memory, and its type if it is only said."""
    if request.param == "a real one":
        with mounted(tmp_path) as folder:
            yield folder, ""
    else:
        monkeypatch.setattr(connection, "remote_filesystem", lambda _path: KIND)
        yield tmp_path, KIND


@pytest.fixture
def network(monkeypatch):
    """Let every path seem to be on a network file system."""
    monkeypatch.setattr(connection, "remote_filesystem", lambda _path: KIND)


@contextmanager
def mounted(tmp_path):
    """Mount a folder on another one through FUSE."""
    real, folder = tmp_path / "real", tmp_path / "fuse"
    real.mkdir()
    folder.mkdir()
    if shutil.which("bindfs") is None:
        pytest.skip("bindfs is not installed")
    done = subprocess.run(["bindfs", real, folder], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"FUSE cannot be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["fusermount", "-u", folder], check=True)


def finish(process):
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


@contextmanager
def held(path, kind):
    """Let another process have the store open."""
    process = python(HOLD, str(path), kind)
    try:
        assert process.stdout.readline() == "held\n", process.stderr.read()
        yield process
    finally:
        process.communicate("\n", timeout=60)


def test_a_second_process_is_refused_and_told_why_and_what_to_do(place):
    folder, kind = place
    path = folder / "store.db"
    with Database(path) as db:
        AgenticMemory(db).remember("mine")
        said = finish(python(TRY, str(path), kind))
        assert all(word in said for word in (str(path), kind or "fuse", "one process at a time"))
        assert [one.memories for one in db.stats()] == [1]
    assert finish(python(TRY, str(path), kind)) == "[1]\n"


def test_a_store_that_another_process_has_is_refused_here(place):
    folder, kind = place
    path = folder / "store.db"
    with held(path, kind):
        with pytest.raises(StoreInUse, match="open elsewhere"):
            Database(path, busy_wait_s=0.05)
        with pytest.raises(StoreInUse), monkeypatched_wait():
            ebbmem.verify(path)
        with pytest.raises(LockTimeout), monkeypatched_wait():
            ebbmem.repair(path)
    with Database(path) as db:
        assert db.verify().ok
        assert [one.memories for one in db.stats()] == [1]


@contextmanager
def monkeypatched_wait():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ebbmem.maintenance.BUSY_WAIT_S", 0.05)
        yield


def test_the_lock_of_a_killed_process_is_gone(place):
    folder, kind = place
    path = folder / "store.db"
    with held(path, kind) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        with Database(path) as db:
            found = AgenticMemory(db).recall("of another process")
            assert [hit.summary for hit in found] == ["of another process"]


def test_a_process_killed_before_it_made_the_store_leaves_a_new_one_possible(place):
    folder, kind = place
    path = folder / "store.db"
    process = python(BEGIN, str(path), kind)
    assert process.stdout.readline() == "begun\n"
    assert "one process at a time" in finish(python(TRY, str(path), kind))
    process.kill()
    process.communicate()
    with Database(path) as db:
        assert db.stats() == []


def test_who_waits_for_the_store_gets_it_once_it_is_closed(place):
    folder, kind = place
    path = folder / "store.db"
    with held(path, kind) as process:
        timer = threading.Timer(0.3, lambda: (process.stdin.write("\n"), process.stdin.flush()))
        timer.start()
        with Database(path, busy_wait_s=60) as db:
            assert [one.memories for one in db.stats()] == [1]
        timer.join()


def test_of_many_that_open_at_once_each_gets_its_turn(place):
    folder, kind = place
    path = folder / "store.db"
    processes = [python(COMPETE, str(path), kind, f"fact {n}") for n in range(5)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        finish(process)
    with Database(path) as db:
        assert [one.memories for one in db.stats()] == [5]


def test_every_operation_works_where_one_connection_does_all(place):
    folder, _ = place
    with Database(folder / "store.db") as db:
        memory = AgenticMemory(db, scope="ann")
        kept, gone = memory.remember_many(["a kettle", "an old violin"])
        erased = memory.erase(gone.id)
        assert not erased.pending
        assert db.verify().ok
        assert db.backup(folder / "copy.db") > 0
        assert db.backup(folder / "copy.db") > 0
        assert db.repair().problems == 0
        assert memory.recall("kettle").memories[0].id == kept.id
        lines = list(db.export_lines())
    for file in folder.iterdir():
        assert b"violin" not in file.read_bytes()
    with Database(folder / "store.db") as db, Database(folder / "copy.db") as copy:
        assert list(db.export_lines())[1:] == lines[1:] == list(copy.export_lines())[1:]


def test_a_backup_that_is_open_elsewhere_is_not_replaced(place):
    folder, kind = place
    with held(folder / "copy.db", kind), Database(folder / "store.db") as db:
        AgenticMemory(db).remember("mine")
        with pytest.raises(InvalidArgument, match="nobody has open"):
            db.backup(folder / "copy.db")


def test_what_is_erased_stays_in_no_journal(path, network):
    with closing(SqliteRecords(path)) as store:
        store.migrate()
        (row,) = remembered(store, "a secret violin")
        with store.write() as writer:
            writer.erase_memories(1, [row])
        pragma = store._connection._apsw.pragma
        assert [pragma(name) for name in ("journal_mode", "synchronous", "locking_mode")] == [
            "truncate",
            2,
            "exclusive",
        ]
        left = {file.name: file.stat().st_size for file in path.parent.glob("store.db-*")}
        assert left == {"store.db-journal": 0}
        assert not store.erasure()()


def test_it_is_said_where_the_store_is_opened(path, network):
    for _ in ("made", "opened"):
        with pytest.warns(RuntimeWarning, match=f"{KIND}.*no other can open it") as said:
            store = Database(path)
        store.close()
        assert [one.filename for one in said] == [__file__]


def test_a_log_that_a_killed_process_left_on_another_file_system_is_taken_over(path, monkeypatch):
    process = python(HOLD, str(path), "")
    assert process.stdout.readline() == "held\n"
    process.kill()
    process.communicate()
    assert os.path.getsize(f"{path}-wal") > 0
    monkeypatch.setattr(connection, "remote_filesystem", lambda _path: KIND)
    with Database(path) as db:
        assert [one.memories for one in db.stats()] == [1]
        assert not os.path.exists(f"{path}-wal")
        assert "one process at a time" in finish(python(TRY, str(path), KIND))
    monkeypatch.undo()
    with Database(path) as db:
        assert [one.memories for one in db.stats()] == [1]
        assert finish(python(TRY, str(path), "")) == "[1]\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_is_refused_and_the_parent_keeps_the_lock(place):
    folder, kind = place
    path = folder / "store.db"
    with Database(path) as db:
        AgenticMemory(db).remember("mine")
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            status = 1
            try:
                Database(path, busy_wait_s=0.05)
            except StoreInUse:
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert "one process at a time" in finish(python(TRY, str(path), kind))
        AgenticMemory(db).remember("mine too")
        assert [one.memories for one in db.stats()] == [2]


@pytest.fixture
def unshared(monkeypatch):
    """Let SQLite refuse to write ahead, as where a system gives it no memory to share."""
    switched = journals._set
    refused = lambda one, mode: switched(one, "DELETE" if mode == "WAL" else mode)  # noqa: E731
    monkeypatch.setattr(journals, "_set", refused)


def test_a_file_system_that_looked_local_is_kept_to_one_process_too(path, unshared):
    with pytest.warns(RuntimeWarning, match="unknown"):
        db = Database(path, busy_wait_s=0)
    with db, closing(apsw.Connection(str(path))) as other:
        AgenticMemory(db).remember("mine")
        with pytest.raises(apsw.BusyError):
            other.execute("SELECT count(*) FROM memories").fetchall()
        assert db.verify().ok


def test_a_file_that_looked_local_and_is_open_elsewhere_is_refused(path, unshared):
    with closing(SqliteRecords(path)) as first:
        first.migrate()
        remembered(first, "a")
    with closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN; SELECT count(*) FROM memories").fetchall()
        with pytest.raises(StoreInUse, match="unknown"):
            SqliteRecords(path, busy_wait_s=0)
    SqliteRecords(path, busy_wait_s=0).close()
