"""Connections that read beside the one that writes."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import apsw
import pytest
from records.samples import memory, python, remembered, scope_of

from ebbmem.errors import StorageFailed, StoreClosed, StoreError
from ebbmem.records import connection
from ebbmem.records.readers import MOST
from ebbmem.records.sqlite import SqliteRecords

IDLE = """
import sys
from ebbmem.records.sqlite import SqliteRecords
store = SqliteRecords(sys.argv[1])
with store.read() as reader:
    reader.index_rows(1)
store.data_version()
print("idle", flush=True)
sys.stdin.readline()
"""


def connections(store):
    """Every connection of a store that is open."""
    places = [*store._readers._places, store._readers._looking]
    return [store._connection, *(p.connection for p in places if p.connection is not None)]


def in_thread(work):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(30)


def texts(store):
    with store.read() as reader:
        return [text for _, text, _ in reader.texts(None, 1)]


def test_reading_does_not_wait_for_a_writer_of_this_process(store):
    remembered(store, "a")
    version = store.data_version()
    with store.write() as writer:
        writer.insert_memories(1, [memory("b")])
        assert in_thread(lambda: texts(store)) == ["a"]
        assert in_thread(store.data_version) == version
        assert texts(store) == ["a", "b"]
    assert in_thread(lambda: texts(store)) == ["a", "b"]
    assert store.data_version() != version


def test_more_read_at_once_than_there_are_connections(store):
    remembered(store, "a", "b")
    start = threading.Barrier(3 * MOST)

    def work(_):
        start.wait(30)
        return [texts(store) for _ in range(20)]

    with ThreadPoolExecutor(3 * MOST) as pool:
        found = list(pool.map(work, range(3 * MOST)))
    assert found == [[["a", "b"]] * 20] * (3 * MOST)
    assert len(connections(store)) <= 1 + MOST + 1


def test_a_snapshot_lasts_while_others_write_and_read(store):
    remembered(store, "a")
    with store.snapshot() as reader:
        remembered(store, "b")
        assert [text for _, text, _ in reader.texts(None, 1)] == ["a"]
        assert texts(store) == ["a", "b"]
    with pytest.raises(Exception, match="over"):
        reader.scopes()


def test_a_snapshot_waits_for_no_writer(store):
    remembered(store, "a")

    def seen():
        with store.snapshot() as reader:
            return [text for _, text, _ in reader.texts(None, 1)]

    with store.write() as writer:
        writer.insert_memories(1, [memory("b")])
        assert in_thread(seen) == ["a"]


def test_what_reads_cannot_write(store):
    with store.read() as reader, pytest.raises(StorageFailed, match="read"):
        reader._connection.run("DELETE FROM memories")


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_nothing_is_left_open_after_a_call(store, error):
    remembered(store, "a", "b", "c")
    halves = []

    def half(view):
        with view as reader:
            halves.append(reader._connection.each("SELECT row_id FROM memories"))
            next(halves[-1])
            raise error

    for view in (store.read, store.write, store.snapshot):
        with pytest.raises(error):
            half(view())
    store.data_version()
    for one in connections(store):
        assert one._apsw.txn_state() == apsw.SQLITE_TXN_NONE
    for one in halves[:2]:
        with pytest.raises(StoreError):
            next(one)


def test_a_half_read_view_ends_where_it_is_dropped(store):
    remembered(store, "a")

    def lines():
        with store.read() as reader:
            yield from reader.texts(None, 1)

    half = lines()
    next(half)
    in_thread(half.close)
    assert texts(store) == ["a"]
    assert {one._apsw.txn_state() for one in connections(store)} == {apsw.SQLITE_TXN_NONE}
    store.close()


def test_closing_waits_for_who_reads(store):
    remembered(store, "a")
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with store.read() as reader:
            inside.set()
            leave.wait(30)
            return reader.scope("ann").memory_count

    with ThreadPoolExecutor(2) as pool:
        held = pool.submit(hold)
        inside.wait(30)
        closing_ = pool.submit(store.close)
        leave.set()
        assert held.result(30) == 1
        closing_.result(30)
    for call in (store.data_version, lambda: texts(store)):
        with pytest.raises(StoreClosed):
            call()


def test_none_is_opened_once_they_are_closed(store):
    remembered(store, "a")
    readers = store._readers
    readers.close()
    with pytest.raises(StoreClosed), readers.one():
        pass
    assert connections(store) == [store._connection]


def test_without_a_log_there_is_one_connection(path, monkeypatch):
    monkeypatch.setattr(connection, "remote_filesystem", lambda _path: "nfs4")
    with closing(SqliteRecords(path)) as store:
        with pytest.warns(RuntimeWarning, match="nfs4"):
            store.migrate()
        assert store._readers is None
        remembered(store, "a")
        version = store.data_version()
        remembered(store, "b")
        assert store.data_version() == version
        with store.snapshot() as reader:
            assert reader.scope("ann").memory_count == 2


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no list of open files here")
def test_the_files_of_readers_are_closed(path):
    SqliteRecords(path).close()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        with closing(SqliteRecords(path)) as store:
            store.migrate()
            texts(store)
            store.data_version()
    assert len(os.listdir("/proc/self/fd")) == before


def test_idle_readers_of_other_processes_let_the_log_be_emptied(store, path):
    remembered(store, "a")
    processes = [python(IDLE, str(path)) for _ in range(3)]
    try:
        for process in processes:
            assert process.stdout.readline() == "idle\n"
        scope_id, largest = scope_of(store), 0
        for n in range(150):
            with store.write() as writer:
                writer.insert_memories(scope_id, [memory(f"{n}", detail="x" * 100_000)])
            largest = max(largest, os.path.getsize(f"{path}-wal"))
        assert largest < 12 << 20 < 150 * 100_000
    finally:
        for process in processes:
            process.communicate("\n", timeout=60)
