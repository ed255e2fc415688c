from __future__ import annotations

import pytest

from ebbmem.records.sqlite import SqliteRecords


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def store(path):
    store = SqliteRecords(path)
    store.migrate()
    yield store
    store.close()
