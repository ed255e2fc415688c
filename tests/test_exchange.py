"""Export and import: nothing lost, nothing twice, nothing erased comes back."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchanges import DAY, T0, chat, lived_in, records, take
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import (
    AgenticMemory,
    CallableEmbedder,
    Database,
    EpisodicMemoryStore,
    errors,
)
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.records.writing import SqliteWriter

# --- what an export holds ---------------------------------------------------------------


def test_an_export_begins_with_the_version_of_the_format(database: Database) -> None:
    lived_in(database)

    first = json.loads(next(iter(database.export_lines())))

    assert first["ebbmem_export"] == 1
    assert first["scopes"] == ["default"]


def test_an_export_imported_elsewhere_exports_the_same(database: Database, other: Database) -> None:
    lived_in(database)
    lived_in(database, "second")
    lines = list(database.export_lines())

    report = other.import_(lines)

    assert report.bad == ()
    assert list(other.export_lines()) == lines
    assert other.stats() == [replace(one, index_bytes=0) for one in database.stats()]


def test_what_was_imported_is_recalled_as_before(database: Database, other: Database) -> None:
    memory = lived_in(database)
    other.import_(database.export_lines())
    again = AgenticMemory(other)

    for cue in ("Rex", "leash", "message 3"):
        before = memory.recall(cue, reinforce=False, now=T0 + 3 * DAY)
        after = again.recall(cue, reinforce=False, now=T0 + 3 * DAY)
        assert [(h.id, h.score, h.number) for h in before] == [
            (h.id, h.score, h.number) for h in after
        ]
    assert (again.turns(), again.summary()) == (memory.turns(), memory.summary())


def test_an_index_in_use_follows_an_import(database: Database, other: Database) -> None:
    lived_in(database)
    leash = next(line for line in records(database, "memory") if "leash" in line["summary"])
    memory = AgenticMemory(other)
    memory.remember("Lost the leash")
    memory.recall("leash", reinforce=False)

    take(other, leash)

    found = memory.recall("leash", reinforce=False)
    assert {hit.summary for hit in found} == {"Lost the leash", "Bought a leash"}


def test_a_relation_to_a_keyword_still_to_come_survives(
    database: Database, other: Database
) -> None:
    lived_in(database)
    other.import_(database.export_lines())
    memory = AgenticMemory(other)

    new = memory.remember("Here at last", keywords=["still to come"])

    (link,) = memory.neighbors(new.id)
    assert memory.get(link.target).summary == "Bought a leash"


def test_a_file_is_written_whole_and_read_back(
    database: Database, other: Database, tmp_path: Path
) -> None:
    lived_in(database)

    count = database.export(tmp_path / "all.jsonl")

    assert [file.name for file in tmp_path.iterdir()] == ["all.jsonl"]
    assert (tmp_path / "all.jsonl").read_bytes().count(b"\n") == count
    assert other.import_(tmp_path / "all.jsonl").imported == count - 1


def test_only_the_scopes_asked_for_are_exported(database: Database) -> None:
    lived_in(database, "a")
    lived_in(database, "b")

    lines = [json.loads(line) for line in database.export_lines(scopes=["b", "unknown", "b"])]

    assert lines[0]["scopes"] == ["b"]
    assert {line["scope"] for line in lines[1:]} == {"b"}
    with pytest.raises(InvalidType, match="scopes"):
        database.export_lines(scopes="b")


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs"])),
            st.lists(st.sampled_from(["dog", "cat", "É"]), max_size=2),
            st.floats(1, 10),
            st.booleans(),
        ),
        max_size=6,
    )
)
def test_any_memories_survive_the_round_trip(
    told: list[tuple[str, list[str], float, bool]],
) -> None:
    with Database(":memory:") as database, Database(":memory:") as other:
        memory = AgenticMemory(database)
        for text, keywords, importance, pinned in told:
            memory.remember(text, keywords=keywords, importance=importance, pinned=pinned)
        lines = list(database.export_lines())

        other.import_(line.encode() for line in lines)

        assert list(other.export_lines()) == lines


# --- what was erased, corrected, or belongs to another scope ----------------------------


def test_what_was_erased_does_not_come_back(database: Database) -> None:
    memory = lived_in(database)
    lines = list(database.export_lines())
    turns = memory.turns()
    rex = memory.recall("Rex cat", top_k=1, reinforce=False).memories[0]
    memory.erase([rex.id, turns[0].memory_id or ""])
    before = list(database.export_lines())

    report = database.import_(lines)

    assert report.erased >= 3  # two memories, a turn, and links to them
    assert report.bad == ()
    summaries = {line["summary"] for line in records(database, "memory")}
    assert summaries.isdisjoint({"Rex is a cat", f"Ana: {turns[0].content}"})
    assert turns[0].content not in {line["content"] for line in records(database, "turn")}
    assert len(list(database.export_lines())) == len(before)


def test_a_summary_that_may_hold_what_was_erased_does_not_come_back(
    database: Database, other: Database
) -> None:
    lived_in(database)
    memory = AgenticMemory(other)
    memory.erase(memory.remember("Ana: message 0").id)

    report = other.import_(database.export_lines())

    assert report.bad == ()
    assert memory.summary() == ""
    assert [turn.content for turn in memory.turns()] == [f"message {n}" for n in range(1, 12)]


@pytest.mark.parametrize("as_memories", [False, True])
def test_an_erased_message_does_not_come_back_as_chat(
    database: Database, as_memories: bool
) -> None:
    line = chat("I hate peanuts", name="Ana", id="m1", created_at=T0)
    take(database, line, as_memories=True)
    memory = AgenticMemory(database)
    memory.erase(memory.turns()[0].memory_id or "")

    report = take(database, line, as_memories=as_memories)

    assert (report.imported, report.erased) == (0, 1)
    assert memory.turns() == []


def test_an_erased_text_told_by_a_line_does_not_come_back(database: Database) -> None:
    memory = AgenticMemory(database)
    memory.erase(memory.remember("The code is 1234").id)

    report = take(database, {"summary": "The code is 1234"})

    assert report.erased == 1
    assert memory.stats().memories == 0


def test_an_import_that_was_cut_off_is_completed_by_the_next(
    database: Database, other: Database
) -> None:
    lived_in(database)
    lines = list(database.export_lines())

    other.import_(lines[:2])  # the corrected memory, without what corrected it
    other.import_(lines)

    assert list(other.export_lines()) == lines


KILLED_AT_THE_END = """
import os, signal, sys
from ebbmem import Database

def lines():
    with open(sys.argv[2], encoding="utf-8") as file:
        yield from file
    os.kill(os.getpid(), signal.SIGKILL)

Database(sys.argv[1]).import_(lines())
"""


def test_turns_are_never_there_without_what_folds_them(
    database: Database, tmp_path: Path, path: Path
) -> None:
    """An import that is killed once it has read all lines leaves both, or none of them."""
    lived_in(database)
    file = tmp_path / "lines.jsonl"
    database.export(file)
    script = [sys.executable, "-c", KILLED_AT_THE_END, str(path), str(file)]
    assert subprocess.run(script, timeout=60, check=False).returncode == -signal.SIGKILL
    with Database(path) as killed:
        assert records(killed, "memory") != []
        left = {one["content"]: one["folded"] for one in records(killed, "turn")}
        whole = {one["content"]: one["folded"] for one in records(database, "turn")}
        assert True in whole.values()
        assert left in ({}, whole)
        killed.import_(file)
        assert list(killed.export_lines())[1:] == list(database.export_lines())[1:]
        assert killed.import_(file).imported == 0


def test_turns_are_counted_once_though_they_are_taken_twice(
    database: Database, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where something of a batch is refused its lines are taken again, one at a time."""
    lived_in(database)
    put, refused = SqliteWriter.put_summary, []

    def put_later(self: SqliteWriter, *row: Any) -> None:
        if not refused:
            refused.append(row)
            raise InvalidArgument("refused")
        put(self, *row)

    monkeypatch.setattr(SqliteWriter, "put_summary", put_later)
    assert not other.import_(database.export_lines()).bad
    assert refused
    assert list(other.export_lines()) == list(database.export_lines())


def test_a_circle_of_corrections_is_refused(database: Database, other: Database) -> None:
    memory = AgenticMemory(database)
    first = memory.remember("one")
    memory.correct(first.id, "two")
    one, two = records(database, "memory")
    two["superseded_by"], two["superseded_at"] = one["id"], one["superseded_at"]

    report = take(other, one, two)

    assert [bad.reason for bad in report.bad] == [
        "superseded_by: expected no circle of corrections"
    ]
    assert AgenticMemory(other).correct(first.id, "three").created


def test_a_scope_can_be_copied_within_a_store(database: Database) -> None:
    memory = lived_in(database)
    lines = list(database.export_lines())

    first = database.import_(lines, scope="copy")
    second = database.import_(lines, scope="copy")

    copies = AgenticMemory(database, scope="copy").recall("Rex", reinforce=False)
    originals = memory.recall("Rex", reinforce=False)
    assert (first.bad, second.imported) == ((), 0)
    assert [hit.summary for hit in copies] == [hit.summary for hit in originals]
    assert {hit.id for hit in copies}.isdisjoint(hit.id for hit in originals)


def test_vectors_are_made_anew_by_the_importing_store(database: Database, other: Database) -> None:
    lived_in(database)
    seen: list[str] = []

    def embed(texts: Any) -> Any:
        seen.extend(texts)
        return np.eye(4, dtype=np.float32)[[len(text) % 4 for text in texts]]

    embedder = CallableEmbedder(embed, 4, "length")
    report = other.import_(database.export_lines(), embedder=embedder)

    assert len(seen) == report.memories == other.stats()[0].memories
    assert AgenticMemory(other, embedder=embedder).recall("Rex").memories


def locks(path: Path) -> list[str]:
    """Return the locks on a store's files, as far as the system tells; without their ranks."""
    told = Path("/proc/locks")
    ids = [f":{Path(f'{path}{end}').stat().st_ino}" for end in ("", "-shm")]
    lines = told.read_text().splitlines() if told.exists() else []
    held = [line.split(maxsplit=1)[1] for line in lines]
    return sorted(line for line in held if any(line.split()[4].endswith(one) for one in ids))


def test_export_never_writes_over_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Database(path) as db:
        EpisodicMemoryStore(db).remember("stays")
        before = locks(path)
        for target in (path, f"{path}-wal", f"{path}-shm", f"{path}-journal"):
            with pytest.raises(errors.InvalidArgument, match="path"):
                db.export(target)
        with pytest.raises(errors.InvalidArgument, match="source"):
            db.import_(path)
        # Whoever opens the file and closes it drops every lock that the process has on it.
        assert locks(path) == before
        assert [hit.summary for hit in EpisodicMemoryStore(db).recall("stays")] == ["stays"]


def test_a_path_that_utf8_cannot_hold_is_refused() -> None:
    with pytest.raises(errors.InvalidArgument, match="path"):
        Database("a\ud800b")


def test_an_export_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    with Database(tmp_path / "store.sqlite") as db:
        EpisodicMemoryStore(db).remember("mine")
        with pytest.raises(InvalidType):
            db.export(tmp_path / "out.jsonl", scopes="default")
    assert not list(tmp_path.glob("out.jsonl*"))
