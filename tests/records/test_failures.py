from __future__ import annotations

import os
from contextlib import closing

import apsw
import pytest
from records.samples import NOW, memory, python, remembered, scope_of

from ebbmem.errors import EbbmemError, LockTimeout, StorageFailed
from ebbmem.records import failures
from ebbmem.records.sqlite import SqliteRecords


def every_error():
    found = [getattr(apsw, name) for name in dir(apsw)]
    return [kind for kind in found if isinstance(kind, type) and issubclass(kind, apsw.Error)]


@pytest.mark.parametrize("kind", every_error())
def test_every_error_of_sqlite_becomes_one_of_ours(kind):
    error = failures.translated(kind("the detail"), "/a/store.db", errno=28)
    assert isinstance(error, EbbmemError)
    assert str(error).startswith("/a/store.db: ")
    assert "the detail" in str(error)


def test_the_reason_of_the_operating_system_is_named():
    error = failures.translated(apsw.IOError("disk I/O error"), "store.db", errno=5)
    assert "Input/output error" in str(error)
    assert isinstance(failures.translated(apsw.BusyError("locked"), "x", errno=5), LockTimeout)


def test_a_full_disk_keeps_what_was_acknowledged_and_ends_with_space(store):
    (row,) = remembered(store, "a")
    connection = store._connection._apsw
    connection.pragma("max_page_count", connection.pragma("page_count"))
    with pytest.raises(StorageFailed, match="the disk is full"), store.write() as writer:
        writer.insert_memories(row >> 32, [memory("b", detail="x" * 50_000)])
    with store.read() as reader:
        assert len(reader.index_rows(row >> 32)) == 1
    connection.pragma("max_page_count", 1_000_000)
    remembered(store, "c")


def test_a_full_disk_that_is_overlooked_is_not_committed_half(store):
    (row,) = remembered(store, "a")
    connection = store._connection._apsw
    connection.pragma("max_page_count", connection.pragma("page_count"))
    with pytest.raises(EbbmemError), store.write() as writer:  # noqa: PT012
        writer.insert_memories(row >> 32, [memory("b")])
        with pytest.raises(StorageFailed):
            writer.insert_memories(row >> 32, [memory("c", detail="x" * 50_000)])
        with pytest.raises(EbbmemError):
            writer.insert_memories(row >> 32, [memory("d")])
    with store.read() as reader:
        assert [text for _, text, _ in reader.texts(None, row >> 32)] == ["a"]


LIMITED = """
import resource, sys
from ebbmem.errors import StorageFailed
from ebbmem.records.sqlite import SqliteRecords
from records.samples import NOW, memory, remembered
store = SqliteRecords(sys.argv[1])
remembered(store, "kept")
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
try:
    remembered(store, *["lost " + "x" * 50_000] * 20)
except StorageFailed as exc:
    print(exc)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
remembered(store, "after")
store.close()
"""


def test_a_write_that_the_system_refuses_is_an_error_and_the_store_goes_on(store, path):
    store.close()
    out, err = python(LIMITED, str(path)).communicate(timeout=60)
    assert str(path) in out, err
    with closing(SqliteRecords(path)) as again, again.read() as reader:
        assert [text for _, text, _ in reader.texts(None, 1)] == ["kept", "after"]
        assert len(reader.index_rows(1)) == 2


def test_after_a_failed_sync_the_store_asks_to_be_opened_again(store, monkeypatch):
    scope_of(store)
    lost = apsw.IOError("disk I/O error")
    lost.extendedresult = apsw.SQLITE_IOERR_FSYNC
    assert store.writable
    store._connection._failure(lost)
    assert not store.writable
    with pytest.raises(StorageFailed, match="open it again"), store.write() as writer:
        writer.open_scope("bob", NOW)


def test_an_interrupt_before_the_transaction_is_known_leaves_no_lock(store, path):
    store._connection.begin("IMMEDIATE")
    with store.write() as writer:
        writer.open_scope("ann", NOW)
    with closing(SqliteRecords(path, busy_wait_s=0)) as other:
        scope_of(other, "bob")


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no list of open files here")
def test_open_files_do_not_pile_up(path):
    SqliteRecords(path).close()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(30):
        with closing(SqliteRecords(path)) as store:
            store.migrate()
    assert len(os.listdir("/proc/self/fd")) <= before + 2
