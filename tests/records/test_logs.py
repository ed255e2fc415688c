"""The write-ahead log is moved into the database in time, and nobody waits for that in vain."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import apsw
import pytest
from records.samples import memory, python, scope_of

from ebbmem import Fleet, _core
from ebbmem.errors import StorageFailed, StoreClosed
from ebbmem.records import connection, logs, sqlite
from ebbmem.records.sqlite import SqliteRecords

FRAME_BYTES = 4_096 + 24
PAGES = 25
"""Of each memory written here."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def store(path) -> Iterator[SqliteRecords]:
    store = SqliteRecords(path)
    store.migrate()
    yield store
    store.close()


def write(store: SqliteRecords, times: int = 1) -> None:
    """Write so many memories, each of PAGES pages, each in a transaction of its own."""
    scope_id = scope_of(store)
    for n in range(times):
        with store.write() as writer:
            writer.insert_memories(scope_id, [memory(f"{n}", detail="x" * 4_096 * PAGES)])


def frames(store: SqliteRecords) -> int:
    return store._connection.log_frames()


def log_bytes(path: os.PathLike[str]) -> int:
    return os.path.getsize(f"{path}-wal")


def moved(store: SqliteRecords) -> bool:
    """Return whether all of the log is in the database."""
    _, total, done = store._connection.rows("PRAGMA wal_checkpoint(NOOP)")[0]
    return total == done


def test_a_short_log_is_let_be(store):
    write(store, 3)
    store.shorten_log()
    assert 3 * PAGES < frames(store) < logs.SOON_FRAMES
    assert not moved(store)


def test_a_log_that_has_become_long_is_moved_and_then_begun_anew(store):
    write(store, 1 + logs.SOON_FRAMES // PAGES)
    before = frames(store)
    assert before >= logs.SOON_FRAMES
    assert not moved(store)
    store.shorten_log()
    assert moved(store)
    assert frames(store) == before
    write(store)
    assert frames(store) < 3 * PAGES


def test_who_never_asks_for_it_has_a_log_of_bounded_length(store, path):
    write(store, 6 * logs.MOST_FRAMES // PAGES)
    assert log_bytes(path) < (logs.MOST_FRAMES + 3 * PAGES) * FRAME_BYTES


def test_what_others_write_meanwhile_is_moved_while_nobody_writes(store, monkeypatch):
    write(store, 1 + logs.LONG_FRAMES // PAGES)
    moves: list[tuple[bool, int]] = []
    original = connection.Connection.move_log

    def move_log(self: connection.Connection, *wait: float) -> bool:
        moves.append((self is store._connection, frames(store)))
        if len(moves) > 1:
            return original(self, *wait)
        # Had it moved all, the other would begin the log anew.
        other = threading.Thread(target=write, args=(store,))
        other.start()
        other.join(30)
        assert not other.is_alive()
        return True

    monkeypatch.setattr(connection.Connection, "move_log", move_log)
    store.shorten_log()
    assert [of_writer for of_writer, _ in moves] == [False, False, True]
    assert moves[1][1] >= moves[0][1] + PAGES
    assert moved(store)


def test_a_recall_that_moves_the_log_waits_for_no_writer(store):
    """It waited for the one that had begun meanwhile, such as an erasure of seconds."""
    write(store, 1 + logs.LONG_FRAMES // PAGES)
    with store.write():
        mover = threading.Thread(target=store.shorten_log, kwargs={"wait": False})
        mover.start()
        mover.join(30)
        assert not mover.is_alive()
    assert moved(store)


def test_a_recall_asks_to_wait_for_nobody(monkeypatch):
    waits: list[bool] = []
    with Fleet(":memory:", pending_s=0.0) as fleet:
        fleet["ann"].remember("likes tea", now=1_700_000_000)
        fleet["ann"].recall("tea")
        records = fleet.database.engine.records
        monkeypatch.setattr(records, "shorten_log", lambda *, wait=True: waits.append(wait))
        fleet["ann"].recall("tea")
        assert waits == [False]


def test_writers_wait_for_the_disk_once_the_log_is_far_too_long(store, path, monkeypatch):
    write(store, 1 + logs.SOON_FRAMES // PAGES)
    go_on, begun = threading.Event(), threading.Event()
    original = connection.Connection.move_log

    def move_log(self: connection.Connection, *wait: float) -> bool:
        if self is not store._connection:
            begun.set()
            assert go_on.wait(30)
        return original(self, *wait)

    monkeypatch.setattr(connection.Connection, "move_log", move_log)
    mover = threading.Thread(target=store.shorten_log)
    writer = threading.Thread(target=write, args=(store, 2 * logs.MOST_FRAMES // PAGES))
    mover.start()
    assert begun.wait(30)
    writer.start()
    writer.join(1)
    assert writer.is_alive()
    assert log_bytes(path) < (logs.MOST_FRAMES + 3 * PAGES) * FRAME_BYTES
    go_on.set()
    for one in (mover, writer):
        one.join(60)
        assert not one.is_alive()
    assert log_bytes(path) < (logs.MOST_FRAMES + 3 * PAGES) * FRAME_BYTES


def test_a_view_that_lasts_holds_the_log_only_as_long_as_it_lasts(store):
    write(store)
    with store.snapshot() as reader:
        count = reader.scope("ann").memory_count
        for _ in range(4):
            write(store, logs.SOON_FRAMES // PAGES)
            store.shorten_log()
        assert frames(store) >= 4 * logs.SOON_FRAMES
        assert not moved(store)
        assert reader.scope("ann").memory_count == count
    write(store, 2 * logs.SOON_FRAMES // PAGES)
    store.shorten_log()
    assert frames(store) < 2 * logs.SOON_FRAMES


def test_a_log_whose_length_cannot_be_told_is_moved_by_sqlite(path, monkeypatch):
    class Silent:
        def __init__(self, file: int) -> None:
            assert file

        def header(self) -> bytes:
            return b""

    monkeypatch.setattr(_core, "LogIndex", Silent)
    store = SqliteRecords(path)
    store.migrate()
    assert store._connection.rows("PRAGMA wal_autocheckpoint") == [(1_000,)]
    write(store, 3 * logs.SOON_FRAMES // PAGES)
    store.shorten_log()
    assert log_bytes(path) < (1_000 + 3 * PAGES) * FRAME_BYTES
    store.close()


def test_what_keeps_the_log_from_being_moved_is_no_error(store, path):
    write(store, 1 + logs.SOON_FRAMES // PAGES)
    other = apsw.Connection(str(path))
    with refused(other):
        store.shorten_log()
        assert not moved(store)
    other.close()


@contextmanager
def refused(other: apsw.Connection) -> Iterator[None]:
    """Keep every other connection from moving the log."""
    held = threading.Event()
    go_on = threading.Event()

    def hold(calls: int) -> bool:
        held.set()
        go_on.wait(30)
        return False

    # It has the lock for moving the log, and waits for the writer.
    other.set_busy_handler(hold)
    writer = apsw.Connection(other.filename)
    writer.execute("BEGIN IMMEDIATE").fetchall()
    thread = threading.Thread(
        target=lambda: other.execute("PRAGMA wal_checkpoint(FULL)").fetchall()
    )
    thread.start()
    assert held.wait(30)
    try:
        yield
    finally:
        go_on.set()
        thread.join(30)
        writer.execute("ROLLBACK").fetchall()
        writer.close()


def test_no_write_begins_once_a_sync_failed_while_the_log_was_moved(store, monkeypatch):
    write(store, 1 + logs.SOON_FRAMES // PAGES)

    def move_log(self: connection.Connection, *wait: float) -> bool:
        self.lost = "a sync to disk failed"
        raise StorageFailed(self.lost)

    monkeypatch.setattr(connection.Connection, "move_log", move_log)
    store.shorten_log()
    with pytest.raises(StorageFailed, match="a sync to disk failed"):
        write(store)
    assert not store.writable


def test_an_erasure_waits_for_who_moves_the_log(store, path, monkeypatch):
    write(store, 1 + logs.SOON_FRAMES // PAGES)
    begun, go_on = threading.Event(), threading.Event()
    original = connection.Connection.move_log

    def move_log(self: connection.Connection, *wait: float) -> bool:
        begun.set()
        assert go_on.wait(30)
        return original(self, *wait)

    monkeypatch.setattr(connection.Connection, "move_log", move_log)
    mover = threading.Thread(target=store.shorten_log)
    mover.start()
    assert begun.wait(30)
    pending: list[bool] = []
    eraser = threading.Thread(target=lambda: pending.append(erase_first(store)()))
    eraser.start()
    eraser.join(0.2)
    assert eraser.is_alive()
    go_on.set()
    for one in (mover, eraser):
        one.join(30)
        assert not one.is_alive()
    assert pending == [False]
    assert log_bytes(path) == 0


def erase_first(store: SqliteRecords) -> Callable[[], bool]:
    """Erase the oldest memory; return the question whether it may still lie in the log."""
    with store.write() as writer:
        scope_id = writer.scope("ann").scope_id
        writer.erase_memories(scope_id, [writer.index_rows(scope_id)[0].row_id])
    return store.erasure()


def test_a_closed_store_has_nothing_to_move(store):
    write(store, 1 + logs.SOON_FRAMES // PAGES)
    store.close()
    store.shorten_log()


def test_who_is_about_to_move_the_log_of_a_store_that_is_closed_is_told_nothing(store, monkeypatch):
    """They got an error of apsw's, though what they had written was committed."""
    write(store, 1 + logs.SOON_FRAMES // PAGES)
    mover = store._readers.mover
    with mover():
        pass  # it is open from now on

    def closing() -> AbstractContextManager[connection.Connection]:
        store.close()
        return mover()

    monkeypatch.setattr(store._log, "_mover", closing)
    store.shorten_log()
    with pytest.raises(StoreClosed):
        store._connection.move_log()


def test_a_store_in_memory_has_no_log():
    store = SqliteRecords(sqlite.MEMORY_PATH)
    store.migrate()
    write(store, 3)
    store.shorten_log()
    assert frames(store) == 0
    store.close()


COUNTING = """
import sys
import apsw

written = []

class Files(apsw.VFS):
    def __init__(self):
        super().__init__("counting", apsw.vfs_names()[0], makedefault=True)

    def xOpen(self, name, flags):
        return File(apsw.vfs_names()[1], name, flags)

class File(apsw.VFSFile):
    def __init__(self, base, name, flags):
        super().__init__(base, name, flags)
        self._log = bool(flags[0] & apsw.SQLITE_OPEN_WAL)

    def xWrite(self, content, offset):
        if self._log:
            written.append(len(content))
        super().xWrite(content, offset)

files = Files()
from records.samples import memory, python, scope_of
from ebbmem.records.sqlite import SqliteRecords

store = SqliteRecords(sys.argv[1])
store.migrate()
scope_id = scope_of(store)
written.clear()
for n in range(5):
    with store.write() as writer:
        writer.insert_memories(scope_id, [memory(f"{n}")])
print(len(written), sum(written) > 5 * 4_120 * 2, flush=True)
store.close()
"""


def test_a_commit_is_one_write_to_the_log(path):
    process = python(COUNTING, str(path))
    assert process.communicate(timeout=60)[0] == "5 True\n"


WRITING = """
import sys
from records.samples import memory, scope_of
from ebbmem.records.sqlite import SqliteRecords

store = SqliteRecords(sys.argv[1])
scope_id = scope_of(store, sys.argv[2])
print("writes", flush=True)
for n in range(400):
    with store.write() as writer:
        writer.insert_memories(scope_id, [memory(f"{n}", detail="x" * 80_000)])
    store.shorten_log()
store.close()
"""


def test_the_log_begins_anew_though_other_processes_write_all_the_time(store, path):
    processes = [python(WRITING, str(path), f"s{n}") for n in range(3)]
    for process in processes:
        assert process.stdout.readline() == "writes\n"
    largest = 0
    while any(process.poll() is None for process in processes):
        largest = max(largest, log_bytes(path))
        time.sleep(0.005)
    for process in processes:
        assert process.communicate(timeout=60)[1] == ""
    with store.read() as reader:
        assert [reader.scope(f"s{n}").memory_count for n in range(3)] == [400] * 3
    assert largest < 32 << 20 < 3 * 400 * 80_000
