"""Faults that memories for agents are known to have had, each shown not to be here."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import numpy as np
import pytest

from ebbmem import AgenticMemory, BufferLimits, CallableEmbedder, Memory, recipes
from ebbmem.clock import ManualClock
from ebbmem.decay import PowerForgetting, StorageStrength, Traces

NOW = 1_700_000_000
DAY = 86_400
EVERY_RECIPE = [
    recipes.DEFAULT,
    recipes.EBBINGHAUS,
    recipes.ASSOCIATIVE,
    recipes.GENERATIVE,
    recipes.SIMILARITY,
]


def traces(*, strength: list[float], idle_s: list[float]) -> Traces:
    """Return memories that are alike but for their strength and their last access."""
    n = len(strength)
    accessed = np.array([round((NOW - one) * 1e6) for one in idle_s], dtype=np.int64)
    return Traces(
        np.full(n, 5.0), np.array(strength), np.full(n, 0.55), np.zeros(n), accessed, accessed
    )


class TestRecencyTurnedRound:
    """The oldest had the highest recency where places in a list were taken for ages."""

    @pytest.mark.parametrize("recipe", EVERY_RECIPE, ids=lambda recipe: recipe.name)
    @pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
    def test_the_newest_of_equal_texts_comes_first_however_they_were_told(self, recipe, order):
        with AgenticMemory(":memory:", recipe=recipe, clock=ManualClock(NOW)) as memory:
            made = {age: memory.remember("rex sleeps", now=NOW - age * 5).id for age in order}
            found = memory.recall("rex sleeps", reinforce=False).memories
            assert [hit.id for hit in found] == [made[0], made[1], made[2]]
            shares = [hit.retrievability for hit in found]
            assert shares == sorted(shares, reverse=True)
            if recipe is not recipes.SIMILARITY:  # nothing fades there
                assert shares[0] > shares[2]


class TestStrengthThatHarms:
    """The stronger faded faster where a product was divided by: ``exp(-t / 5 * S)``."""

    @pytest.mark.parametrize("law", [StorageStrength(), PowerForgetting()])
    @pytest.mark.parametrize("idle_s", [60.0, DAY, 365 * DAY])
    def test_what_is_stronger_stays_longer(self, law, idle_s):
        strengths = [0.0, 0.1, 0.5, 0.9, 1.0]
        left = law.retrievability(
            traces(strength=strengths, idle_s=[idle_s] * len(strengths)), NOW * 1_000_000
        )
        assert np.all(np.diff(left) > 0)


class TestPlacesTakenForIds:
    """Another memory was changed where a place among the hits was taken for its number."""

    @pytest.fixture
    def memory(self):
        with AgenticMemory(":memory:", clock=ManualClock(NOW)) as made:
            for n in range(8):
                # The best match is told last.
                made.remember(f"rex {'and another word ' * (8 - n)}", now=NOW - 30 * DAY)
            yield made

    def held(self, memory: AgenticMemory) -> dict[str, tuple[object, ...]]:
        """Return every field of every memory."""
        found = memory.recall("rex", top_k=20, reinforce=False)
        every = [memory.get(hit.id) for hit in found]
        return {
            one.id: tuple(repr(getattr(one, field.name)) for field in fields(Memory))
            for one in every
        }

    @pytest.mark.parametrize("place", [0, 3, 7])
    @pytest.mark.parametrize("act", ["correct", "fail", "feedback", "archive", "link"])
    def test_what_is_done_to_a_hit_is_done_to_that_memory_alone(self, memory, place, act):
        before = self.held(memory)
        found = memory.recall("rex", reinforce=False).memories
        assert [hit.number for hit in found] == list(range(8, 0, -1))
        chosen, other = found[place].id, found[place - 1].id
        if act == "correct":
            memory.correct(chosen, "tom")
        elif act == "feedback":
            memory.feedback(used=[chosen])
        elif act == "link":
            memory.link(chosen, other)
        else:
            getattr(memory, act)(chosen)
        after = {
            one: tuple(repr(getattr(memory.get(one), f.name)) for f in fields(Memory))
            for one in before
        }
        changed = {one for one in before if before[one] != after[one]}
        assert changed == (set() if act == "link" else {chosen})
        if act == "link":
            assert [one.target for one in memory.neighbors(chosen)] == [other]

    def test_a_path_names_memories_by_their_numbers(self, memory):
        best = memory.recall("rex", reinforce=False).memories[0]
        kettle = memory.remember("blue kettle")
        memory.link(best.id, kettle.id)
        hits = {hit.id: hit for hit in memory.recall("rex", top_k=20, reinforce=False)}
        assert hits[kettle.id].explanation.path == (best.number, kettle.number)


class TestALaneThatGatesAnother:
    """What words alone find did not come where candidates were those of the vectors."""

    @staticmethod
    def embedder() -> CallableEmbedder:
        """Return one that knows ticket 7 from nothing: its vectors are of the first letter."""

        def embed(texts):
            vectors = np.zeros((len(texts), 2), dtype=np.float32)
            for row, text in enumerate(texts):
                vectors[row, 0 if text.startswith("q") else 1] = 1.0
            return vectors

        return CallableEmbedder(embed, 2, "first letter")

    @pytest.mark.parametrize("dense", [0.5, 5.0])
    def test_each_lane_puts_forward_what_the_other_does_not(self, dense):
        recipe = replace(recipes.DEFAULT, dense=dense, semantic=None, candidates=2)
        with AgenticMemory(":memory:", embedder=self.embedder(), recipe=recipe) as memory:
            words = memory.remember("ticket ERR_42 was closed").id
            near = [memory.remember(f"quite another thing {n}").id for n in range(9)]
            found = [hit.id for hit in memory.recall("query about ERR_42", top_k=20)]
            assert words in found
            assert set(found) & set(near)

    def test_a_least_score_is_of_the_whole_and_not_of_one_lane(self):
        recipe = replace(recipes.DEFAULT, dense=0.5, semantic=None)
        with AgenticMemory(":memory:", embedder=self.embedder(), recipe=recipe) as memory:
            memory.remember("ticket ERR_42 was closed")
            (hit,) = memory.recall("query about ERR_42", min_score=0.1)
            assert hit.similarity > 0.1

    def test_a_score_means_the_same_whichever_lanes_found_something(self):
        recipe = replace(recipes.DEFAULT, dense=0.5, semantic=None)
        with AgenticMemory(":memory:", embedder=self.embedder(), recipe=recipe) as memory:
            memory.remember("rex")
            # All of the cue's words and no likeness; the same words and all of the likeness.
            (far,) = memory.recall("rex", reinforce=False)
            assert far.similarity <= 1.0
            memory.remember("quartz")
            best = memory.recall("quartz", reinforce=False).memories[0]
            assert best.similarity <= 1.0
            (words,) = [h for h in memory.recall("query rex", reinforce=False) if h.number == 1]
            # BM25 of one of two words, and a cosine of 0: 1 of 1.5 at the very most.
            assert words.similarity < 1 / 1.5


def test_no_turn_is_lost_where_the_buffer_overflows(path):
    """One turn of each overflow was lost where a full queue took one more before it was flushed."""
    with AgenticMemory(path, limits=BufferLimits(4, 2), index_turns=False) as memory:
        for n in range(40):
            memory.add_turn("user", f"said{n}")
            told = "\n".join([memory.summary(), *(turn.content for turn in memory.turns())])
            assert {f"said{m}" for m in range(n + 1)} <= set(re.findall(r"\w+", told))
