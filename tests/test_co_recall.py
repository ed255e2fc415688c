"""What was of use together brings each other up from then on."""

from __future__ import annotations

import pytest

from ebbmem import AgenticMemory
from ebbmem.clock import ManualClock
from ebbmem.models import Link

NOW = 1_700_000_000


@pytest.fixture
def memory(path):
    with AgenticMemory(path, clock=ManualClock(NOW)) as made:
        yield made


def tied(memory: AgenticMemory, id: str) -> list[Link]:
    return [link for link in memory.neighbors(id) if link.kind == "co_recall"]


def test_every_two_are_linked_both_ways(memory):
    ids = [memory.remember(text).id for text in ("one", "two", "three", "apart")]
    memory.feedback(used=ids[:3])
    for one in ids[:3]:
        others = [other for other in ids[:3] if other != one]
        assert [(link.target, link.weight) for link in tied(memory, one)] == [
            (other, 0.5) for other in others
        ]
    assert tied(memory, ids[3]) == []


def test_one_brings_up_the_other(memory):
    ids = [memory.remember(text).id for text in ("rex barks", "blue kettle")]
    assert [hit.id for hit in memory.recall("rex", reinforce=False)] == ids[:1]
    memory.feedback(used=ids)
    found = memory.recall("rex", reinforce=False).memories
    assert [hit.id for hit in found] == ids
    assert found[1].explanation.path == (1, 2)


def test_once_is_enough(memory, path):
    ids = [memory.remember(text).id for text in ("rex barks", "blue kettle")]
    for _ in range(3):
        memory.feedback(used=ids)
        memory.feedback(used=ids[::-1])
    found = [(hit.id, hit.score) for hit in memory.recall("rex", reinforce=False)]
    assert len(tied(memory, ids[0])) == 1
    with AgenticMemory(path, clock=ManualClock(NOW)) as again:
        assert [(hit.id, hit.score) for hit in again.recall("rex", reinforce=False)] == found


def test_what_failed_and_what_was_used_alone_is_not_linked(memory):
    ids = [memory.remember(text).id for text in ("one", "two", "three")]
    memory.feedback(used=ids[:1], failed=ids[1:])
    assert all(tied(memory, one) == [] for one in ids)


def test_of_many_the_first_eight(memory):
    ids = [memory.remember(f"fact {n}").id for n in range(10)]
    memory.feedback(used=ids)
    assert [len(tied(memory, one)) for one in ids] == [7] * 8 + [0] * 2


def test_erased_with_either(memory):
    ids = [memory.remember(text).id for text in ("one", "two")]
    memory.feedback(used=ids)
    memory.erase(ids[1])
    assert tied(memory, ids[0]) == []
    assert memory.database.verify().ok
