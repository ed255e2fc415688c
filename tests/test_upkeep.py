"""Intentions, the sleep pass and the counts of a scope."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from dumps import dump

from ebbmem import EpisodicMemoryStore, SleepPolicy, Tier, run_consolidation
from ebbmem.errors import InvalidArgument, InvalidType

NOW = 1_700_000_000
DAY = 86_400


def actions(intentions):
    return [one.action for one in intentions]


class TestIntentions:
    def test_every_field_comes_back(self, store):
        made = store.remember_intention(
            "Book a guitar setup", trigger="when strings buzz", due_at=NOW, expires_in="30d"
        )
        moment = datetime.fromtimestamp(NOW, timezone.utc)
        assert (made.action, made.trigger) == ("Book a guitar setup", "when strings buzz")
        assert (made.created_at, made.due_at) == (moment, moment)
        assert (made.expires_at, made.completed_at) == (moment + timedelta(30), None)
        assert store.due() == [made]

    def test_they_are_no_facts(self, store):
        store.remember_intention("guitar setup", trigger="guitar strings buzz")
        assert len(store.recall("guitar strings")) == 0
        assert (store.stats().memories, store.stats().intentions) == (0, 1)

    def test_due_in_time_dated_first_and_never_expired(self, store, clock):
        store.remember_intention("waits", trigger="when it rains")
        store.remember_intention("later", due_at=NOW + 20)
        store.remember_intention("sooner", due_at=NOW + 10)
        store.remember_intention("brief", due_at=NOW + 10, expires_in="15s")
        assert actions(store.due()) == ["waits"]
        assert actions(store.due(now=NOW + 10)) == ["sooner", "brief", "waits"]
        assert actions(store.due(now=NOW + 15)) == ["sooner", "waits"]
        clock.advance(seconds=20)
        assert actions(store.due()) == ["sooner", "later", "waits"]

    def test_done_is_done_once(self, store):
        made = store.remember_intention("call")
        assert store.complete_intention(made.id)
        assert not store.complete_intention(made.id)
        assert store.due() == []

    def test_completing_what_is_not_there_changes_nothing(self, store, path):
        before = dump(path)
        assert not store.complete_intention("00000000-0000-7000-8000-000000000000")
        assert dump(path) == before

    def test_another_scope_has_its_own(self, store, clock):
        other = EpisodicMemoryStore(store._db, scope="other")
        made = store.remember_intention("call")
        assert other.due() == []
        assert not other.complete_intention(made.id)
        assert store.due() == [made]


class TestSleep:
    @pytest.fixture
    def known(self, store):
        return {
            "plain": store.remember("plain").id,
            "pinned": store.remember("pinned", pinned=True).id,
            "important": store.remember("important", importance=9).id,
            "expiring": store.remember("expiring", expires_in="1d").id,
        }

    def tiers(self, store, known):
        return {name: store.get(one).tier for name, one in known.items()}

    def test_idle_memories_cool_and_then_leave_unless_pinned_or_important(self, store, known):
        first = store.consolidate(now=NOW + 31 * DAY)
        assert (first.scopes, first.visited, first.cooled, first.expired) == (1, 4, 2, 1)
        second = store.consolidate(now=NOW + 366 * DAY)
        assert (second.cooled, second.archived, second.expired) == (0, 1, 0)
        assert self.tiers(store, known) == {
            "plain": Tier.ARCHIVE,
            "pinned": Tier.WARM,
            "important": Tier.COLD,
            "expiring": Tier.ARCHIVE,
        }

    def test_strong_old_episodes_become_knowledge(self, store, known):
        for _ in range(20):
            store.feedback(used=[known["plain"]], now=NOW + 8 * DAY)
        report = store.consolidate(now=NOW + 8 * DAY)
        assert (report.matured, store.get(known["plain"]).memory_type) == (1, "semantic")
        assert store.stats().by_type == {"episodic": 3, "semantic": 1}

    def test_a_second_pass_finds_nothing_to_do(self, store, known, path):
        store.consolidate(now=NOW + 31 * DAY)
        before = dump(path)
        report = store.consolidate(now=NOW + 31 * DAY)
        assert (report.matured, report.cooled, report.archived, report.expired) == (0, 0, 0, 0)
        assert dump(path) == before

    def test_a_dry_run_reports_the_same_and_changes_nothing(self, store, known, path):
        before = dump(path)
        dry = store.consolidate(now=NOW + 31 * DAY, dry_run=True)
        assert dump(path) == before
        wet = store.consolidate(now=NOW + 31 * DAY)
        assert (dry.cooled, dry.expired, dry.dry_run) == (wet.cooled, wet.expired, True)

    def test_nothing_is_ever_deleted(self, store, known):
        for days in (31, 400, 4000):
            store.consolidate(now=NOW + days * DAY)
        assert store.stats().memories == 4
        found = store.recall("plain", include_archive=True, reinforce=False)
        assert [hit.id for hit in found] == [known["plain"]]

    def test_a_pass_over_the_store_visits_every_scope(self, store, known):
        for scope in ("a", "b"):
            EpisodicMemoryStore(store._db, scope=scope).remember("x")
        report = run_consolidation(store._db, now=NOW + 31 * DAY)
        assert (report.scopes, report.visited, report.cooled) == (3, 6, 4)

    def test_an_empty_store_sleeps_too(self, store):
        assert run_consolidation(store._db).scopes == 0
        assert store.consolidate().visited == 0

    @pytest.mark.parametrize(
        "name",
        ["mature_strength", "mature_days", "cold_days", "archive_days", "archive_strength"],
    )
    @pytest.mark.parametrize("value", [float("nan"), "1", None, -1, True])
    def test_thresholds_are_numbers(self, name, value):
        with pytest.raises((InvalidArgument, InvalidType), match=name):
            SleepPolicy(**{name: value})

    def test_cold_comes_before_the_archive(self):
        with pytest.raises(InvalidArgument, match="cold_days"):
            SleepPolicy(cold_days=400)

    @pytest.mark.parametrize("value", [5, "x", {}, SleepPolicy])
    def test_other_policies_are_refused(self, store, value):
        with pytest.raises(InvalidType, match="policy"):
            store.consolidate(policy=value)
        with pytest.raises(InvalidType, match="policy"):
            run_consolidation(store._db, policy=value)


class TestStats:
    def test_counts(self, store):
        first = store.remember("a", keywords=["x"]).id
        store.remember("b", keywords=["x"], memory_type="semantic")
        store.archive(store.correct(first, "c").id)
        store.remember_intention("later")
        stats = store.stats()
        assert (stats.scope, stats.memories, stats.superseded) == ("default", 3, 1)
        assert stats.by_type == {"episodic": 2, "semantic": 1}
        assert stats.by_tier == {"warm": 2, "archive": 1}
        assert (stats.links, stats.intentions, stats.turns) == (3, 1, 0)

    def test_a_scope_without_anything_is_empty_and_is_not_made(self, store, path):
        before = dump(path)
        nobody = EpisodicMemoryStore(store._db, scope="nobody")
        assert nobody.stats().memories == 0
        assert len(nobody.recall("x")) == 0
        assert nobody.due() == []
        assert nobody.consolidate().scopes == 0
        assert dump(path) == before
        assert store._db.scopes() == []
