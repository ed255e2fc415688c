"""Transactions that find no room in RAM: SQLite writes part of them before they are committed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from ebbmem import Database
from ebbmem.records.connection import Connection
from ebbmem.records.sqlite import SqliteRecords

FILL = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
    INSERT INTO t SELECT i, zeroblob(3000) FROM n"""


@pytest.fixture
def writer(path: Path) -> Iterator[Connection]:
    """The connection that writes, of a store whose log is not at its beginning."""
    with Database(path):
        pass
    records = SqliteRecords(path, cache_bytes=1 << 20)
    with transaction(records) as connection:
        connection.run("CREATE TABLE t (a INTEGER PRIMARY KEY, b)")
    yield records._connection
    records.close()


@contextmanager
def transaction(records: SqliteRecords) -> Iterator[Connection]:
    connection = records._connection
    connection.begin("IMMEDIATE")
    yield connection
    connection.commit()


def after_a_kill(path: Path, to: Path) -> apsw.Connection:
    """Open what a killed process leaves: the files, without the memory that others share."""
    to.mkdir()
    for name in (path.name, f"{path.name}-wal"):
        shutil.copy(path.with_name(name), to / name)
    return apsw.Connection(str(to / path.name))


def test_pages_written_twice_in_a_transaction_outlive_a_kill(
    path: Path, tmp_path: Path, writer: Connection
) -> None:
    writer.begin("IMMEDIATE")
    writer.run(FILL.format(rows=700))
    writer.run("UPDATE t SET b = zeroblob(3001) WHERE a < 137")
    writer.commit()
    with closing(after_a_kill(path, tmp_path / "left")) as left:
        assert left.execute("SELECT count(*) FROM t").get == 700
        assert left.execute("PRAGMA integrity_check").get == "ok"


def test_what_was_taken_back_is_not_written_over_what_others_wrote(
    path: Path, tmp_path: Path, writer: Connection
) -> None:
    """Whatever is left in RAM of it, for any number of pages."""
    for rows in range(700, 740, 3):
        # So that taking it back reads no page of the log, which would write what waits.
        writer.rows("PRAGMA wal_checkpoint(FULL)")
        writer.begin("IMMEDIATE")
        writer.run(FILL.format(rows=rows))
        writer.rollback()
        with closing(apsw.Connection(str(path))) as other:
            other.wal_autocheckpoint(0)
            with other:
                other.execute(FILL.format(rows=rows)).fetchall()
            assert writer.rows("SELECT count(*), sum(length(b)) FROM t") == [(rows, 3000 * rows)]
            with closing(after_a_kill(path, tmp_path / str(rows))) as left:
                assert left.execute("PRAGMA integrity_check").get == "ok"
                assert left.execute("SELECT count(*) FROM t").get == rows
            other.execute("DELETE FROM t").fetchall()
