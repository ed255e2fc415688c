"""Importing what other programs wrote: messages, memories, and lines that are bad."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exchanges import DAY, T0, chat, lived_in, records, take

from ebbmem import AgenticMemory, Database
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.records.writing import SqliteWriter

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

    lines = [chat("two", id="m1"), chat("other run", id="m1", run_id="r")]
    report = take(database, *lines, as_memories=True)

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
    line = chat("I like tea", name="Ana", run_id="r", created_at="2024-05-08T13:56:00Z")
    take(database, line, as_memories=True)
    memory = AgenticMemory(database)

    (turn,) = memory.turns(run_id="r")
    made = memory.get(turn.memory_id or "")

    assert (turn.role, turn.content) == ("user", "I like tea")
    assert turn.created_at.isoformat() == "2024-05-08T13:56:00+00:00"
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


def test_a_missing_field_is_told_with_those_that_came(database: Database) -> None:
    report = take(database, '{"role": "user", "content": null, "name": "Ann"}')
    assert report.bad[0].reason == "line: expected a field 'content', got ['name', 'role']"


def test_a_line_that_the_store_refuses_costs_only_itself(
    database: Database, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived_in(database)
    lines = list(database.export_lines())
    plain = SqliteWriter.insert_memories

    def refusing(self: SqliteWriter, scope_id: int, rows: Any) -> Any:
        if any(row.summary == "Rex is a cat" for row in rows):
            raise InvalidArgument("summary: refused")
        return plain(self, scope_id, rows)

    monkeypatch.setattr(SqliteWriter, "insert_memories", refusing)
    report = other.import_(lines)

    reasons = [bad.reason for bad in report.bad]
    assert reasons.count("summary: refused") == 1
    assert reasons.count("superseded_by: expected a memory of this scope") == 1
    assert len(records(other, "memory")) == len(records(database, "memory")) - 1


def test_an_export_of_a_later_version_is_refused(database: Database) -> None:
    with pytest.raises(InvalidArgument, match="ebbmem_export"):
        take(database, {"ebbmem_export": 2}, {"summary": "x"})

    assert database.scopes() == []


def test_a_file_that_is_not_there_is_an_os_error(database: Database, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        database.import_(tmp_path / "none.jsonl")


@pytest.mark.parametrize("source", [None, 5, [5], [None], ['{"summary": "x"}', 5]])
def test_what_is_no_source_of_lines_is_refused(database: Database, source: object) -> None:
    with pytest.raises(InvalidType, match="source"):
        database.import_(source)  # type: ignore[arg-type]
