"""Damage done to a store's file past the library, with every process's copy of it closed."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

import ebbmem
from ebbmem import Database

PAGE = 4096
Line = dict[str, Any]


def edit(path: Path, *statements: str) -> list[Any]:
    """Run statements as another program would; return the rows of the last."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        rows: list[Any] = []
        for statement in statements:
            rows = connection.execute(statement).fetchall()
        return rows


def flip(path: Path, old: bytes, new: bytes) -> None:
    """Replace bytes that are in the file once by as many others."""
    raw = path.read_bytes()
    assert raw.count(old) == 1
    assert len(old) == len(new)
    path.write_bytes(raw.replace(old, new))


def page_of(path: Path, text: bytes) -> int:
    """Return the number of the page that holds a text, from 1."""
    raw = path.read_bytes()
    assert raw.count(text) == 1
    return raw.index(text) // PAGE + 1


def garble(path: Path, page: int) -> None:
    """Overwrite a page with noise; of the first one, all but SQLite's header."""
    raw = bytearray(path.read_bytes())
    start = max((page - 1) * PAGE, 100)
    raw[start : page * PAGE] = b"\xa5" * (page * PAGE - start)
    path.write_bytes(raw)


def fingerprint(path: Path) -> dict[str, str]:
    """Return what every file is whose name begins with the store's, by name."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in path.parent.glob(f"{path.name}*")
    }


def lines(path: Path) -> list[Line]:
    """Return what a store holds, as its export tells it."""
    with Database(path) as db:
        return [json.loads(line) for line in db.export_lines()][1:]


def memories(found: list[Line]) -> dict[int, Line]:
    """Return the memories among exported lines, by number."""
    return {line["number"]: line for line in found if line["record"] == "memory"}


def quarantined(report: ebbmem.RepairReport) -> list[Line]:
    """Return the rows that a repair took out."""
    assert report.quarantine is not None
    with open(report.quarantine, encoding="utf-8") as file:
        return [json.loads(line) for line in file]
