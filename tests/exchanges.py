"""Stores with something in them, and lines to import."""

from __future__ import annotations

import json
from typing import Any

from ebbmem import AgenticMemory, Database
from ebbmem.reports import ImportReport

T0 = 1_700_000_000
DAY = 86_400


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
