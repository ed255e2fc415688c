"""Named migrations, each applied once, in one transaction that records it."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from ebbmem.errors import CorruptStore, StoreTooNew
from ebbmem.records.connection import Connection
from ebbmem.records.header import APPLICATION_ID
from ebbmem.records.opened import MEMORY_PATH
from ebbmem.records.rows import meta_checksum
from ebbmem.records.statements import PUT_META

PREFIX: Final = "migration:"
"""Of the meta keys under which the times of migrations are kept."""

_SCHEMA: Final = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"


class Migration(NamedTuple):
    """One step of the schema."""

    name: str
    script: str


@cache
def migrations() -> tuple[Migration, ...]:
    """Return every migration, in the order in which they apply."""
    # Here alone: it costs a sixth of the package's import.
    from importlib.resources import files  # noqa: PLC0415

    folder = files("ebbmem.records") / "migrations"
    scripts = [entry for entry in folder.iterdir() if entry.name.endswith(".sql")]
    return tuple(
        Migration(script.name.removesuffix(".sql"), script.read_text("utf-8"))
        for script in sorted(scripts, key=lambda entry: entry.name)
    )


def schema_version(connection: Connection) -> int:
    """Return how many migrations a store has had."""
    row = connection.row("PRAGMA user_version")
    return int(row[0]) if row else 0


def require_known_version(version: int, path: str) -> None:
    """Raise StoreTooNew for a version with migrations that this library does not have."""
    known = len(migrations())
    if version > known:
        raise StoreTooNew(
            f"{path}: its schema has version {version}, this ebbmem knows up to {known};"
            " it was left as it was"
        )


def apply_migrations(connection: Connection, now_us: int) -> list[str]:
    """Apply the missing migrations and return their names.

    Parameters
    ----------
    connection : Connection
        Outside a transaction.
    now_us : int
        UTC microseconds since 1970, recorded with each.

    Notes
    -----
    Safe in many processes at once: each step looks again once it holds the write lock.
    """
    return [
        migration.name
        for version, migration in enumerate(migrations(), start=1)
        if schema_version(connection) < version and _apply(connection, version, migration, now_us)
    ]


def _apply(connection: Connection, version: int, migration: Migration, now_us: int) -> bool:
    """Apply one migration unless another process just did; return whether it was done here."""
    try:
        connection.begin("IMMEDIATE")
        missing = schema_version(connection) < version
        if missing:
            connection.rows(migration.script)
            entry = (PREFIX + migration.name, str(now_us))
            connection.run(PUT_META, (*entry, meta_checksum(entry)))
            connection.rows(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.rows(f"PRAGMA user_version = {version}")
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
    return missing


def require_expected_schema(connection: Connection) -> None:
    """Raise CorruptStore unless the schema is the one that the store's migrations make.

    Tables, indexes and views beside ours are let be; a trigger or a virtual table would act on
    what is stored.
    """
    found = {(kind, name): sql for kind, name, sql in connection.rows(_SCHEMA)}
    for key, sql in _schema_of(schema_version(connection)).items():
        if found.get(key) != sql:
            raise CorruptStore(f"{connection.path}: {key[0]} {key[1]} is not as ebbmem made it")
    for (kind, name), sql in found.items():
        if kind == "trigger" or sql.upper().startswith("CREATE VIRTUAL"):
            raise CorruptStore(f"{connection.path}: {kind} {name} does not belong in a store")


def expected_tables(connection: Connection) -> set[str]:
    """Return the names of the tables that a store of its version has."""
    return {name for kind, name in _schema_of(schema_version(connection)) if kind == "table"}


def stored_tables(connection: Connection) -> set[str]:
    """Return the names of the tables that a store has, whatever its version says."""
    return {name for kind, name, _ in connection.rows(_SCHEMA) if kind == "table"}


@cache
def _schema_of(version: int) -> dict[tuple[str, str], str]:
    """Return the schema after so many migrations: SQL by kind and name."""
    connection = Connection(MEMORY_PATH, 0.0)
    for migration in migrations()[:version]:
        connection.rows(migration.script)
    schema = {(kind, name): sql for kind, name, sql in connection.rows(_SCHEMA)}
    connection.close()
    return schema
