"""What is compared: ebbmem by recipe, and BM25 alone by another library."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import numpy as np
from locomo import Conversation
from numpy.typing import NDArray
from streams import Told

from ebbmem import (
    AgenticMemory,
    CallableEmbedder,
    Database,
    Embedder,
    SleepPolicy,
    SpreadConfig,
    analysis,
    recipes,
)
from ebbmem.recipes import Recipe

MODEL_DIM = 384

RECIPES: dict[str, Recipe] = {
    "DEFAULT": recipes.DEFAULT,
    "SIMILARITY (plain RAG, word hash)": recipes.SIMILARITY,
    "EBBINGHAUS": recipes.EBBINGHAUS,
    "ASSOCIATIVE": recipes.ASSOCIATIVE,
    "GENERATIVE": recipes.GENERATIVE,
}
HOPS = recipes.DEFAULT.spread or SpreadConfig()
WITHOUT: dict[str, Recipe] = {
    "shared names": replace(recipes.DEFAULT, names=None),
    "newer before older alike": replace(recipes.DEFAULT, precedence=None),
    "spreading through links": replace(recipes.DEFAULT, spread=None),
    "the second hop": replace(recipes.DEFAULT, spread=replace(HOPS, depth=1)),
    "0.7 per hop, but 0.6": replace(recipes.DEFAULT, spread=replace(HOPS, hop_decay=0.6)),
    "supersession": replace(recipes.DEFAULT, demote_superseded=False),
    "forgetting": replace(recipes.DEFAULT, retention_floor=1.0),
}
"""DEFAULT with one part off."""
WITHOUT_WORDS: dict[str, tuple[str, object]] = {
    "stop words": ("_STOP_WORDS", {}),
    "stems": ("_stemmer", lambda _language: list),
}
"""What of the analysis to put another thing in the place of, to have a part of it off."""

_Value = TypeVar("_Value")


def without_words(part: str, call: Callable[..., _Value]) -> Callable[..., _Value]:
    """Return what makes a call with a part of the analysis off."""

    def patched(*arguments: object) -> _Value:
        with patch.object(analysis, *WITHOUT_WORDS[part]):
            return call(*arguments)

    return patched


class Agent:
    """A handle of ebbmem, for streams.

    With a ``capacity`` a sleep pass moves to the archive what is over after each memory.
    """

    def __init__(self, recipe: Recipe, capacity: int | None = None) -> None:
        self._memory = AgenticMemory(":memory:", recipe=recipe)
        self._policy = None if capacity is None else SleepPolicy(capacity=capacity)
        self._ids: dict[int, str] = {}
        self._numbers: dict[str, int] = {}

    def remember(self, one: Told) -> None:
        """Remember one thing."""
        made = self._memory.remember(
            one.text,
            importance=one.importance,
            supersedes=[self._ids[old] for old in one.supersedes],
            now=one.at_s,
        )
        self._ids[one.number] = made.id
        self._numbers[made.id] = one.number
        if self._policy is not None:
            self._memory.consolidate(policy=self._policy, now=one.at_s)

    def recall(self, text: str, top_k: int, at_s: float) -> list[int]:
        """Return the numbers of what a cue brings up, best first."""
        return [self._numbers[hit.id] for hit in self._memory.recall(text, top_k=top_k, now=at_s)]


class Bm25:
    """bm25s with its own stop words and Snowball stems, made anew for each question."""

    def __init__(self) -> None:
        import bm25s  # noqa: PLC0415 - of the extra `bench`
        import Stemmer  # noqa: PLC0415

        self._library = bm25s
        self._stem = Stemmer.Stemmer("english")
        self._numbers: list[int] = []
        self._words: list[list[str]] = []

    def remember(self, one: Told) -> None:
        """Remember one thing."""
        self._add(one.number, one.text)

    def recall(self, text: str, top_k: int, at_s: float) -> list[int]:
        """Return the numbers of the best texts."""
        return [self._numbers[at] for at in self.best(text, top_k)]

    def fill(self, texts: Sequence[str]) -> None:
        """Take texts, numbered from 0."""
        for number, text in enumerate(texts):
            self._add(number, text)

    def best(self, text: str, top_k: int) -> list[int]:
        """Return the places of the best texts, without those that have no word of the cue."""
        index = self._library.BM25(k1=1.5, b=0.75, method="lucene")
        index.index(self._words, show_progress=False)
        k = min(top_k, len(self._words))
        found, scores = index.retrieve([self._of(text)], k=k, show_progress=False)
        return [int(at) for at, score in zip(found[0], scores[0], strict=True) if score > 0]

    def _add(self, number: int, text: str) -> None:
        self._numbers.append(number)
        self._words.append(self._of(text))

    def _of(self, text: str) -> list[str]:
        (words,) = self._library.tokenize(
            [text], stopwords="en", stemmer=self._stem, return_ids=False, show_progress=False
        )
        return list(words)


def model(path: Path) -> Embedder:
    """Return an embedder that looks vectors up in a file, without a model.

    A few texts have none there; theirs are zeros, which are like nothing.
    """
    held = np.load(path)
    vectors = dict(zip((bytes(one) for one in held["sha1"]), held["vectors"], strict=True))
    nothing = np.zeros(MODEL_DIM, np.float16)

    def of(text: str) -> NDArray[np.float16]:
        # A turn is remembered with its speaker, and its vector is of what was said.
        said = (text, text.partition(": ")[2])
        found = (vectors.get(hashlib.sha1(one.encode()).digest()) for one in said)
        return next((one for one in found if one is not None), nothing)

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([of(text) for text in texts]).astype(np.float32)

    return CallableEmbedder(embed, MODEL_DIM, "minilm")


def ranked_by(
    recipe: Recipe, embedder: Embedder | None = None
) -> Callable[[Conversation], list[list[str]]]:
    """Return what ranks a conversation's turns for each of its questions by a recipe."""

    def ranked(one: Conversation) -> list[list[str]]:
        with Database(":memory:") as database:
            lines = [json.dumps(line) for line in one.lines]
            database.import_(lines, scope=one.name, as_memories=True, embedder=embedder)
            memory = AgenticMemory(database, embedder=embedder, scope=one.name, recipe=recipe)
            cues = [question.text for question in one.questions]
            found = memory.recall_many(cues, top_k=10, reinforce=False, now=one.end_s)
            return [[hit.memory.metadata.get("id", "") for hit in result] for result in found]

    return ranked


def ranked_by_bm25(one: Conversation) -> list[list[str]]:
    """Return the turns of a conversation for each of its questions, ranked by bm25s."""
    alone = Bm25()
    alone.fill([f"{line['name']}: {line['content']}" for line in one.lines])
    return [[one.lines[at]["id"] for at in alone.best(q.text, 10)] for q in one.questions]
