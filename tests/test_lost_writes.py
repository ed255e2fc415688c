"""verify and repair where a page is sound but old: what was written to it never reached the disk.

SQLite's own check counts no rows of an index that has only some, so it says nothing of these.
"""

from __future__ import annotations

from pathlib import Path

from damage import PAGE, edit, lines, memories
from exchanges import lived_in

import ebbmem
from ebbmem import Database, EpisodicMemoryStore


def put_back(path: Path, table: str, before: bytes) -> None:
    """Let a table that is one page be as it was."""
    ((root,),) = edit(path, f"SELECT rootpage FROM sqlite_schema WHERE name = '{table}'")
    raw = bytearray(path.read_bytes())
    page = slice((root - 1) * PAGE, root * PAGE)
    assert raw[page] != before[page]
    raw[page] = before[page]
    path.write_bytes(raw)


def test_events_that_are_lost_are_told_and_the_memories_kept(path: Path) -> None:
    with Database(path) as db:
        EpisodicMemoryStore(db).remember("first")
    before = path.read_bytes()
    with Database(path) as db:
        EpisodicMemoryStore(db).remember_many(["second", "third"])
    whole = lines(path)
    put_back(path, "events", before)

    found = ebbmem.verify(path).findings
    mended = ebbmem.repair(path)

    problem = "is lost: only an index still names it"
    assert [(one.table, one.scope, one.problem) for one in found] == [
        ("events", "default", problem)
    ] * 2
    assert [one.row for one in mended.done] == [one.row for one in found]
    assert {(one.table, one.problem) for one in mended.done} == {("events", "is lost")}
    assert mended.rows["events"] == 1
    assert ebbmem.verify(path).ok
    assert lines(path) == whole
    with Database(path) as db:
        store = EpisodicMemoryStore(db)
        assert [hit.number for hit in store.recall("third", reinforce=False)] == [3]
        assert store.remember("fourth").number == 4


def test_lost_leaves_among_many_are_told(path: Path) -> None:
    with Database(path) as db:
        EpisodicMemoryStore(db).remember_many([f"fact {n}" for n in range(600)])
    before = path.read_bytes()
    with Database(path) as db:
        EpisodicMemoryStore(db).remember_many([f"more {n}" for n in range(10)])
    now = path.read_bytes()
    leaves = [
        page
        for page in range(0, len(before), PAGE)
        if b"remembered" in now[page : page + PAGE]
        and before[page : page + PAGE] != now[page : page + PAGE]
    ]
    assert leaves

    for page in leaves:
        path.write_bytes(now[:page] + before[page : page + PAGE] + now[page + PAGE :])
        assert not ebbmem.verify(path).ok
        ebbmem.repair(path)
        assert ebbmem.verify(path).ok
        assert len(memories(lines(path))) == 610


def test_what_was_erased_does_not_come_back(path: Path) -> None:
    with Database(path) as db:
        store = lived_in(db)
        one, other = store.remember("secret one"), store.remember("secret other")
        store.erase(one.id)
        exported = [line for line in db.export_lines() if "secret other" in line]
    before = path.read_bytes()
    with Database(path) as db:
        EpisodicMemoryStore(db).erase(other.id)
    put_back(path, "erased", before)

    (found,) = ebbmem.verify(path).findings
    (mended,) = ebbmem.repair(path).done

    assert str(found) == f"erased of 'default' {other.id}: is lost: only an index still names it"
    assert str(mended) == f"erased of 'default' {other.id}: was made anew from its index"
    assert ebbmem.verify(path).ok
    with Database(path) as db:
        assert db.import_(exported).erased == 1


def test_what_a_damaged_index_says_of_an_erasure_is_not_taken_over(path: Path) -> None:
    """A text where there should be bytes ended the repair."""
    with Database(path) as db:
        store = EpisodicMemoryStore(db)
        store.erase(store.remember("secret one").id)
        store.remember("kept")
    # An index's record: its head (a digest of 32 bytes, the scope 1, an id of 16), digest, id.
    raw = bytearray(path.read_bytes())
    at = raw.index(bytes([4, 76, 9, 44]))
    raw[at + 3] += 1  # a text of as many bytes
    raw[at + 36 : at + 52] = b"x" * 16
    path.write_bytes(raw)

    assert not ebbmem.verify(path).ok
    mended = ebbmem.repair(path)

    assert ("erased", "is lost") in [(one.table, one.problem) for one in mended.done]
    assert mended.rows["erased"] == 1
    assert ebbmem.verify(path).ok
    assert len(memories(lines(path))) == 1
