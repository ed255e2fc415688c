"""Slow, obvious, float64: what the fast code must agree with.  Imports nothing of ebbmem.

Ties in every ranking: higher score, then newer, then lower slot.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

# --- text -------------------------------------------------------------------------------


def words(text: str) -> list[str]:
    """Seed 000: runs of word characters, the text as given."""
    return re.findall(r"\w+", text)


def lower_split(text: str) -> list[str]:
    """Seed 003: lower-cased, split at white space."""
    return text.lower().split()


def word_hash(word: str) -> int:
    """MD5 as one big-endian integer."""
    return int(hashlib.md5(word.encode("utf-8"), usedforsecurity=False).hexdigest(), 16)


def word_sign(value: int, sign: str | None) -> float:
    """Seed 003 takes bit 8, which for D >= 512 is part of the bucket; bit 64 never is."""
    if sign is None:
        return 1.0
    bit = {"seed": 8, "independent": 64}[sign]
    return 1.0 if (value >> bit) & 1 else -1.0


def embed(
    text: str, dim: int, sign: str | None = None, split: Callable[[str], list[str]] = words
) -> np.ndarray:
    """Counts per bucket, divided by their Euclidean norm, cast to float32."""
    vector = [0.0] * dim
    for word in split(text):
        value = word_hash(word)
        vector[value % dim] += word_sign(value, sign)
    norm = math.sqrt(sum(x * x for x in vector))
    return np.array([x / norm if norm else 0.0 for x in vector], dtype=np.float32)


def bucket_counts(
    text: str, dim: int, sign: str | None = None, split: Callable[[str], list[str]] = words
) -> list[tuple[int, int]]:
    """The same before scaling: what is not 0, in order of first occurrence."""
    counts: dict[int, int] = {}
    for word in split(text):
        value = word_hash(word)
        counts[value % dim] = counts.get(value % dim, 0) + int(word_sign(value, sign))
    return [(bucket, count) for bucket, count in counts.items() if count]


# --- ranking ----------------------------------------------------------------------------


def best(
    scores: Sequence[float], newness: Sequence[int], allowed: Iterable[bool], k: int
) -> list[int]:
    """Slots of the k best: higher score, then newer, then lower slot."""
    slots = [slot for slot, ok in enumerate(allowed) if ok]
    return sorted(slots, key=lambda s: (-scores[s], -newness[s], s))[:k]


def dot32(query: np.ndarray, row: np.ndarray) -> float:
    """The canonical dot: 16 float32 lanes, folded 8, 4, 2, 1; clamped to [-1, 1]."""
    lanes = np.zeros(16, dtype=np.float32)
    padded = -len(query) % 16
    q = np.pad(query.astype(np.float32), (0, padded))
    r = np.pad(row.astype(np.float32), (0, padded))
    for start in range(0, len(q), 16):
        lanes = lanes + q[start : start + 16] * r[start : start + 16]
    for half in (8, 4, 2, 1):
        lanes = lanes[:half] + lanes[half : 2 * half]
    return float(min(max(lanes[0], np.float32(-1)), np.float32(1)))


def dot64(query: np.ndarray, row: np.ndarray) -> float:
    """The dot in float64, clamped to [-1, 1]."""
    exact = math.fsum(float(a) * float(b) for a, b in zip(query, row, strict=True))
    return min(max(exact, -1.0), 1.0)


def log_or_minus_infinity(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def product_key(log_weight: float, dot: float) -> float:
    """ln(weight) + ln((1 + cos) / 2): the order of weight * (1 + cos) / 2, without underflow."""
    return log_weight + log_or_minus_infinity((1.0 + dot) / 2.0)


# --- laws -------------------------------------------------------------------------------


def ebbinghaus_score(cos: float, importance: float, age_s: float, decay: float = 0.05) -> float:
    return ((cos + 1.0) / 2.0) * importance * math.exp(-decay * max(age_s, 0.0))


def ebbinghaus_key(cos: float, importance: float, age_s: float, decay: float = 0.05) -> float:
    return product_key(math.log(importance) - decay * max(age_s, 0.0), cos)


def storage_rate_per_h(rate: float, strength: float, intensity: float) -> float:
    return rate * (1.0 - 0.75 * strength) * (1.0 - 0.8 * intensity)


def storage_retrievability(
    anchor: float, strength: float, intensity: float, idle_h: float, rate: float = 0.01
) -> float:
    return anchor * math.exp(-storage_rate_per_h(rate, strength, intensity) * max(idle_h, 0.0))


def exponential_retention(anchor: float, idle: float, rate: float) -> float:
    return anchor * math.exp(-rate * max(idle, 0.0))


def recalled(r: float, s: float, beta: float = 0.1) -> tuple[float, float]:
    """Return (R, S) after a success: S first, then R from the new S."""
    s = s + beta * (1.0 - r) * (1.0 - s)
    return 0.5 + 0.5 * s, s


def failed(r: float, s: float, gamma: float = 0.3) -> tuple[float, float]:
    """Return (R, S) after a failure."""
    return r * 0.5, max(s - gamma * r * s, 0.0)


def weighted_sum_score(cos: float, importance: float, age_h: float, rate: float = 0.005) -> float:
    return 0.5 * cos + 0.3 * math.exp(-rate * max(age_h, 0.0)) + 0.2 * importance / 10.0


def power_retention(elapsed: float, stability: float, d: float = 0.1542) -> float:
    """(1 + F t / stability)^-d, with F such that the value at t = stability is 0.9."""
    factor = 0.9 ** (-1.0 / d) - 1.0
    return (1.0 + factor * max(elapsed, 0.0) / stability) ** -d


# --- word-hash vectors as counts --------------------------------------------------------


def count_cosine(one: dict[int, int], other: dict[int, int]) -> float:
    """The cosine of two signed counts by bucket: the dot and the squared norms are integers."""
    dot = sum(count * other.get(bucket, 0) for bucket, count in one.items())
    squares = [sum(count * count for count in counts.values()) for counts in (one, other)]
    if dot == 0:
        return 0.0
    cosine = float(dot) / math.sqrt(float(squares[0]) * float(squares[1]))
    return min(max(cosine, -1.0), 1.0)


# --- BM25 -------------------------------------------------------------------------------


def bm25_idf(texts: int, texts_with_term: int) -> float:
    """Lucene: never negative."""
    return math.log(1.0 + (texts - texts_with_term + 0.5) / (texts_with_term + 0.5))


def bm25(
    cue: Sequence[int], texts: Sequence[Sequence[int] | None], k1: float = 1.2, b: float = 0.75
) -> list[float]:
    """Raw BM25 of every text (None is a tombstone: score 0, not counted anywhere).

    Each distinct term of the cue counts once, in order of first occurrence.
    """
    live = [Counter(text) for text in texts if text is not None]
    count = len(live)
    mean_length = sum(sum(c.values()) for c in live) / count if count else 0.0
    scores = [0.0] * len(texts)
    for term in dict.fromkeys(cue):
        idf = bm25_idf(count, sum(term in c for c in live))
        for slot, text in enumerate(texts):
            if text is None or (tf := list(text).count(term)) == 0:
                continue
            norm = k1 * (1.0 - b + b * len(text) / mean_length)
            scores[slot] += idf * tf / (tf + norm)
    return scores


# --- spreading --------------------------------------------------------------------------

Edges = dict[int, list[tuple[int, float]]]  # node -> [(target, weight)], in stored order


def spread(
    edges: Edges,
    seeds: dict[int, float],
    *,
    depth: int = 3,
    hop_decay: float = 0.5,
    threshold: float = 0.0,
    fan_cap: int | None = None,
    node_cap: int | None = None,
    fan_normalise: bool = False,
    seeds_receive: bool = True,
    allowed: Callable[[int], bool] = lambda node: True,
) -> dict[int, float]:
    """Activation that reached each node through links: summed over hops 1..depth, capped at 1.

    1. The frontier of hop 0 is the seeds.  A node passes activation on at a hop only if what
       reached it at that hop is at least ``threshold``.
    2. A node passes over at most ``fan_cap`` of its edges: the heaviest, then the lowest target,
       then the earliest stored.  Weights <= 0 pass nothing.
    3. ``fan_normalise`` divides each weight by the sum of all positive weights of its node
       (before the cap), when that sum is above 1.
    4. Nodes that are not allowed neither receive nor pass; with ``seeds_receive=False`` seeds
       receive nothing (and so pass only at hop 0).
    5. At most ``node_cap`` distinct nodes are ever reached: when a hop would bring in more new
       nodes than are left, the most activated are kept, then the lowest node numbers.
    6. Within a hop nodes pass in ascending order of number; sums are float64 in that order.
    """
    frontier = {n: a for n, a in seeds.items() if allowed(n) and a > 0}
    start = set(frontier)
    total: dict[int, float] = {}
    for _ in range(depth):
        arriving: dict[int, float] = {}
        for node in sorted(frontier):
            if frontier[node] < threshold:
                continue
            out = [(t, w) for t, w in edges.get(node, []) if w > 0]
            mass = sum(w for _, w in out)
            scale = 1.0 / mass if fan_normalise and mass > 1.0 else 1.0
            chosen = sorted(range(len(out)), key=lambda i: (-out[i][1], out[i][0], i))[
                : fan_cap if fan_cap is not None else len(out)
            ]
            for i in chosen:
                target, weight = out[i]
                if not allowed(target) or (not seeds_receive and target in start):
                    continue
                gain = frontier[node] * hop_decay * (weight * scale)
                arriving[target] = arriving.get(target, 0.0) + gain
        if node_cap is not None:
            fresh = sorted((n for n in arriving if n not in total), key=lambda n: (-arriving[n], n))
            for node in fresh[max(node_cap - len(total), 0) :]:
                del arriving[node]
        for node, gain in arriving.items():
            total[node] = total.get(node, 0.0) + gain
        frontier = arriving
    return {node: min(value, 1.0) for node, value in total.items()}
