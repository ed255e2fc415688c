"""Outcomes, corrections, links and the archive are committed with what others write."""

from __future__ import annotations

import pytest
from gates import NOW, Gate, behind

from ebbmem import Fleet, ManualClock
from ebbmem.errors import InvalidArgument
from ebbmem.records.sqlite import SqliteRecords


def strength(hit):
    memory = hit.memory
    kept = (memory.storage_strength, memory.access_count, memory.tier, bool(memory.superseded_by))
    return (hit.number, hit.score, hit.retrievability, *kept)


def test_changes_are_written_together_as_well(tmp_path, monkeypatch):
    begun, write = [], SqliteRecords.write

    def counted(records, *args):
        begun.append(1)
        return write(records, *args)

    monkeypatch.setattr(SqliteRecords, "write", counted)

    def calls(fleet, ids):
        a = fleet["a"]
        return [
            lambda: a.feedback(used=ids[:2], failed=ids[2:3]),
            lambda: a.correct(ids[0], "rex the cat", keywords=["cat"]),
            lambda: a.link(ids[1], ids[2], weight=0.5),
            lambda: a.fail(ids[0]),
            lambda: a.link(ids[1], ids[2], weight=0.9),
            lambda: a.correct(ids[0], "rex the cow"),
            lambda: a.archive(ids[3]),
            lambda: a.remember("rex", keywords=["cat"]),
            lambda: fleet["b"].feedback(failed=[ids[4]]),
        ]

    told = []
    for together in (False, True):
        clock = ManualClock(NOW)
        with Fleet(tmp_path / f"{together}.db", clock=clock) as fleet:
            ids = [fleet["a"].remember(f"rex {n}", keywords=["dog"]).id for n in range(4)]
            ids.append(fleet["b"].remember("rex").id)
            clock.advance(hours=1)
            for scope in "ab":
                fleet[scope].recall("rex", reinforce=False)
            if together:
                before = len(begun)
                behind(Gate(fleet.database.engine), calls(fleet, ids))
                assert len(begun) == before + 1
            else:
                fleet["gate"].remember("first")
                for call in calls(fleet, ids):
                    call()
            # What the index took over, and what the records say when it is loaded anew.
            for loaded in (True, False):
                if not loaded:
                    fleet.database.engine._indexes.clear()
                seen = [fleet[s].recall("rex", top_k=9, reinforce=False) for s in "ab"]
                told.append([[strength(hit) for hit in one] for one in seen])
    assert told[0] == told[1] == told[2] == told[3]


def test_a_change_that_is_refused_keeps_no_other_from_being_written(path):
    with Fleet(path, clock=ManualClock(NOW)) as fleet:
        a = fleet["a"]
        one, other = a.remember("rex"), a.remember("tom")
        before = strength(a.recall("rex", reinforce=False).memories[0])
        calls = [
            lambda: a.feedback(used=[one.id], failed=[one.id]),
            lambda: a.archive(other.id),
        ]
        refused, archived = behind(Gate(fleet.database.engine), calls)
        with pytest.raises(InvalidArgument, match="failed"):
            refused.result()
        archived.result()
        assert strength(a.recall("rex", reinforce=False).memories[0]) == before
        assert a.recall("tom", reinforce=False).abstained
