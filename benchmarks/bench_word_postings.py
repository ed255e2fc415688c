"""Word-hash vectors through their postings, against the dense scan of the same vectors."""

from __future__ import annotations

from collections.abc import Callable

import data
import numpy as np
import pytest
from timing import Timed

from ebbmem import HashingEmbedder, _core

pytestmark = pytest.mark.benchmark(max_time=0.5, min_rounds=3)

COUNT, DIM, CUES, K = 50_000, 1024, 20, 10
HOUR_US = 3_600_000_000
YEAR_US = 365 * 24 * HOUR_US
RATE_PER_H = 0.005


def words(texts: tuple[str, ...]) -> _core.WordVectors:
    vectors = _core.WordVectors(DIM)
    vectors.append(*HashingEmbedder(dim=DIM).counts_many(texts))
    return vectors


def fading(count: int) -> _core.Fading:
    """Return memories of one year, in the order of their times."""
    rng = np.random.default_rng(6)
    lines = _core.Fading(HOUR_US)
    lines.append(rng.uniform(1, 10, count), np.sort(rng.integers(0, YEAR_US, count)))
    return lines


@pytest.mark.parametrize("who", ["postings", "dense"])
def test_top_by_cosine(timed: Timed, who: str) -> None:
    embedder, texts, cues = HashingEmbedder(dim=DIM), data.texts(COUNT), data.cues(CUES)
    vectors, arena = words(texts), _core.Arena(DIM)
    arena.append(embedder.embed_many(texts))
    counts, queries = [embedder.counts(cue) for cue in cues], embedder.embed_many(cues)
    plain = (None, None, None, None, K)
    calls: dict[str, Callable[[], list[np.ndarray]]] = {
        "postings": lambda: [vectors.top_affine(*one, *plain)[2] for one in counts],
        "dense": lambda: [_core.top_affine(arena, one, *plain)[2] for one in queries],
    }
    # Float32 dots break ties of the exact cosines: the cosines agree, which of equals come may not.
    np.testing.assert_allclose(calls[who](), calls["dense"](), atol=2e-6)
    assert vectors.bytes / COUNT < 40

    timed(calls[who], group=f"word-hash top {K} of {COUNT}, D={DIM}", units=CUES, unit="cue")


@pytest.mark.parametrize("who", ["postings", "column"])
def test_top_by_fading(timed: Timed, who: str) -> None:
    embedder, texts = HashingEmbedder(dim=DIM), data.texts(COUNT)
    vectors, lines = words(texts), fading(COUNT)
    counts = [embedder.counts(cue) for cue in data.cues(CUES)]

    def by_column() -> list[list[int]]:
        weights = lines.log_weights(np.arange(COUNT), YEAR_US, RATE_PER_H)
        return [vectors.top_product(*c, weights, None, None, K)[0].tolist() for c in counts]

    def by_lines() -> list[list[int]]:
        rest = (lines, YEAR_US, RATE_PER_H, None, None, K)
        return [vectors.top_faded(*c, *rest)[0].tolist() for c in counts]

    calls = {"postings": by_lines, "column": by_column}
    assert calls[who]() == by_column()

    timed(calls[who], group=f"faded word-hash top {K} of {COUNT}", units=CUES, unit="cue")


def test_append(timed: Timed) -> None:
    counted = HashingEmbedder(dim=DIM).counts_many(data.texts(COUNT))

    def build() -> _core.WordVectors:
        vectors = _core.WordVectors(DIM)
        vectors.append(*counted)
        return vectors

    assert build().size == COUNT

    timed(build, group=f"index {COUNT} word-hash vectors", units=COUNT, unit="text")
