"""How much of the file connections keep in RAM."""

from __future__ import annotations

from contextlib import closing

import pytest

from ebbmem.records.caches import cache_bytes, connected
from ebbmem.records.sqlite import SqliteRecords

MIB = 1 << 20


@pytest.mark.parametrize(
    ("budget", "most"),
    [(1, MIB), (64 * MIB, MIB), (192 * MIB, 3 * MIB), (1 << 30, 16 * MIB), (1 << 40, 16 * MIB)],
)
def test_it_is_a_64th_of_the_budget_of_indexes_within_bounds(budget, most):
    assert cache_bytes(budget) == most


@pytest.mark.parametrize(("reads", "kib"), [(False, 2_048), (True, 512)])
def test_a_connection_that_reads_keeps_a_quarter(tmp_path, reads, kib):
    with closing(connected(str(tmp_path / "a.db"), 0.0, 2 * MIB, reads=reads)) as connection:
        assert connection.rows("PRAGMA cache_size") == [(-kib,)]


def test_the_connections_of_a_store_keep_what_they_are_told(tmp_path):
    with closing(SqliteRecords(tmp_path / "a.db", cache_bytes=4 * MIB)) as records:
        records.migrate()
        with records.write() as writer:
            assert writer._connection.rows("PRAGMA cache_size") == [(-4_096,)]
        with records.read() as reader:
            assert reader._connection.rows("PRAGMA cache_size") == [(-1_024,)]
