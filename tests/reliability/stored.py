"""What a store holds, told by its export; and whether its file is sound."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from ebbmem import Database

PATIENT_S = 60.0
"""A busy wait that a loaded machine does not reach."""


class Turn(NamedTuple):
    """One turn of an export."""

    content: str
    memory_id: str | None


class Held(NamedTuple):
    """The contents of one scope."""

    memories: dict[str, dict[str, Any]]
    """By id: the fields of an export."""
    links: set[tuple[str, str, str]]
    """(source, target, kind)."""
    turns: list[Turn]

    def by_text(self) -> dict[str, list[str]]:
        """Return the ids of each text."""
        found: dict[str, list[str]] = {}
        for memory_id, memory in self.memories.items():
            found.setdefault(memory["summary"], []).append(memory_id)
        return found


NOTHING = Held({}, set(), [])


def held(lines: Iterable[str]) -> dict[str, Held]:
    """Return the contents of an export by scope."""
    scopes: dict[str, Held] = {}
    for line in lines:
        fields = json.loads(line)
        record = fields.get("record")
        if record is None:
            continue
        scope = scopes.setdefault(fields["scope"], Held({}, set(), []))
        if record == "memory":
            scope.memories[fields["id"]] = fields
        elif record == "link":
            scope.links.add((fields["source"], fields["target"], fields["kind"]))
        elif record == "turn":
            scope.turns.append(Turn(fields["content"], fields["memory_id"]))
    return scopes


def opened(path: Path, **options: Any) -> Database:
    """Open a store as a patient process does."""
    return Database(path, busy_wait_s=PATIENT_S, **options)


def told(path: Path) -> dict[str, Held]:
    """Return the contents of a store."""
    with opened(path) as db:
        return held(db.export_lines())


def fingerprint(path: Path) -> str:
    """Return a digest of everything a store says of itself: its export, and its counts."""
    with opened(path) as db:
        lines = sorted(db.export_lines())
        counts = [repr(one) for one in db.stats()]
    return hashlib.sha256("".join([*lines, *counts]).encode()).hexdigest()


def faults(path: Path) -> list[str]:
    """Return what SQLite finds wrong with a file; it may be open elsewhere."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(int(PATIENT_S * 1000))
        try:
            told = connection.execute("PRAGMA integrity_check").fetchall()
        except apsw.CorruptError as exc:
            return [str(exc)]
        found = [str(row) for (row,) in told if row != "ok"]
        found += [
            f"a row of {row[0]} names a row of {row[2]} that is not there"
            for row in connection.execute("PRAGMA foreign_key_check")
        ]
    return found


def schema_version(path: Path) -> int:
    """Return the version of a store's schema."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def files(path: Path) -> dict[str, bytes]:
    """Return the bytes of every file of a store, but the memory that readers of its log share."""
    found = path.parent.glob(f"{path.name}*")
    return {file.name: file.read_bytes() for file in sorted(found) if file.suffix != ".db-shm"}
