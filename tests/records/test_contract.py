from __future__ import annotations

import pytest
from records.contract import RecordStoreContract

from ebbmem.records.sqlite import SqliteRecords


class TestFile(RecordStoreContract):
    @pytest.fixture(params=["process", "power"])
    def store(self, tmp_path, request):
        store = SqliteRecords(tmp_path / "store.db", durability=request.param)
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
