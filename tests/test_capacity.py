"""A scope that may only have so many memories outside the archive."""

from __future__ import annotations

import math

import pytest

from ebbmem import AgenticMemory, SleepPolicy
from ebbmem.clock import ManualClock
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.models import Tier

NOW = 1_700_000_000
DAY = 86_400


@pytest.fixture
def memory():
    with AgenticMemory(":memory:", clock=ManualClock(NOW)) as made:
        yield made


def kept(memory: AgenticMemory, ids: dict[str, str]) -> set[str]:
    """Return the names of those that are not in the archive."""
    return {name for name, one in ids.items() if memory.get(one).tier != Tier.ARCHIVE}


class TestWhatStays:
    def test_what_is_worth_most(self, memory):
        ids = {f"i{n}": memory.remember(f"fact {n}", importance=n).id for n in range(1, 8)}
        report = memory.consolidate(policy=SleepPolicy(capacity=3))
        assert kept(memory, ids) == {"i5", "i6", "i7"}
        assert report.archived == 4

    def test_of_equal_importance_the_one_accessed_last(self, memory):
        ids = {f"d{n}": memory.remember("fact", now=NOW - n * DAY).id for n in range(5)}
        memory.consolidate(policy=SleepPolicy(capacity=2))
        assert kept(memory, ids) == {"d0", "d1"}

    def test_of_equal_worth_the_newer(self, memory):
        ids = {f"n{n}": memory.remember("fact").id for n in range(5)}
        memory.consolidate(policy=SleepPolicy(capacity=2))
        assert kept(memory, ids) == {"n3", "n4"}

    def test_of_equal_worth_the_newer_in_whatever_order_they_came(self, memory):
        ids = {f"s{s}": memory.remember("fact", now=NOW + s).id for s in (9, 3, 7, 1)}
        memory.consolidate(policy=SleepPolicy(capacity=2))
        assert kept(memory, ids) == {"s9", "s7"}

    def test_what_was_replaced_is_worth_half(self, memory):
        ids = {"eight": memory.remember("Rex weighs eight", importance=8).id}
        ids["new"] = memory.correct(ids["eight"], "Rex weighs nine", importance=8).id
        ids["five"] = memory.remember("a walk", importance=5).id
        ids["three"] = memory.remember("a talk", importance=3).id
        memory.consolidate(policy=SleepPolicy(capacity=3))
        assert kept(memory, ids) == {"eight", "new", "five"}
        memory.consolidate(policy=SleepPolicy(capacity=2))
        assert kept(memory, ids) == {"new", "five"}

    def test_what_is_pinned_stays_and_counts(self, memory):
        ids = {f"p{n}": memory.remember("fact", importance=1, pinned=True).id for n in range(3)}
        ids["free"] = memory.remember("free", importance=10).id
        memory.consolidate(policy=SleepPolicy(capacity=2))
        assert kept(memory, ids) == {"p0", "p1", "p2"}

    def test_what_goes_anyway_makes_room(self, memory):
        ids = {"gone": memory.remember("x", importance=10, expires_in="1h", now=NOW - DAY).id}
        ids |= {f"n{n}": memory.remember("fact").id for n in range(2)}
        memory.consolidate(policy=SleepPolicy(capacity=2))
        assert kept(memory, ids) == {"n0", "n1"}

    def test_all_where_there_is_room(self, memory):
        ids = {f"n{n}": memory.remember("fact").id for n in range(3)}
        assert memory.consolidate(policy=SleepPolicy(capacity=3)).archived == 0
        assert kept(memory, ids) == set(ids)


class TestWhatGoes:
    def test_is_found_in_the_archive_and_nowhere_else(self, memory):
        memory.remember("rex sleeps", importance=1)
        memory.remember("rex barks", importance=9)
        memory.consolidate(policy=SleepPolicy(capacity=1))
        assert [hit.summary for hit in memory.recall("rex")] == ["rex barks"]
        assert len(memory.recall("rex", include_archive=True)) == 2
        assert memory.database.verify().ok

    def test_is_told_and_left_in_a_dry_run(self, memory):
        ids = {f"n{n}": memory.remember("fact").id for n in range(5)}
        report = memory.consolidate(policy=SleepPolicy(capacity=2), dry_run=True)
        assert report.archived == 3
        assert kept(memory, ids) == set(ids)

    def test_the_index_is_that_of_a_store_opened_anew(self, path):
        with AgenticMemory(path, clock=ManualClock(NOW)) as memory:
            for n in range(20):
                memory.remember(f"rex {n}", importance=1 + n % 7, now=NOW - n * 40 * DAY)
            memory.recall("rex")
            memory.consolidate(policy=SleepPolicy(capacity=8))
            before = [(hit.id, hit.score) for hit in memory.recall("rex", reinforce=False)]
        with AgenticMemory(path, clock=ManualClock(NOW)) as memory:
            after = [(hit.id, hit.score) for hit in memory.recall("rex", reinforce=False)]
        assert before == after
        assert len(after) == 8


@pytest.mark.parametrize(
    ("capacity", "error"),
    [
        (0, InvalidArgument),
        (-1, InvalidArgument),
        (2.5, InvalidType),
        ("400", InvalidType),
        (True, InvalidType),
        (math.inf, InvalidType),
    ],
)
def test_only_a_count_is_a_capacity(capacity, error):
    with pytest.raises(error, match="capacity"):
        SleepPolicy(capacity=capacity)
