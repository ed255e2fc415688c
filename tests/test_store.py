"""Remembering and recalling in one scope, as its user sees it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from uuid import UUID

import pytest
from dumps import dump

from ebbmem import Tier, recipes
from ebbmem.errors import InvalidArgument, UnknownMemory

NOW = 1_700_000_000
DAY = 86_400


def ids(result):
    return [hit.id for hit in result]


def summaries(result):
    return [hit.summary for hit in result]


class TestRemember:
    def test_every_field_comes_back(self, store):
        made = store.remember(
            "Adopted Rex",
            detail="from the shelter",
            keywords=["Dog", "pet"],
            memory_type="semantic",
            emotional_valence=0.9,
            emotional_intensity=0.6,
            importance=8,
            metadata={"a": [1, {"b": None}]},
            valid_from=NOW - DAY,
            valid_to=NOW + DAY,
            expires_in="30d",
            pinned=True,
            key="k",
            source="chat",
            run_id="r",
        )
        m = store.get(made.id)
        assert (m.summary, m.detail, m.keywords) == (
            "Adopted Rex",
            "from the shelter",
            ("dog", "pet"),
        )
        assert (m.memory_type, m.importance, m.pinned) == ("semantic", 8, True)
        assert (m.emotional_valence, m.emotional_intensity) == (0.9, 0.6)
        assert (m.metadata, m.key, m.source, m.run_id) == (
            {"a": [1, {"b": None}]},
            "k",
            "chat",
            "r",
        )
        moment = datetime.fromtimestamp(NOW, timezone.utc)
        assert (m.created_at, m.anchored_at) == (moment, moment)
        assert (m.valid_from, m.valid_to) == (moment - timedelta(1), moment + timedelta(1))
        assert m.expires_at == moment + timedelta(30)

    def test_defaults(self, store):
        m = store.get(store.remember("x").id)
        assert (m.importance, m.memory_type, m.tier) == (5, "episodic", Tier.WARM)
        assert (m.storage_strength, m.retrievability, m.access_count) == (0.1, 0.55, 1)
        assert (m.keywords, m.metadata, m.detail, m.key) == ((), {}, None, None)
        assert m.scope == "default"

    def test_ids_are_version_7_and_numbers_count_up(self, store):
        made = [store.remember(str(n)) for n in range(5)]
        assert [one.number for one in made] == [1, 2, 3, 4, 5]
        assert {UUID(one.id).version for one in made} == {7}
        assert [one.id for one in made] == sorted(one.id for one in made)

    def test_equal_texts_are_separate_episodes(self, store):
        first, second = store.remember("kettle"), store.remember("kettle")
        assert first.id != second.id
        assert len(store.recall("kettle")) == 2

    @pytest.mark.parametrize("again", ["cafe\u0301 time", "caf\u00e9 time"])
    def test_dedupe_returns_the_live_memory_of_equal_text_in_nfc(self, store, again):
        first = store.remember("caf\u00e9 time")
        second = store.remember(again, dedupe=True)
        assert (second.id, second.created) == (first.id, False)

    def test_dedupe_strengthens_what_it_returns(self, store, clock):
        made = store.remember("kettle")
        clock.advance(days=20)
        store.remember("kettle", dedupe=True)
        m = store.get(made.id)
        # R = 0.55 e^(-0.00925 * 480) = 0.0064878; S = 0.1 + 0.1 * 0.9935122 * 0.9
        assert m.storage_strength == pytest.approx(0.18941610, abs=1e-7)
        assert m.access_count == 2

    def test_dedupe_looks_at_the_whole_text_not_its_case(self, store):
        store.remember("kettle")
        assert store.remember("Kettle", dedupe=True).created
        assert store.remember("kettle\0", dedupe=True).created

    @pytest.mark.parametrize("end", ["archive", "correct", "erase", "expire", "lapse"])
    def test_dedupe_passes_over_what_is_not_live(self, store, clock, end):
        options = {"expire": {"expires_in": "1h"}, "lapse": {"valid_to": NOW + 60}}.get(end, {})
        made = store.remember("kettle", **options)
        if end in ("archive", "erase"):
            getattr(store, end)(made.id)
        elif end == "correct":
            store.correct(made.id, "other")
        clock.advance(days=1)
        again = store.remember("kettle", dedupe=True)
        assert again.created
        assert again.id in ids(store.recall("kettle"))

    def test_a_key_makes_the_call_idempotent(self, store):
        first = store.remember("one", key="k")
        second = store.remember("two", key="k")
        assert (first.id, first.created, first.summary) == (second.id, True, "one")
        # The first wins, and the second says so.
        assert (second.created, second.summary) == (False, "one")
        (third,) = store.remember_many([{"summary": "three", "key": "k"}])
        assert (third.id, third.created, third.summary) == (first.id, False, "one")
        corrected = store.correct(first.id, "two")
        assert (corrected.created, corrected.summary) == (True, "two")
        assert store.remember("four", key="k") == second
        assert store.get(first.id).summary == "one"
        assert store.stats().memories == 2

    def test_an_equal_text_is_told_as_it_is_there(self, store):
        store.remember("caf\u00e9")
        again = store.remember("cafe\u0301", dedupe=True)
        assert (again.created, again.summary) == (False, "caf\u00e9")

    def test_many_are_one_transaction(self, store, path):
        before = dump(path)
        with pytest.raises(InvalidArgument, match="importance"):
            store.remember_many(["fine", {"summary": "bad", "importance": 11}])
        assert dump(path) == before

    def test_many_equal_one_by_one(self, store):
        made = store.remember_many(
            [
                "plain",
                {"summary": "full", "keywords": ["dog"], "importance": 9, "now": NOW - 60},
                {"summary": "linked", "related_to": ["dog"]},
                {"summary": "again", "key": "k"},
                {"summary": "again", "key": "k"},
                {"summary": "plain", "dedupe": True},
            ]
        )
        assert [one.created for one in made] == [True, True, True, True, False, False]
        assert made[5].id == made[0].id
        assert [link.target for link in store.neighbors(made[2].id)] == [made[1].id]
        assert store.get(made[1].id).created_at.timestamp() == NOW - 60

    def test_nothing_to_do_is_done(self, store, path):
        before = dump(path)
        assert store.remember_many([]) == []
        assert store.recall_many([]) == []
        assert store.erase([]).count == 0
        store.feedback()
        assert dump(path) == before

    @pytest.mark.parametrize("duration", ["9999y", timedelta(days=365 * 9_999)])
    def test_an_expiry_beyond_the_calendar_is_kept_or_refused_but_never_half_kept(
        self, store, duration
    ):
        try:
            made = store.remember("long", expires_in=duration)
        except InvalidArgument:
            assert store.stats().memories == 0
        else:
            assert store.get(made.id).expires_at.year == 9999

    def test_save_fact_is_the_same_call(self, store):
        assert store.get(store.save_fact("fact").id).summary == "fact"


class TestRelated:
    def test_links_to_what_is_there_and_to_what_still_comes_both_ways(self, store):
        before = store.remember("puppy", keywords=["dog"]).id
        middle = store.remember("leash", related_to=["dog"]).id
        after = store.remember("kennel", keywords=["dog"]).id
        related = {link.target for link in store.neighbors(middle) if link.kind == "related"}
        assert related == {before, after}
        assert middle in {link.target for link in store.neighbors(before)}
        assert middle in {link.target for link in store.neighbors(after)}

    def test_keywords_link_both_ways(self, store):
        one = store.remember("a", keywords=["DOG"]).id
        other = store.remember("b", keywords=["dog "]).id
        assert [link.target for link in store.neighbors(one)] == [other]
        assert [link.target for link in store.neighbors(other)] == [one]

    @pytest.mark.parametrize(
        ("have", "want"), [("keywords", "related_to"), ("keywords", "keywords")]
    )
    def test_links_go_to_the_32_newest_per_keyword(self, store, have, want):
        made = [store.remember(str(n), **{have: ["dog"]}).id for n in range(40)]
        last = store.remember("last", **{want: ["dog"]}).id
        assert {link.target for link in store.neighbors(last)} == set(made[-32:])

    def test_what_waits_is_linked_to_the_32_newest_too(self, store):
        made = [store.remember(str(n), related_to=["dog"]).id for n in range(40)]
        last = store.remember("last", keywords=["dog"]).id
        assert {link.target for link in store.neighbors(last)} == set(made[-32:])

    def test_a_memory_is_not_linked_to_itself(self, store):
        assert store.neighbors(store.remember("a", keywords=["x"], related_to=["x"]).id) == []

    def test_one_thing_brings_up_another(self, store):
        store.remember("Adopted a puppy named Rex", keywords=["dog", "pet"])
        leash = store.remember("Bought a leash and kibble", related_to=["dog"])
        for recipe in (recipes.DEFAULT, recipes.ASSOCIATIVE):
            hit = next(h for h in store.recall("Rex", recipe=recipe) if h.id == leash.id)
            assert hit.cascade_score > 0
            assert hit.explanation.path == (1, 2)


class TestRecall:
    @pytest.fixture(autouse=True)
    def known(self, store):
        return [store.remember(text).id for text in ("rex barks", "rex", "guitar strings", "")]

    def test_at_most_top_k(self, store):
        assert len(store.recall("rex", top_k=1)) == 1
        assert len(store.recall("rex", top_k=10**30)) == 2

    def test_hits_carry_what_users_need(self, store):
        result = store.recall("rex")
        hit = result.memories[0]
        assert (hit.summary, hit.number, hit.scope) == ("rex", 2, "default")
        assert hit.score == hit.final_score > 0
        assert 0 < hit.similarity <= 1
        assert hit.retrievability == pytest.approx(1.0)
        assert hit.explanation.recipe == "default"
        assert hit.explanation.ranks == {"lexical": 1}
        assert (result.abstained, result.degraded, result.cue) == (False, False, "rex")
        assert UUID(result.id).version == 7

    @pytest.mark.parametrize("cue", ["", "???", "\U0001f600", "zebra", "the of and"])
    def test_nothing_relevant_is_nothing(self, store, cue):
        result = store.recall(cue)
        assert (len(result), result.abstained, result.nearest) == (0, True, None)

    def test_the_nearest_miss_is_named(self, store, known):
        result = store.recall("rex", min_score=0.999)
        assert result.abstained
        assert (result.nearest.id, len(result.skipped)) == (known[1], 2)

    def test_many_cues_are_answered_in_order(self, store):
        results = store.recall_many(["guitar", "rex", "zebra"], reinforce=False)
        assert [summaries(one)[:1] for one in results] == [["guitar strings"], ["rex"], []]

    def test_a_budget_takes_what_fits(self, store):
        store.remember("rex " * 100)
        result = store.recall("rex", token_budget=5, reinforce=False)  # 3 + 1 tokens
        assert summaries(result) == ["rex", "rex barks"]
        assert [hit.explanation.note for hit in result.skipped] == ["over budget"]
        assert summaries(store.recall("rex", token_budget=4, reinforce=False)) == summaries(result)
        assert summaries(store.recall("rex", token_budget=3, reinforce=False)) == ["rex"]

    def test_a_budget_that_nothing_fits_is_no_abstention(self, store):
        store.remember("zebras are striped animals")
        result = store.recall("zebras", token_budget=1)
        assert (len(result), result.abstained) == (0, False)
        assert result.skipped[0].explanation.note == "over budget"

    def test_runs_filter_only_when_asked(self, store):
        store.remember("rex sleeps", run_id="a")
        assert summaries(store.recall("rex", run_id="a")) == ["rex sleeps"]
        assert len(store.recall("rex")) == 3
        assert len(store.recall("rex", run_id="b")) == 0

    def test_the_archive_is_searched_when_asked(self, store, known):
        store.archive(known[1])
        assert known[1] not in ids(store.recall("rex"))
        assert known[1] in ids(store.recall("rex", include_archive=True))
        assert store.get(known[1]).tier is Tier.ARCHIVE

    def test_expired_is_gone_and_valid_is_for_its_time(self, store, clock):
        store.remember("zebra one", expires_in="1h")
        store.remember("zebra two", valid_from=NOW + 7_200)
        store.remember("zebra three", valid_to=NOW + 7_200)
        assert sorted(summaries(store.recall("zebra"))) == ["zebra one", "zebra three"]
        clock.advance(hours=1)
        assert summaries(store.recall("zebra")) == ["zebra three"]
        clock.advance(hours=1)
        assert summaries(store.recall("zebra")) == ["zebra two"]
        assert summaries(store.recall("zebra", as_of=NOW + 7_199)) == ["zebra three"]

    def test_as_of_before_its_correction_a_memory_still_brings_others_up(self, store, clock):
        old = store.remember("zebra", keywords=["stripes"], now=NOW).id
        grass = store.remember("savanna", related_to=["stripes"], now=NOW).id
        store.correct(old, "okapi", now=NOW + 86_400)
        found = store.recall("zebra", as_of=NOW + 60, now=NOW + 2 * 86_400)
        assert grass in [hit.id for hit in found]

    def test_as_of_knows_nothing_of_later(self, store, clock):
        clock.advance(days=1)
        store.remember("rex the second")
        assert len(store.recall("rex", as_of=NOW)) == 2
        assert len(store.recall("rex", as_of=NOW - 1)) == 0

    def test_unknown_ids(self, store):
        for call in (store.get, store.archive, store.erase, store.neighbors, store.fail):
            with pytest.raises(UnknownMemory, match="id"):
                call("00000000-0000-7000-8000-000000000000")
