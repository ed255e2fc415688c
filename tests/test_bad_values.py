"""Stores, values, embedders and texts that are no good, or only look as if they were not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from test_bad_input import HUGE, NO_COUNT, NO_FLAG, NO_NAME, NO_NUMBER, path, refused, store

from ebbmem import (
    CallableEmbedder,
    Database,
    EpisodicMemoryStore,
    Fleet,
    HashingEmbedder,
    InMemoryVectorStore,
    SpreadConfig,
    recipes,
    run_consolidation,
)
from ebbmem.errors import EbbmemError, EmbedderFailed, EmbedderMismatch, NotAStore, StoreTooNew
from ebbmem.recipes import Guard, Ranking, Recipe, Weights

__all__ = ["path", "store"]


class TestOpening:
    @pytest.mark.parametrize(
        ("name", "values"),
        list(
            {
                "path": [5, None, b"x", "", "a\0b"],
                "durability": ["", "full", 5, None, True],
                "language": ["klingon", 5, "", True],
                "busy_wait_s": ["1", None, True, -1, math.nan, math.inf, HUGE],
                "clock": [5, "now", object()],
                "index_budget": ["", 0, None, 1.5],
            }.items()
        ),
    )
    def test_a_database(self, tmp_path, name, values):
        for value in values:
            with pytest.raises(EbbmemError, match=name):
                Database(**{"path": tmp_path / "new.db", name: value})
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("name", "values"),
        list(
            {
                "db": ["x.db", None, 5],
                "vector_store": ["chroma", 5, {}],
                "embedder": ["hash", 5, object(), HashingEmbedder],
                "recipe": ["default", None, 5],
                "scope": [*NO_NAME],
                "user_id": NO_NAME,
                "agent_id": NO_NAME,
            }.items()
        ),
    )
    def test_a_store(self, store, path, name, values):
        for value in values:
            refused(path, name, EpisodicMemoryStore, **{"db": store._db, name: value})

    @pytest.mark.parametrize("bad", ["x.db", None, 5])
    def test_a_pass_wants_a_database(self, bad):
        with pytest.raises(EbbmemError, match="db"):
            run_consolidation(bad)

    @pytest.mark.parametrize(
        "content", [b"hello", b"\0" * 5000, b"SQLite format 3\0" + b"x" * 4096]
    )
    def test_a_file_that_is_no_store_is_left_as_it_was(self, path, content):
        path.write_bytes(content)
        with pytest.raises(NotAStore, match=r"memory\.db"):
            Database(path)
        with pytest.raises(NotAStore, match=r"memory\.db"):
            Fleet(path)
        assert path.read_bytes() == content
        assert len(list(path.parent.iterdir())) == 1

    def test_a_newer_store_is_left_as_it_was(self, path):
        with Database(path) as db:
            EpisodicMemoryStore(db).remember("x")
        content = bytearray(path.read_bytes())
        content[60:64] = (99_999).to_bytes(4, "big")  # the header's user version
        path.write_bytes(content)
        with pytest.raises(StoreTooNew, match=r"memory\.db"):
            Database(path)
        assert path.read_bytes() == content

    def test_folders_are_no_files(self, tmp_path):
        for bad in (tmp_path, tmp_path / "no" / "such.db"):
            with pytest.raises(EbbmemError):
                Database(bad)
        assert list(tmp_path.iterdir()) == []


class TestValues:
    @pytest.mark.parametrize(
        ("kind", "name", "values"),
        [
            (Weights, "cascade", [*NO_NUMBER, -0.1]),
            (Weights, "similarity", [*NO_NUMBER, -0.1]),
            (Guard, "evidence", [*NO_NUMBER, -0.1, 1.1]),
            (SpreadConfig, "depth", [-1, 9, 1.5, True, "1", None]),
            (SpreadConfig, "hop_decay", [*NO_NUMBER, 0, 1.1]),
            (HashingEmbedder, "dim", [0, -1, 1.5, True, "8", None, 2**24 + 1, HUGE]),
            (HashingEmbedder, "sign", ["", 5, "yes", True]),
            (InMemoryVectorStore, "dim", [0, -1, 1.5, True, "8", 2**24 + 1, HUGE]),
        ],
    )
    def test_fields(self, kind, name, values):
        for value in values:
            with pytest.raises(EbbmemError, match=name):
                kind(**{name: value})

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("name", [5, None, "", "\ud800"]),
            ("law", [5, None, "power", object()]),
            ("ranking", ["sum", 5, None]),
            ("weights", [5, None, {}]),
            ("lexical", [*NO_NUMBER, -1]),
            ("dense", [*NO_NUMBER, -1]),
            ("retention_floor", [*NO_NUMBER, -0.1, 1.1]),
            ("spread", [5, "yes", {}]),
            ("spread_seeds", NO_COUNT),
            ("candidates", NO_COUNT),
            ("min_score", NO_NUMBER),
            ("demote_superseded", NO_FLAG),
            ("reinforcement", [5, None, {}]),
            ("guard", [5, {}, "10m"]),
            ("k1", [*NO_NUMBER, -1]),
            ("b", [*NO_NUMBER, -0.1, 1.1]),
        ],
    )
    def test_recipes(self, name, values):
        for value in values:
            with pytest.raises(EbbmemError, match=name):
                replace(recipes.DEFAULT, **{name: value})

    @pytest.mark.parametrize("name", ["candidates", "spread_seeds"])
    def test_more_than_there_is_is_everything(self, store, name):
        for recipe in (recipes.DEFAULT, recipes.ASSOCIATIVE):
            wide = replace(recipe, **{name: 10**30})
            assert len(store.recall("rex", recipe=wide, top_k=10**30)) == 1

    def test_a_recipe_needs_a_lane(self):
        with pytest.raises(EbbmemError, match="lexical"):
            Recipe("mine", recipes.DEFAULT.law, Ranking.BOUNDED, lexical=0, dense=0)


class Broken:
    """An embedder that does what it is told, whatever the protocol says."""

    name, dim = "broken", 2

    def __init__(self, answer):
        self.answer = answer

    def embed_many(self, texts):
        return self.answer(texts)


def raising(texts):
    raise OSError("no network")


ANSWERS = {
    "raises": raising,
    "none": lambda t: None,
    "list": lambda t: [[1.0, 0.0]] * len(t),
    "too few": lambda t: np.zeros((len(t) - 1, 2), np.float32),
    "too wide": lambda t: np.zeros((len(t), 3), np.float32),
    "flat": lambda t: np.zeros(2 * len(t), np.float32),
    "nan": lambda t: np.full((len(t), 2), np.nan, np.float32),
    "infinite": lambda t: np.full((len(t), 2), np.inf, np.float32),
    "beyond float32": lambda t: np.full((len(t), 2), 1e300),
    "objects": lambda t: np.full((len(t), 2), None),
    "strings": lambda t: np.full((len(t), 2), "1"),
    "complex": lambda t: np.full((len(t), 2), 1j),
}


class TestEmbedders:
    @pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
    def test_what_cannot_be_used_stores_nothing(self, store, path, answer):
        broken = EpisodicMemoryStore(store._db, embedder=Broken(answer))
        for call in (
            lambda: broken.remember("x"),
            lambda: broken.remember_many(["x", "y"]),
            lambda: broken.correct(store.recall("rex", reinforce=False).memories[0].id, "x"),
            lambda: broken.recall("rex", recipe=recipes.GENERATIVE),
        ):
            refused(path, "broken", call, kind=EmbedderFailed)

    def test_the_cause_is_kept(self, store):
        broken = EpisodicMemoryStore(store._db, embedder=Broken(raising))
        with pytest.raises(EmbedderFailed, match="no network") as caught:
            broken.remember("x")
        assert isinstance(caught.value.__cause__, OSError)

    @pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
    def test_lexical_recall_needs_no_embedder(self, store, answer):
        broken = EpisodicMemoryStore(store._db, embedder=Broken(answer))
        by_both = broken.recall("rex")
        by_words = broken.recall("rex", recipe=replace(recipes.DEFAULT, semantic=None))
        assert len(by_both) == len(by_words) == 1
        assert (by_both.degraded, by_words.degraded) == (True, False)

    def test_vectors_of_two_spaces_never_mix(self, store, path):
        one, other = (
            EpisodicMemoryStore(
                store._db, embedder=CallableEmbedder(lambda t: [[1.0, 0.0]] * len(t), 2, name)
            )
            for name in ("one", "other")
        )
        one.remember("x")
        assert one.recall("rex", recipe=recipes.SIMILARITY).memories
        for call in (
            lambda: other.remember("y"),
            lambda: other.recall("rex", recipe=recipes.SIMILARITY),
            lambda: EpisodicMemoryStore(store._db, embedder=other._embedder),
        ):
            refused(path, "one", call, kind=EmbedderMismatch)

    def test_stored_vectors_follow_every_change(self, store):
        mine = EpisodicMemoryStore(
            store._db,
            embedder=CallableEmbedder(lambda t: [[len(one), 1.0] for one in t], 2, "length"),
            recipe=recipes.SIMILARITY,
        )
        made = mine.remember("rex barks")
        assert [hit.number for hit in mine.recall("rex barks", reinforce="recall")] == [2, 1]
        mine.feedback(used=[made.id])
        mine.remember("rex barks again", dedupe=True)
        mine.archive(made.id)
        assert [hit.number for hit in mine.recall("rex barks again")] == [3, 1]


class TestTexts:
    @pytest.mark.parametrize("text", ["", "   ", "\U0001f600", "!?", "\0", "\u200d"])
    @pytest.mark.parametrize("name", ["DEFAULT", "ASSOCIATIVE", "EBBINGHAUS", "GENERATIVE"])
    def test_text_without_a_word_is_kept_and_similar_to_nothing(self, store, text, name):
        recipe = getattr(recipes, name)
        made = store.remember(text)
        assert store.get(made.id).summary == text
        for cue in ("rex", text):
            result = store.recall(cue, recipe=recipe, reinforce=False)
            found = {hit.id: hit for hit in (*result.memories, *result.skipped)}
            assert all(math.isfinite(hit.score) for hit in found.values())
            assert made.id not in found or found[made.id].similarity == 0

    def test_nul_survives_and_equal_text_is_found_by_it(self, store):
        made = store.remember("a\0b", detail="\0", keywords=["x\0y"], source="\0s", key="k\0")
        m = store.get(made.id)
        assert (m.summary, m.detail, m.keywords) == ("a\0b", "\0", ("x\0y",))
        assert (m.source, m.key) == ("\0s", "k\0")
        assert store.remember("a\0b", dedupe=True).id == made.id
        assert store.remember("a\0c", dedupe=True).created
        assert store.remember("z", key="k\0").id == made.id
        assert store.remember("z", key="k").created

    def test_long_texts_and_numbers(self, store):
        text = "word " * 200_000
        made = store.remember(text, metadata={"n": 2**70, "x": [1.5] * 1000})
        m = store.get(made.id)
        assert (m.summary, m.metadata["n"]) == (text, 2**70)
        assert store.recall("word").memories[0].id == made.id
