"""A store's file reached by links, moved away, taken for another; and files made beside others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ebbmem
from ebbmem import Database, EpisodicMemoryStore
from ebbmem.errors import EbbmemError, LockTimeout, StorageFailed, StoreClosed
from ebbmem.records.parts import part_of
from ebbmem.records.sqlite import SqliteRecords

REPOSITORY = Path(__file__).resolve().parents[1]
NOW = 1_700_000_000


def elsewhere(path: Path, code: str) -> str:
    """Run code in another process, with ``store`` on the file; return what it prints."""
    lines = f"""
from ebbmem import Database, EpisodicMemoryStore
with Database({str(path)!r}) as db:
    store = EpisodicMemoryStore(db)
    {code}
"""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    run = [sys.executable, "-c", lines]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


class TestLinks:
    @pytest.fixture
    def link(self, path: Path) -> Path:
        with Database(path) as db:
            EpisodicMemoryStore(db).remember("kept")
        link = path.with_name("link.db")
        link.symlink_to(path)
        return link

    def test_a_store_opens_by_a_link(self, link: Path) -> None:
        with Database(link) as db:
            assert [hit.summary for hit in EpisodicMemoryStore(db).recall("kept")] == ["kept"]
            assert db.repair().problems == 0
            assert db.verify().ok

    def test_a_store_is_checked_and_mended_by_a_link(self, link: Path) -> None:
        assert ebbmem.verify(link).rows["memories"] == 1
        assert ebbmem.repair(link).rows["memories"] == 1
        assert link.is_symlink()

    def test_the_log_is_that_of_the_file(self, link: Path, path: Path) -> None:
        elsewhere(link, "store.remember('in the log'); import os; os._exit(0)")
        assert ebbmem.verify(link).rows["memories"] == 2
        assert sorted(one.name for one in path.parent.iterdir() if "link" in one.name) == [
            "link.db"
        ]

    def test_a_backup_goes_where_a_link_leads(self, link: Path, path: Path) -> None:
        target = path.with_name("copy.db")
        to_copy = path.with_name("latest.db")
        to_copy.symlink_to(target)
        with Database(link) as db:
            db.backup(to_copy)
        assert to_copy.is_symlink()
        assert ebbmem.verify(target).ok


class TestMoved:
    @pytest.mark.parametrize("how", ["removed", "replaced", "renamed"])
    def test_nothing_is_acknowledged_in_a_file_that_nobody_finds(
        self, path: Path, how: str
    ) -> None:
        other = path.with_name("other.db")
        with Database(other) as db:
            EpisodicMemoryStore(db).remember("other")
        with Database(path) as db:
            store = EpisodicMemoryStore(db)
            store.remember("first")
            if how == "removed":
                path.unlink()
            elif how == "renamed":
                path.rename(path.with_name("elsewhere.db"))
            else:
                other.replace(path)
            with pytest.raises(StorageFailed, match="moved, replaced or removed"):
                store.remember("lost")
            with Database(path) as same, pytest.raises(StorageFailed):
                EpisodicMemoryStore(same).remember("lost as well")

    def test_a_first_recall_opens_no_file_in_its_place(self, path: Path) -> None:
        """Which would take the shared memory of the log from under the connection that writes."""
        script = """if True:
            import os, sys
            from ebbmem import Database, EpisodicMemoryStore
            from ebbmem.errors import StorageFailed

            store = EpisodicMemoryStore(Database(sys.argv[1]))
            store.remember_many([f"kettle {n}" for n in range(200)])
            os.rename(sys.argv[1], sys.argv[2])
            try:
                store.recall("kettle")
            except StorageFailed as exc:
                print(str(exc).partition(": ")[2].partition(";")[0])
        """
        moved = path.with_name("moved.db")
        told = subprocess.run(
            [sys.executable, "-c", script, str(path), str(moved)],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert told.stdout.strip() == "the file was moved, replaced or removed"
        assert not path.exists()

    @pytest.mark.parametrize("how", [Path.unlink, lambda path: path.rename(f"{path}.away")])
    def test_closing_tells_how_many_recalls_were_lost_and_closes(
        self, path: Path, how: Callable[[Path], None]
    ) -> None:
        db = Database(path, pending_s=600)
        store = EpisodicMemoryStore(db)
        store.remember("a kettle")
        for day in (1, 2):
            store.recall("kettle", now=NOW + day * 86_400)
        how(path)
        with pytest.raises(StorageFailed, match=r"moved.*; lost.*: 2 recalls that waited"):
            db.close()
        db.close()
        with pytest.raises(StoreClosed):
            store.recall("kettle")
        with Database(path) as anew:
            assert anew.stats() == []

    def test_closing_tells_of_no_lost_recalls_where_all_were_written(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It told of 0 where the log could not be moved behind the commit."""
        db = Database(path, pending_s=600)
        store = EpisodicMemoryStore(db)
        store.remember("a kettle")
        store.recall("kettle", now=NOW + 86_400)

        def failing(records: SqliteRecords) -> None:
            records._connection.lost = "a sync failed"
            raise StorageFailed(records._connection.lost)

        monkeypatch.setattr(SqliteRecords, "shorten_log", failing)
        with pytest.raises(StorageFailed, match=r"^a sync failed$"):
            db.close()

    def test_it_can_be_opened_again(self, path: Path) -> None:
        db = Database(path)
        EpisodicMemoryStore(db).remember("first")
        for name in path.parent.iterdir():
            name.unlink()
        with pytest.raises(StorageFailed):
            EpisodicMemoryStore(db).remember("lost")
        db.close()
        with Database(path) as db:
            EpisodicMemoryStore(db).remember("second")
        assert ebbmem.verify(path).rows["memories"] == 1


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("call", ["export", "import_", "backup", "open"])
def test_no_call_on_a_file_of_the_store_drops_its_locks(path: Path, end: str, call: str) -> None:
    """Another process that closes last would remove the log with what comes after."""
    with Database(path) as db:
        store = EpisodicMemoryStore(db)
        store.remember("one")
        named = f"{path}{end}"
        if call == "open":
            if end in ("", "-journal"):
                pytest.skip("it is, or may become, a store")
            with pytest.raises(EbbmemError):
                Database(named)
        else:
            with pytest.raises(EbbmemError):
                getattr(db, call)(named)
        elsewhere(path, "store.remember('two')")
        store.remember("three")
        found = elsewhere(path, "print(*sorted(h.summary for h in store.recall('one two three')))")
    assert found == "one three two"


class TestParts:
    def test_one_call_makes_a_file_at_a_time(self, path: Path) -> None:
        copy, lines = path.with_name("copy.db"), path.with_name("lines.jsonl")
        with Database(path) as db:
            EpisodicMemoryStore(db).remember("kept")
            db.backup(copy)
            before = copy.read_bytes()
            for target, call in ((copy, db.backup), (lines, db.export)):
                with part_of(str(target), 0o600) as part:
                    with pytest.raises(LockTimeout, match="another call"):
                        call(target)
                    assert os.path.getsize(part) == 0
                    Path(part).write_bytes(before)
                assert target.read_bytes() == before
            lines.unlink()
            db.backup(copy)
            db.export(lines)
        assert not list(path.parent.glob("*.part"))

    @pytest.mark.parametrize("kind", ["file", "link"])
    def test_what_a_killed_process_left_is_replaced(self, path: Path, kind: str) -> None:
        copy, mine = path.with_name("copy.db"), path.with_name("mine.txt")
        mine.write_text("mine")
        path.with_name("copy.db.part-journal").write_text("half")
        left = path.with_name("copy.db.part")
        if kind == "link":
            left.symlink_to(mine)
        else:
            left.write_text("half")
        with Database(path) as db:
            EpisodicMemoryStore(db).remember("kept")
            db.backup(copy)
        assert ebbmem.verify(copy).rows["memories"] == 1
        assert mine.read_text() == "mine"
        assert not list(path.parent.glob("*.part*"))
