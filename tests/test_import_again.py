"""Messages that were imported as turns, and again as memories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from exchanges import DAY, T0, chat, records, take

from ebbmem import AgenticMemory, CallableEmbedder, Database

DATED = [chat(f"message {n}", run_id="ab"[n % 2], created_at=T0 + n) for n in range(8)]
NAMED = [chat("ok", id=f"m{n}", name="Ana") for n in range(5)]


def told(database: Database) -> list[list[Any]]:
    """Return turns, memories and links, by what they say and not by their ids."""
    memories = records(database, "memory")
    texts = {one["id"]: one["summary"] for one in memories}
    return [
        [
            (one["run_id"], one["content"], one["created_at"], texts.get(one["memory_id"]))
            for one in records(database, "turn")
        ],
        sorted((one["summary"], one["created_at"], one["key"] or "") for one in memories),
        sorted((texts[one["source"]], texts[one["target"]]) for one in records(database, "link")),
    ]


@pytest.mark.parametrize("lines", [DATED, NAMED], ids=["dated", "named"])
def test_turns_that_were_imported_become_memories(
    database: Database, other: Database, lines: list[dict[str, Any]]
) -> None:
    take(other, *lines, as_memories=True, now=T0)
    first = take(database, *lines)
    second = take(database, *lines, as_memories=True)
    third = take(database, *lines, as_memories=True)

    count = len(lines)
    assert (first.turns, first.memories, first.imported) == (count, 0, count)
    assert (second.turns, second.memories, second.imported) == (0, count, count)
    assert (third.turns, third.memories, third.existing) == (0, 0, count)
    assert told(database) == told(other)
    assert database.verify().ok


def test_some_are_memories_already(database: Database, other: Database) -> None:
    take(other, *DATED, as_memories=True)
    take(database, *DATED[:2])
    take(database, *DATED[2:5], as_memories=True)
    take(database, *DATED[5:])

    report = take(database, *DATED, as_memories=True)

    assert (report.imported, report.existing, report.memories) == (5, 3, 5)
    turns, memories, links = told(database)
    assert [turns, memories] == told(other)[:2]
    assert set(links) == set(told(other)[2])


def test_an_import_that_was_broken_off_goes_on(database: Database) -> None:
    take(database, *NAMED)
    take(database, *NAMED[:2], as_memories=True)

    report = take(database, *NAMED, as_memories=True)

    assert (report.existing, report.imported, report.turns) == (2, 3, 0)
    assert [turn["memory_id"] is not None for turn in records(database, "turn")] == [True] * 5
    assert len(records(database, "memory")) == 5


def test_new_ones_follow_those_that_were_there(database: Database) -> None:
    take(database, *DATED[:4])

    report = take(database, *DATED, as_memories=True)

    assert (report.imported, report.turns, report.memories) == (8, 4, 8)
    assert len(told(database)[2]) == 6  # three in each of two runs


def test_what_was_erased_does_not_become_a_memory(database: Database) -> None:
    memory = AgenticMemory(database)
    take(database, *DATED)
    memory.erase(memory.remember("message 2").id)

    report = take(database, *DATED, as_memories=True)

    assert (report.erased, report.imported) == (1, 7)
    assert "message 2" not in {one["summary"] for one in records(database, "memory")}


def test_an_id_that_names_another_text_is_reported(database: Database) -> None:
    take(database, chat("one", created_at=T0))
    AgenticMemory(database).remember("two", key="default/m1")

    report = take(database, chat("one", id="m1", created_at=T0), as_memories=True)

    assert [one.number for one in report.bad] == [1]
    assert records(database, "turn")[0]["memory_id"] is None


def test_what_became_a_memory_is_recalled_at_once_and_later(tmp_path: Any) -> None:
    def embed(texts: Any) -> Any:
        rows = [[1.0 + text.count("tea"), 1.0 + text.count("rain")] for text in texts]
        return np.float32(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    embedder = CallableEmbedder(embed, 2, "two words")
    path = tmp_path / "one.db"

    def check(memory: AgenticMemory) -> None:
        (first, second, *_) = memory.recall("tea", reinforce=False)
        assert (first.summary, second.summary) == ("tea tea tea", "rain rain")
        assert first.explanation.ranks["dense"] == 1
        assert memory.get(first.id).created_at.timestamp() == T0
        assert memory.neighbors(first.id)[0].target == second.id
        assert memory.database.verify().ok

    with AgenticMemory(path, embedder=embedder) as memory:
        memory.remember("something else")
        lines = [chat("tea tea tea", created_at=T0), chat("rain rain", created_at=T0 + 1)]
        take(memory.database, *lines, embedder=embedder)
        assert memory.recall("tea", reinforce=False).memories[0].summary == "something else"
        take(memory.database, *lines, as_memories=True, embedder=embedder, now=T0 + DAY)
        check(memory)
    with AgenticMemory(path, embedder=embedder) as memory:
        check(memory)
