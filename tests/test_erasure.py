"""Erasing: by filter, with what was derived, whole scopes, old archives; and what stays gone."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from dumps import dump, holds_text, values

from ebbmem import AgenticMemory, Database, EpisodicMemoryStore, Fleet
from ebbmem.buffer import BufferLimits
from ebbmem.errors import InvalidArgument, InvalidType, UnknownMemory
from ebbmem.index import ScopeIndex

NOW = 1_700_000_000
DAY = 86_400


def summaries(store, cue="rex"):
    return sorted(hit.summary for hit in store.recall(cue, top_k=50, reinforce=False))


def of_scope(path, scope_id):
    """Return the rows that are of a scope, or name one of it."""
    return {
        name: [
            row
            for row in rows
            if row[0] == scope_id or any(isinstance(v, int) and v >> 32 == scope_id for v in row)
        ]
        for name, rows in dump(path).items()
        if name != "meta"
    }


def derive(store, made, *, of):
    """Write down that one memory was made from others, as synthesis does."""
    with store._engine.change(store.scope, NOW * 1_000_000) as change:
        writer = change.writer
        row = {one: writer.find(bytes.fromhex(one.replace("-", ""))) for one in (made, *of)}
        writer.insert_sources(
            change.scope.scope_id, [(row[made], "memory", row[one]) for one in of]
        )


class TestReceipt:
    def test_it_says_what_went(self, store):
        a, b = store.remember("rex a").id, store.remember("rex b").id
        receipt = store.erase([b, a, b])
        assert (receipt.ids, receipt.derived, receipt.count) == ((b, a), (), 2)
        assert (receipt.turns, receipt.intentions, receipt.pending) == (0, 0, False)

    def test_what_had_no_other_source_goes_too(self, store):
        told, other, both, alone, further = (store.remember(f"rex {c}").id for c in "abcde")
        derive(store, both, of=[told, other])
        derive(store, alone, of=[told])
        derive(store, further, of=[alone])
        receipt = store.erase(told)
        assert (receipt.ids, receipt.derived, receipt.count) == ((told,), (alone, further), 3)
        assert summaries(store) == ["rex b", "rex c"]

    def test_a_turn_without_a_memory_is_a_source_as_well(self, path, clock):
        with AgenticMemory(path, index_turns=False, clock=clock) as memory:
            memory.add_turn("user", "rex barks", run_id="a")
            kept = memory.remember("rex is loud")
            with memory._engine.change("default", NOW) as change:
                (turn,) = change.writer.turns(1, "a", 0, 9)
                change.writer.insert_sources(1, [((1 << 32) | kept.number, "turn", turn.row_id)])
            receipt = memory.erase(filters={"run_id": "a"})
            assert (receipt.ids, receipt.derived, receipt.turns) == ((), (kept.id,), 1)
            assert memory.turns(run_id="a") == []

    def test_nothing_to_erase_writes_nothing(self, store, path):
        store.remember("rex")
        before = dump(path)
        other = EpisodicMemoryStore(store._db, scope="other")
        for receipt in (store.erase([]), other.erase(filters={"run_id": "r"})):
            assert (receipt.ids, receipt.count, receipt.pending) == ((), 0, False)
        assert other.purge(older_than="1d").count == 0
        assert store._db.erase_scope("nobody").count == 0
        assert dump(path) == before


class TestIntentions:
    def test_one_is_erased_by_its_id_and_no_import_brings_it_back(self, store, path):
        kept = store.remember_intention("call Tom")
        gone = [store.remember_intention("secretword", trigger=t) for t in ("at noon", None)]
        store.complete_intention(gone[1].id)
        memory = store.remember("rex")
        lines = list(store._db.export_lines())
        receipt = store.erase([gone[0].id, memory.id, gone[1].id])
        assert (receipt.ids, receipt.intentions) == ((memory.id,), 2)
        assert store.due() == [kept]
        assert not holds_text(path, "secretword")
        report = store._db.import_(lines)
        assert (report.imported, report.existing, report.erased) == (0, 1, 3)

    def test_keeping_it_again_lifts_it(self, store):
        store.erase(store.remember_intention("call Tom").id)
        store.remember_intention("call Tom")
        lines = list(store._db.export_lines())
        other = store._db.import_(lines, on_conflict="new")
        assert (other.imported, other.erased) == (1, 0)

    def test_those_of_other_scopes_are_unknown(self, store, path):
        other = EpisodicMemoryStore(store._db, scope="other")
        made, own = other.remember_intention("call"), store.remember("rex").id
        before = dump(path)
        with pytest.raises(UnknownMemory):
            store.erase([own, made.id])
        assert dump(path) == before


class TestScope:
    def test_everything_of_it_goes_and_nothing_of_others(self, path, clock):
        with Fleet(path, clock=clock) as fleet:
            for name in ("ann@example.com", "bob"):
                memory = fleet[name]
                memory.remember("canary rex", keywords=["canaryword"], key="canarykey")
                memory.correct(memory.remember("wrong canary").id, "right canary")
                memory.add_turn("user", "canary turn", run_id="canaryrun")
                memory.remember_intention("canary action", trigger="canary trigger")
                memory.recall("canary")
            fleet.flush()
            bob = of_scope(path, 2)
            receipt = fleet.database.erase_scope("ann@example.com")
            assert (receipt.count, receipt.turns, receipt.intentions) == (4, 1, 1)
            assert fleet.database.scopes() == ["bob"]
            assert [one.scope for one in fleet.database.stats()] == ["bob"]
            assert of_scope(path, 2) == bob
            assert "ann@example.com" not in set(values(path))
            assert summaries(fleet["bob"], "canary") != []
            fleet.database.erase_scope("bob")
            assert not holds_text(path, "canary")
            assert not holds_text(path, "ann@example")
            assert fleet.database.scopes() == []

    def test_a_handle_goes_on_and_makes_it_anew(self, store):
        gone = store.remember("rex old").id
        store._db.erase_scope("default")
        assert (store.stats().memories, store.recall("rex").memories) == (0, ())
        with pytest.raises(UnknownMemory):
            store.get(gone)
        made = store.remember("rex new")
        assert (made.number, summaries(store)) == (1, ["rex new"])

    def test_no_import_brings_it_back(self, path, clock, tmp_path):
        with Fleet(path, clock=clock) as fleet:
            memory = fleet["ann"]
            known = memory.remember("rex", keywords=["dog"]).id
            memory.link(known, memory.remember("leash").id)
            memory.add_turn("user", "hello rex")
            memory.remember_intention("call", trigger="at noon")
            memory.remember_intention("write")
            fleet.database.export(tmp_path / "old.jsonl")
            fleet.database.erase_scope("ann")
            fleet["ann"].remember("something else")
            report = fleet.database.import_(tmp_path / "old.jsonl")
            assert (report.imported, report.bad) == (0, ())
            assert report.erased == report.lines
            assert fleet["ann"].stats().memories == 1
            assert fleet["ann"].due() == []
            fleet["ann"].remember("rex")
            assert summaries(fleet["ann"]) == ["rex"]
            assert fleet.database.import_(tmp_path / "old.jsonl", scope="bob").imported > 0

    def test_names_are_checked(self, store):
        for name in ("", " ", None, 5):
            with pytest.raises((InvalidArgument, InvalidType), match="scope"):
                store._db.erase_scope(name)


class TestPurge:
    def test_only_old_ones_of_the_tier_that_are_not_pinned(self, store, clock):
        old, warm = store.remember("rex old").id, store.remember("rex warm").id
        pinned = store.remember("rex pin", pinned=True).id
        clock.advance(days=300)
        young = store.remember("rex young").id
        for one in (old, pinned, young):
            store.archive(one)
        clock.advance(days=65)
        assert store.purge(older_than="366d").ids == ()
        assert store.purge(older_than=timedelta(365)).ids == (old,)
        assert store.purge(older_than="1d", tier="cold").ids == ()
        assert store.purge(older_than="1d").ids == (young,)
        assert store.get(pinned).pinned
        assert store.get(warm).summary == "rex warm"

    @pytest.mark.parametrize("tier", ["attic", "ARCHIVE", "", None, 2])
    def test_tiers_are_those_there_are(self, store, tier):
        with pytest.raises((InvalidArgument, InvalidType), match="tier"):
            store.purge(older_than="1d", tier=tier)

    @pytest.mark.parametrize("older_than", ["", "0d", "soon", 5, None])
    def test_ages_are_durations(self, store, older_than):
        with pytest.raises((InvalidArgument, InvalidType), match="older_than"):
            store.purge(older_than=older_than)


class TestNothingBringsItBack:
    def exported(self, store):
        return list(store._db.export_lines())

    def test_an_export_made_before(self, store):
        store.erase(store.remember("rex", detail="a dog").id)
        store.remember("kept")
        lines = self.exported(store)
        for line in lines:
            assert "rex" not in line
        old = json.loads(lines[1]) | {"summary": "rex", "id": "0" * 32}
        report = store._db.import_([json.dumps(old)])
        assert (report.imported, report.erased) == (0, 1)

    @pytest.mark.parametrize("form", ["caf\u00e9", "cafe\u0301"])
    def test_in_either_unicode_form(self, store, form):
        store.erase(store.remember("caf\u00e9").id)
        report = store._db.import_([json.dumps({"summary": form})])
        assert (report.imported, report.erased) == (0, 1)

    def test_turns_without_a_memory(self, path, clock):
        with AgenticMemory(path, index_turns=False, clock=clock) as memory:
            memory.add_turn("user", "rex barks", run_id="a")
            lines = self.exported(memory)
            memory.erase(filters={"run_id": "a"})
            report = memory._db.import_(lines)
            assert (report.imported, report.erased, report.bad) == (0, 1, ())
            memory.add_turn("user", "rex barks", run_id="a")
            assert len(memory.turns(run_id="a")) == 1
            assert memory._db.import_(lines, scope="default").erased == 0

    def test_neither_the_sleep_pass_nor_folding(self, path, clock):
        with AgenticMemory(path, limits=BufferLimits(2, 1), clock=clock) as memory:
            gone = memory.add_turn("user", "rex barks").memory_id
            memory.erase(gone)
            for n in range(6):
                memory.add_turn("user", f"more {n}")
            clock.advance(days=400)
            memory.consolidate()
            assert "rex" not in memory.summary()
            assert not holds_text(path, "rex barks")


class TestHistory:
    def test_no_event_is_left_that_names_nothing_else(self, store, path, clock):
        gone, kept = store.remember("rex alone").id, store.remember("tom alone").id
        clock.advance(days=1)
        store.recall("rex", top_k=1)
        store.feedback(used=[gone, kept])
        store.feedback(failed=[gone])
        store.erase(gone)
        events = {row[2]: row for row in dump(path)["events"]}
        # What is left is of tom; "touched" says that it was linked with rex.
        assert sorted(events) == ["remembered", "touched", "used"]
        tom = ((1 << 32) | 2).to_bytes(8, "little")
        assert events["touched"][5][:8] == events["used"][5][:8] == tom
        assert [len(events[kind][5]) for kind in ("touched", "used")] == [24, 24]

    @pytest.mark.parametrize("n", [1, 2, 3, 40])
    def test_however_many_are_erased_no_row_of_them_is_named(self, store, path, clock, n):
        known = [store.remember(f"rex {i}").id for i in range(60)]
        for _ in range(12):
            clock.advance(days=1)
            store.recall("rex", top_k=7)
            store.feedback(used=known[::7], failed=known[1::7])
        store.erase(known[:n])
        named = [value for row in dump(path)["events"] for value in row if isinstance(value, bytes)]
        rows = {payload[at : at + 8] for payload in named for at in range(0, len(payload), 24)}
        assert not rows & {((1 << 32) | i).to_bytes(8, "little") for i in range(1, n + 1)}
        assert rows
        assert all(named)


def test_an_erased_memory_is_dropped_in_place(store, monkeypatch):
    known = [store.remember(f"rex number{n}", keywords=["k"]).id for n in range(80)]
    middle = store.correct(known[7], "tom was there").id
    store.correct(middle, "tim was there")
    end = store.correct(known[9], "tam was there").id
    store.recall("rex")

    def told():
        found = store.recall("rex tim tam number7 number9", top_k=99, reinforce=False)
        return [(hit.id, hit.score, hit.explanation) for hit in found]

    with monkeypatch.context() as patch:
        patch.setattr(ScopeIndex, "load", None)
        for one in (known[3], middle, end):
            store.erase(one)
        before = told()
    assert len(before) == 80
    assert store._db.verify().problems == 0
    store._engine._indexes.clear()
    assert told() == before


def test_two_databases_on_one_file_see_one_erasure(path, clock):
    with Database(path, clock=clock) as one, Database(path, clock=clock) as two:
        a, b = EpisodicMemoryStore(one), EpisodicMemoryStore(two)
        gone = a.remember("rex").id
        assert summaries(b) == ["rex"]
        a.erase(gone)
        assert summaries(b) == []


def test_an_index_does_not_grow_with_what_was_erased() -> None:
    sizes = []
    with Fleet(":memory:") as fleet:
        memory = fleet["a"]
        ids = [one.id for one in memory.remember_many([f"old {n}" for n in range(400)])]
        for turn in range(100):
            ids += [one.id for one in memory.remember_many([f"kettle {n}" for n in range(40)])]
            memory.erase(ids[:40])
            del ids[:40]
            found = memory.recall(f"kettle {turn % 40}", top_k=100, reinforce=False)
            assert {hit.id for hit in found} <= set(ids)
            sizes.append(memory.stats().index_bytes)
    assert max(sizes[50:]) < 1.2 * max(sizes[:50])
