"""Recall as a write: what it strengthens, what it leaves alone, what clocks cannot break."""

from __future__ import annotations

from dataclasses import replace

import pytest
from dumps import dump

from ebbmem import Database, EpisodicMemoryStore, ManualClock, recipes
from ebbmem.errors import InvalidArgument, UnknownMemory
from ebbmem.recipes import Guard

NOW = 1_700_000_000
DAY = 86_400


@pytest.fixture
def clock():
    return ManualClock(NOW)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def store(path, clock):
    with Database(path, clock=clock) as db:
        yield EpisodicMemoryStore(db=db)


def strength(store, id):
    m = store.get(id)
    return m.storage_strength, m.retrievability, m.access_count, m.anchored_at.timestamp()


class TestGuard:
    def test_a_hit_is_strengthened_after_ten_minutes(self, store, clock):
        made = store.remember("rex").id
        clock.advance(minutes=10)
        store.recall("rex")
        # R after 1/6 h: 0.55 e^(-0.00925/6) = 0.5491527; S = 0.1 + 0.1 * 0.4508473 * 0.9
        assert strength(store, made) == pytest.approx((0.14057626, 0.57028813, 2, NOW + 600))

    def test_massed_repetition_strengthens_once(self, store, clock):
        made = store.remember("rex").id
        clock.advance(minutes=10)
        for _ in range(5):
            store.recall("rex")
            clock.advance(minutes=1.9)
        assert strength(store, made)[2] == 2

    def test_just_told_is_not_yet_recalled(self, store, clock):
        made = store.remember("rex").id
        clock.advance(minutes=9, seconds=59.999999)
        store.recall("rex")
        assert strength(store, made) == (0.1, 0.55, 1, NOW)

    def test_weak_evidence_strengthens_nothing(self, store, clock):
        made = store.remember("rex barks").id
        store.remember("guitar strings wood")
        clock.advance(days=1)
        hits = store.recall("rex pianos violins cellos harps drums").memories
        assert [hit.similarity < 0.3 for hit in hits] == [True]
        assert strength(store, made)[2] == 1

    def test_what_came_by_association_alone_is_not_strengthened(self, store, clock):
        store.remember("Adopted Rex", keywords=["dog"])
        leash = store.remember("Bought a leash", related_to=["dog"]).id
        clock.advance(days=1)
        assert leash in [hit.id for hit in store.recall("Rex")]
        assert strength(store, leash) == (0.1, 0.55, 1, NOW)

    @pytest.mark.parametrize("cut", ["skipped", "over budget"])
    def test_what_was_not_brought_back_is_not_strengthened(self, store, clock, cut):
        made = store.remember("rex the puppy").id
        clock.advance(days=1)
        options = {"min_score": 0.99} if cut == "skipped" else {"token_budget": 1}
        assert len(store.recall("rex", **options)) == 0
        assert strength(store, made)[2] == 1

    @pytest.mark.parametrize("refractory", ["soon", 10, "", None])
    def test_a_refractory_time_must_be_a_duration(self, refractory):
        with pytest.raises((InvalidArgument, TypeError), match="refractory"):
            Guard(refractory=refractory)


class TestAssociative:
    def test_published_sample_from_recalls_in_a_row(self, store):
        made = store.remember("rex").id
        seen = []
        for _ in range(3):
            store.recall("rex", recipe=recipes.ASSOCIATIVE)
            s, r, count, _ = strength(store, made)
            seen.append(f"R={r:.3f} S={s:.3f} access_count={count}")
        assert seen[0] == "R=0.570 S=0.141 access_count=2"
        assert seen[2] == "R=0.606 S=0.211 access_count=4"

    def test_gain_follows_what_is_left_now_not_what_was_stored(self, store, clock):
        made = store.remember("rex").id
        clock.advance(days=20)
        store.recall("rex", recipe=recipes.ASSOCIATIVE)
        # R now = 0.55 e^-4.44 = 0.0064878: S = 0.1 + 0.1 * 0.9935122 * 0.9; R = 0.5 + S/2
        assert strength(store, made)[:2] == pytest.approx((0.18941610, 0.59470805), abs=1e-7)

    def test_emotion_slows_forgetting(self, store, clock):
        calm = store.remember("rex one").id
        moved = store.remember("rex two", emotional_intensity=1.0).id
        clock.advance(days=20)
        found = store.recall("rex", recipe=recipes.ASSOCIATIVE, reinforce=False)
        left = {hit.id: hit.retrievability for hit in found}
        # 480 h * 0.00925 * 0.2 = 0.888
        assert left[calm] == pytest.approx(0.0064878, abs=1e-6)
        assert left[moved] == pytest.approx(0.55 * 0.4114778, rel=1e-5)


class TestReinforce:
    @pytest.mark.parametrize("how", [False, "use"])
    def test_reading_changes_nothing_on_disk(self, store, path, clock, how):
        store.remember_many(["rex", "rex barks"])
        clock.advance(days=1)
        before = dump(path)
        for recipe in (recipes.DEFAULT, recipes.ASSOCIATIVE, recipes.EBBINGHAUS):
            assert store.recall("rex", reinforce=how, recipe=recipe)
        assert dump(path) == before

    def test_abstaining_changes_nothing_on_disk(self, store, path):
        store.remember("rex")
        before = dump(path)
        store.recall("zebra")
        assert dump(path) == before

    def test_one_event_per_recall_with_strengths_before_and_no_cue(self, store, path, clock):
        store.remember_many(["rex zebra", "rex barks"])
        clock.advance(days=1)
        before = len(dump(path)["events"])
        store.recall("rex pineapple")
        store.flush()
        rows = dump(path)["events"]
        assert len(rows) == before + 1
        assert not any("pineapple" in repr(row) for row in rows)

    @pytest.mark.parametrize("how", ["Recall", True, None, 0, 1, [], "no"])
    def test_other_words_are_refused(self, store, how):
        with pytest.raises((InvalidArgument, TypeError), match="reinforce"):
            store.recall("rex", reinforce=how)

    def test_a_recipe_may_have_its_own_coefficients(self, store):
        made = store.remember("rex").id
        faster = replace(recipes.ASSOCIATIVE.reinforcement, beta=0.3)
        store.recall("rex", recipe=replace(recipes.ASSOCIATIVE, reinforcement=faster))
        assert strength(store, made)[0] == pytest.approx(0.1 + 0.3 * 0.45 * 0.9)


class TestOutcomes:
    def test_used_strengthens_at_once(self, store):
        made = store.remember("rex").id
        result = store.recall("rex")
        store.feedback(recall_id=result.id, used=[made])
        assert strength(store, made) == pytest.approx((0.1405, 0.57025, 2, NOW))

    @pytest.mark.parametrize("how", ["fail", "feedback"])
    def test_failure_weakens(self, store, how):
        made = store.remember("rex").id
        store.fail(made) if how == "fail" else store.feedback(failed=[made])
        # S = 0.1 - 0.3 * 0.55 * 0.1 = 0.0835; R = 0.275
        assert strength(store, made)[:2] == pytest.approx((0.0835, 0.275))

    def test_an_id_given_twice_counts_once(self, store):
        made = store.remember("rex").id
        store.feedback(used=[made, made, made.upper(), made.replace("-", "")])
        assert strength(store, made)[2] == 2

    def test_used_and_failed_at_once_is_refused(self, store, path):
        made = store.remember("rex").id
        before = dump(path)
        with pytest.raises(InvalidArgument, match="failed"):
            store.feedback(used=[made], failed=[made.upper()])
        assert dump(path) == before

    def test_one_unknown_id_changes_nothing(self, store, path):
        made = store.remember("rex").id
        before = dump(path)
        with pytest.raises(UnknownMemory):
            store.feedback(used=[made, "00000000-0000-7000-8000-000000000000"])
        assert dump(path) == before


class TestClocks:
    @pytest.mark.parametrize("recipe", [recipes.DEFAULT, recipes.ASSOCIATIVE])
    @pytest.mark.parametrize("back_days", [0.001, 1, 400])
    def test_a_clock_that_stepped_back_never_lowers_strength(self, store, recipe, back_days):
        made = store.remember("rex").id
        store.feedback(used=[made], now=NOW + DAY)
        before = strength(store, made)
        store.recall("rex", now=NOW - back_days * DAY, recipe=recipe)
        after = strength(store, made)
        assert after[0] >= before[0]
        assert after[3] == before[3]

    def test_memories_from_the_future_are_as_fresh_as_now(self, store):
        store.remember("rex", now=NOW + 400 * DAY)
        (hit,) = store.recall("rex", now=NOW, reinforce=False)
        assert hit.retrievability == 1.0

    def test_strength_never_leaves_its_bounds(self, store, clock):
        made = store.remember("rex").id
        for step in range(60):
            clock.advance(days=step * (-1) ** step)
            store.recall("rex", recipe=recipes.ASSOCIATIVE)
            store.feedback(used=[made]) if step % 3 else store.fail(made)
            s, r, _, _ = strength(store, made)
            assert 0 <= s <= 1
            assert 0 <= r <= 1
