"""Corrections, links, the archive and erasure."""

from __future__ import annotations

import pytest
from dumps import dump, holds_text, values

from ebbmem import AgenticMemory, recipes
from ebbmem.buffer import BufferLimits
from ebbmem.errors import InvalidArgument, UnknownMemory

NOW = 1_700_000_000


def ids(result):
    return [hit.id for hit in result]


def live(store, known):
    return [one for one in known if store.get(one).superseded_by is None]


class TestCorrect:
    @pytest.mark.parametrize("recipe", [recipes.DEFAULT, recipes.ASSOCIATIVE])
    @pytest.mark.parametrize("text", ["Rex is a cat", "a cat", ""])
    def test_what_is_superseded_ranks_below_its_successor(self, store, recipe, text):
        old = store.remember("Rex is a dog", importance=10, keywords=["rex"]).id
        new = store.correct(old, text, importance=1).id
        assert ids(store.recall("Is Rex a dog", recipe=recipe)) == [new, old]

    def test_the_old_one_stays_and_says_what_replaced_it(self, store):
        old = store.remember("Rex is a dog").id
        new = store.correct(old, "Rex is a cat").id
        assert store.get(old).summary == "Rex is a dog"
        assert store.get(old).superseded_by == new
        assert store.get(new).superseded_by is None
        links = [(one.target, one.kind) for one in store.neighbors(new)]
        assert links == [(old, "supersedes")]
        assert store.stats().superseded == 1

    def test_type_and_importance_are_inherited(self, store):
        old = store.remember("a", memory_type="semantic", importance=9).id
        new = store.get(store.correct(old, "b").id)
        assert (new.memory_type, new.importance) == ("semantic", 9)

    def test_a_chain_has_one_live_end_wherever_it_is_corrected(self, store):
        known = [store.remember("0").id]
        for n in range(1, 8):
            known.append(store.correct(known[n // 2], str(n)).id)
        assert live(store, known) == known[-1:]
        assert [store.get(a).superseded_by for a in known[:-1]] == known[1:]

    @pytest.mark.parametrize("gone", [0, 1, 2, 3])
    def test_a_chain_has_one_live_end_after_any_of_it_is_erased(self, store, gone):
        known = [store.remember("0").id]
        for n in range(1, 4):
            known.append(store.correct(known[-1], str(n)).id)
        erased = known.pop(gone)
        assert store.erase(erased).count == 1
        assert live(store, known) == known[-1:]
        assert [store.get(a).superseded_by for a in known[:-1]] == known[1:]

    def test_what_replaced_the_only_one_is_erased_and_the_old_is_live_again(self, store):
        old = store.remember("Rex is a dog").id
        store.erase(store.correct(old, "Rex is a cat").id)
        assert store.get(old).superseded_by is None
        (hit,) = store.recall("Rex")
        assert (hit.id, hit.explanation.note) == (old, "")

    def test_corrections_outlive_the_process(self, path, clock):
        with AgenticMemory(path, clock=clock) as memory:
            old = memory.remember("Rex is a dog").id
            new = memory.correct(old, "Rex is a cat").id
        with AgenticMemory(path, clock=clock) as memory:
            assert ids(memory.recall("Rex")) == [new, old]
            newest = memory.correct(old, "Rex is a bird").id
            assert ids(memory.recall("Rex"))[0] == newest
            assert live(memory, [old, new, newest]) == [newest]

    def test_superseded_memories_pass_no_activation(self, store):
        old = store.remember("Rex", keywords=["dog"]).id
        leash = store.remember("leash", related_to=["dog"]).id
        assert leash in ids(store.recall("Rex", reinforce=False))
        store.correct(old, "Tom")
        assert leash not in ids(store.recall("Rex"))

    def test_as_of_before_the_correction_the_old_one_stands(self, store, clock):
        old = store.remember("Rex is a dog").id
        clock.advance(days=1)
        store.correct(old, "Rex is a cat")
        result = store.recall("Rex dog", as_of=NOW + 60)
        assert ids(result) == [old]


class TestLink:
    @pytest.fixture
    def pair(self, store):
        return store.remember("rex").id, store.remember("leash").id

    def test_a_link_leads_one_way(self, store, pair):
        store.link(*pair, kind="causes", weight=0.5)
        (link,) = store.neighbors(pair[0])
        assert (link.source, link.target, link.kind, link.weight) == (*pair, "causes", 0.5)
        assert store.neighbors(pair[1]) == []
        assert ids(store.recall("rex", reinforce=False)) == list(pair)
        assert ids(store.recall("leash", reinforce=False)) == [pair[1]]

    def test_the_greater_weight_stays(self, store, pair):
        for weight in (0.5, 1.0, 0.25):
            store.link(*pair, weight=weight)
        assert [link.weight for link in store.neighbors(pair[0])] == [1.0]
        cascade = store.recall("rex", recipe=recipes.ASSOCIATIVE).memories[1].cascade_score
        assert cascade == 0.5

    @pytest.mark.parametrize("kind", ["supersedes", "conflicts"])
    def test_some_kinds_carry_nothing(self, store, pair, kind):
        store.link(*pair, kind=kind)
        assert ids(store.recall("rex")) == [pair[0]]

    def test_heaviest_first(self, store, pair):
        third = store.remember("third").id
        store.link(pair[0], pair[1], weight=0.3)
        store.link(pair[0], third, weight=0.9)
        assert [link.target for link in store.neighbors(pair[0])] == [third, pair[1]]

    @pytest.mark.parametrize("weight", [0, -1, 1.1, float("nan")])
    def test_weights_are_above_zero_and_at_most_one(self, store, pair, weight):
        with pytest.raises(InvalidArgument, match="weight"):
            store.link(*pair, weight=weight)

    @pytest.mark.parametrize("kind", ["friend", "", None, 5])
    def test_kinds_are_those_listed(self, store, pair, kind):
        with pytest.raises(InvalidArgument, match="kind"):
            store.link(*pair, kind=kind)

    def test_no_memory_is_linked_to_itself_however_its_id_is_written(self, store, pair, path):
        before = dump(path)
        with pytest.raises(InvalidArgument, match="target"):
            store.link(pair[0], pair[0].upper())
        assert dump(path) == before


class TestErase:
    def test_gone_from_everything_that_shows_it(self, store, path, clock):
        kept = store.remember("rex barks", keywords=["dog"]).id
        gone = store.remember("rex secretword", related_to=["dog"], detail="hiddenpart").id
        clock.advance(days=1)
        store.recall("rex")
        store.feedback(used=[gone])
        assert store.erase(gone).count == 1
        assert ids(store.recall("rex secretword")) == [kept]
        assert store.neighbors(kept) == []
        for call in (store.get, store.neighbors, store.fail, store.archive, store.erase):
            with pytest.raises(UnknownMemory):
                call(gone)
        assert (store.stats().memories, store.stats().links) == (1, 0)

    def test_no_table_names_the_row_or_the_text(self, store, path, clock):
        store.remember("rex barks")
        gone = store.remember("rex secretword").id
        clock.advance(days=1)
        store.recall("rex")
        store.erase(gone)
        row = (1 << 32) | 2
        packed = row.to_bytes(8, "little")
        assert not any(
            value == row
            or (isinstance(value, str) and "secretword" in value)
            or (isinstance(value, bytes) and packed in value)
            for value in values(path)
        )

    def test_no_page_of_any_file_holds_the_text(self, store, path):
        gone = store.remember("rex secretword " * 400).id
        assert holds_text(path, "secretword")
        store.erase(gone)
        assert not holds_text(path, "secretword")

    def test_a_turn_that_was_folded_is_gone_from_the_summary_too(self, path, clock):
        with AgenticMemory(path, limits=BufferLimits(2, 1), clock=clock) as memory:
            turns = [memory.add_turn("user", f"word{n} spoken") for n in range(4)]
            assert "word0" in memory.summary()
            memory.erase(turns[0].memory_id)
            assert "word0" not in memory.summary()
            assert not holds_text(path, "word0")

    def test_several_at_once_or_none(self, store, path):
        known = [store.remember(str(n)).id for n in range(4)]
        before = dump(path)
        with pytest.raises(UnknownMemory):
            store.erase([known[0], "00000000-0000-7000-8000-000000000000"])
        assert dump(path) == before
        assert store.erase([known[0], known[2], known[0]]).count == 2
        assert store.stats().memories == 2

    def test_remembering_again_lifts_it(self, store):
        store.erase(store.remember("rex", key="k").id)
        made = store.remember("rex", key="k", dedupe=True)
        assert (made.created, made.number) == (True, 2)
        assert ids(store.recall("rex")) == [made.id]

    def test_statistics_forget_it(self, store):
        store.remember("rex guitar")
        before = store.recall("rex guitar", reinforce=False).memories[0].score
        store.erase(store.remember("rex rex rex drum").id)
        assert store.recall("rex guitar", reinforce=False).memories[0].score == before
