"""What becomes of exported lines whose id or key is there already."""

from __future__ import annotations

import pytest
from commands import run
from exchanges import T0, lived_in, records

from ebbmem import AgenticMemory, Database, EpisodicMemoryStore
from ebbmem.errors import InvalidArgument


def test_what_is_there_is_left_as_it_is(database: Database) -> None:
    memory = lived_in(database)
    lines = list(database.export_lines())
    leash = next(one for one in records(database, "memory") if "leash" in one["summary"])
    memory.feedback(used=[leash["id"]], now=T0 + 500)
    stronger = list(database.export_lines())

    report = database.import_(lines)

    assert (report.imported, report.existing, report.bad) == (0, report.lines, ())
    assert list(database.export_lines()) == stronger


def test_an_error_is_told_for_each_and_nothing_of_it_is_written(database: Database) -> None:
    lived_in(database)
    lines = list(database.export_lines())

    report = database.import_(lines, on_conflict="error")

    ids = len(records(database, "memory")) + len(records(database, "intention"))
    assert len(report.bad) == ids
    assert {one.reason for one in report.bad} == {
        "id: expected one that is not there yet, nor a key of one"
    }
    assert list(database.export_lines()) == lines


def test_an_error_leaves_what_is_not_there_to_be_imported(database: Database) -> None:
    store = EpisodicMemoryStore(db=database)
    store.remember("first")
    lines = list(database.export_lines())
    store.remember("second")
    store.erase(store.recall("first").memories[0].id)
    with Database(":memory:") as other:
        other.import_(lines)
        both = list(database.export_lines())
        report = other.import_([*lines, *both[1:]], on_conflict="error")
        assert (report.memories, [one.number for one in report.bad]) == (1, [2])


def test_new_ones_stand_beside_those_that_are_there(database: Database) -> None:
    memory = lived_in(database)
    before = {kind: records(database, kind) for kind in ("memory", "intention", "link", "turn")}

    report = database.import_(list(database.export_lines()), on_conflict="new")

    after = {kind: records(database, kind) for kind in before}
    assert report.bad == ()
    count = len(before["memory"])
    made = after["memory"][count:]
    assert after["memory"][:count] == before["memory"]
    assert len(made) == count
    assert [one["summary"] for one in made] == [one["summary"] for one in before["memory"]]
    assert {one["key"] for one in made} == {None}
    assert not {one["id"] for one in made} & {one["id"] for one in before["memory"]}
    assert len(after["link"]) == 2 * len(before["link"])
    assert len(after["intention"]) == 2 * len(before["intention"])
    assert after["turn"] == before["turn"]
    successor = {one["id"]: one["superseded_by"] for one in made if one["superseded_by"]}
    assert set(successor.values()) <= {one["id"] for one in made}
    assert len(successor) == 1
    assert memory.recall("leash")
    assert database.verify().ok


def test_what_was_erased_does_not_come_back_as_new(database: Database) -> None:
    memory = AgenticMemory(database)
    kept = memory.remember("the canary", key="bird")
    lines = list(database.export_lines())
    memory.erase(kept.id)
    assert database.import_(lines, on_conflict="new").erased == 1
    memory.remember("another text", key="bird")
    assert database.import_(lines, on_conflict="new").erased == 1


@pytest.mark.parametrize("name", ["replace", "", None, 3, "SKIP"])
def test_other_ways_are_refused(database: Database, name: object) -> None:
    with pytest.raises(InvalidArgument, match="on_conflict: expected one of skip, error, new"):
        database.import_([], on_conflict=name)  # type: ignore[arg-type]


def test_the_command_line_takes_it(tmp_path) -> None:
    path, file = tmp_path / "a.db", tmp_path / "a.jsonl"
    with Database(path) as db:
        EpisodicMemoryStore(db=db).remember("first")
        db.export(file)
    arguments = ["import", str(file), "--db", str(path), "--on-conflict"]
    assert run(*arguments, "error").exit_code == 1
    assert run(*arguments, "new").exit_code == 0
    with Database(path) as db:
        assert len(records(db, "memory")) == 2
