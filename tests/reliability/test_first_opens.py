"""Many processes open one path at once."""

from __future__ import annotations

import pytest

from ebbmem import AgenticMemory, Database
from reliability import older
from reliability.scorecard import run


def test_all_of_sixteen_succeed_or_are_refused() -> None:
    run("R12", "short").require_none()


@pytest.mark.parametrize("kept", sorted(older.STORES.glob("*.sql")), ids=lambda path: path.stem)
def test_a_store_of_every_version_is_brought_up_to_date_with_its_memories(tmp_path, kept) -> None:
    path = tmp_path / "old.db"
    there = older.make(path, int(kept.stem.removeprefix("schema_")))
    with Database(path) as db:
        assert sum(one.memories for one in db.stats()) == there
        ann = AgenticMemory(db, scope="ann")
        assert ann.recall("Lives in Lisbon").memories[0].summary == "Lives in Berlin"
        assert ann.summary(run_id="chat").startswith("user: message number 0")
        assert db.run_migrations() == []
