"""Filters of recall and erasure: what they are true of, and what they refuse."""

from __future__ import annotations

from contextlib import closing
from dataclasses import fields
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pytest
from filter_oracle import met
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import AgenticMemory, Fleet
from ebbmem.clock import ManualClock
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.facets import MOST_FACETS
from ebbmem.models import Memory, RecallResult

NOW = 1_700_000_000
DAY = 86_400
HELD = [
    {"importance": 2.0, "metadata": {"k": 1, "l": ["a", "B", 3], "s": "Harbour"}, "source": "chat"},
    {"importance": 5.0, "metadata": {"k": 1.0, "s": "harbour walk"}, "memory_type": "semantic"},
    {"importance": 9.0, "metadata": {"k": True, "n": None}, "pinned": True, "run_id": "r1"},
    {
        "metadata": {"k": "1", "d": "2024-05-01", "o": {"x": [1], "a": 2}},
        "keywords": ["Dog", "pet"],
    },
    {"keywords": ["pets"], "run_id": "r2", "valid_from": NOW - DAY, "expires_in": "2d"},
    {"source": "Chat", "key": "k1", "valid_to": NOW + 5 * DAY, "metadata": {"k": -2.5, "l": []}},
    {"memory_type": "turn", "metadata": {"k": 10**20, "l": 2**53 + 1}, "emotional_valence": -0.5},
]


def fill(memory: AgenticMemory) -> list[Memory]:
    """Remember one memory for each of `HELD`, an hour apart; return them."""
    made = [
        memory.remember(f"rex {n}", now=NOW + n * 3600, **one)  # type: ignore[arg-type]
        for n, one in enumerate(HELD)
    ]
    return [memory.get(one.id) for one in made]


def told(memory: Memory) -> dict[str, Any]:
    """Return a memory by the names that filters use."""
    whole = {field.name: getattr(memory, field.name) for field in fields(memory)}
    return {**whole, "tier": memory.tier.name.lower()}


def numbers(result: RecallResult) -> set[int]:
    """Return which memories came back."""
    return {hit.number for hit in result}


@pytest.fixture
def memory():
    with AgenticMemory(":memory:", clock=ManualClock(NOW + DAY)) as made:
        fill(made)
        yield made


NAMES = st.sampled_from(["k", "l", "s", "n", "d", "o", "absent"])
VALUES = st.sampled_from(
    [
        1,
        1.0,
        True,
        "1",
        None,
        "Harbour",
        "harbour",
        "a",
        "B",
        "b",
        3,
        -2.5,
        "2024",
        10**20,
        [],
        {"x": [1], "a": 2},
    ]
)
ORDERABLE = st.sampled_from(
    [1, 0.5, -3, "1", "2024-01-01", "harbour", 10**20, 10**20 + 1, 1e20, 10**400, 2**53 + 1]
)
TEXTS = st.sampled_from(["chat", "Chat", "a", "r1", "semantic", "turn", "k1", "e"])
MOMENTS = st.sampled_from([NOW, NOW + 3600, NOW + 2.5 * 3600, NOW - DAY, NOW + 5 * DAY])
EQUAL, ORDER = ("eq", "ne"), ("gt", "gte", "lt", "lte")


def asked(values: st.SearchStrategy[Any], *ops: str) -> st.SearchStrategy[Any]:
    """Return a value, `*`, or one or two operators with values."""
    one = st.sampled_from(ops).flatmap(
        lambda op: st.tuples(st.sampled_from([op, f"${op}"]), values)
    )
    listed = st.tuples(st.sampled_from(["in", "nin", "$in"]), st.lists(values, max_size=3))
    several = st.lists(st.one_of(one, listed), min_size=1, max_size=2).map(dict)
    return st.one_of(st.just("*"), several)


METADATA = st.dictionaries(
    NAMES,
    st.one_of(
        asked(VALUES, *EQUAL, "contains"),
        st.dictionaries(st.sampled_from(ORDER), ORDERABLE, min_size=1),
        st.fixed_dictionaries({"icontains": st.sampled_from(["HARBOUR", "b", "1"])}),
    ),
    min_size=1,
    max_size=2,
)
LEAVES = st.one_of(
    st.fixed_dictionaries({"metadata": METADATA}),
    st.fixed_dictionaries({"importance": asked(st.sampled_from([2, 5.0, 9]), *EQUAL, *ORDER)}),
    st.fixed_dictionaries({"emotional_valence": asked(st.sampled_from([0, -0.5]), *EQUAL, *ORDER)}),
    *(
        st.fixed_dictionaries({name: asked(MOMENTS, *EQUAL, *ORDER)})
        for name in ("created_at", "valid_from", "valid_to")
    ),
    *(
        st.fixed_dictionaries({name: asked(TEXTS, *EQUAL, "contains", "icontains")})
        for name in ("memory_type", "run_id", "source", "key")
    ),
    *(st.fixed_dictionaries({name: st.booleans()}) for name in ("pinned", "verified")),
    st.fixed_dictionaries({"tier": asked(st.sampled_from(["warm", "cold"]), *EQUAL)}),
    st.fixed_dictionaries({"keywords": st.sampled_from(["dog", "pet", "pets", "*"])}),
    st.fixed_dictionaries({"created_before": MOMENTS}),
)
JOINED = st.sampled_from(["AND", "OR", "NOT", "$or", "$and", "$not"])
FILTERS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.dictionaries(JOINED, st.lists(inner, min_size=1, max_size=3), min_size=1, max_size=2),
        inner.map(lambda one: {"NOT": one}),
        st.tuples(LEAVES, inner).map(lambda two: {**two[0], "OR": [two[1]]}),
    ),
    max_leaves=5,
)


class TestWhatTheyAreTrueOf:
    @given(FILTERS)
    @settings(max_examples=400)
    def test_recall_and_erasure_agree_with_the_oracle(self, filters):
        clock = ManualClock(NOW + DAY)
        with AgenticMemory(":memory:", clock=clock) as memory:
            every = fill(memory)
            wanted = {one.number for one in every if met(filters, told(one))}
            found = memory.recall("rex", filters=filters, reinforce=False)
            assert numbers(found) == wanted
            gone = memory.erase(filters=filters)
            assert set(gone.ids) == {one.id for one in every if one.number in wanted}

    @pytest.mark.parametrize(
        ("counts", "met"),
        [([1], True), ([1.0, 7], True), ([1.5], False), ([0.5, 1e300], False), ([], False)],
    )
    def test_a_count_is_one_of_several_numbers_only_where_it_is_equal(self, memory, counts, met):
        filters = {"access_count": {"in": counts}}
        assert bool(memory.recall("rex", filters=filters, reinforce=False)) is met
        assert bool(memory.erase(filters=filters).ids) is met

    def test_looked_at_before_the_best_are_taken(self, memory):
        assert numbers(memory.recall("rex", top_k=1, filters={"source": "chat"})) == {1}

    def test_what_is_remembered_later_is_looked_at_too(self, memory):
        wanted = {"metadata": {"k": {"in": [1, 7]}}}
        assert numbers(memory.recall("rex", filters=wanted)) == {1}
        made = memory.remember("rex again", metadata={"k": 7})
        assert numbers(memory.recall("rex", filters=wanted)) == {1, made.number}
        memory.erase(made.id)
        assert numbers(memory.recall("rex", filters=wanted)) == {1}

    def test_another_process_is_heard_of(self, path):
        with AgenticMemory(path, clock=ManualClock(NOW)) as memory:
            memory.remember("rex one", metadata={"k": 1})
            wanted = {"metadata": {"k": 1}}
            assert len(memory.recall("rex", filters=wanted)) == 1
            with closing(AgenticMemory(path, clock=ManualClock(NOW))) as other:
                other.remember("rex two", metadata={"k": 1})
            assert len(memory.recall("rex", filters=wanted)) == 2

    def test_scopes_read_beside_are_filtered_too(self):
        with Fleet(":memory:", clock=ManualClock(NOW)) as fleet:
            fleet["team"].remember("rex one", metadata={"k": 1})
            fleet["team"].remember("rex two", metadata={"k": 2})
            fleet["own"].remember("rex three", metadata={"k": 2})
            found = fleet["own"].recall("rex", also=["team"], filters={"metadata": {"k": 2}})
            assert {hit.summary for hit in found} == {"rex two", "rex three"}

    def test_every_call_that_recalls_takes_them(self):
        wanted = {"importance": {"gte": 9}}
        with Fleet(":memory:", clock=ManualClock(NOW + DAY)) as fleet:
            fill(fleet["one"])
            (found,) = fleet.recall_many([("one", "rex")], filters=wanted)
            assert numbers(found) == {3}
            (found,) = fleet["one"].recall_many(["rex"], filters=wanted)
            assert numbers(found) == {3}

    def test_with_a_run_and_a_moment(self, memory):
        moment = datetime.fromtimestamp(NOW + 3600, timezone.utc)
        wanted = {"created_at": {"lte": moment}}
        assert numbers(memory.recall("rex", filters=wanted)) == {1, 2}
        assert numbers(memory.recall("rex", run_id="r1", filters=wanted)) == set()


class TestWhatTheyTake:
    def test_the_index_counts_what_it_keeps_for_them(self, memory):
        memory.recall("rex")
        before = memory.stats().index_bytes
        memory.recall("rex", filters={"metadata": {"k": 1}})
        assert memory.stats().index_bytes > before

    def test_only_so_many_names_are_kept(self, memory):
        for n in range(MOST_FACETS + 9):
            assert numbers(memory.recall("rex", filters={"metadata": {f"n{n}": "*"}})) == set()
        assert numbers(memory.recall("rex", filters={"metadata": {"k": "1"}})) == {4}

    def test_a_deep_one_is_refused(self, memory):
        filters: dict[str, Any] = {"source": "chat"}
        for _ in range(10_000):
            filters = {"NOT": filters}
        with pytest.raises(InvalidArgument, match="32 levels"):
            memory.recall("rex", filters=filters)


@pytest.mark.parametrize(
    ("filters", "error", "said"),
    [
        ({}, InvalidArgument, "at least one condition"),
        ([], InvalidType, "a mapping"),
        ({"colour": "red"}, InvalidArgument, "names out of"),
        ({"importance": {"above": 3}}, InvalidArgument, "operators out of"),
        ({"importance": {"$regex": "3"}}, InvalidArgument, "operators out of"),
        ({"importance": {"contains": 3}}, InvalidArgument, "operators out of eq, ne"),
        ({"importance": {}}, InvalidArgument, "a value, or operators"),
        ({"importance": "high"}, InvalidType, "importance"),
        ({"importance": float("nan")}, InvalidArgument, "importance"),
        ({"metadata": {"k": {"above": 3}}}, InvalidArgument, "metadata.k"),
        ({"metadata": {"k": {"gt": [1]}}}, InvalidType, "a number or a str"),
        ({"metadata": {"k": {"gt": True}}}, InvalidType, "a number or a str"),
        ({"metadata": {"k": {"in": "abc"}}}, InvalidType, "a list"),
        ({"metadata": {"k": object()}}, InvalidArgument, "what JSON can hold"),
        ({"metadata": {"k": np.arange(2)}}, InvalidArgument, "what JSON can hold"),
        ({"metadata": {}}, InvalidArgument, "at least one name"),
        ({"keywords": {"eq": "dog"}}, InvalidArgument, '"contains" with one keyword .*OR or AND'),
        ({"keywords": {"$in": ["dog"]}}, InvalidArgument, r"OR or AND\), got \['\$in'\]"),
        ({"keywords": ["dog", "pet"]}, InvalidType, r"one keyword .*OR or AND\), got list"),
        ({"keywords": {"contains": None}}, InvalidType, "one keyword"),
        ({"tier": "hot"}, InvalidArgument, "one of warm, cold, archive"),
        ({"pinned": 1}, InvalidType, "pinned"),
        ({"created_at": datetime(2024, 1, 1)}, InvalidArgument, "created_at"),
        ({"AND": []}, InvalidArgument, "at least one filter"),
        ({"OR": {"source": "chat"}}, InvalidType, "a list of filters"),
        ({"NOT": "chat"}, InvalidType, "a list of filters"),
        ({"OR": [{"source": "chat"}, {}]}, InvalidArgument, "at least one condition"),
        ({3: "chat"}, InvalidArgument, "names out of"),
    ],
)
def test_what_is_not_understood_is_refused(memory, filters, error, said):
    with pytest.raises(error, match=said):
        memory.recall("rex", filters=filters)


def test_what_is_said_about_several_keywords_works(memory):
    both = [{"keywords": {"contains": one}} for one in ("Dog", "pets")]
    found = numbers(memory.recall("rex", filters={"OR": both}))
    assert found == numbers(memory.recall("rex", filters={"keywords": "Dog"})) | numbers(
        memory.recall("rex", filters={"keywords": "pets"})
    )
    assert len(found) > 1


def test_an_empty_value_is_there_and_an_empty_list_of_keywords_is_none(path):
    empty = {"list": [], "text": "", "zero": 0, "map": {}}
    with AgenticMemory(path) as memory:
        bare = memory.remember("rex without", keywords=[])
        full = memory.remember(
            "rex with", keywords=["dog"], source="", metadata={**empty, "null": None}
        )
        for filters, met in [
            ({"keywords": "*"}, {full.number}),
            ({"NOT": {"keywords": "*"}}, {bare.number}),
            ({"source": "*"}, {full.number}),
            *(({"metadata": {name: "*"}}, {full.number}) for name in empty),
            ({"metadata": {"null": "*"}}, set()),
            ({"metadata": {"other": "*"}}, set()),
            ({"key": "*"}, set()),
        ]:
            assert numbers(memory.recall("rex", filters=filters)) == met, filters
