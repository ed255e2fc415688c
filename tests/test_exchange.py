"""Export and import: nothing lost, nothing twice, nothing erased comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import AgenticMemory, CallableEmbedder, Database, ManualClock
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.models import ImportReport
from ebbmem.records.writing import SqliteWriter

T0 = 1_700_000_000
DAY = 86_400


@pytest.fixture
def database() -> Iterator[Database]:
    with Database(":memory:", clock=ManualClock(T0)) as opened:
        yield opened


@pytest.fixture
def other() -> Iterator[Database]:
    with Database(":memory:", clock=ManualClock(T0 + 400 * DAY)) as opened:
        yield opened


def take(database: Database, *lines: dict[str, Any] | str | bytes, **options: Any) -> ImportReport:
    """Import lines given as objects or as they stand in a file."""
    raw = (json.dumps(line) if isinstance(line, dict) else line for line in lines)
    return database.import_(raw, **options)


def chat(content: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **fields}


def records(database: Database, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in database.export_lines()]
    return [line for line in lines if line.get("record") == kind]


def lived_in(database: Database, scope: str = "default") -> AgenticMemory:
    """Return a memory in which everything has happened once."""
    memory = AgenticMemory(database, scope=scope)
    dog = memory.remember(
        "Adopted a puppy named Rex",
        detail="From the shelter\nin town",
        keywords=["dog", "pet"],
        emotional_valence=0.5,
        emotional_intensity=0.25,
        importance=8,
        metadata={"source": ["é", 1, 2.5, None]},
        valid_from=T0,
        valid_to=T0 + DAY,
        expires_in="90d",
        pinned=True,
        key="rex",
        source="a letter",
        run_id="r1",
    )
    memory.remember("Bought a leash", keywords=["supplies"], related_to=["dog", "still to come"])
    memory.recall("Rex", now=T0 + DAY)
    memory.fail(dog.id, now=T0 + DAY + 1)
    memory.correct(dog.id, "Rex is a cat", now=T0 + 2 * DAY)
    memory.archive(memory.remember("Nul \0 and \u2028 and \x1b[31m").id)
    for n in range(12):
        memory.add_turn("user", f"message {n}", name="Ana", now=T0 + n + 0.123456)
    done = memory.remember_intention("Walk Rex", due_at=T0 + DAY, expires_in="30d")
    memory.remember_intention("Feed Rex", trigger="when he barks")
    memory.complete_intention(done.id, now=T0 + DAY)
    return memory


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


@settings(max_examples=40, deadline=None)
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


# --- importing twice --------------------------------------------------------------------


def test_an_export_imported_twice_changes_nothing(database: Database) -> None:
    lived_in(database)
    lines = list(database.export_lines())

    report = database.import_(lines)

    assert (report.imported, report.existing, report.bad) == (0, len(lines) - 1, ())
    assert list(database.export_lines()) == lines


@pytest.mark.parametrize("as_memories", [False, True])
def test_dated_messages_imported_twice_are_kept_once(database: Database, as_memories: bool) -> None:
    lines = [chat("ok", created_at=T0), chat("ok", created_at=T0), chat("no", created_at=T0 + 1)]

    first = take(database, *lines, as_memories=as_memories)
    second = take(database, *lines, chat("ok", created_at=T0), as_memories=as_memories)

    assert (first.turns, first.memories) == (3, 3 * as_memories)
    assert (second.imported, second.existing) == (1, 3)


def test_messages_with_ids_imported_twice_are_kept_once(database: Database) -> None:
    lines = [chat(f"message {n}", id=n) for n in range(3)]

    take(database, *lines, as_memories=True)
    second = take(database, *lines, as_memories=True, now=T0 + DAY)

    assert (second.imported, second.existing) == (0, 3)
    assert database.stats()[0].turns == database.stats()[0].memories == 3


def test_an_id_that_names_another_text_is_reported(database: Database) -> None:
    take(database, chat("one", id="m1"), as_memories=True)

    report = take(database, chat("two", id="m1"), chat("other run", id="m1", run_id="r"),
                  as_memories=True)  # fmt: skip

    assert [bad.number for bad in report.bad] == [1]
    assert "m1" in report.bad[0].reason
    assert report.imported == 1


def test_memories_are_told_apart_by_key_or_id(database: Database) -> None:
    lines = [{"summary": "one", "id": "a"}, {"summary": "two", "key": "b"}, {"summary": "three"}]

    take(database, *lines)
    second = take(database, *lines)

    assert (second.imported, second.existing) == (1, 2)


# --- messages ---------------------------------------------------------------------------


def test_a_message_becomes_a_turn_and_on_request_a_memory(database: Database) -> None:
    take(database, chat("I like tea", name="Ana", run_id="r", created_at="2024-05-08T13:56:00Z"),
         as_memories=True)  # fmt: skip
    memory = AgenticMemory(database)

    (turn,) = memory.turns(run_id="r")
    made = memory.get(turn.memory_id or "")

    assert (turn.role, turn.content, turn.created_at.isoformat()) == (
        "user", "I like tea", "2024-05-08T13:56:00+00:00",
    )  # fmt: skip
    assert (made.summary, made.memory_type, made.verified) == ("Ana: I like tea", "turn", False)
    assert (made.source, made.run_id, made.created_at) == ("user", "r", turn.created_at)


def test_adjacent_messages_of_a_run_are_linked_across_batches(database: Database) -> None:
    lines = [chat(f"m{n}", run_id="ab"[n % 2], created_at=T0 + n) for n in range(1200)]

    take(database, *lines, as_memories=True)

    links = records(database, "link")
    assert {link["kind"] for link in links} == {"next_turn"}
    assert len(links) == 1198
    assert database.stats()[0].turns == 1200


def test_a_message_goes_to_its_scope_unless_one_is_named(database: Database) -> None:
    line = chat("hello", scope="team", created_at=T0)

    take(database, line, chat("hello", created_at=T0))
    take(database, line, scope="mine")

    assert database.scopes() == ["team", "default", "mine"]


# --- bad lines --------------------------------------------------------------------------

BAD = {
    "not JSON": '{"role": "user", "content": "x"',
    "not an object": "[1]",
    "not UTF-8": b'{"summary": "\xff"}',
    "nested too deeply": '{"summary":' + "[" * 100_000,
    "a number too long": '{"summary": "x", "created_at": ' + "9" * 5000 + "}",
    "nothing known": '{"text": "x"}',
    "no role": '{"content": "x"}',
    "an unknown field": '{"role": "user", "content": "x", "tool_calls": []}',
    "content that is no text": '{"role": "user", "content": [{"text": "x"}]}',
    "a blank role": '{"role": " ", "content": "x"}',
    "a naive moment": '{"role": "user", "content": "x", "created_at": "2024-05-08T13:56:00"}',
    "a moment that is none": '{"role": "user", "content": "x", "created_at": "yesterday"}',
    "NaN for a moment": '{"role": "user", "content": "x", "created_at": NaN}',
    "a moment too far": '{"role": "user", "content": "x", "created_at": 1e300}',
    "true for an id": '{"role": "user", "content": "x", "id": true}',
    "a lone surrogate": '{"summary": "\\ud800"}',
    "importance out of range": '{"summary": "x", "importance": 11}',
    "NaN in metadata": '{"summary": "x", "metadata": {"a": NaN}}',
    "text for keywords": '{"summary": "x", "keywords": "dog"}',
    "an unknown record": '{"record": "dream", "summary": "x"}',
    "a memory without strengths": '{"record": "memory", "summary": "x"}',
    "a link of an unknown kind": '{"record": "link", "kind": "owns"}',
    "a link to nowhere": json.dumps(
        {"record": "link", "source": "0" * 32, "target": "1" * 32, "kind": "related", "weight": 1}
    ),
    "a turn of an unknown memory": json.dumps(
        {"record": "turn", "memory_id": "0" * 32, "run_id": "r", "created_at": T0, **chat("x")}
    ),
    "a summary of nothing": '{"record": "run_summary", "run_id": "r", "text": "x"}',
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_a_bad_line_is_named_and_costs_only_itself(database: Database, line: str | bytes) -> None:
    report = take(database, {"summary": "before"}, "  ", line, {"summary": "after"})

    assert [bad.number for bad in report.bad] == [3]
    assert report.bad[0].reason
    assert (report.lines, report.imported) == (3, 2)
    assert {line["summary"] for line in records(database, "memory")} == {"before", "after"}


def test_a_line_that_the_store_refuses_costs_only_itself(
    database: Database, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived_in(database)
    lines = list(database.export_lines())
    plain = SqliteWriter.insert_memories

    def refusing(self: SqliteWriter, scope_id: int, rows: Any) -> Any:
        if any(row.summary == "Bought a leash" for row in rows):
            raise InvalidArgument("summary: refused")
        return plain(self, scope_id, rows)

    monkeypatch.setattr(SqliteWriter, "insert_memories", refusing)
    report = other.import_(lines)

    assert "summary: refused" in [bad.reason for bad in report.bad]
    assert {line["summary"] for line in records(other, "memory")} == {
        line["summary"] for line in records(database, "memory")
    } - {"Bought a leash"}


def test_an_export_of_a_later_version_is_refused(database: Database) -> None:
    with pytest.raises(InvalidArgument, match="ebbmem_export"):
        take(database, {"ebbmem_export": 2}, {"summary": "x"})

    assert database.scopes() == []


def test_a_file_that_is_not_there_is_an_os_error(database: Database, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        database.import_(tmp_path / "none.jsonl")


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
    copy = AgenticMemory(database, scope="copy")

    assert (first.bad, second.imported) == ((), 0)
    hits = copy.recall("Rex", reinforce=False)
    assert [h.summary for h in hits] == [h.summary for h in memory.recall("Rex", reinforce=False)]
    assert {h.id for h in hits}.isdisjoint(line["id"] for line in records(database, "memory")
                                           if line["scope"] == "default")  # fmt: skip


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
