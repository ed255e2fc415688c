from __future__ import annotations

import pytest
from records.contract import RecordStoreContract

from ebbmem.records.sqlite import SqliteRecords


class TestFile(RecordStoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        store = SqliteRecords(tmp_path / "store.db")
        store.migrate()
        yield store
        store.close()


class TestMemory(RecordStoreContract):
    @pytest.fixture
    def store(self):
        store = SqliteRecords(":memory:")
        store.migrate()
        yield store
        store.close()
