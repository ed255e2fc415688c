"""Everything a store's file holds, read past the library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw


def dump(path: str | Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table, sorted; views are left out."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        named = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        names = [name for (name,) in connection.execute(named)]
        return {
            name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in names
        }


def values(path: str | Path) -> Iterator[Any]:
    """Yield every value of every table."""
    for rows in dump(path).values():
        for row in rows:
            yield from row


def holds_text(path: str | Path, text: str) -> bool:
    """Return whether any file of a store holds a text: database, log or journal."""
    folder, name = Path(path).parent, Path(path).name
    return any(text.encode() in file.read_bytes() for file in folder.glob(f"{name}*"))
