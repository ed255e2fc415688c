"""Erasures seen from, held back by, and finished by other processes."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
from contextlib import contextmanager

import pytest
from dumps import holds_text
from waiting import events, run

from ebbmem import Database, EpisodicMemoryStore, Fleet

SECRET = "secretword"


@contextmanager
def other(path, code):
    """Run code, a body of a function of (db, fleet, line) called for each line, in a process."""
    script = f"""
import sys
from ebbmem import Fleet
fleet = Fleet({str(path)!r})
kept = []
def do(line):
{textwrap.indent(textwrap.dedent(code), "    ")}
for line in sys.stdin:
    print(do(line.strip()), flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def ask(line):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    try:
        yield ask
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()


RECALL = "return sorted(hit.summary for hit in fleet[line].recall('rex', reinforce=False))"
# A reader that stays open, as a long export does.
READ = """
if line == "begin":
    kept.append(fleet.database.engine.records.read())
    kept[0].__enter__().scopes()
else:
    kept.pop().__exit__(None, None, None)
return line
"""


def test_other_processes_drop_it_at_their_next_recall(path):
    with Fleet(path) as fleet, other(path, RECALL) as ask:
        made = [fleet["ann"].remember(f"rex {n}").id for n in range(9)]
        fleet["bob"].remember("rex of bob")
        assert len(eval(ask("ann"))) == 9
        fleet["ann"].erase(made[4])
        assert eval(ask("ann")) == [f"rex {n}" for n in range(9) if n != 4]
        fleet["ann"].erase(made[5:])
        fleet["ann"].remember("rex again")
        assert eval(ask("ann")) == ["rex 0", "rex 1", "rex 2", "rex 3", "rex again"]
        assert eval(ask("bob")) == ["rex of bob"]
        for n in range(3):
            fleet.database.erase_scope("ann")
            assert eval(ask("ann")) == []
            fleet["ann"].remember(f"rex anew {n}")
            fleet["ann"].remember("something else")
            assert eval(ask("ann")) == [f"rex anew {n}"]
        assert eval(ask("bob")) == ["rex of bob"]


@pytest.mark.parametrize("how", ["flush", "write", "close"])
def test_a_reader_elsewhere_holds_pages_back_and_the_receipt_says_so(path, how):
    with Database(path) as db, other(path, READ) as ask:
        store = EpisodicMemoryStore(db)
        gone = store.remember(f"rex {SECRET}").id
        ask("begin")
        receipt = store.erase(gone)
        assert receipt.pending
        assert store.recall("rex").memories == ()
        assert holds_text(path, SECRET)
        store.flush()
        assert receipt.pending
        ask("end")
        told = pickle.loads(pickle.dumps(receipt))
        assert (told, told.pending, receipt.pending) == (receipt, True, True)
        if how == "flush":
            db.flush()
        elif how == "write":
            store.remember("anything")
        else:
            db.close()
        assert not receipt.pending
        assert not pickle.loads(pickle.dumps(receipt)).pending
        assert not holds_text(path, SECRET)


def test_a_later_erasure_finishes_an_earlier_one(path):
    with Database(path) as db, other(path, READ) as ask:
        store = EpisodicMemoryStore(db)
        first, second = (store.remember(f"rex {SECRET}").id for _ in range(2))
        ask("begin")
        receipt = store.erase(first)
        ask("end")
        assert not store.erase(second).pending
        assert not receipt.pending


def test_a_process_that_dies_before_the_log_is_empty_leaves_that_to_the_next(path):
    code = f"""
        gone = store.remember("rex {SECRET}").id
        db.engine.records._connection.truncate_log = lambda wait_s: os._exit(7)
        store.erase(gone)
    """
    assert run(path, code) == 7
    assert holds_text(path, SECRET)
    with Database(path) as db:
        assert not holds_text(path, SECRET)
        assert EpisodicMemoryStore(db).recall("rex").memories == ()


def test_what_waits_elsewhere_writes_nothing_of_it(path):
    with Fleet(path, pending_s=3_600.0) as fleet:
        gone = fleet["ann"].remember(f"rex {SECRET}").id
        script = "if line == 'flush':\n    fleet.flush()\nelse:\n    fleet[line].recall('rex')"
        with other(path, script) as ask:
            ask("ann")
            fleet["ann"].erase(gone)
            ask("flush")
            assert events(path) == []
            fleet["ann"].remember("rex")
            ask("ann")
            fleet.database.erase_scope("ann")
            ask("flush")
            assert events(path) == []
            assert fleet.database.scopes() == []
    assert not holds_text(path, SECRET)


def test_of_a_hundred_alike_the_one_that_is_left_is_found_on_every_way(path):
    def told(store, cue="rex the dog"):
        return [hit.summary for hit in store.recall(cue, top_k=5, reinforce=False)]

    with Fleet(path) as fleet, other(path, RECALL) as ask:
        store = fleet["ann"]
        made = [store.remember(f"rex the dog {n}", keywords=["rex"]).id for n in range(100)]
        hub = store.remember("leash", related_to=["rex"]).id
        ask("ann")
        store.erase(made[:-1])
        assert told(store)[0] == "rex the dog 99"
        assert told(store, "leash")[0] == "leash"
        assert [link.target for link in store.neighbors(hub)] == [made[99]]
        assert eval(ask("ann")) == ["leash", "rex the dog 99"]
        store.consolidate()
        lines = [line for line in fleet.database.export_lines() if "rex the dog" in line]
        assert ["rex the dog 99" in line for line in lines] == [True]
    with Database(path) as db:
        assert told(EpisodicMemoryStore(db, scope="ann"))[0] == "rex the dog 99"
