"""Erasing what has what a filter asks for, and nothing else."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from dumps import dump, holds_text

from ebbmem import AgenticMemory
from ebbmem.buffer import BufferLimits
from ebbmem.errors import InvalidArgument, InvalidType

NOW = 1_700_000_000
DAY = 86_400


def summaries(store, cue="rex"):
    return sorted(hit.summary for hit in store.recall(cue, top_k=50, reinforce=False))


class TestFilters:
    @pytest.fixture
    def filled(self, store, clock):
        store.remember("rex one", run_id="a", source="chat", metadata={"k": 1, "l": [1, {"x": 2}]})
        store.remember("rex two", run_id="a", memory_type="semantic", metadata={"k": True})
        clock.advance(days=1)
        store.remember("rex three", run_id="b", source="chat", metadata={"k": 1.0})
        store.remember("rex four", memory_type="semantic")
        return store

    @pytest.mark.parametrize(
        ("filters", "left"),
        [
            ({"run_id": "a"}, ["four", "three"]),
            ({"memory_type": "semantic"}, ["one", "three"]),
            ({"source": "chat"}, ["four", "two"]),
            ({"source": "chat", "run_id": "a"}, ["four", "three", "two"]),
            ({"created_before": NOW + 1}, ["four", "three"]),
            (
                {"created_before": datetime.fromtimestamp(NOW, timezone.utc)},
                ["four", "one", "three", "two"],
            ),
            ({"metadata": {"k": 1}}, ["four", "three", "two"]),
            ({"metadata": {"k": True}}, ["four", "one", "three"]),
            ({"metadata": {"k": 1, "l": [1, {"x": 2}]}}, ["four", "three", "two"]),
            ({"metadata": {"m": None}}, ["four", "one", "three", "two"]),
            ({"run_id": "A"}, ["four", "one", "three", "two"]),
            ({"run_id": "%"}, ["four", "one", "three", "two"]),
        ],
    )
    def test_every_condition_must_hold(self, filled, filters, left):
        receipt = filled.erase(filters=filters)
        assert summaries(filled) == sorted(f"rex {one}" for one in left)
        assert receipt.count == 4 - len(left)

    @pytest.mark.parametrize(
        ("filters", "error"),
        [
            ({}, InvalidArgument),
            ({"metadata": {}}, InvalidArgument),
            ({"metadata": None}, InvalidType),
            ({"metadata": "k"}, InvalidType),
            ({"run_id": None}, InvalidType),
            ({"run_id": ""}, InvalidArgument),
            ({"run": "a"}, InvalidArgument),
            ({"run_id": "a", "tier": "hot"}, InvalidArgument),
            ({"run_id": "a", "summary": "rex"}, InvalidArgument),
            ({1: "a"}, InvalidArgument),
            ({"run_id": ["a"]}, InvalidType),
            ({"created_before": "yesterday"}, InvalidType),
            ("run_id", InvalidType),
            ([("run_id", "a")], InvalidType),
        ],
    )
    def test_what_is_not_understood_is_refused_and_erases_nothing(
        self, filled, path, filters, error
    ):
        before = dump(path)
        with pytest.raises(error):
            filled.erase(filters=filters)
        assert dump(path) == before

    def test_ids_or_filters_never_both_or_neither(self, filled):
        known = filled.recall("rex").memories[0].id
        for arguments in ({}, {"ids": [known], "filters": {"run_id": "a"}}):
            with pytest.raises(InvalidArgument, match="filters"):
                filled.erase(**arguments)

    def test_a_run_goes_with_its_turns_and_its_summary(self, path, clock):
        with AgenticMemory(path, index_turns=False, limits=BufferLimits(2, 1), clock=clock) as m:
            for n in range(4):
                m.add_turn("user", f"spoken{n}", run_id="secretrun")
                m.add_turn("user", f"kept{n}", run_id="other")
            assert m.erase(filters={"run_id": "secretrun"}).turns == 4
            assert (m.turns(run_id="secretrun"), m.summary(run_id="secretrun")) == ([], "")
            assert "kept0" in m.summary(run_id="other")
            assert not holds_text(path, "spoken")
            assert not holds_text(path, "secretrun")

    def test_only_the_turns_made_into_the_memories_go_where_it_says_more(self, path, clock):
        with AgenticMemory(path, index_turns=False, clock=clock) as m:
            m.add_turn("user", "rex barks", run_id="a")
            m.remember("rex", run_id="a")
            assert m.erase(filters={"run_id": "a", "memory_type": "episodic"}).turns == 0
            assert len(m.turns(run_id="a")) == 1
