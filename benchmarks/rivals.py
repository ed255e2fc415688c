"""What ebbmem is compared with: the formulas in plain Python, and in numpy.

Written for these benchmarks, straight from the formulas, as one would without a library; the
numpy versions use what makes numpy fast (one matrix product, partial sorting, cached buckets).
"""

from __future__ import annotations

import hashlib
import heapq
import math
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from data import F32, F64, I64, Graph, Strengths

WORDS = re.compile(r"\w+")

# --- embedding --------------------------------------------------------------------------


def bucket(word: str, dim: int) -> int:
    """Return where a word counts: its MD5, as one integer, modulo the dimension."""
    return int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16) % dim


def embed_python(text: str, dim: int) -> list[float]:
    """Return word counts by bucket, divided by their norm."""
    vector = [0.0] * dim
    for word in WORDS.findall(text):
        vector[bucket(word, dim)] += 1.0
    norm = math.sqrt(sum(x * x for x in vector))
    return [x / norm for x in vector] if norm else vector


def embed_numpy(text: str, dim: int) -> F32:
    """Return the same for one text with its words hashed anew and the row made by numpy."""
    buckets = [bucket(word, dim) for word in WORDS.findall(text)]
    counts = np.bincount(np.array(buckets, dtype=np.int64), minlength=dim)
    norm = math.sqrt(counts @ counts)
    return (counts / (norm or 1.0)).astype(np.float32)


class NumpyEmbedder:
    """The same, with buckets of known words kept in a dict and rows made by numpy."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._buckets: dict[str, int] = {}

    def _bucket(self, word: str) -> int:
        found = self._buckets.get(word)
        if found is None:
            found = self._buckets[word] = bucket(word, self._dim)
        return found

    def embed_many(self, texts: Sequence[str]) -> F32:
        """Return one row per text."""
        rows = np.zeros((len(texts), self._dim))
        for row, text in enumerate(texts):
            buckets = [self._bucket(word) for word in WORDS.findall(text)]
            rows[row] = np.bincount(buckets, minlength=self._dim)
        norms = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
        return (rows / np.where(norms > 0, norms, 1.0)).astype(np.float32)


# --- scanning ---------------------------------------------------------------------------


def scan_python(
    query: list[float], rows: list[list[float]], mul: list[float], add: list[float], k: int
) -> list[int]:
    """Return the k best rows by ``mul * dot + add``, best first."""
    scores = [
        m * sum(q * x for q, x in zip(query, row, strict=True)) + a
        for row, m, a in zip(rows, mul, add, strict=True)
    ]
    return heapq.nlargest(k, range(len(scores)), key=scores.__getitem__)


def scan_numpy(query: F32, rows: F32, mul: F64, add: F64, k: int) -> I64:
    """Return the same by one product and a partial sort."""
    scores = mul * (rows @ query) + add
    best = np.argpartition(scores, -k)[-k:]
    return best[np.argsort(-scores[best])]


# --- forgetting -------------------------------------------------------------------------


def decay_python(s: Strengths, rate: float) -> list[float]:
    """Return R of each memory under the storage-strength law."""
    columns = (s.anchor.tolist(), s.strength.tolist(), s.intensity.tolist(), s.idle_h.tolist())
    return [
        anchor * math.exp(-rate * (1 - 0.75 * strength) * (1 - 0.8 * intensity) * idle_h)
        for anchor, strength, intensity, idle_h in zip(*columns, strict=True)
    ]


def decay_numpy(s: Strengths, rate: float) -> F64:
    """Return the same by numpy."""
    slowed = (1 - 0.75 * s.strength) * (1 - 0.8 * s.intensity)
    return s.anchor * np.exp(-rate * slowed * s.idle_h)


# --- spreading --------------------------------------------------------------------------


def edges_of(graph: Graph) -> list[list[tuple[int, float]]]:
    """Return each node's links as Python values."""
    targets, weights = graph.indices.tolist(), graph.weights.tolist()
    return [
        list(zip(targets[a:b], weights[a:b], strict=True))
        for a, b in pairwise(graph.indptr.tolist())
    ]


def spread_python(
    edges: list[list[tuple[int, float]]], seeds: dict[int, float], depth: int, hop_decay: float
) -> dict[int, float]:
    """Return what the seeds activate: summed over hops, capped at 1."""
    total: defaultdict[int, float] = defaultdict(float)
    frontier = seeds
    for _ in range(depth):
        arriving: defaultdict[int, float] = defaultdict(float)
        for node in sorted(frontier):
            for target, weight in edges[node]:
                arriving[target] += frontier[node] * hop_decay * weight
        for node, gain in arriving.items():
            total[node] += gain
        frontier = arriving
    return {node: min(value, 1.0) for node, value in total.items()}


def spread_scipy(transposed: object, seeds: F64, depth: int, hop_decay: float) -> F64:
    """Return the same over every node, by products with the transposed sparse matrix."""
    total = np.zeros_like(seeds)
    frontier = seeds
    for _ in range(depth):
        frontier = hop_decay * (transposed @ frontier)  # type: ignore[operator]
        total += frontier
    return np.minimum(total, 1.0)


# --- BM25 -------------------------------------------------------------------------------


class PythonBm25:
    """An inverted index in dicts."""

    def __init__(self, texts: Sequence[Sequence[int]], k1: float, b: float) -> None:
        self._k1, self._b = k1, b
        self._lengths = [len(text) for text in texts]
        self._mean = sum(self._lengths) / len(texts)
        self._postings: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for slot, text in enumerate(texts):
            for term, count in Counter(text).items():
                self._postings[term].append((slot, count))

    def idf(self, term: int) -> float:
        """Return the weight of a term."""
        holding = len(self._postings.get(term, ()))
        return math.log(1 + (len(self._lengths) - holding + 0.5) / (holding + 0.5))

    def top(self, cue: Sequence[int], k: int) -> list[int]:
        """Return the k best texts, newest first among equals."""
        scores: defaultdict[int, float] = defaultdict(float)
        for term in dict.fromkeys(cue):
            idf = self.idf(term)
            for slot, count in self._postings.get(term, ()):
                length = self._lengths[slot] / self._mean
                norm = self._k1 * (1 - self._b + self._b * length)
                scores[slot] += idf * count / (count + norm)
        return heapq.nlargest(k, scores, key=lambda slot: (scores[slot], slot))


class NumpyBm25:
    """The same with impacts computed beforehand, an array per term."""

    def __init__(self, texts: Sequence[Sequence[int]], k1: float, b: float) -> None:
        lengths = np.array([len(text) for text in texts])
        norms = k1 * (1 - b + b * lengths / lengths.mean())
        counts = [(term, slot, n) for slot, t in enumerate(texts) for term, n in Counter(t).items()]
        columns = zip(*counts, strict=True)
        terms, slots, count = (
            np.array(c, t) for c, t in zip(columns, (np.uint64, int, int), strict=True)
        )
        order = np.argsort(terms, kind="stable")
        impacts, slots = (count / (count + norms[slots]))[order], slots[order]
        distinct, starts = np.unique(terms[order], return_index=True)
        bounds = pairwise([*starts.tolist(), len(order)])
        self._size = len(texts)
        self._postings = {}
        for term, (a, z) in zip(distinct.tolist(), bounds, strict=True):
            idf = math.log(1 + (len(texts) - (z - a) + 0.5) / (z - a + 0.5))
            self._postings[term] = (slots[a:z], idf * impacts[a:z])

    def top(self, cue: Sequence[int], k: int) -> I64:
        """Return the k best texts, newest first among equals."""
        scores = np.zeros(self._size)
        for term in dict.fromkeys(cue):
            if term in self._postings:
                slots, impacts = self._postings[term]
                scores[slots] += impacts
        likely = np.argpartition(scores, -2 * k)[-2 * k :]
        return likely[np.lexsort((-likely, -scores[likely]))][:k]


# --- a whole memory ---------------------------------------------------------------------


class PythonMemory:
    """Remember a text with its vector; recall by similarity x importance x forgetting."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._memories: list[tuple[str, list[float], float, float]] = []

    def remember(self, text: str, importance: float, now_s: float) -> None:
        """Keep one memory."""
        self._memories.append((text, embed_python(text, self._dim), importance, now_s))

    def recall(self, cue: str, now_s: float, k: int, rate: float) -> list[str]:
        """Return the k best texts."""
        query = embed_python(cue, self._dim)

        def score(memory: tuple[str, list[float], float, float]) -> float:
            _, vector, importance, created_s = memory
            cosine = sum(a * b for a, b in zip(query, vector, strict=True))
            return (cosine + 1) / 2 * importance * math.exp(-rate * (now_s - created_s))

        return [memory[0] for memory in heapq.nlargest(k, self._memories, key=score)]


class NumpyMemory:
    """The same over one matrix; ``dot`` multiplies rows with a query, by default as numpy does."""

    def __init__(
        self,
        texts: Sequence[str],
        dim: int,
        importance: F64,
        created_s: F64,
        dot: Callable[[F32, F32], F32 | F64] | None = None,
    ) -> None:
        self._texts = texts
        self._dot = dot or np.matmul
        self._embedder = NumpyEmbedder(dim)
        self._rows = self._embedder.embed_many(texts)
        self._importance, self._created_s = importance, created_s

    def recall(self, cue: str, now_s: float, k: int, rate: float) -> list[str]:
        """Return the k best texts."""
        cosines = self._dot(self._rows, self._embedder.embed_many([cue])[0])
        scores = (cosines + 1) / 2 * self._importance * np.exp(-rate * (now_s - self._created_s))
        best = np.argpartition(scores, -k)[-k:]
        return [self._texts[slot] for slot in best[np.argsort(-scores[best])]]


class SqliteTable:
    """Texts and vectors in one table of the standard library's SQLite, one commit per call."""

    def __init__(self, path: Path, dim: int) -> None:
        self._embedder = NumpyEmbedder(dim)
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("CREATE TABLE memories (id INTEGER PRIMARY KEY, text, vector)")

    def remember_many(self, texts: Sequence[str]) -> None:
        """Keep memories in one transaction."""
        rows = self._embedder.embed_many(texts)
        pairs = [(text, row.tobytes()) for text, row in zip(texts, rows, strict=True)]
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT INTO memories (text, vector) VALUES (?, ?)", pairs)
        self._connection.execute("COMMIT")

    def count(self) -> int:
        """Return how many memories there are."""
        (number,) = self._connection.execute("SELECT count(*) FROM memories").fetchone()
        return int(number)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
