"""Recall while the embedder fails: words answer where the recipe ranks by them, and say so."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from ebbmem import AgenticMemory, CallableEmbedder, Fleet, recipes
from ebbmem.errors import EmbedderFailed, EmbedderMismatch

WORDS = replace(recipes.DEFAULT, semantic=None)
TEXTS = (
    "Adopted a puppy named Rex",
    "Rex likes the park",
    "The park closes at nine",
    "Bought a leash and kibble",
    "The park closes at ten",
)
NOW = 1_700_000_000


class Service:
    """An embedding service that can be down, or refuse some texts."""

    def __init__(self):
        self.down = False
        self.refused = ""

    def embed(self, texts):
        if self.down or (self.refused and any(self.refused in text for text in texts)):
            raise OSError("no route to host")
        rows = [[1.0 + len(text), 2.0 + text.count("e"), 3.0] for text in texts]
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def embedder(self, name="service"):
        return CallableEmbedder(self.embed, 3, name)


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def memory(tmp_path, service):
    with AgenticMemory(tmp_path / "one.db", embedder=service.embedder()) as opened:
        opened.remember_many(TEXTS, now=NOW)
        yield opened


def told(result):
    """Return what was found, without the id and the time of the recall."""
    return [
        (hit.id, hit.score, hit.similarity, hit.cascade_score, hit.explanation) for hit in result
    ]


def test_words_answer_as_they_do_alone(memory, service):
    for cue in ("when does the park close", "puppy Rex", "kibble", "nothing of it", ""):
        expected = memory.recall(cue, recipe=WORDS, reinforce=False, now=NOW)
        with_vectors = memory.recall(cue, reinforce=False, now=NOW)
        service.down = True
        found = memory.recall(cue, reinforce=False, now=NOW)
        service.down = False

        assert told(found) == told(expected)
        assert (found.abstained, found.cue) == (expected.abstained, cue)
        flags = [one.degraded for one in (expected, with_vectors, found)]
        assert flags == [False, False, True]


def test_a_recipe_of_ones_own_keeps_its_other_parts(memory, service):
    own = replace(recipes.DEFAULT, name="own", dense=0.5, semantic=None, min_score=0.9)
    alone = replace(own, dense=0.0)
    service.down = True

    found = memory.recall("park", recipe=own, reinforce=False, now=NOW)
    expected = memory.recall("park", recipe=alone, reinforce=False, now=NOW)

    assert found.degraded
    assert told(found) == told(expected)
    assert len(found.skipped) == len(expected.skipped) > 0


@pytest.mark.parametrize(
    "recipe",
    [
        recipes.EBBINGHAUS,
        recipes.ASSOCIATIVE,
        recipes.GENERATIVE,
        recipes.SIMILARITY,
        replace(recipes.DEFAULT, lexical=0.0, dense=1.0),
    ],
    ids=["ebbinghaus", "associative", "generative", "similarity", "vectors alone"],
)
def test_vectors_alone_cannot_be_done_without(memory, service, recipe):
    service.down = True
    for ask in (
        lambda: memory.recall("park", recipe=recipe),
        lambda: memory.recall_many(["park", "Rex"], recipe=recipe),
        lambda: memory.explain(memory.recall("park").memories[0].id, "park", recipe=recipe),
    ):
        with pytest.raises(EmbedderFailed, match="no route to host"):
            ask()


def test_a_batch_answers_by_words_too(memory, service):
    cues = ["park", "Rex", "", "kibble"] * 40
    expected = memory.recall_many(cues, recipe=WORDS, reinforce=False, now=NOW)
    service.down = True

    found = memory.recall_many(cues, reinforce=False, now=NOW, threads=2)

    assert [told(one) for one in found] == [told(one) for one in expected]
    assert all(one.degraded for one in found)


def test_what_was_found_is_strengthened_once(tmp_path):
    strengths = []
    for name, down in (("words.db", False), ("degraded.db", True)):
        service = Service()
        with AgenticMemory(tmp_path / name, embedder=service.embedder()) as memory:
            made = memory.remember_many(TEXTS, now=NOW)
            service.down = down
            recipe = None if down else WORDS
            memory.recall("park", recipe=recipe, now=NOW + 86_400)
            memory.recall_many(["Rex", "kibble"], recipe=recipe, now=NOW + 2 * 86_400)
            rows = [memory.get(one.id) for one in made]
        strengths.append([(one.storage_strength, one.access_count) for one in rows])

    assert strengths[0] == strengths[1]


def test_scopes_beside_are_answered_by_words(tmp_path, service):
    with Fleet(tmp_path / "fleet.db", embedder=service.embedder()) as fleet:
        fleet["team"].remember("The park closes at nine", now=NOW)
        fleet["own"].remember("Rex likes the park", now=NOW)
        own, ask = fleet["own"], {"also": ["team"], "reinforce": False, "now": NOW}
        expected = own.recall("park", recipe=WORDS, **ask)
        service.down = True

        assert told(own.recall("park", **ask)) == told(expected)
        (found,) = own.recall_many(["park"], **ask)
        assert told(found) == told(expected)
        assert found.degraded
        assert fleet.recall_many([("own", "park")])[0].degraded


def test_vectors_that_memories_wait_for(tmp_path, service):
    path = tmp_path / "one.db"
    with AgenticMemory(path) as memory:
        memory.remember_many(TEXTS, now=NOW)
    # The cue can be embedded, what was remembered without the embedder cannot.
    service.refused = "leash"
    with AgenticMemory(path, embedder=service.embedder()) as memory:
        ask = {"reinforce": False, "now": NOW}
        expected = memory.recall("park", recipe=WORDS, **ask)
        (batched,) = memory.recall_many(["park"], **ask)
        found = memory.recall("park", **ask)
        assert found.degraded
        assert batched.degraded
        assert told(found) == told(batched) == told(expected)
        assert memory.explain(found.memories[0].id, "park", now=NOW).degraded

        service.refused = ""
        assert not memory.recall("park", **ask).degraded


def test_explain_tells_of_the_words(memory, service):
    (hit,) = memory.recall("kibble", recipe=WORDS, reinforce=False, now=NOW)
    expected = memory.explain(hit.id, "kibble", recipe=WORDS, now=NOW)
    assert not memory.explain(hit.id, "kibble", now=NOW).degraded
    service.down = True

    assert memory.explain(hit.id, "kibble", now=NOW) == replace(expected, degraded=True)


def test_metrics_count_what_was_degraded(tmp_path, service):
    with Fleet(tmp_path / "fleet.db", embedder=service.embedder()) as fleet:
        for scope in ("a", "b"):
            fleet[scope].remember("Rex likes the park")
        fleet["a"].recall("park")
        service.down = True
        fleet["a"].recall("park")
        fleet.recall_many([("a", "park"), ("b", "park")])
        with pytest.raises(EmbedderFailed):
            fleet["a"].recall("park", recipe=recipes.SIMILARITY)

        metrics = fleet.metrics()

    assert {scope: one.degraded for scope, one in metrics.by_scope.items()} == {"a": 2, "b": 1}
    assert (metrics.total.degraded, metrics.total.recall.calls) == (3, 4)


def test_another_embedder_is_refused_though_it_fails(tmp_path, service):
    other = Service()
    with (
        Fleet(tmp_path / "one.db", embedder=service.embedder()) as fleet,
        closing(AgenticMemory(fleet.database, embedder=other.embedder("other"))) as late,
    ):
        fleet["default"].remember("Rex likes the park")
        other.down = True
        for ask in (lambda: late.recall("park"), lambda: late.recall_many(["park"])):
            with pytest.raises(EmbedderMismatch, match=r"'service'.*'other'"):
                ask()
