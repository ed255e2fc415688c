from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import apsw
import pytest
from records.samples import NOW, memory, plain_sql, python, remembered

from ebbmem.errors import (
    CorruptStore,
    InvalidArgument,
    NotAStore,
    StorageFailed,
    StoreError,
    StoreTooNew,
)
from ebbmem.records.connection import require_safe_sqlite
from ebbmem.records.sqlite import SqliteRecords


def snapshot(folder):
    return {name: sha256((folder / name).read_bytes()).hexdigest() for name in os.listdir(folder)}


def make_store(path):
    with closing(SqliteRecords(path)) as store:
        store.migrate()


def png(path):
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40)


def json_list(path):
    path.write_text("[]")


def other_sqlite(path):
    plain_sql(path, "CREATE TABLE notes (text TEXT)")


def other_sqlite_in_wal(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE memories (row_id INTEGER)")
        connection.commit()


def other_application(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 1196444487")
        connection.execute("CREATE TABLE notes (text TEXT)")


def random_bytes(path):
    path.write_bytes(os.urandom(10_000))


def magic_only(path):
    path.write_bytes(b"SQLite format 3\0")


FOREIGN = [
    png,
    json_list,
    other_sqlite,
    other_sqlite_in_wal,
    other_application,
    random_bytes,
    magic_only,
]


@pytest.mark.parametrize("make", FOREIGN)
def test_a_foreign_file_is_refused_and_left_as_it_was(tmp_path, path, make):
    make(path)
    before = snapshot(tmp_path)
    with pytest.raises(NotAStore, match=r"store\.db"):
        SqliteRecords(path)
    assert snapshot(tmp_path) == before


JOURNAL = bytes.fromhex("d9d505f920a163d7 00000000 12345678 00000000 00000200 00001000")
"""The header of the journal of a database that had no page before: sectors of 512 bytes."""


def cut_off(path, content, journal=JOURNAL):
    """Leave a file as a power cut may, with the journal of the transaction that it cut off."""
    path.write_bytes(content)
    path.with_name(f"{path.name}-journal").write_bytes(journal.ljust(512, b"\0"))


def test_a_store_whose_making_was_cut_off_is_made_anew(path):
    cut_off(path, bytes(3 * 4096))
    with closing(SqliteRecords(path)) as store:
        assert store.migrate()
        remembered(store, "a")
        assert not path.with_name(f"{path.name}-journal").exists()


@pytest.mark.parametrize(
    ("content", "journal"),
    [
        (bytes(4096), b""),
        (bytes(4096), JOURNAL[:16] + b"\0\0\0\1" + JOURNAL[20:]),
        (bytes(4096), b"notes"),
        (b"\x89PNG".ljust(4096, b"\0"), JOURNAL),
    ],
)
def test_another_file_beside_a_journal_is_left_as_it_was(tmp_path, path, content, journal):
    cut_off(path, content, journal)
    before = snapshot(tmp_path)
    with pytest.raises(NotAStore):
        SqliteRecords(path)
    assert snapshot(tmp_path) == before


def test_a_newer_store_is_refused_and_left_as_it_was(tmp_path, path):
    make_store(path)
    plain_sql(path, "PRAGMA user_version = 99")
    before = snapshot(tmp_path)
    with pytest.raises(StoreTooNew, match="99"):
        SqliteRecords(path)
    assert snapshot(tmp_path) == before == {"store.db": before["store.db"]}


def test_a_newer_version_that_is_only_in_the_log_is_refused_too(tmp_path, path):
    original = tmp_path / "original" / "store.db"
    original.parent.mkdir()
    make_store(original)
    with closing(apsw.Connection(str(original))) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        connection.execute("PRAGMA user_version = 99").fetchall()
        for name in ("store.db", "store.db-wal"):
            shutil.copy(original.with_name(name), tmp_path / name)
    log, database = ((tmp_path / name).read_bytes() for name in ("store.db-wal", "store.db"))
    with pytest.raises(StoreTooNew, match="99"):
        SqliteRecords(path)
    assert (tmp_path / "store.db-wal").read_bytes() == log
    assert path.read_bytes() == database


def test_an_empty_file_counts_as_new(path):
    path.touch()
    with closing(SqliteRecords(path)) as store:
        assert store.migrate()[0] == "0001_initial"


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(StorageFailed, match="folder"):
        SqliteRecords(tmp_path)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(StorageFailed, match="nowhere does not exist"):
        SqliteRecords(tmp_path / "nowhere" / "store.db")
    assert os.listdir(tmp_path) == []


def test_a_pipe_is_refused_without_waiting(path):
    os.mkfifo(path)
    with pytest.raises(NotAStore, match="regular"):
        SqliteRecords(path)


def test_a_path_below_a_file_is_refused(path):
    path.touch()
    with pytest.raises(StorageFailed, match=r"Not a directory|does not exist"):
        SqliteRecords(path / "store.db")


@pytest.mark.parametrize("bad", ["", "a\0b", b"store.db"])
def test_what_is_no_path_is_refused(bad):
    with pytest.raises(InvalidArgument, match="path"):
        SqliteRecords(bad)


@pytest.mark.parametrize(
    "arguments",
    [
        {"durability": "none"},
        {"busy_wait_s": -1},
        {"busy_wait_s": float("nan")},
        {"busy_wait_s": float("inf")},
    ],
)
def test_arguments_are_checked(path, arguments):
    with pytest.raises(InvalidArgument, match=next(iter(arguments))):
        SqliteRecords(path, **arguments)
    assert not path.exists()


NO_PERMISSION = """
import os, sys
from ebbmem.errors import StorageFailed
from ebbmem.records.migrate import migrations
from ebbmem.records.sqlite import SqliteRecords
migrations()
os.setuid(65534)
try:
    SqliteRecords(sys.argv[1])
except StorageFailed as exc:
    print(exc)
"""


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="needs a second user")
@pytest.mark.parametrize(("mode", "reason"), [(0o000, "permission"), (0o444, "read-only")])
def test_a_file_without_permission_is_refused(mode, reason):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        make_store(path)
        path.chmod(mode)
        Path(folder).chmod(0o755)
        out, err = python(NO_PERMISSION, str(path)).communicate(timeout=60)
    assert reason in out, err


@pytest.mark.parametrize("name", ["file:x.db?mode=memory", ":memory", "a b#c%41.db", "é\n.db"])
def test_a_name_is_only_a_name(tmp_path, name):
    make_store(tmp_path / name)
    assert os.listdir(tmp_path) == [name]


def test_the_path_outlives_a_change_of_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with closing(SqliteRecords("store.db")) as store:
        assert store.path == str(tmp_path / "store.db")


def test_a_store_needs_its_schema_first(path):
    with closing(SqliteRecords(path)) as store:
        with pytest.raises(StoreError, match="migrate"), store.read():
            pass
        store.migrate()
        with store.read() as reader:
            assert reader.scopes() == []


def test_nothing_is_left_beside_a_closed_store(tmp_path, path):
    make_store(path)
    with closing(SqliteRecords(path)) as store, store.write() as writer:
        scope = writer.open_scope("ann", NOW)
        writer.insert_memories(scope.scope_id, [memory()])
    assert os.listdir(tmp_path) == ["store.db"]


@pytest.mark.parametrize(("durability", "level"), [("process", 1), ("power", 2)])
def test_durability_chooses_the_sync(path, durability, level):
    make_store(path)
    with closing(SqliteRecords(path, durability=durability)) as store:
        pragma = store._connection._apsw.pragma
        assert [pragma(name) for name in ("synchronous", "journal_mode")] == [level, "wal"]
        assert [pragma(name) for name in ("secure_delete", "foreign_keys", "trusted_schema")] == [
            1,
            1,
            0,
        ]


@pytest.mark.parametrize("version", ["3.40.1", "3.44.6", "3.51.2", "3.7.0"])
def test_an_sqlite_that_can_lose_commits_is_refused(version):
    with pytest.raises(StorageFailed, match=version):
        require_safe_sqlite(version, "store.db")


@pytest.mark.parametrize("version", ["3.51.3", "3.52.0", "4.0.0", "3.51.10"])
def test_a_safe_sqlite_is_taken(version):
    require_safe_sqlite(version, "store.db")


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TRIGGER spy AFTER INSERT ON memories BEGIN DELETE FROM links; END",
        "CREATE VIRTUAL TABLE spy USING fts5(text)",
        "DROP INDEX memories_by_key",
        "ALTER TABLE memories ADD COLUMN spy TEXT",
        "DROP TABLE links",
    ],
)
def test_a_schema_that_was_tampered_with_is_refused(path, change):
    make_store(path)
    plain_sql(path, change)
    with pytest.raises(CorruptStore, match=r"spy|memories|links"):
        SqliteRecords(path)


def test_tables_and_views_of_the_user_are_let_be(path):
    make_store(path)
    plain_sql(path, "CREATE TABLE mine (text TEXT)")
    plain_sql(path, "CREATE VIEW my_view AS SELECT summary FROM memories")
    SqliteRecords(path).close()
