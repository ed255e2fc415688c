"""Seeded inputs: the same texts, vectors and graphs on every machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

VOCABULARY = 20_000
SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
CLUSTERS = 64


def word(number: int) -> str:
    """Return a word of two to four syllables; each number has its own."""
    syllables = [SYLLABLES[number % 70], SYLLABLES[number // 70 % 70]]
    while number >= 4_900:
        number //= 70
        syllables.append(SYLLABLES[number // 70 % 70])
    return "".join(syllables)


@cache
def texts(count: int, words: int = 14, seed: int = 1) -> tuple[str, ...]:
    """Return sentences whose words are as uneven as those of a language (Zipf)."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(1, VOCABULARY + 1)
    lengths = rng.integers(words // 2, words * 3 // 2 + 1, count)
    drawn = rng.choice(VOCABULARY, lengths.sum(), p=frequency / frequency.sum())
    spoken = iter([word(number) for number in drawn.tolist()])
    return tuple(
        " ".join(next(spoken) for _ in range(length)).capitalize() + "."
        for length in lengths.tolist()
    )


def cues(count: int, words: int = 6) -> tuple[str, ...]:
    """Return short texts of the same language, other than `texts`."""
    return texts(count, words, seed=2)


@cache
def vectors(count: int, dim: int, seed: int = 3) -> F32:
    """Return unit rows around a few centres, as sentence models make them."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((CLUSTERS, dim))
    rows = centres[rng.integers(CLUSTERS, size=count)] + 0.7 * rng.standard_normal((count, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Strengths:
    """What forgetting looks at, one value per memory."""

    importance: F64
    strength: F64
    anchor: F64
    intensity: F64
    idle_h: F64


@cache
def strengths(count: int, seed: int = 4) -> Strengths:
    """Return strengths of memories up to 90 days old."""
    rng = np.random.default_rng(seed)
    return Strengths(
        importance=rng.uniform(1, 10, count),
        strength=rng.uniform(0, 1, count),
        anchor=rng.uniform(0.5, 1, count),
        intensity=rng.uniform(0, 1, count),
        idle_h=rng.uniform(0, 90 * 24, count),
    )


@dataclass(frozen=True, eq=False)
class Graph:
    """Links in compressed rows, and the nodes that activation starts from."""

    indptr: I64
    indices: NDArray[np.int32]
    weights: F32
    seeds: I64
    activation: F64


@cache
def graph(nodes: int, degree: int = 8, seeds: int = 20, seed: int = 5) -> Graph:
    """Return a graph with popular and lonely nodes; no node links to itself."""
    rng = np.random.default_rng(seed)
    out = rng.integers(1, 2 * degree, nodes)
    source = np.repeat(np.arange(nodes), out)
    target = (nodes * rng.random(len(source)) ** 2).astype(np.int64)
    target = np.where(target == source, (target + 1) % nodes, target)
    return Graph(
        indptr=np.concatenate([[0], np.cumsum(out)]).astype(np.int64),
        indices=target.astype(np.int32),
        weights=rng.choice([0.25, 0.5, 1.0], len(source)).astype(np.float32),
        seeds=np.sort(rng.choice(nodes, seeds, replace=False)).astype(np.int64),
        activation=np.linspace(1.0, 0.1, seeds),
    )


def unit_rows(count: int, dim: int, *, clustered: bool, seed: int = 7) -> F32:
    """Return many unit rows, around `CLUSTERS` centres or in no order; made piece by piece."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((CLUSTERS, dim), np.float32)
    rows = np.empty((count, dim), np.float32)
    for first in range(0, count, 50_000):
        piece = rows[first : first + 50_000]
        rng.standard_normal(out=piece, dtype=np.float32)
        if clustered:
            piece *= np.float32(0.7)
            piece += centres[rng.integers(CLUSTERS, size=len(piece))]
        piece /= np.linalg.norm(piece, axis=1, keepdims=True)
    return rows


@cache
def chung_lu(nodes: int, degree: float = 10.5, gamma: float = 2.5, seed: int = 8) -> Graph:
    """Return a graph whose degrees follow a power law, links in both directions, random weights.

    A node's chance to be an end of a link falls with its rank as ``rank ** (-1 / (gamma - 1))``;
    numbers are shuffled, so that popular nodes lie anywhere.
    """
    rng = np.random.default_rng(seed)
    chance = np.cumsum(np.arange(1, nodes + 1) ** (-1 / (gamma - 1)))
    links = int(nodes * degree / 2)
    ends = np.searchsorted(chance, rng.random((2, links)) * chance[-1]).astype(np.int64)
    one, other = rng.permutation(nodes)[ends[:, ends[0] != ends[1]]]
    pairs = np.unique(np.concatenate([one * nodes + other, other * nodes + one]))
    source, target = pairs // nodes, pairs % nodes
    seeds = np.sort(rng.choice(nodes, 5, replace=False)).astype(np.int64)
    return Graph(
        indptr=np.searchsorted(source, np.arange(nodes + 1)).astype(np.int64),
        indices=target.astype(np.int32),
        weights=rng.uniform(0.05, 1.0, len(target)).astype(np.float32),
        seeds=seeds,
        activation=np.ones(len(seeds)),
    )
