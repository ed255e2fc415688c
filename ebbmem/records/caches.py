"""Connections that keep no more of the file in RAM than they are told."""

from __future__ import annotations

from typing import Final

from ebbmem.records.connection import Connection

MOST_BYTES: Final = 16 << 20
LEAST_BYTES: Final = 1 << 20
OF_BUDGET: Final = 64
READERS_PART: Final = 4


def cache_bytes(index_budget: int) -> int:
    """Return what the connection that writes may keep, beside indexes that take so much in RAM.

    With those that read, it is no more than 4 % of a budget of 64 MiB or above.
    """
    return min(max(index_budget // OF_BUDGET, LEAST_BYTES), MOST_BYTES)


def connected(path: str, busy_wait_s: float, most_bytes: int, *, reads: bool = False) -> Connection:
    """Open a connection; one that reads keeps a quarter of ``most_bytes``."""
    connection = Connection(path, busy_wait_s, reads=reads)
    part = READERS_PART if reads else 1
    try:
        connection.run(f"PRAGMA cache_size = -{most_bytes // part >> 10}")
    except BaseException:
        connection.close()
        raise
    return connection
