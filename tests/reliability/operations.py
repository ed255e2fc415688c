"""What R2 kills: every operation that writes much, and the store that each starts from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw
import numpy as np
from damage import edit, garble

from ebbmem import AgenticMemory, CallableEmbedder, Database, ManualClock, run_consolidation
from ebbmem.records.writing import SqliteWriter
from reliability import older
from reliability.stored import PATIENT_S

NOW = 1_700_000_000
LATER = NOW + 60 * 86_400
SCOPES = ("ann", "bob", "team")
EACH = 130
QUARANTINE = "store.db.quarantine-20240113T221320Z.jsonl"
"""What a repair at LATER puts beside the store."""
State = frozenset[str]
Begun = Callable[[], None]


def state(path: Path) -> State:
    """Return every line of a store's export, and its counts."""
    with opened(path) as db:
        lines = [line for line in db.export_lines() if '"ebbmem_export"' not in line]
        return frozenset([*lines, *(repr(one) for one in db.stats())])


def with_vectors(path: Path) -> State:
    """Return the state, the vectors that are compared with cues, and what they are bound to."""
    asked = "SELECT 'vector', row_id, vector FROM vectors UNION ALL SELECT key, value, 0 FROM meta"
    rows = edit(path, f"{asked} WHERE key LIKE 'embedder%'")
    return state(path) | {repr(row) for row in rows}


def by_number(path: Path) -> State:
    """Return the state with numbers for ids: what is made anew has another id each time."""
    with opened(path) as db:
        lines = [json.loads(line) for line in db.export_lines()][1:]
    numbers = {one["id"]: one["number"] for one in lines if one["record"] == "memory"}
    named = ("id", "source", "target", "memory_id", "superseded_by")
    for one in lines:
        one.update({field: numbers.get(one[field]) for field in named if field in one})
    return frozenset(json.dumps(one, sort_keys=True) for one in lines)


def rows(path: Path) -> State:
    """Return every row of every table as it stands, whole or not."""
    found = []
    with closing(apsw.Connection(str(path))) as connection:
        tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        for (table,) in connection.execute(tables).fetchall():
            # Not by an index: that may be what is damaged.
            whole = f"SELECT * FROM {table} NOT INDEXED"
            found += [repr((table, *row)) for row in connection.execute(whole)]
    return frozenset(found)


def opened(path: Path) -> Database:
    """Open a store at a fixed moment."""
    return Database(path, busy_wait_s=PATIENT_S, clock=ManualClock(LATER))


def nothing(path: Path) -> None:
    """Start from no file at all."""


def lived_in(path: Path) -> None:
    """Make the store that most operations start from."""
    with Database(path, clock=ManualClock(NOW)) as db:
        for scope in SCOPES:
            memory = AgenticMemory(db, scope=scope)
            drafts = [
                {"summary": f"{scope} fact{n} kettle", "keywords": [f"k{n % 9}"], "detail": "x" * n}
                for n in range(EACH)
            ]
            made = memory.remember_many(drafts)
            for n in range(24):
                memory.add_turn("user", f"{scope} said{n}")
            for one in made[:10]:
                memory.correct(one.id, f"{scope} correction of {one.number}")
            memory.recall("kettle", top_k=EACH)


def damaged(path: Path) -> None:
    """Make a store with rows that do not match their checksums, and an index of noise."""
    lived_in(path)
    edit(
        path,
        "UPDATE memories SET summary = 'damaged' WHERE row_id & 31 = 7",
        "UPDATE turns SET content = 'damaged' WHERE row_id & 7 = 1",
        "UPDATE links SET weight = 2.0 WHERE source & 31 = 3",
        "PRAGMA wal_checkpoint(TRUNCATE)",
    )
    named = "SELECT rootpage FROM sqlite_schema WHERE name = 'memories_by_digest'"
    ((root,),) = edit(path, named)
    garble(path, root)


def archived(path: Path) -> None:
    """Make a store with many memories in the archive."""
    lived_in(path)
    with Database(path, clock=ManualClock(NOW)) as db:
        memory = AgenticMemory(db, scope="ann")
        for memory_id in _ids(db)[::2]:
            memory.archive(memory_id)


def taken_in(path: Path) -> None:
    """Make a store that holds what an import would bring."""
    lived_in(path)
    with opened(path) as db:
        db.import_(LINES)


def embedded(path: Path) -> None:
    """Make a store with vectors of another embedder."""
    lived_in(path)
    with opened(path) as db:
        db.reembed(embedder("old", 8))


def staged(path: Path) -> None:
    """Make a store with a new vector of every memory beside the old, but for the last step."""
    embedded(path)
    with (
        opened(path) as db,
        patch.object(SqliteWriter, "switch_vectors", side_effect=InterruptedError),
    ):
        try:
            db.reembed(embedder("new", 16))
        except InterruptedError:
            return
    raise AssertionError("the last step was not reached")


def embedder(name: str, dim: int) -> CallableEmbedder:
    """Return an embedder whose vectors follow from its name and the text."""

    def vectors(texts: Sequence[str]) -> np.ndarray:
        seeds = [hashlib.sha256(f"{name}{text}".encode()).digest() for text in texts]
        return np.array([np.frombuffer(seed[:dim], np.uint8) for seed in seeds], np.float32)

    return CallableEmbedder(vectors, dim, name)


LINES: list[str] = []
"""An export of another store: the same for all workers, which are forked."""


def lines_of_another() -> list[str]:
    """Make an export of a store with other scopes."""
    with Database(":memory:", clock=ManualClock(NOW)) as db:
        for scope in ("carl", "dora"):
            memory = AgenticMemory(db, scope=scope)
            memory.remember_many(
                [{"summary": f"{scope} fact{n}", "keywords": [f"k{n % 5}"]} for n in range(100)]
            )
            for n in range(24):
                memory.add_turn("user", f"{scope} said{n}")
        return list(db.export_lines())


def open_first(path: Path, begun: Begun) -> None:
    """Make a store."""
    begun()
    with opened(path):
        pass


def migrate(path: Path, begun: Begun) -> None:
    """Open a store of an earlier schema."""
    begun()
    with opened(path) as db:
        db.run_migrations()


def erase(path: Path, begun: Begun) -> None:
    """Erase many memories, corrected ones and turns among them."""
    with opened(path) as db:
        memory, ids = AgenticMemory(db, scope="ann"), _ids(db)[::2]
        begun()
        memory.erase(ids)


def erase_scope(path: Path, begun: Begun) -> None:
    """Erase a scope with all it holds."""
    with opened(path) as db:
        begun()
        db.erase_scope("bob")


def purge(path: Path, begun: Begun) -> None:
    """Erase what lies in the archive."""
    with opened(path) as db:
        memory = AgenticMemory(db, scope="ann")
        begun()
        memory.purge(older_than="1d")


def consolidate(path: Path, begun: Begun) -> None:
    """Run the sleep pass over all scopes."""
    with opened(path) as db:
        begun()
        run_consolidation(db)


def export(path: Path, begun: Begun) -> None:
    """Write everything to a file."""
    with opened(path) as db:
        begun()
        db.export(path.with_name("export.jsonl"))


def import_(path: Path, begun: Begun) -> None:
    """Take in what an export of another store holds."""
    with opened(path) as db:
        begun()
        db.import_(LINES)


def import_anew(path: Path, begun: Begun) -> None:
    """Take in once more what is there already, with new ids."""
    with opened(path) as db:
        begun()
        db.import_(LINES, on_conflict="new")


def backup(path: Path, begun: Begun) -> None:
    """Copy the store while it is open."""
    with opened(path) as db:
        begun()
        db.backup(path.with_name("backup.db"))


def repair(path: Path, begun: Begun) -> None:
    """Mend a damaged store."""
    with opened(path) as db:
        begun()
        db.repair()


def reembed(path: Path, begun: Begun) -> None:
    """Change to another embedder."""
    with opened(path) as db:
        begun()
        db.reembed(embedder("new", 16))


def _ids(db: Database) -> list[str]:
    """Return the ids of the memories of one scope."""
    lines = map(json.loads, db.export_lines(scopes=["ann"]))
    return [one["id"] for one in lines if one.get("record") == "memory"]


@dataclass(frozen=True)
class Operation:
    """Something that takes long enough to be killed inside it.

    ``work(path, begun)`` does it and calls ``begun`` once all is ready; ``told`` returns what its
    store holds; ``made`` names the file it writes beside the store, which must not be there or be
    whole.
    """

    work: Callable[[Path, Begun], None]
    prepared: Callable[[Path], Any] = lived_in
    """Makes the store it starts from."""
    told: Callable[[Path], State] = state
    made: str | None = None
    in_parts: bool = False
    """Whether it is several transactions."""
    again: bool = True
    """Whether doing it again after a kill must lead to the state after it."""


OPERATIONS: dict[str, Operation] = {
    "open": Operation(open_first, nothing),
    "migrate": Operation(migrate, older.make_older),
    "erase": Operation(erase, again=False),
    "erase_scope": Operation(erase_scope),
    "purge": Operation(purge, archived),
    "consolidate": Operation(consolidate, in_parts=True),
    "export": Operation(export, made="export.jsonl"),
    "import": Operation(import_, in_parts=True),
    "import as new": Operation(import_anew, taken_in, by_number, in_parts=True, again=False),
    "backup": Operation(backup, made="backup.db"),
    "repair": Operation(repair, damaged, rows, made=QUARANTINE),
    "reembed": Operation(reembed, embedded, with_vectors),
    "switch of vectors": Operation(reembed, staged, with_vectors),
}
