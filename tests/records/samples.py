"""Rows to write, complete but for what a test is about."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from ebbmem.records.base import IntentionRow, LinkRow, MemoryRow, TurnRow
from ebbmem.records.identity import new_id
from ebbmem.records.store import RecordStore

NOW = 1_700_000_000_000_000


def memory(summary: str = "Adopted a puppy named Rex", **changes: object) -> MemoryRow:
    row = MemoryRow(
        row_id=0,
        seq=0,
        id=new_id(NOW),
        memory_type="episodic",
        summary=summary,
        detail=None,
        keywords="dog\npet",
        importance=5.0,
        emotional_valence=0.0,
        emotional_intensity=0.25,
        storage_strength=0.1,
        r_anchor=0.55,
        anchored_at=NOW,
        access_count=1,
        created_at=NOW,
        recorded_at=NOW,
        valid_from=None,
        valid_to=None,
        expires_at=None,
        due_at=None,
        pinned=0,
        verified=0,
        tier=0,
        superseded_by=None,
        superseded_at=None,
        key=None,
        digest=sha256(summary.encode("utf-8", "replace")).digest(),
        source=None,
        run_id=None,
        metadata=None,
    )
    return row._replace(**changes)


def link(source: int, target: int, weight: float = 0.5, at: int = NOW) -> LinkRow:
    return LinkRow(source, target, "related", weight, at)


def turn(content: str, run_id: str = "run", memory_row: int | None = None) -> TurnRow:
    return TurnRow(0, run_id, "user", content, NOW, memory_row)


def intention(scope_id: int, action: str = "Book a setup", at: int = NOW) -> IntentionRow:
    return IntentionRow(new_id(at), scope_id, action, "when strings buzz", None, at, None, None)


def scope_of(store: RecordStore, name: str = "ann") -> int:
    with store.write() as writer:
        return writer.open_scope(name, NOW).scope_id


def remembered(store: RecordStore, *summaries: str, scope: str = "ann") -> list[int]:
    scope_id = scope_of(store, scope)
    with store.write() as writer:
        stored = writer.insert_memories(scope_id, [memory(text) for text in summaries])
    return [row.row_id for row in stored]


def plain_sql(path: str | Path, statement: str, values: tuple[object, ...] = ()) -> list[tuple]:
    """Run a statement as another program would; the store must be closed in this process."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement, values).fetchall()


def python(script: str, *args: str) -> subprocess.Popen[str]:
    """Start a Python process that imports ebbmem from where this one does."""
    root = str(Path(__file__).parents[2])
    tests = str(Path(__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", script, *args],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([root, tests])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
