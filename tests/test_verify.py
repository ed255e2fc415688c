"""verify: everything that is wrong is told, exactly, and nothing is changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from damage import PAGE, edit, fingerprint, flip, garble, page_of
from exchanges import lived_in
from typer.testing import CliRunner

import ebbmem
from ebbmem import CallableEmbedder, Database, EpisodicMemoryStore, recipes
from ebbmem.cli import app
from ebbmem.errors import NotAStore, StorageFailed, StoreTooNew


@pytest.fixture
def damaged(path: Path) -> Path:
    """The file of a store in which everything has happened once, closed; to be damaged."""
    with Database(path) as db:
        lived_in(db)
    return path


def told(path: Path) -> list[str]:
    return [str(finding) for finding in ebbmem.verify(path).findings]


def id_of(path: Path, number: int) -> str:
    (row,) = edit(path, f"SELECT id FROM readable_memories WHERE number = {number}")
    return str(row[0])


class TestSound:
    def test_a_sound_store_is_ok_open_or_closed(self, path: Path) -> None:
        with Database(path) as db:
            memory = lived_in(db)
            memory.recall("Rex")
            opened = db.verify()
        closed = ebbmem.verify(path)

        assert opened.ok
        assert closed.ok
        assert closed.rows == opened.rows
        assert closed.rows["memories"] == memory_count(path)
        assert opened.scopes == 1

    def test_a_store_in_ram_is_checked_too(self) -> None:
        with Database(":memory:") as db:
            lived_in(db)
            assert db.verify().ok

    def test_a_new_store_is_ok(self, path: Path) -> None:
        with Database(path) as db:
            assert db.verify().ok
        assert ebbmem.verify(path).ok

    def test_not_a_byte_is_changed(self, damaged: Path) -> None:
        before = fingerprint(damaged)

        ebbmem.verify(damaged)

        assert fingerprint(damaged) == before

    def test_the_log_of_a_killed_process_is_read_and_left(self, damaged: Path) -> None:
        code = f"""
import os, ebbmem
memory = ebbmem.AgenticMemory({str(damaged)!r})
memory.remember("written at the last moment")
os._exit(0)
"""
        count = memory_count(damaged)
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)
        before = fingerprint(damaged)
        before.pop(f"{damaged.name}-shm")

        report = ebbmem.verify(damaged)

        after = fingerprint(damaged)
        after.pop(f"{damaged.name}-shm")  # SQLite's own, made anew from the log
        assert report.ok
        assert report.rows["memories"] == count + 1
        assert after == before

    def test_stored_vectors_and_their_lane_are_compared(self, path: Path) -> None:
        embedder = CallableEmbedder(lambda texts: [[len(t), 1.0] for t in texts], dim=2, name="len")
        with Database(path) as db:
            store = EpisodicMemoryStore(db=db, embedder=embedder)
            store.remember_many(["a", "bb", "ccc"])
            store.recall("dddd")
            assert db.verify().ok
            assert db.verify().rows["vectors"] == 3


def memory_count(path: Path) -> int:
    return ebbmem.verify(path).rows["memories"]


ONE_ROW: dict[str, tuple[str, str]] = {
    "meta": ("UPDATE meta SET value = value || '1' WHERE key = 'seq'", "meta 'seq'"),
    "scopes": ("UPDATE scopes SET created_at = 0", "scopes of 'default' 'default'"),
    "vectors": (
        "INSERT INTO vectors SELECT row_id, 1, 1, zeroblob(8) FROM memories WHERE number = 1",
        "vectors of 'default' of #1 of scope 1",
    ),
    "keywords": (
        "UPDATE keywords SET checksum = 0 WHERE keyword = 'pet' AND row_id & 1 = 1",
        "keywords of 'default' 'pet' has #1 of scope 1",
    ),
    "intentions": ("UPDATE intentions SET action = 'x' WHERE action = 'Feed Rex'", "intentions"),
    "turns": (
        "UPDATE turns SET content = 'x' WHERE row_id & 255 = 7",
        "turns of 'default' #7 of scope 1",
    ),
    "summaries": ("UPDATE summaries SET text = 'x'", "summaries of 'default' of run 'default'"),
    "events": (
        "UPDATE events SET at = 0 WHERE seq = (SELECT min(seq) FROM events)",
        "events of 'default' seq ",
    ),
    "links": (
        "UPDATE links SET weight = 0.125 WHERE source & 255 = 2 AND target & 255 = 1",
        "links of 'default' #2 of scope 1 -> #1 of scope 1 'related'",
    ),
}


class TestRows:
    @pytest.mark.parametrize("table", ONE_ROW)
    def test_a_changed_row_of_any_table_is_told(self, damaged: Path, table: str) -> None:
        statement, expected = ONE_ROW[table]
        edit(damaged, statement)

        found = [line for line in told(damaged) if line.startswith(table)]

        assert found[0].startswith(expected)
        assert found[0].endswith(": does not match its checksum")

    def test_a_changed_memory_is_told_by_its_id(self, damaged: Path) -> None:
        edit(damaged, "UPDATE memories SET importance = 1 WHERE number = 2")

        name = f"{id_of(damaged, 2)} (#2)"
        assert told(damaged) == [f"memories of 'default' {name}: does not match its checksum"]

    def test_every_damaged_row_is_told_and_not_only_the_first(self, damaged: Path) -> None:
        edit(damaged, "UPDATE memories SET detail = 'x' WHERE number IN (1, 3, 5)")

        numbers = [line.split("(")[1].split(")")[0] for line in told(damaged)]
        assert numbers == ["#1", "#3", "#5"]

    def test_a_flipped_byte_of_a_text_is_told(self, damaged: Path) -> None:
        flip(damaged, b"Rex is a cat", b"Rex is a bat")

        assert len([line for line in told(damaged) if "checksum" in line]) == 1

    def test_bytes_that_are_no_text_are_told(self, damaged: Path) -> None:
        flip(damaged, b"Rex is a cat", b"Rex is a \xff\xfe\xfd")

        found = [line for line in told(damaged) if line.startswith("memories")]
        assert found[0].startswith("memories #3 of scope 1: cannot be read: a stored text is not")

    def test_rows_after_a_damaged_one_are_checked(self, damaged: Path) -> None:
        flip(damaged, b"Rex is a cat", b"Rex is a \xff\xfe\xfd")
        edit(damaged, "UPDATE memories SET detail = 'x' WHERE number = 5")

        assert any("(#5): does not match" in line for line in told(damaged))


TOTALS: dict[str, tuple[str, str]] = {
    "a lost memory": (
        "DELETE FROM memories WHERE number = 9",
        "scopes of 'default': should have 16 memories, has 15",
    ),
    "a number given twice": (
        "UPDATE scopes SET next_number = 2",
        "scopes of 'default': would give memory number 2 twice",
    ),
    "a turn's number given twice": (
        "UPDATE scopes SET next_turn = 3",
        "scopes of 'default': would give turn number 3 twice",
    ),
    "a lost scope": ("DELETE FROM scopes", "scopes scope_id 1: is missing, and has rows"),
}


class TestTogether:
    @pytest.mark.parametrize("case", TOTALS)
    def test_counters_that_do_not_fit_are_told(self, damaged: Path, case: str) -> None:
        statement, expected = TOTALS[case]
        edit(damaged, statement)

        assert expected in told(damaged)

    def test_an_old_copy_of_a_memory_is_told(self, damaged: Path) -> None:
        columns = "storage_strength, r_anchor, anchored_at, access_count, seq, checksum"
        old = edit(damaged, f"SELECT {columns} FROM memories WHERE number = 2")[0]
        with Database(damaged) as db:
            store = EpisodicMemoryStore(db=db)
            store.feedback(used=[id_of_open(db, 2)])
        values = ", ".join(map(repr, old))
        edit(damaged, f"UPDATE memories SET ({columns}) = ({values}) WHERE number = 2")

        assert told(damaged) == ["scopes of 'default': has its 16 memories with other checksums"]

    @pytest.mark.parametrize(
        ("statement", "expected"),
        [
            ("DELETE FROM memories WHERE number = 1",
             "its target names a memory that is not there"),
            ("DELETE FROM memories WHERE number = 1",
             "its source names a memory that is not there"),
            ("DELETE FROM memories WHERE number = 1",
             "its row_id names a memory that is not there"),
            ("DELETE FROM memories WHERE number = 3",
             "its superseded_by names a memory that is not there"),
            ("DELETE FROM memories WHERE number = 6",
             "its memory names a memory that is not there"),
        ],
    )  # fmt: skip
    def test_what_names_a_lost_memory_is_told(
        self, damaged: Path, statement: str, expected: str
    ) -> None:
        edit(damaged, statement)

        assert any(line.endswith(expected) for line in told(damaged))

    def test_keywords_that_are_not_those_of_the_memory_are_told(self, damaged: Path) -> None:
        edit(damaged, "DELETE FROM keywords WHERE keyword = 'dog' AND role = 'has'")

        found = told(damaged)
        assert (
            "keywords of 'default' #1 of scope 1: is found by other keywords than its own" in found
        )

    def test_a_circle_of_corrections_is_told(self, damaged: Path) -> None:
        edit(damaged, "UPDATE memories SET superseded_by = (1 << 32) + 1 WHERE number = 3")

        assert any("was replaced in a circle" in line for line in told(damaged))

    def test_links_between_scopes_are_told(self, damaged: Path) -> None:
        edit(damaged, "UPDATE links SET target = target + (1 << 32) WHERE target & 255 = 1")

        assert any(line.endswith("its target names one of another scope") for line in told(damaged))


class TestFile:
    def test_a_garbled_page_is_told_and_the_rest_is_checked(self, damaged: Path) -> None:
        garble(damaged, page_of(damaged, b"Walk Rex"))

        report = ebbmem.verify(damaged)

        tables = {finding.table for finding in report.findings}
        assert {"file", "intentions"} <= tables
        assert report.rows["memories"] == 16

    def test_a_page_of_noise_is_always_told(self, damaged: Path) -> None:
        sound = damaged.read_bytes()
        assert edit(damaged, "PRAGMA freelist_count") == [(0,)]
        for page in range(1, len(sound) // PAGE + 1):
            garble(damaged, page)
            assert not ebbmem.verify(damaged).ok, page
            damaged.write_bytes(sound)

    def test_a_changed_schema_is_told(self, damaged: Path) -> None:
        edit(damaged, "DROP INDEX links_by_target")

        assert "file: index links_by_target is not as ebbmem made it" in told(damaged)

    def test_a_garbled_index_is_told(self, damaged: Path) -> None:
        root = edit(damaged, "SELECT rootpage FROM sqlite_schema WHERE name = 'memories_by_due'")
        garble(damaged, root[0][0])

        assert not ebbmem.verify(damaged).ok

    @pytest.mark.parametrize(
        ("content", "error"),
        [(b"\x89PNG\r\n\x1a\n" + b"\0" * 200, NotAStore), (b"[]", NotAStore), (b"", NotAStore)],
    )
    def test_another_file_is_refused_and_left(
        self, path: Path, content: bytes, error: type[Exception]
    ) -> None:
        path.write_bytes(content)

        with pytest.raises(error, match=str(path)):
            ebbmem.verify(path)

        assert path.read_bytes() == content
        assert list(path.parent.iterdir()) == [path]

    def test_a_newer_store_is_refused_and_left(self, damaged: Path) -> None:
        edit(damaged, "PRAGMA user_version = 99")
        before = fingerprint(damaged)

        with pytest.raises(StoreTooNew):
            ebbmem.verify(damaged)

        assert fingerprint(damaged) == before

    def test_a_missing_file_is_refused_and_not_made(self, path: Path) -> None:
        with pytest.raises(StorageFailed, match="no such file"):
            ebbmem.verify(path)

        assert not path.exists()


def id_of_open(db: Database, number: int) -> str:
    lines = [json.loads(line) for line in db.export_lines()]
    return str(next(line["id"] for line in lines if line.get("number") == number))


class TestIndex:
    @pytest.mark.parametrize(
        ("spoil", "problem"),
        [
            (lambda index: index.columns.set(0, tier=2), "has another tier of 1 memories, #1"),
            (lambda index: index.links.add(0, 5, "related", 0.5), "has other links of #1 than"),
            (lambda index: index.postings.tombstone(slot(0)), "has other words than the records"),
            (lambda index: index.lanes()[0].tombstone(slot(0)), "has other vectors of"),
            (lambda index: index.columns.drop([1]), "has 15 memories that are not the 16"),
        ],
    )
    def test_an_index_that_differs_is_told(
        self, path: Path, spoil: Callable[[object], None], problem: str
    ) -> None:
        with Database(path) as db:
            memory = lived_in(db)
            memory.recall("Rex", recipe=recipes.SIMILARITY)
            db.flush()
            spoil(db.engine.loaded("default"))

            found = [str(finding) for finding in db.verify().findings]

        assert any(line.startswith(f"index of 'default': {problem}") for line in found), found

    def test_tombstones_and_upgraded_links_make_no_difference(self, path: Path) -> None:
        with Database(path) as db:
            memory = lived_in(db)
            memory.recall("Rex")
            a, b = id_of_open(db, 1), id_of_open(db, 2)
            memory.link(a, b, weight=0.2)
            memory.link(a, b, weight=0.9)
            memory.erase(id_of_open(db, 5))
            memory.recall("message")
            memory.remember("a new one", keywords=["dog"])
            memory.recall("new")

            assert db.verify().findings == ()


def slot(number: int) -> object:
    return np.array([number], dtype=np.int64)


class TestCommand:
    def run(self, *arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, list(arguments))
        return result.exit_code, result.output

    def test_a_sound_store_ends_with_0(self, damaged: Path) -> None:
        code, out = self.run("verify", "--db", str(damaged))

        assert code == 0
        assert out.splitlines()[0].startswith(f"{damaged}: 1 scope; ")
        assert out.splitlines()[-1] == "Nothing is wrong."

    def test_a_damaged_store_ends_with_1_and_a_line_for_each(self, damaged: Path) -> None:
        edit(damaged, "UPDATE memories SET detail = 'x' WHERE number IN (1, 3)")

        code, out = self.run("verify", "--db", str(damaged))

        assert code == 1
        assert out.splitlines()[-1] == "2 things are wrong."
        assert out.count("does not match its checksum") == 2

    def test_json_holds_everything(self, damaged: Path) -> None:
        edit(damaged, "UPDATE memories SET detail = 'x' WHERE number = 1")

        code, out = self.run("verify", "--db", str(damaged), "--json")

        report = json.loads(out)
        assert code == 1
        assert report["ok"] is False
        assert [one["table"] for one in report["findings"]] == ["memories"]

    def test_what_is_no_store_ends_with_1_and_a_line(self, path: Path) -> None:
        path.write_bytes(b"[]")
        code, out = self.run("verify", "--db", str(path))
        assert (code, out) == (
            1,
            f"ebbmem: {path}: it is not an SQLite file; it was left as it was\n",
        )
