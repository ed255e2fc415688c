"""One flipped bit can change the type of a value: whatever reads it says that the store is corrupt.

SQLite keeps the type of every value beside it, and does not compare it with the column's.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from itertools import product
from pathlib import Path

import apsw
import pytest
from exchanges import DAY, T0, lived_in

from ebbmem import AgenticMemory, Database, HashingEmbedder
from ebbmem.errors import CorruptStore, UnknownMemory
from ebbmem.records.tables import TABLES

_FORMS = ("NULL", "5", "2.5", "'x'", "x'ff'", "CAST({0} AS BLOB)", "CAST({0} AS TEXT)")
_TYPES = re.compile(r" (?:TEXT|INTEGER(?! PRIMARY)|REAL|BLOB)(?: NOT NULL)?\b")

_NOW = T0 + 3 * DAY


def uses(db: Database, ids: list[str]) -> dict[str, Callable[[], object]]:
    """Return everything that reads rows, by name; what takes them away comes last."""
    memory = AgenticMemory(db, embedder=HashingEmbedder(dim=16))
    return {
        "recall": lambda: memory.recall("Rex", now=_NOW),
        "recall where": lambda: memory.recall("Rex", filters={"metadata": {"source": 1}}),
        "flush": memory.flush,
        "stats": memory.stats,
        "all stats": db.stats,
        "turns": memory.turns,
        "due": lambda: memory.due(now=_NOW),
        "export": lambda: list(db.export_lines()),
        **{f"get {n}": partial(memory.get, one) for n, one in enumerate(ids)},
        **{f"neighbors {n}": partial(memory.neighbors, one) for n, one in enumerate(ids)},
        "remember": lambda: memory.remember("Rex sleeps", related_to=["dog"], now=_NOW),
        "add_turn": lambda: memory.add_turn("user", "hello", now=_NOW),
        "consolidate": lambda: memory.consolidate(now=_NOW + DAY),
        "erase": lambda: memory.erase(ids[0]),
        "erase where": lambda: memory.erase(filters={"metadata": {"source": 1}}),
        "purge": lambda: memory.purge(older_than="1d"),
        "verify": db.verify,
        "erase_scope": lambda: db.erase_scope("default"),
    }


def only_corrupt(use: Callable[[], object], note: str) -> None:
    """Run what may find the store corrupt, or a memory gone, and may not fail otherwise."""
    try:
        with suppress(CorruptStore, UnknownMemory):
            use()
    except Exception as exc:
        raise AssertionError(note) from exc


def change_type(path: Path, table: str, column: str, form: str) -> bool:
    """Give a column's values another type, past the schema; return whether any row has it now."""
    with closing(apsw.Connection(str(path))) as connection:
        ((schema,),) = connection.execute(
            "SELECT sql FROM sqlite_schema WHERE name = ?", (table,)
        ).fetchall()
    loose = _TYPES.sub("", schema).replace("STRICT, ", "").replace("STRICT", "")
    put_schema(path, table, loose)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        try:
            connection.execute(f'UPDATE OR IGNORE {table} SET "{column}" = {form}')
            changed = connection.changes() > 0
        except (apsw.ConstraintError, apsw.MismatchError):
            changed = False
    put_schema(path, table, schema)
    return changed


def put_schema(path: Path, table: str, schema: str) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (schema, table))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A store in which everything has happened, and the ids of its memories."""
    path = tmp_path_factory.mktemp("sound") / "memory.db"
    with Database(path) as db:
        memory = AgenticMemory(db, embedder=HashingEmbedder(dim=16))
        memory.remember("Seen by its vector")
        lived_in(db)
        memory.erase(memory.remember("to be erased").id)
        lines = [json.loads(line) for line in db.export_lines()]
    return path, [line["id"] for line in lines if line.get("record") == "memory"][:3]


@pytest.mark.parametrize("table", [table.name for table in TABLES])
def test_a_value_of_another_type_is_corruption_and_nothing_else(
    sound: tuple[Path, list[str]], path: Path, table: str
) -> None:
    source, ids = sound
    columns = next(one.columns for one in TABLES if one.name == table)
    for column, form in product(columns, _FORMS):
        shutil.copyfile(source, path)
        if not change_type(path, table, column, form.format(f'"{column}"')):
            continue
        with suppress(CorruptStore), Database(path) as db:
            for name, use in uses(db, ids).items():
                only_corrupt(use, f"{name}, with {table}.{column} = {form}")
