"""A scope that is damaged can be erased: nothing of it has to be read to be whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from damage import edit, garble
from exchanges import T0, lived_in

from ebbmem import AgenticMemory, Database, ManualClock
from ebbmem.errors import CorruptStore
from ebbmem.records.base import NUMBER_BITS

SECRET = b"canary"
ANN = f"BETWEEN {1 << NUMBER_BITS} AND {(2 << NUMBER_BITS) - 1}"
MEMORIES = {
    "a text": "summary = summary || ' damaged'",
    "a text that is not UTF-8": "summary = CAST(x'ff' || summary AS TEXT)",
    "a digest": "digest = zeroblob(32)",
    "a digest of another length": "digest = x'00'",
    "an id": "id = randomblob(16)",
    "an id of another length": "id = CAST(id || x'00' AS BLOB)",
    "metadata": "metadata = '{'",
    "strengths": "storage_strength = -7.0",
}
DAMAGES = {
    **{name: f"UPDATE memories SET {one} WHERE row_id {ANN}" for name, one in MEMORIES.items()},
    "turns": f"UPDATE turns SET content = 'damaged' WHERE row_id {ANN}",
    "intentions": "UPDATE intentions SET action = 'damaged', trigger = NULL",
    "events": "UPDATE events SET payload = x'00' WHERE scope_id = 1",
    "links": f"UPDATE links SET weight = 9.0 WHERE source {ANN}",
    "missing turns": f"DELETE FROM turns WHERE row_id {ANN}",
    "a missing memory": f"DELETE FROM memories WHERE row_id = {(1 << NUMBER_BITS) + 1}",
    "a link from another scope": "UPDATE links SET source = (SELECT max(row_id) FROM memories)"
    " WHERE source = (SELECT min(source) FROM links)",
}


@pytest.fixture
def exported(path: Path) -> list[str]:
    """Make a store with two scopes; return what it holds."""
    with Database(path, clock=ManualClock(T0)) as db:
        memory = lived_in(db, "ann")
        memory.remember("canary sings", keywords=["canary"], detail="canary")
        memory.add_turn("user", "canary said", run_id="a")
        memory.remember_intention("Feed the canary", trigger="canary hungry")
        memory.flush()
        AgenticMemory(db, scope="bob").remember("kettle")
        return list(db.export_lines())


def of_bob(lines: list[str]) -> list[str]:
    return [line for line in lines if json.loads(line).get("scope") == "bob"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_it_is_gone_and_the_other_scope_is_as_it_was(
    path: Path, exported: list[str], damage: str
) -> None:
    edit(path, "PRAGMA secure_delete = ON", DAMAGES[damage])
    with Database(path, clock=ManualClock(T0)) as db:
        receipt = db.erase_scope("ann")
        assert receipt.count + receipt.turns + receipt.intentions > 0
        assert not receipt.pending
        assert db.scopes() == ["bob"]
        assert of_bob(list(db.export_lines())) == of_bob(exported)
        assert db.verify().ok
    for file in path.parent.glob(f"{path.name}*"):
        assert SECRET not in file.read_bytes()


@pytest.mark.parametrize("damage", MEMORIES)
def test_no_import_brings_back_what_could_still_be_read_of_it(
    path: Path, exported: list[str], damage: str
) -> None:
    edit(path, DAMAGES[damage])
    with Database(path, clock=ManualClock(T0)) as db:
        db.erase_scope("ann")
        report = db.import_(exported)
        assert report.imported == 0
        assert [(one.scope, one.memories) for one in db.stats()] == [("bob", 1), ("ann", 0)]


def test_what_is_there_and_is_whole_is_named_in_the_receipt(
    path: Path, exported: list[str]
) -> None:
    ids = {
        one["id"]
        for one in map(json.loads, exported)
        if one.get("record") == "memory" and one["scope"] == "ann"
    }
    edit(path, DAMAGES["an id of another length"] + " AND row_id & 1")
    with Database(path) as db:
        receipt = db.erase_scope("ann")
    assert set(receipt.ids) < ids
    assert receipt.count == len(receipt.ids)


def test_a_page_that_cannot_be_read_is_corruption_and_all_stays(
    path: Path, exported: list[str]
) -> None:
    ((root,),) = edit(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'memories'")
    garble(path, root)
    before = path.read_bytes()
    with Database(path) as db, pytest.raises(CorruptStore):
        db.erase_scope("ann")
    assert path.read_bytes() == before
