"""What a file holds of the recalls of a process that has it open, and other processes beside it."""

from __future__ import annotations

import struct
import subprocess
import sys
import textwrap
from contextlib import contextmanager

import apsw
from dumps import dump

NOW = 1_700_000_000
LONG = 3_600.0
"""Seconds in which nothing becomes overdue."""


def events(path, kind="recalled"):
    return [row for row in dump(path)["events"] if row[2] == kind]


def unpacked(payload):
    """Return (row, (storage strength, R)) of every hit that an event of a recall names."""
    return [(row, (s, r)) for row, s, r in struct.iter_unpack("<qdd", payload)]


def counts(path):
    """Return the access count of every memory in the file, by row."""
    with apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY) as connection:
        found = connection.execute("SELECT row_id, access_count FROM memories").fetchall()
    connection.close()
    return dict(found)


@contextmanager
def held(path):
    """Hold the write lock, as another process would."""
    connection = apsw.Connection(str(path))
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


def run(path, code):
    """Run code in a process in which ``store`` is this file's default scope; wait for its end."""
    text = f"""
import os, signal
from ebbmem import Database, EpisodicMemoryStore, recipes
db = Database({str(path)!r}, pending_s={LONG})
store = EpisodicMemoryStore(db, recipe=recipes.ASSOCIATIVE)
{textwrap.dedent(code)}
"""
    return subprocess.run([sys.executable, "-c", text], timeout=60, check=False).returncode
