"""Random word-hash vectors in a random state, and the same as plain Python sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import oracles

from ebbmem import _core

Counts = dict[int, int]


def u32(values: Sequence[int]) -> np.ndarray:
    return np.array(values, np.uint32)


def i32(values: Sequence[int]) -> np.ndarray:
    return np.array(values, np.int32)


def i64(values: Sequence[int]) -> np.ndarray:
    return np.array(values, np.int64)


def query(counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    return u32(list(counts)), i32(list(counts.values()))


def add(vectors: _core.WordVectors, texts: Sequence[Counts]) -> int:
    buckets = [bucket for text in texts for bucket in text]
    counts = [count for text in texts for count in text.values()]
    return vectors.append(u32(buckets), i32(counts), i64(np.cumsum([len(t) for t in texts])))


def built(texts: Sequence[Counts], dim: int = 64) -> _core.WordVectors:
    vectors = _core.WordVectors(dim)
    add(vectors, texts)
    return vectors


@dataclass
class Case:
    """Random vectors in a random state, and the same as plain Python sees it."""

    seed: int
    count: int
    dim: int
    signed: bool = False
    largest: int = 3
    texts: list[Counts] = field(init=False)
    dead: set[int] = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.texts = [self.text() for _ in range(self.count)]
        self.vectors = _core.WordVectors(self.dim)
        pieces = self.rng.integers(0, self.count + 1, self.rng.integers(0, 7)).tolist()
        for begin, end in pairwise([0, *sorted(pieces), self.count]):
            add(self.vectors, self.texts[begin:end])
        killed = self.rng.choice(self.count, self.count // self.rng.integers(2, 40), replace=False)
        self.vectors.tombstone(killed)
        self.dead = set(killed.tolist())
        self.newness = self.rng.integers(0, self.rng.choice([1, 5, 10_000]), self.count)
        self.mask = self.rng.random(self.count) < self.rng.choice([0.05, 0.6, 1.0])

    def text(self) -> Counts:
        buckets = self.rng.zipf(1.3, self.rng.integers(0, 14)) % self.dim
        counts = self.rng.integers(1, self.largest + 1, len(buckets))
        if self.signed:
            counts = counts * self.rng.choice([-1, 1], len(buckets))
        return dict(zip(buckets.tolist(), counts.tolist(), strict=True))

    def cosines(self, asked: Counts) -> np.ndarray:
        return np.array([oracles.count_cosine(asked, text) for text in self.texts])

    def order(self, scores: np.ndarray) -> list[int]:
        ranks = np.lexsort((np.arange(self.count), -self.newness, -scores)).tolist()
        return [slot for slot in ranks if self.mask[slot] and slot not in self.dead]

    def check(self, found: tuple, scores: np.ndarray, cosines: np.ndarray, k: int) -> None:
        slots, got, similar = found
        assert slots.tolist() == self.order(scores)[:k]
        assert got.tolist() == scores[slots].tolist()
        assert similar.tolist() == cosines[slots].tolist()
