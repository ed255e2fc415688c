"""backup: a whole copy of one moment, while writers go on, in place only once it is safe."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from damage import edit, fingerprint
from dumps import dump, holds_text
from exchanges import lived_in
from typer.testing import CliRunner

import ebbmem
from ebbmem import Database, EpisodicMemoryStore
from ebbmem.cli import app
from ebbmem.errors import CorruptStore, InvalidArgument, StorageFailed

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return tmp_path / "copies" / "copy.db"


@pytest.fixture
def db(path: Path, copy: Path) -> Database:
    copy.parent.mkdir()
    with Database(path) as db:
        lived_in(db)
        yield db


class TestCopy:
    def test_it_holds_what_the_store_holds(self, db: Database, path: Path, copy: Path) -> None:
        size = db.backup(copy)

        assert size == copy.stat().st_size
        assert dump(copy) == dump(path)
        assert ebbmem.verify(copy).ok
        assert [file.name for file in copy.parent.iterdir()] == ["copy.db"]

    def test_it_opens_as_a_store(self, db: Database, copy: Path) -> None:
        db.backup(copy)

        with Database(copy) as other:
            assert list(other.export_lines()) == list(db.export_lines())
            EpisodicMemoryStore(db=other).remember("goes on")

    def test_recalls_that_wait_are_in_it(self, db: Database, copy: Path) -> None:
        store = EpisodicMemoryStore(db=db)
        (hit, *_) = store.recall("leash", now=time.time() + 3600).memories

        db.backup(copy)

        with Database(copy) as other:
            found = EpisodicMemoryStore(db=other).get(hit.id)
            assert found.access_count == store.get(hit.id).access_count == 2

    def test_what_was_erased_is_not_in_it(self, db: Database, copy: Path) -> None:
        store = EpisodicMemoryStore(db=db)
        secret = store.remember("the canary is called zanzibar", detail="zanzibar " * 3000)
        store.erase(secret.id)

        db.backup(copy)

        assert not holds_text(copy, "zanzibar")
        with closing(apsw.Connection(str(copy))) as connection:
            assert connection.execute("PRAGMA freelist_count").fetchall() == [(0,)]

    def test_a_store_in_ram_can_be_kept(self, copy: Path) -> None:
        copy.parent.mkdir()
        with Database(":memory:") as db:
            lived_in(db)
            db.backup(copy)
            with Database(copy) as other:
                assert list(other.export_lines()) == list(db.export_lines())

    def test_only_those_can_read_it_who_can_read_the_store(
        self, db: Database, path: Path, copy: Path
    ) -> None:
        path.chmod(0o600)
        db.backup(copy)
        assert copy.stat().st_mode & 0o777 == 0o600


class TestWriters:
    def test_it_is_of_one_moment_while_threads_write(self, path: Path, copy: Path) -> None:
        copy.parent.mkdir()
        done = threading.Event()
        with Database(path) as db:
            store = EpisodicMemoryStore(db=db)
            store.remember_many([f"fact {n} " + "x" * 500 for n in range(2000)])

            def write() -> None:
                while not done.is_set():
                    store.remember_many(["left", "right"])

            writer = threading.Thread(target=write)
            writer.start()
            try:
                for _ in range(3):
                    db.backup(copy)
                    report = ebbmem.verify(copy)
                    assert report.ok
                    assert report.rows["memories"] % 2 == 0
            finally:
                done.set()
                writer.join()

    def test_another_process_can_be_writing(self, path: Path, copy: Path) -> None:
        copy.parent.mkdir()
        with Database(path) as db:
            EpisodicMemoryStore(db=db).remember("here")
            code = f"""
import sys, ebbmem
memory = ebbmem.AgenticMemory({str(path)!r})
memory.remember("there")
print("ready", flush=True)
sys.stdin.read()
"""
            with child(code) as process:
                process.stdout.readline()
                db.backup(copy)
                process.stdin.close()
        assert ebbmem.verify(copy).rows["memories"] == 2


def child(code: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


class TestTarget:
    def test_an_older_backup_is_replaced(self, db: Database, copy: Path) -> None:
        db.backup(copy)
        EpisodicMemoryStore(db=db).remember("newer")
        db.backup(copy)
        assert ebbmem.verify(copy).rows["memories"] == 17

    def test_a_log_that_a_killed_reader_left_does_not_spoil_the_copy(
        self, db: Database, path: Path, copy: Path
    ) -> None:
        db.backup(copy)
        code = f"""
import os, ebbmem
ebbmem.AgenticMemory({str(copy)!r}).remember("in the log of the older backup")
os._exit(0)
"""
        with child(code) as process:
            process.wait()
        assert Path(f"{copy}-wal").stat().st_size > 0

        db.backup(copy)

        assert dump(copy) == dump(path)
        assert ebbmem.verify(copy).ok

    def test_the_store_itself_is_refused(self, db: Database, path: Path) -> None:
        link = path.with_name("link.db")
        link.symlink_to(path)
        hard = path.with_name("hard.db")
        hard.hardlink_to(path)
        for target in (path, link, hard, f"{path}-wal"):
            with pytest.raises(InvalidArgument, match="nobody has open"):
                db.backup(target)
        assert db.verify().ok

    def test_a_store_that_another_process_has_open_is_refused(
        self, db: Database, copy: Path
    ) -> None:
        db.backup(copy)
        code = f"""
import sys, ebbmem
db = ebbmem.Database({str(copy)!r})
print("ready", flush=True)
sys.stdin.read()
"""
        with child(code) as process:
            process.stdout.readline()
            with pytest.raises(InvalidArgument, match="nobody has open"):
                db.backup(copy)
            process.stdin.close()
        db.backup(copy)

    @pytest.mark.parametrize("content", [b"somebody's letter", b""])
    def test_another_file_is_refused_and_left(
        self, db: Database, copy: Path, content: bytes
    ) -> None:
        copy.write_bytes(content)
        with pytest.raises(InvalidArgument, match="path: expected a new file"):
            db.backup(copy)
        assert copy.read_bytes() == content

    def test_a_log_without_its_store_is_refused(self, db: Database, copy: Path) -> None:
        Path(f"{copy}-wal").write_bytes(b"log")
        with pytest.raises(InvalidArgument, match=r"no log of another store \(-wal\)"):
            db.backup(copy)
        assert not copy.exists()

    def test_a_missing_folder_is_told(self, db: Database, tmp_path: Path) -> None:
        with pytest.raises(StorageFailed, match="does not exist"):
            db.backup(tmp_path / "nowhere" / "copy.db")


class TestFailure:
    def test_a_full_disk_leaves_the_older_backup(self, db: Database, copy: Path) -> None:
        db.backup(copy)
        before = fingerprint(copy)
        EpisodicMemoryStore(db=db).remember_many(["x" * 3000 for _ in range(200)])
        db.flush()
        usual = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, usual[1]))
        try:
            with pytest.raises(StorageFailed):
                db.backup(copy)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
            signal.signal(signal.SIGXFSZ, handler)

        assert fingerprint(copy) == before
        db.backup(copy)
        assert ebbmem.verify(copy).ok

    @pytest.mark.parametrize(
        "change", ["memories SET summary = 'other'", "turns SET content = 'other'"]
    )
    def test_a_damaged_row_leaves_the_older_backup(
        self, path: Path, copy: Path, change: str
    ) -> None:
        copy.parent.mkdir()
        with Database(path) as db:
            lived_in(db)
            db.backup(copy)
        before = fingerprint(copy)
        edit(path, f"UPDATE {change}")
        with Database(path) as db, pytest.raises(CorruptStore, match="no backup was made; see"):
            db.backup(copy)
        assert fingerprint(copy) == before

    def test_kill_9_leaves_the_older_backup_or_the_new_one(
        self, db: Database, path: Path, copy: Path
    ) -> None:
        EpisodicMemoryStore(db=db).remember_many(["x" * 2000 for _ in range(3000)])
        db.backup(copy)
        old = memories(copy)
        EpisodicMemoryStore(db=db).remember("one more")
        db.close()
        code = f"""
import sys, ebbmem
db = ebbmem.Database({str(path)!r})
print("ready", flush=True)
db.backup({str(copy)!r})
"""
        for delay_ms in (0, 3, 6, 9, 15, 30, 60):
            with child(code) as process:
                process.stdout.readline()
                time.sleep(delay_ms / 1000)
                process.kill()
            assert memories(copy) in (old, old + 1)
        with Database(path) as again:
            again.backup(copy)
        assert [file.name for file in copy.parent.iterdir()] == ["copy.db"]
        assert memories(copy) == old + 1


def memories(path: Path) -> int:
    report = ebbmem.verify(path)
    assert report.ok, report.findings
    return report.rows["memories"]


def test_the_command_line_copies(db: Database, path: Path, copy: Path) -> None:
    done = CliRunner().invoke(app, ["backup", str(copy), "--db", str(path)])
    assert (done.exit_code, done.output) == (0, f"{copy}: {copy.stat().st_size:,} bytes\n")
    assert ebbmem.verify(copy).ok
