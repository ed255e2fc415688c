"""Names that a callable finds in what is remembered: keywords like those that are given."""

from __future__ import annotations

import re

import pytest

from ebbmem import AgenticMemory, Fleet
from ebbmem.errors import InvalidType


def capitalised(text: str) -> list[str]:
    return re.findall(r"\b[A-Z]\w+", text)


def keywords(memory: AgenticMemory) -> dict[str, tuple[str, ...]]:
    found = memory.recall("met", reinforce=False)
    return {hit.summary: hit.memory.keywords for hit in found}


def test_they_come_behind_what_is_given_each_once():
    with AgenticMemory(":memory:", extract=capitalised) as memory:
        memory.remember("met Anna and Bob", keywords=["work", "bob"])
        assert keywords(memory) == {"met Anna and Bob": ("work", "bob", "anna")}


def test_they_link_what_shares_them():
    with AgenticMemory(":memory:", extract=capitalised) as memory:
        one = memory.remember("met Anna at noon")
        two = memory.remember("the flight of Anna lands late")
        assert [link.target for link in memory.neighbors(two.id)] == [one.id]


def test_every_call_that_remembers_takes_them():
    with Fleet(":memory:", extract=capitalised) as fleet:
        fleet["one"].remember("met Anna")
        fleet["one"].remember_many(["met Bob", {"summary": "met Carl", "keywords": ["x"]}])
        fleet.remember_many([("one", "met Dora")])
        last = fleet["one"].remember("met Emil")
        fleet["one"].correct(last.id, "met Emma")
        assert keywords(fleet["one"]) == {
            "met Emil": ("emil",),
            "met Emma": ("emma",),
            "met Anna": ("anna",),
            "met Bob": ("bob",),
            "met Carl": ("x", "carl"),
            "met Dora": ("dora",),
        }


@pytest.mark.parametrize("found", ["Anna", None, 3, [3]])
def test_what_is_no_list_of_names_is_told_and_nothing_is_stored(found):
    with AgenticMemory(":memory:", extract=lambda text: found) as memory:
        with pytest.raises(InvalidType, match="extract"):
            memory.remember("met Anna")
        assert memory.stats().memories == 0


def test_what_it_raises_is_told_and_nothing_is_stored():
    def fails(text: str) -> list[str]:
        raise ConnectionError(text)

    with AgenticMemory(":memory:", extract=fails) as memory:
        with pytest.raises(ConnectionError):
            memory.remember_many(["met Anna"])
        assert memory.stats().memories == 0


def test_only_a_callable_is_one():
    with pytest.raises(InvalidType, match="extract"):
        AgenticMemory(":memory:", extract="names")  # type: ignore[arg-type]


def test_turns_are_kept_without_asking():
    def failing(text: str) -> list[str]:
        raise AssertionError(text)

    with AgenticMemory(":memory:", extract=failing) as memory:
        turn = memory.add_turn("user", "I adopted Rex")
        assert memory.get(turn.memory_id).keywords == ()
