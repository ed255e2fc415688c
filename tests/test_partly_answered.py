"""A batch of cues of which some meet damage: the others are answered, and the error says which."""

from __future__ import annotations

import gc
import pickle
import weakref

import apsw
import pytest
from waiting import held

from ebbmem import Fleet, ManualClock, recipes
from ebbmem.errors import CorruptStore, LockTimeout, PartlyAnswered

NOW = 1_700_000_000
SCOPES = ("a", "bad", "c")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fleet.db"


def filled(path, **options):
    fleet = Fleet(path, clock=ManualClock(NOW), **options)
    for scope in SCOPES:
        fleet[scope].remember_many(["rex barks", "tom sleeps"], now=NOW - 86_400)
    return fleet


def damage(path, change, scope=2):
    with apsw.Connection(str(path)) as connection:
        connection.execute(f"UPDATE memories SET {change} AND row_id >> 32 = {scope}")
    connection.close()


def counts(fleet, scope):
    return [hit.memory.access_count for hit in fleet[scope].recall("rex tom", reinforce=False)]


@pytest.mark.parametrize(("recipe", "count"), [(recipes.DEFAULT, 2), (recipes.ASSOCIATIVE, 3)])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_scope_that_cannot_be_loaded_leaves_the_others_answered(path, recipe, count, threads):
    filled(path).close()
    damage(path, "importance = 9 WHERE 1")
    pairs = [(scope, cue) for cue in ("rex", "tom") for scope in SCOPES]
    with Fleet(path, clock=ManualClock(NOW), recipe=recipe) as fleet:
        with pytest.raises(PartlyAnswered) as caught:
            fleet.recall_many(pairs, threads=threads)
        found = caught.value
        assert list(found.failures) == [1, 4]
        assert list(found.scopes) == [scope for scope, _ in pairs]
        assert [one is None for one in found.results] == [False, True, False] * 2
        assert [one.cue for one in found.results if one] == ["rex", "rex", "tom", "tom"]
        assert all(type(one) is CorruptStore for one in found.failures.values())
        assert str(found).startswith("2 of 6 cues could not be answered, asked in 'bad': ")
        assert found.__cause__ is found.failures[1]
        # What was answered counts, as one by one; another batch finds the others in order.
        assert counts(fleet, "a") == counts(fleet, "c") == [count, count]
        assert len(fleet.recall_many([("a", "rex"), ("c", "rex")])) == 2


def test_a_memory_that_cannot_be_read_fails_only_the_cues_that_call_it_up(path):
    filled(path).close()
    with Fleet(path, clock=ManualClock(NOW)) as fleet:
        for scope in SCOPES:
            fleet[scope].recall("cat", reinforce=False)
        fleet.flush()
        damage(path, "detail = 'x' WHERE summary = 'tom sleeps'")
        pairs = [("bad", "rex"), ("bad", "tom"), ("bad", "rex"), ("c", "tom")]
        with pytest.raises(PartlyAnswered, match=r"1 of 4 .* 'bad'") as caught:
            fleet.recall_many(pairs)
        assert list(caught.value.failures) == [1]
        assert [[hit.summary for hit in one] if one else None for one in caught.value.results] == [
            ["rex barks"], None, ["rex barks"], ["tom sleeps"],
        ]  # fmt: skip
        with pytest.raises(PartlyAnswered) as caught:
            fleet["bad"].recall_many(["tom", "rex"])
        assert [one is None for one in caught.value.results] == [True, False]


def test_recalls_that_were_given_up_are_told_once_to_the_first_cue_of_their_scope(path):
    with filled(path, recipe=recipes.ASSOCIATIVE, pending_s=1e6) as fleet:
        for scope in SCOPES:
            fleet[scope].recall("rex")
        damage(path, "importance = 9 WHERE 1")
        fleet["a"].remember("more")
        damage(path, "importance = 5 WHERE 1")
        pairs = [("c", "rex"), ("bad", "rex"), ("bad", "rex")]
        with pytest.raises(PartlyAnswered) as caught:
            fleet.recall_many(pairs)
        assert list(caught.value.failures) == [1]
        assert [len(one) for one in fleet.recall_many(pairs)] == [2, 2, 2]


def test_recalls_that_were_given_up_are_told_also_behind_what_fits_at_once(path):
    options = {"recipe": recipes.ASSOCIATIVE, "pending_s": 1e6, "index_budget": 60_000}
    with filled(path, **options) as fleet:
        fleet["bad"].recall("rex")
        damage(path, "importance = 9 WHERE 1")
        fleet["a"].remember("more")
        damage(path, "importance = 5 WHERE 1")
        pairs = [("a", "rex"), ("a", "tom"), ("c", "rex"), ("bad", "rex")]
        with pytest.raises(PartlyAnswered) as caught:
            fleet.recall_many(pairs)
        assert list(caught.value.failures) == [3]


def test_a_failure_that_is_kept_keeps_no_index(path):
    filled(path).close()
    damage(path, "importance = 9 WHERE 1")
    with Fleet(path, clock=ManualClock(NOW)) as fleet:
        with pytest.raises(PartlyAnswered) as caught:
            fleet.recall_many([(scope, "rex") for scope in SCOPES])
        kept = caught.value.failures[1]
        del caught
        index = weakref.ref(fleet.database.engine.loaded("a"))
        fleet.database.engine._indexes.drop("a")
        gc.collect()
        assert (index(), str(kept) != "") == (None, True)


def test_a_scope_read_beside_others_fails_the_cues_that_read_it(path):
    filled(path).close()
    damage(path, "importance = 9 WHERE 1")
    with Fleet(path, clock=ManualClock(NOW)) as fleet:
        pairs = [("a", "rex"), ("bad", "rex")]
        with pytest.raises(PartlyAnswered) as caught:
            fleet.recall_many(pairs, also=["bad"])
        assert list(caught.value.failures) == [0, 1]
        with pytest.raises(PartlyAnswered) as caught:
            fleet.recall_many(pairs, also=["c"])
        assert list(caught.value.failures) == [1]
        assert {hit.scope for hit in caught.value.results[0]} == {"a", "c"}


def test_what_is_no_damage_ends_the_batch_at_once(path):
    with filled(path, recipe=recipes.ASSOCIATIVE, pending_recalls=1, busy_wait_s=0.05) as fleet:
        with held(path), pytest.raises(LockTimeout):
            fleet.recall_many([("a", "rex"), ("c", "rex")])
        # The first waits, and counts; the second could not, and does not.
        assert (counts(fleet, "a"), counts(fleet, "c")) == ([2, 2], [1, 1])


def test_the_error_may_go_to_another_process():
    failed = PartlyAnswered([None, None], {1: CorruptStore("broken")}, ["a", "b"])
    copied = pickle.loads(pickle.dumps(failed))
    assert str(copied) == str(failed) == "1 of 2 cues could not be answered, asked in 'b': broken"
    assert list(copied.results) == [None, None]
    assert isinstance(copied, CorruptStore)
