"""Contests of embedding: texts into word-hash vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import data
import numpy as np
import peers
import rivals
from contest import Contest, Rival, turning
from sizes import Sizes

from ebbmem import HashingEmbedder

AT_LEAST_PYTHON = {256: 100.0, 1024: 200.0}
CACHED = "numpy, buckets of known words in a dict"


def embed_many(sizes: Sizes) -> Iterator[Contest]:
    """A list of texts, dense rows out."""
    texts = list(data.texts(sizes.texts))
    for dim in AT_LEAST_PYTHON:
        yield _embed_many(texts, texts[: sizes.few_texts], dim)


def _embed_many(texts: list[str], few: list[str], dim: int) -> Contest:
    ours, cached = HashingEmbedder(dim), rivals.NumpyEmbedder(dim)
    vectorizer = peers.hashing_vectorizer(dim)

    def by_python() -> list[list[float]]:
        return [rivals.embed_python(text, dim) for text in few]

    made = ours.embed_many(few)
    np.testing.assert_array_equal(np.float32(by_python()), made)
    np.testing.assert_array_equal(cached.embed_many(few), made)
    if vectorizer is not None:
        check_hashed(vectorizer(few), made)
    every = len(texts)
    return Contest(
        f"embed a list of texts, D={dim}, dense",
        lambda: ours.embed_many(texts),
        (
            Rival("pure-Python seed 000 (lists)", by_python, AT_LEAST_PYTHON[dim], len(few)),
            Rival(
                "sklearn HashingVectorizer (murmur, sparse)",
                vectorizer and (lambda: vectorizer(texts)),
                15.0,
                every,
            ),
            Rival(CACHED, lambda: cached.embed_many(texts), None, every),
        ),
        every,
    )


def check_hashed(rows: object, made: data.F32) -> None:
    """Another hash gives other buckets; for nearly every text the same counts in them."""
    theirs = np.sort(rows.toarray(), axis=1)  # type: ignore[attr-defined]
    same = np.isclose(theirs, np.sort(made, axis=1), atol=1e-6).all(axis=1)
    assert same.mean() > 0.5


def embed_one(sizes: Sizes) -> Iterator[Contest]:
    """One text, another one at each call."""
    texts = data.texts(sizes.texts)
    for dim in AT_LEAST_PYTHON:
        yield _embed_one(texts, dim)


def _embed_one(texts: tuple[str, ...], dim: int) -> Contest:
    ours, cached = HashingEmbedder(dim), rivals.NumpyEmbedder(dim)
    calls: dict[str, Callable[[str], object]] = {
        "ebbmem": ours.embed,
        "pure Python (numpy)": lambda text: rivals.embed_numpy(text, dim),
        "pure Python (lists)": lambda text: rivals.embed_python(text, dim),
        CACHED: lambda text: cached.embed_many([text])[0],
    }
    for call in calls.values():
        made = np.float32([call(text) for text in texts[:5]])
        np.testing.assert_array_equal(made, ours.embed_many(texts[:5]))
    turned = {name: turning(call, texts) for name, call in calls.items()}
    figures = {"pure Python (numpy)": 25.0}
    theirs = [Rival(name, turned[name], figures.get(name)) for name in list(calls)[1:]]
    return Contest(f"embed one text, D={dim}", turned["ebbmem"], theirs)
