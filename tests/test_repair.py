"""repair: what is sound is kept, the rest is put aside and told, and nothing gets worse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from damage import edit, fingerprint, flip, lines, memories, quarantined
from exchanges import lived_in
from typer.testing import CliRunner

import ebbmem
from ebbmem import CallableEmbedder, Database, EpisodicMemoryStore, Fleet, recipes
from ebbmem.cli import app
from ebbmem.errors import (
    CorruptStore,
)

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture
def damaged(path: Path) -> Path:
    """The file of a store in which everything has happened once, closed; to be damaged."""
    with Database(path) as db:
        lived_in(db)
    return path


class TestRows:
    def test_a_sound_store_is_left_byte_for_byte(self, damaged: Path) -> None:
        before = fingerprint(damaged)

        report = ebbmem.repair(damaged)

        assert (report.problems, report.done, report.damaged) == (0, (), None)
        assert fingerprint(damaged) == before

    def test_one_damaged_memory_costs_only_itself(self, damaged: Path) -> None:
        sound = memories(lines(damaged))
        edit(damaged, "UPDATE memories SET importance = 9.5 WHERE number = 2")

        report = ebbmem.repair(damaged)

        assert ebbmem.verify(damaged).ok
        assert memories(lines(damaged)) == {n: m for n, m in sound.items() if n != 2}
        (row,) = [one for one in quarantined(report) if one["table"] == "memories"]
        assert row["name"] == f"{sound[2]['id']} (#2)"
        assert row["scope"] == "default"
        assert row["problem"] == "does not match its checksum"
        assert row["row"]["summary"] == "Bought a leash"
        assert row["row"]["importance"] == 9.5

    def test_what_named_it_goes_with_it_and_is_kept_too(self, damaged: Path) -> None:
        before = lines(damaged)
        ids = {n: m["id"] for n, m in memories(before).items()}
        links = [one for one in before if one["record"] == "link"]
        edit(damaged, "UPDATE memories SET detail = 'x' WHERE number = 2")

        report = ebbmem.repair(damaged)

        after = [one for one in lines(damaged) if one["record"] == "link"]
        assert after == [one for one in links if ids[2] not in (one["source"], one["target"])]
        tables = [one["table"] for one in quarantined(report)]
        assert tables.count("links") == len(links) - len(after) > 0
        assert tables.count("keywords") == 2  # what it waited for
        assert report.quarantined == len(tables)

    def test_a_turn_stays_without_its_memory(self, damaged: Path) -> None:
        before = [one for one in lines(damaged) if one["record"] == "turn"]
        number = next(
            n for n, m in memories(lines(damaged)).items() if m["id"] == before[4]["memory_id"]
        )
        edit(damaged, f"UPDATE memories SET detail = 'x' WHERE number = {number}")

        report = ebbmem.repair(damaged)

        after = [one for one in lines(damaged) if one["record"] == "turn"]
        assert after[4] == before[4] | {"memory_id": None}
        assert after[:4] + after[5:] == before[:4] + before[5:]
        assert [one.table for one in report.done if "was kept without it" in one.problem] == [
            "turns"
        ]

    def test_what_a_lost_memory_had_replaced_is_current_again(self, damaged: Path) -> None:
        edit(damaged, "UPDATE memories SET detail = 'x' WHERE number = 3")

        report = ebbmem.repair(damaged)

        assert memories(lines(damaged))[1]["superseded_by"] is None
        assert any("is current again" in str(one) for one in report.done)

    def test_no_number_is_given_twice(self, damaged: Path) -> None:
        edit(damaged, "UPDATE memories SET detail = 'x' WHERE number = 16",
             "UPDATE scopes SET next_number = 3")  # fmt: skip

        ebbmem.repair(damaged)

        with Database(damaged) as db:
            assert EpisodicMemoryStore(db=db).remember("the next one").number == 17

    def test_bytes_that_are_no_text_are_kept_as_they_are(self, damaged: Path) -> None:
        flip(damaged, b"Rex is a cat", b"Rex is a \xff\xfe\xfd")

        report = ebbmem.repair(damaged)

        (row,) = [one for one in quarantined(report) if one["table"] == "memories"]
        assert row["row"]["summary"] == {"hex": b"Rex is a \xff\xfe\xfd".hex()}
        assert ebbmem.verify(damaged).ok

    @pytest.mark.parametrize(
        ("table", "statement"),
        [
            ("links", "UPDATE links SET weight = 0.125"),
            ("turns", "UPDATE turns SET content = content || 'x'"),
            ("intentions", "UPDATE intentions SET action = 'x'"),
            ("summaries", "UPDATE summaries SET text = 'x'"),
            ("events", "UPDATE events SET at = 0"),
            ("keywords", "UPDATE keywords SET checksum = 0 WHERE role = 'wants'"),
        ],
    )
    def test_a_damaged_row_of_any_table_is_put_aside(
        self, damaged: Path, table: str, statement: str
    ) -> None:
        before = memories(lines(damaged))
        edit(damaged, statement)

        report = ebbmem.repair(damaged)

        assert {one["table"] for one in quarantined(report)} >= {table}
        assert ebbmem.verify(damaged).ok
        assert len(memories(lines(damaged))) == len(before)

    def test_keywords_are_made_anew_from_the_memories(self, damaged: Path) -> None:
        edit(damaged, "DELETE FROM keywords WHERE role = 'has' AND keyword = 'dog'",
             "UPDATE keywords SET checksum = 0 WHERE role = 'has'")  # fmt: skip

        report = ebbmem.repair(damaged)

        assert report.quarantined == 0
        with Database(damaged) as db:
            store = EpisodicMemoryStore(db=db)
            made = store.remember("Dogs need walks", keywords=["dog"])
            assert len(store.neighbors(made.id)) == 2

    def test_an_erased_text_stays_erased(self, path: Path) -> None:
        with Database(path) as db:
            store = EpisodicMemoryStore(db=db)
            secret = store.remember("the canary")
            kept = list(db.export_lines())
            store.erase(secret.id)
        edit(path, "UPDATE erased SET at = at + 1")

        report = ebbmem.repair(path)

        assert [one.table for one in report.done] == ["erased"]
        with Database(path) as db:
            assert db.import_(kept).erased == 1


class TestStore:
    def test_counters_are_made_anew(self, damaged: Path) -> None:
        before = lines(damaged)
        edit(damaged, "UPDATE scopes SET memory_count = 3, checksum_xor = 5, last_seq = 0",
             "UPDATE meta SET value = '1' WHERE key = 'seq'")  # fmt: skip
        with pytest.raises(CorruptStore), Database(damaged) as db:
            EpisodicMemoryStore(db=db).remember("x")

        ebbmem.repair(damaged)

        assert ebbmem.verify(damaged).ok
        assert lines(damaged) == before
        with Database(damaged) as db:
            EpisodicMemoryStore(db=db).remember("goes on")

    def test_a_scope_keeps_its_name_where_memories_prove_it(self, damaged: Path) -> None:
        edit(damaged, "UPDATE scopes SET checksum = 0")
        ebbmem.repair(damaged)
        with Database(damaged) as db:
            assert db.scopes() == ["default"]

    @pytest.mark.parametrize("statement", ["UPDATE scopes SET name = 'bob'", "DELETE FROM scopes"])
    def test_nobody_gets_the_memories_of_a_scope_whose_name_is_lost(
        self, damaged: Path, statement: str
    ) -> None:
        edit(damaged, statement)

        ebbmem.repair(damaged)

        assert ebbmem.verify(damaged).ok
        with Database(damaged) as db:
            assert db.scopes() == ["recovered-1"]
            store = EpisodicMemoryStore(db=db, scope="recovered-1")
            assert store.recall("leash").memories[0].summary == "Bought a leash"
            assert not store.remember("Bought a leash", dedupe=True).created

    def test_scopes_of_one_memory_or_one_turn_come_back_under_other_names(self, path: Path) -> None:
        with Fleet(path) as fleet:
            fleet["ann"].remember("Keeps bees")
            fleet["bob"].add_turn("user", "Hello")
        edit(path, "DELETE FROM scopes")

        ebbmem.repair(path)

        with Fleet(path) as fleet:
            assert fleet.database.scopes() == ["recovered-1", "recovered-2"]
            assert fleet["recovered-1"].remember("Sells honey").number == 2
            assert [turn.content for turn in fleet["recovered-2"].turns()] == ["Hello"]
            fleet["recovered-2"].add_turn("user", "Anybody there?")
            assert fleet.database.verify().ok

    def test_the_key_of_digests_is_kept_where_memories_prove_it(self, damaged: Path) -> None:
        edit(damaged, "UPDATE meta SET checksum = 0 WHERE key = 'store_key'")
        ebbmem.repair(damaged)
        with Database(damaged) as db:
            store = EpisodicMemoryStore(db=db)
            assert not store.remember("Bought a leash", dedupe=True).created

    def test_a_lost_key_is_made_anew_and_told(self, damaged: Path) -> None:
        edit(damaged, "DELETE FROM meta WHERE key = 'store_key'",
             "UPDATE memories SET detail = 'x' WHERE number = 5")  # fmt: skip
        report = ebbmem.repair(damaged)
        assert any("not recognised any more" in str(one) for one in report.done)
        with Database(damaged) as db:
            store = EpisodicMemoryStore(db=db)
            assert not store.remember("Bought a leash", dedupe=True).created

    def test_vectors_that_do_not_fit_are_made_anew(self, path: Path) -> None:
        embedder = CallableEmbedder(lambda texts: [[len(t), 1.0] for t in texts], dim=2, name="len")
        with Database(path) as db:
            EpisodicMemoryStore(db=db, embedder=embedder).remember_many(["a", "bb", "ccc"])
        edit(path, "UPDATE vectors SET vector = zeroblob(4) WHERE row_id & 255 = 2",
             "UPDATE vectors SET vector = zeroblob(8) WHERE row_id & 255 = 3")  # fmt: skip

        report = ebbmem.repair(path)

        assert report.rows["vectors"] == 1
        with Database(path) as db:
            store = EpisodicMemoryStore(db=db, embedder=embedder)
            assert len(store.recall("bb", recipe=recipes.SIMILARITY)) == 3
            assert db.verify().rows["vectors"] == 3

    def test_the_schema_is_made_anew(self, damaged: Path) -> None:
        before = lines(damaged)
        edit(damaged, "DROP INDEX links_by_target", "DROP VIEW readable_links")
        with pytest.raises(CorruptStore):
            Database(damaged)

        ebbmem.repair(damaged)

        assert lines(damaged) == before


class TestOlderStore:
    """A store that an older ebbmem wrote, with fewer tables."""

    @pytest.fixture
    def older(self, path: Path) -> Path:
        with Database(path) as db:
            lived_in(db)
        edit(path, "DROP TABLE staged", "PRAGMA user_version = 1",
             "DELETE FROM meta WHERE key LIKE 'migration:0002%'")  # fmt: skip
        return path

    def test_it_is_checked_as_what_it_is(self, older: Path) -> None:
        before = older.read_bytes()
        assert ebbmem.verify(older).ok
        assert older.read_bytes() == before

    def test_it_is_mended_and_brought_up_to_date(self, older: Path) -> None:
        edit(older, "UPDATE memories SET detail = 'x' WHERE number = 16")
        report = ebbmem.repair(older)
        assert report.rows["memories"] == 15
        assert ebbmem.verify(older).ok
        with Database(older) as db:
            assert db.run_migrations() == []


class TestCommand:
    def run(self, *arguments: str) -> tuple[int, list[str]]:
        result = CliRunner().invoke(app, list(arguments))
        return result.exit_code, result.output.splitlines()

    def test_a_sound_store_is_told(self, damaged: Path) -> None:
        code, out = self.run("repair", "--db", str(damaged))
        assert code == 0
        assert "".join(out).endswith("nothing is wrong, and nothing was changed.")

    def test_what_was_done_is_told_line_by_line(self, damaged: Path) -> None:
        edit(damaged, "UPDATE memories SET detail = 'x' WHERE number = 16")
        code, out = self.run("repair", "--db", str(damaged))
        assert code == 0
        assert "(#16): does not match its checksum" in out[0]
        assert out[-3].startswith(f"{damaged}: mended; kept ")
        assert out[-2].startswith("3 rows put aside: ")
        assert Path(out[-1].removeprefix("the file as it was: ")).is_file()

    def test_json_holds_everything(self, damaged: Path) -> None:
        edit(damaged, "UPDATE memories SET detail = 'x' WHERE number = 16")
        code, out = self.run("repair", "--db", str(damaged), "--json")
        assert code == 0
        assert json.loads("".join(out))["quarantined"] == 3

    def test_what_cannot_be_repaired_ends_with_1(self, path: Path) -> None:
        path.write_bytes(b"[]")
        code, out = self.run("repair", "--db", str(path))
        assert (code, out) == (
            1,
            [f"ebbmem: {path}: it is not an SQLite file; it was left as it was"],
        )
