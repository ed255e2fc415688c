"""Stores as earlier and later versions of the schema have them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw

from ebbmem import AgenticMemory, Database
from ebbmem.records.header import APPLICATION_ID
from ebbmem.records.migrate import migrations

STORES = Path(__file__).parent / "stores"
"""``schema_<version>.sql``: the rows of a store of that version, all as it wrote them."""


def kept_versions() -> list[int]:
    """Return the versions, below today's, of which a store was kept."""
    found = sorted(int(file.stem.removeprefix("schema_")) for file in STORES.glob("schema_*.sql"))
    return [version for version in found if version < len(migrations())]


def make_older(path: Path) -> int:
    """Write a store of the newest version before today's of which one was kept.

    Returns
    -------
    int
        How many memories it holds.  Where none was kept it is a file of 0 bytes, which has had
        none of today's migrations.
    """
    versions = kept_versions()
    if not versions:
        path.touch()
        return 0
    return make(path, versions[-1])


def make(path: Path, version: int) -> int:
    """Write a store of a version of which one was kept; return how many memories it holds."""
    rows = (STORES / f"schema_{version}.sql").read_text("utf-8")
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("page_size", 4096)
        for migration in migrations()[:version]:
            connection.execute(migration.script)
        connection.execute(rows)
        connection.pragma("journal_mode", "wal")
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", version)
        return int(connection.execute("SELECT count(*) FROM memories").fetchone()[0])


def make_newer(path: Path) -> None:
    """Write a store whose schema is one version ahead of today's."""
    with Database(path) as db:
        AgenticMemory(db).remember("of today")
    with closing(apsw.Connection(str(path))) as connection:
        version = connection.pragma("user_version")
        connection.pragma("user_version", version + 1)
