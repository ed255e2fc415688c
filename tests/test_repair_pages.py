"""repair: pages that cannot be read, stores in use, and a repair that is cut short."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from damage import PAGE, edit, fingerprint, garble, lines, memories, page_of
from exchanges import lived_in

import ebbmem
from ebbmem import Database, EpisodicMemoryStore
from ebbmem.errors import (
    CorruptStore,
    InvalidArgument,
    LockTimeout,
    NotAStore,
    StorageFailed,
    StoreError,
    StoreTooNew,
)
from ebbmem.records.connection import Connection

REPOSITORY = Path(__file__).resolve().parents[1]
Line = dict[str, Any]


@pytest.fixture
def damaged(path: Path) -> Path:
    """The file of a store in which everything has happened once, closed; to be damaged."""
    with Database(path) as db:
        lived_in(db)
    return path


class TestPages:
    def test_a_damaged_index_costs_nothing(self, damaged: Path) -> None:
        before = lines(damaged)
        named = "'memories_by_digest', 'sqlite_autoindex_memories_1', 'links_by_target'"
        roots = edit(damaged, f"SELECT rootpage FROM sqlite_schema WHERE name IN ({named})")
        for (root,) in roots:
            garble(damaged, root)

        report = ebbmem.repair(damaged)

        assert report.quarantined == 0
        assert lines(damaged) == before

    def test_every_page_can_be_lost_and_the_rest_is_kept(self, damaged: Path) -> None:
        sound = damaged.read_bytes()
        before = unnamed(lines(damaged))
        damaged.write_bytes(sound)
        for page in range(2, len(sound) // PAGE + 1):
            garble(damaged, page)
            try:
                report = ebbmem.repair(damaged)
            except CorruptStore:
                assert fingerprint(damaged)
                changed = bytearray(damaged.read_bytes())
                changed[(page - 1) * PAGE : page * PAGE] = sound[(page - 1) * PAGE : page * PAGE]
                assert changed == sound, page
            else:
                assert report.problems, page
                assert ebbmem.verify(damaged).ok, page
                kept = unnamed(lines(damaged))
                assert kept, page
                assert [one for one in kept if one not in before and plain(one)] == [], page
            damaged.write_bytes(sound)

    def test_memories_around_a_damaged_page_are_kept(self, path: Path) -> None:
        with Database(path) as db:
            store = EpisodicMemoryStore(db=db)
            texts = [f"fact {n:04d} " + "x" * 200 for n in range(1000)]
            made = store.remember_many(texts)
            other = EpisodicMemoryStore(db=db, scope="other")
            other.remember_many(texts)
        raw = path.read_bytes()
        pages = {raw.index(f"fact {n:04d} ".encode()) // PAGE + 1 for n in (300, 700)}
        for page in pages:
            garble(path, page)
        lost = {n for n in range(1000) if f"fact {n:04d} ".encode() not in path.read_bytes()}

        report = ebbmem.repair(path)

        kept = memories([one for one in lines(path) if one["scope"] == "default"])
        gone = {n + 1 for n in range(1000)} - set(kept)
        assert 0 < len(gone) <= 60
        assert {301, 701} <= gone
        assert report.rows["memories"] == 2000 - len(gone)
        told = {one.row for one in report.done if one.problem == "cannot be read"}
        assert told == {f"{made[n - 1].id} (#{n})" for n in gone}
        assert any(f"{len(gone)} memories could not be read" in str(one) for one in report.done)
        assert lost is not None

    def test_a_value_on_a_damaged_overflow_page_costs_one_memory(self, path: Path) -> None:
        with Database(path) as db:
            store = EpisodicMemoryStore(db=db)
            store.remember("before")
            made = store.remember("the long one", detail="y" * 20_000 + "END" + "y" * 20_000)
            store.remember("after")
        garble_chain(path, page_of(path, b"yENDy"))

        report = ebbmem.repair(path)

        assert {one["summary"] for one in memories(lines(path)).values()} == {"before", "after"}
        assert any(made.id in str(one) for one in report.done)

    def test_the_damaged_file_stays_beside_it(self, damaged: Path) -> None:
        garble(damaged, page_of(damaged, b"Walk Rex"))
        before = damaged.read_bytes()

        report = ebbmem.repair(damaged)

        assert report.damaged is not None
        assert Path(report.damaged).read_bytes() == before
        assert Path(report.damaged).name.startswith("memory.db.damaged-2")
        assert not Path(f"{report.damaged}-wal").exists()


def unnamed(found: list[Line]) -> list[Line]:
    """Return lines without what other tables say of them and may have lost."""
    return [line | {"scope": None, "related_to": None} for line in found]


def plain(line: Line) -> bool:
    """Return whether a line says nothing of another memory, which may be gone."""
    return line["record"] in ("memory", "intention") and line.get("superseded_by") is None


def garble_chain(path: Path, page: int) -> None:
    """Let an overflow page lead nowhere."""
    raw = bytearray(path.read_bytes())
    raw[(page - 1) * PAGE : (page - 1) * PAGE + 4] = b"\xff\xff\xff\xf0"
    path.write_bytes(raw)


class TestRefusals:
    @pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n" + b"\0" * 200, b"[]", b""])
    def test_another_file_is_left(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        with pytest.raises(NotAStore, match=str(path)):
            ebbmem.repair(path)
        assert path.read_bytes() == content
        assert list(path.parent.iterdir()) == [path]

    def test_a_newer_store_is_left(self, damaged: Path) -> None:
        edit(damaged, "PRAGMA user_version = 99")
        before = fingerprint(damaged)
        with pytest.raises(StoreTooNew):
            ebbmem.repair(damaged)
        assert fingerprint(damaged) == before

    def test_a_store_that_is_open_here_is_left(self, path: Path, monkeypatch: Any) -> None:
        monkeypatch.setattr("ebbmem.maintenance.BUSY_WAIT_S", 0.05)
        with Database(path) as db:
            lived_in(db)
            with pytest.raises(LockTimeout, match="open elsewhere"):
                ebbmem.repair(path)
            assert db.verify().ok

    def test_a_store_that_another_process_has_open_is_left(
        self, damaged: Path, monkeypatch: Any
    ) -> None:
        monkeypatch.setattr("ebbmem.maintenance.BUSY_WAIT_S", 0.05)
        edit(damaged, "UPDATE turns SET content = 'x' WHERE row_id & 255 = 7")
        code = f"""
import sys, ebbmem
db = ebbmem.Database({str(damaged)!r})
print("ready", flush=True)
sys.stdin.read()
"""
        with child(code) as process:
            process.stdout.readline()
            with pytest.raises(LockTimeout, match="open elsewhere"):
                ebbmem.repair(damaged)
            with Database(damaged) as db, pytest.raises(LockTimeout):
                db.repair()
            process.stdin.close()
        assert ebbmem.repair(damaged).quarantined == 1


def child(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


class TestOpenStore:
    def test_handles_go_on_after_a_repair(self, damaged: Path) -> None:
        edit(damaged, "UPDATE memories SET detail = 'x' WHERE number = 2")
        with Database(damaged) as db:
            store = EpisodicMemoryStore(db=db)

            report = db.repair()

            assert report.quarantined >= 1
            assert store.remember("goes on").number == 17
            assert store.recall("goes on").memories[0].summary == "goes on"
            assert db.verify().ok

    def test_a_store_in_ram_has_no_file(self) -> None:
        with Database(":memory:") as db, pytest.raises(InvalidArgument, match="a store in a file"):
            db.repair()


class TestFailure:
    def test_kill_9_leaves_the_store_as_it_was_or_mended(self, path: Path) -> None:
        with Database(path) as db:
            EpisodicMemoryStore(db=db).remember_many(
                [f"fact {n} " + "x" * 500 for n in range(3000)]
            )
        edit(path, "UPDATE memories SET detail = 'x' WHERE number = 7")
        sound = path.read_bytes()
        code = f"""
import ebbmem
print("ready", flush=True)
ebbmem.repair({str(path)!r})
print("done", flush=True)
"""
        outcomes = set()
        for delay_s in (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.5, 0.8):
            for left in path.parent.glob(f"{path.name}*"):
                left.unlink()
            path.write_bytes(sound)
            with child(code) as process:
                process.stdout.readline()
                time.sleep(delay_s)
                process.kill()
            report = ebbmem.verify(path)
            outcomes.add((report.ok, report.problems, report.rows["memories"]))
        assert outcomes <= {(True, 0, 2999), (False, 1, 3000)}
        assert ebbmem.repair(path).problems in (0, 1)
        assert ebbmem.verify(path).ok
        assert not path.with_name(f"{path.name}.repairing").exists()

    @pytest.mark.parametrize("most", [60_000, 200_000])
    def test_a_full_disk_leaves_the_store_as_it_was(self, damaged: Path, most: int) -> None:
        edit(damaged, "UPDATE memories SET detail = 'x' WHERE number = 2")
        with Database(damaged) as db:
            EpisodicMemoryStore(db=db, scope="other").remember_many(["x" * 300] * 300)
        before = fingerprint(damaged)
        usual = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, usual[1]))
        try:
            with pytest.raises(StorageFailed):
                ebbmem.repair(damaged)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
            signal.signal(signal.SIGXFSZ, handler)

        assert fingerprint(damaged) == before
        assert ebbmem.repair(damaged).problems == 1

    def test_an_interrupt_after_the_commit_leaves_what_was_taken_out(
        self, damaged: Path, monkeypatch: Any
    ) -> None:
        edit(damaged, "UPDATE memories SET detail = 'x' WHERE number = 2")
        replace_with = Connection.replace_with

        def interrupted(self: Connection, other: Connection) -> None:
            replace_with(self, other)
            raise KeyboardInterrupt

        monkeypatch.setattr(Connection, "replace_with", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ebbmem.repair(damaged)
        assert ebbmem.verify(damaged).ok
        (aside,) = damaged.parent.glob("*.quarantine-*.jsonl")
        assert "Bought a leash" in aside.read_text("utf-8")
        assert list(damaged.parent.glob("*.damaged-*"))

    def test_what_is_not_sound_never_takes_its_place(self, damaged: Path, monkeypatch: Any) -> None:
        edit(damaged, "UPDATE memories SET detail = 'x' WHERE number = 2")
        before = fingerprint(damaged)
        monkeypatch.setattr("ebbmem.records.salvage.mend_successions", spoiled)
        with pytest.raises(StoreError, match="cannot be repaired"):
            ebbmem.repair(damaged)
        assert fingerprint(damaged) == before


def spoiled(target: Connection, *_: object) -> None:
    target.run("UPDATE memories SET importance = 3")
