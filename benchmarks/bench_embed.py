"""Texts into word-hash vectors."""

from __future__ import annotations

from collections import Counter

import data
import numpy as np
import pytest
import rivals
from timing import Timed

from ebbmem import HashingEmbedder, _tokenize
from ebbmem.analysis import Analyzer

pytestmark = pytest.mark.benchmark(max_time=0.5, min_rounds=3)

MANY = 1_000
DIMS = (256, 1024)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("who", ["ebbmem", "numpy", "python"])
def test_embed_many(timed: Timed, who: str, dim: int) -> None:
    texts = data.texts(MANY)
    ours, numpys = HashingEmbedder(dim), rivals.NumpyEmbedder(dim)
    calls = {
        "ebbmem": lambda: ours.embed_many(texts),
        "numpy": lambda: numpys.embed_many(texts),
        "python": lambda: [rivals.embed_python(text, dim) for text in texts],
    }
    np.testing.assert_array_equal(np.float32(calls[who]()), calls["ebbmem"]())

    timed(calls[who], group=f"embed {MANY} texts, dim {dim}", units=MANY, unit="text")


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("who", ["ebbmem", "numpy", "python"])
def test_embed_one(timed: Timed, who: str, dim: int) -> None:
    (text,) = data.texts(1)
    ours, numpys = HashingEmbedder(dim), rivals.NumpyEmbedder(dim)
    calls = {
        "ebbmem": lambda: ours.embed(text),
        "numpy": lambda: numpys.embed_many([text])[0],
        "python": lambda: rivals.embed_python(text, dim),
    }
    np.testing.assert_array_equal(np.float32(calls[who]()), calls["ebbmem"]())

    timed(calls[who], group=f"embed 1 text, dim {dim}", units=1, unit="text")


@pytest.mark.parametrize("who", ["ebbmem", "python"])
def test_count_many(timed: Timed, who: str) -> None:
    texts, dim = data.texts(MANY), 1024
    ours = HashingEmbedder(dim)

    def by_python() -> list[Counter[int]]:
        found = (rivals.WORDS.findall(text) for text in texts)
        return [Counter(rivals.bucket(word, dim) for word in words) for words in found]

    buckets, counts, ends = (part.tolist() for part in ours.counts_many(texts))
    spans = zip([0, *ends], ends, strict=False)
    assert [dict(zip(buckets[a:b], counts[a:b], strict=True)) for a, b in spans] == by_python()

    calls = {"ebbmem": lambda: ours.counts_many(texts), "python": by_python}
    timed(calls[who], group=f"count {MANY} texts, dim {dim}", units=MANY, unit="text")


@pytest.mark.parametrize("units", [1, MANY])
def test_terms(timed: Timed, units: int) -> None:
    """Analysis of texts whose word forms are known."""
    texts = data.texts(MANY) if units > 1 else data.cues(1)
    analyzer = Analyzer()
    first = analyzer.terms(texts)
    assert [part.tolist() for part in analyzer.terms(texts)] == [part.tolist() for part in first]

    timed(lambda: analyzer.terms(texts), group=f"terms of {units} texts", units=units, unit="text")


@pytest.mark.parametrize("who", ["ebbmem", "python"])
def test_tokenize(timed: Timed, who: str) -> None:
    texts = data.texts(MANY)
    words = [rivals.WORDS.findall(text) for text in texts]
    calls = {
        "ebbmem": lambda: _tokenize.words(texts),
        "python": lambda: [rivals.WORDS.findall(text) for text in texts],
    }
    joined = "".join(word for text in words for word in text).encode()
    assert calls["ebbmem"]().utf8 == joined

    timed(calls[who], group=f"tokenize {MANY} texts", units=MANY, unit="text")
