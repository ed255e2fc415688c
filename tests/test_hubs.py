"""Memories with many links: those that the store makes by itself are bounded."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import AgenticMemory, hubs
from ebbmem.clock import ManualClock
from ebbmem.conflicts import ConflictRule
from ebbmem.spreading import SpreadConfig

NOW = 1_700_000_000
MOST = hubs.MOST_LINKS


def linked(memory, id, kind):
    """Return the numbers of the memories that links of a kind lead to."""
    found = [link.target for link in memory.neighbors(id) if link.kind == kind]
    return {memory.get(one).number for one in found}


def fresh_answers(path, cues):
    with AgenticMemory(path, clock=ManualClock(NOW)) as memory:
        return answers(memory, cues)


def answers(memory, cues):
    results = [memory.recall(cue, top_k=500, reinforce=False) for cue in cues]
    return [[(hit.number, hit.score, hit.explanation) for hit in one] for one in results]


def test_as_many_as_spreading_passes_over():
    assert SpreadConfig().fan_cap == MOST == 64


def test_of_co_recall_the_newest_stay(path):
    with AgenticMemory(path, clock=ManualClock(NOW)) as memory:
        hub = memory.remember("hub")
        others = memory.remember_many([f"fact {n}" for n in range(MOST + 40)])
        for at, one in enumerate(others):
            memory.feedback(used=[hub.id, one.id], now=NOW + at)
            assert len(linked(memory, hub.id, "co_recall")) == min(at + 1, MOST)

        assert linked(memory, hub.id, "co_recall") == {one.number for one in others[-MOST:]}
        back = [linked(memory, one.id, "co_recall") for one in others]
        assert back == [set()] * 40 + [{hub.number}] * MOST
        cues = ["hub", "fact 3", f"fact {MOST + 39}"]
        found = answers(memory, cues)
        assert memory.database.verify().ok
    assert found == fresh_answers(path, cues)


def test_a_heavier_link_outlasts_newer_ones(path):
    with AgenticMemory(path, clock=ManualClock(NOW)) as memory:
        hub, dear = memory.remember_many(["hub", "dear"])
        memory.link(hub.id, dear.id, kind="co_recall", weight=0.9)
        others = memory.remember_many([f"fact {n}" for n in range(MOST)])
        for one in others:
            memory.feedback(used=[hub.id, one.id])

        # All are of one moment: those with greater numbers stay.
        kept = {dear.number, *(one.number for one in others[1:])}
        assert linked(memory, hub.id, "co_recall") == kept


def test_links_of_other_kinds_are_left_alone(path):
    with AgenticMemory(path, clock=ManualClock(NOW)) as memory:
        hub = memory.remember("hub")
        for n in range(MOST + 5):
            one = memory.remember(f"fact {n}")
            memory.link(hub.id, one.id)
            memory.feedback(used=[hub.id, one.id], now=NOW + n)
        assert len(linked(memory, hub.id, "related")) == MOST + 5
        assert len(linked(memory, hub.id, "co_recall")) == MOST


def test_of_conflicts_the_surest_and_newest_stay(path):
    """Every new one is in conflict with all before it."""
    sure = {True: 0.9, False: 0.8}
    rule = ConflictRule(looked_at=200, judge=lambda new, _old: sure[new.endswith("3")])
    count = MOST + 20
    oracle = Oracle(MOST)
    with AgenticMemory(path, clock=ManualClock(NOW), conflicts=rule) as memory:
        made = []
        for n in range(1, count + 1):
            text = f"Anna lives in town{n}"
            made.append(memory.remember(text, now=NOW + n))
            older = range(1, n)
            oracle.link([(one, n) for one in older], (sure[text.endswith("3")], n), [n, *older])
        for one in made:
            assert linked(memory, one.id, "conflicts") == oracle.of(one.number)
        assert max(len(oracle.of(one.number)) for one in made) == MOST
        cues = ["Anna", "town5", f"town{count}"]
        found = answers(memory, cues)
        assert memory.database.verify().ok
    assert found == fresh_answers(path, cues)


class Oracle:
    """Links by pair, the lower first, with their weights and moments."""

    def __init__(self, most):
        self.most = most
        self.made = {}

    def of(self, one):
        return {other for pair in self.made if one in pair for other in pair if other != one}

    def feedback(self, used, at):
        new = [(a, b) for a in used for b in used if a < b and (a, b) not in self.made]
        self.link(new, (0.5, at), used if new else ())

    def link(self, pairs, worth, bounded):
        self.made.update((pair, worth) for pair in pairs)
        gone = set()
        for one in bounded:
            own = {other: (min(one, other), max(one, other)) for other in self.of(one)}
            by_worth = sorted(own, key=lambda other: (self.made[own[other]], other))
            gone |= {own[other] for other in by_worth[: max(len(own) - self.most, 0)]}
        for pair in gone:
            del self.made[pair]


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.lists(st.integers(1, 9), min_size=1, max_size=8, unique=True), st.booleans()),
        max_size=25,
    ),
    st.integers(1, 5),
)
def test_ties_are_those_of_the_oracle(calls, most):
    oracle, at = Oracle(most), NOW
    with pytest.MonkeyPatch.context() as patch, AgenticMemory(":memory:") as memory:
        patch.setattr(hubs, "MOST_LINKS", most)
        made = memory.remember_many([f"fact {n}" for n in range(9)], now=NOW)
        for used, later in calls:
            at += later
            memory.feedback(used=[made[n - 1].id for n in used], now=at)
            oracle.feedback(used, at)
            memory.recall("fact", reinforce=False, now=at)
        for one in made:
            assert linked(memory, one.id, "co_recall") == oracle.of(one.number)
        assert memory.database.verify().ok
