"""The vectors of a scope in one embedder's space, and how they are asked.

A dense lane keeps the vectors themselves.  A word lane keeps the word counts that the vectors of
a word-hash embedder follow from, by bucket: a small part of the memory, and faster to rank.
Recall cannot tell them apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem.embedders.base import Embedder, WordEmbedder, counts_words
from ebbmem.errors import EbbmemError, EmbedderFailed
from ebbmem.searches import Search

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
BoolRows = NDArray[np.bool_]


class WordQuery(NamedTuple):
    """A cue as signed word counts by bucket."""

    buckets: NDArray[np.uint32]
    counts: NDArray[np.int32]


Query = F32 | WordQuery
"""A cue in a space: its vector, or the counts the vector follows from."""


class Asked(Protocol):
    """A lane asked with one cue.  Rankings have cosines for values."""

    def affine(
        self, mul: F64 | None, add: F64 | None, newness: I64, mask: BoolRows, k: int
    ) -> Search:
        """Return the ranking by ``mul * cosine + add``."""
        ...

    def cosines(self, slots: I64) -> F64:
        """Return the cosine with each of some memories."""
        ...


class Lane(Protocol):
    """The vectors of every slot of a scope."""

    @property
    def embedder(self) -> Embedder:
        """What makes the vectors."""
        ...

    @property
    def bytes(self) -> int:
        """Memory held."""
        ...

    def append(self, summaries: Sequence[str], vectors: F32 | None, /) -> None:
        """Take in new slots; ``vectors`` where they are known already."""
        ...

    def tombstone(self, slots: I64) -> None:
        """Take slots out of every ranking."""
        ...

    def asked(self, query: Query) -> Asked:
        """Return this lane asked with a cue."""
        ...


class AskedVectors(NamedTuple):
    """A lane of vectors asked with one cue."""

    arena: _core.Arena
    vector: F32

    def affine(
        self, mul: F64 | None, add: F64 | None, newness: I64, mask: BoolRows, k: int
    ) -> Search:
        """Return the ranking by ``mul * cosine + add``."""
        args = (self.arena, self.vector, mul, add, newness, mask, k)
        return Search(_core.top_affine, _core.Searches.affine, args)

    def faded(
        self, fading: _core.Fading, now_us: int, rate: float, among: tuple[I64, BoolRows], k: int
    ) -> Search:
        """Return that by log weight + ln((1 + cosine) / 2); ``among`` is newness and mask."""
        args = (self.arena, fading, self.vector, now_us, rate, *among, k)
        return Search(_core.top_faded, _core.Searches.faded, args)

    def cosines(self, slots: I64) -> F64:
        """Return the cosine with each of some memories."""
        return _core.dots(self.arena, self.vector, slots).astype(np.float64)


class DenseLane:
    """A float32 vector per slot."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._arena = _core.Arena(embedder.dim)

    @property
    def bytes(self) -> int:
        """Memory held."""
        return self._arena.bytes

    def append(self, summaries: Sequence[str], vectors: F32 | None, /) -> None:
        """Take in new slots."""
        if summaries:
            made = embedded(self.embedder, summaries) if vectors is None else vectors
            self._arena.append(made)

    def tombstone(self, slots: I64) -> None:
        """Take slots out of every ranking."""
        self._arena.tombstone(slots)

    def asked(self, query: Query) -> Asked:
        """Return this lane asked with a cue."""
        return AskedVectors(self._arena, cast(F32, query))


class AskedWords(NamedTuple):
    """A word lane asked with one cue."""

    words: _core.WordVectors
    query: WordQuery

    def affine(
        self, mul: F64 | None, add: F64 | None, newness: I64, mask: BoolRows, k: int
    ) -> Search:
        """Return the ranking by ``mul * cosine + add``."""
        args = (self.words, *self.query, mul, add, newness, mask, k)
        return Search(_core.WordVectors.top_affine, _core.Searches.words_affine, args)

    def cosines(self, slots: I64) -> F64:
        """Return the cosine with each of some memories."""
        return self.words.cosines(*self.query, slots)


class WordLane:
    """Signed word counts by bucket per slot, inverted."""

    def __init__(self, embedder: WordEmbedder) -> None:
        self.embedder = embedder
        self.words = _core.WordVectors(embedder.dim)

    @property
    def bytes(self) -> int:
        """Memory held."""
        return self.words.bytes

    def append(self, summaries: Sequence[str], _vectors: F32 | None, /) -> None:
        """Take in new slots; their counts follow from the texts."""
        self.words.append(*self.embedder.counts_many(summaries))

    def tombstone(self, slots: I64) -> None:
        """Take slots out of every ranking."""
        self.words.tombstone(slots)

    def asked(self, query: Query) -> Asked:
        """Return this lane asked with a cue."""
        return AskedWords(self.words, cast(WordQuery, query))


def empty_lane(embedder: Embedder) -> Lane:
    """Return the kind of lane that suits an embedder."""
    return WordLane(embedder) if counts_words(embedder) else DenseLane(embedder)


def queries(embedder: Embedder, cues: Sequence[str]) -> Sequence[Query]:
    """Return cues as the embedder's lane is asked with them."""
    if not counts_words(embedder):
        return list(embedded(embedder, cues))
    buckets, counts, ends = embedder.counts_many(cues)
    if len(cues) == 1:
        return [WordQuery(buckets, counts)]
    return [WordQuery(buckets[a:b], counts[a:b]) for a, b in pairwise([0, *ends.tolist()])]


def embedded(embedder: Embedder, texts: Sequence[str]) -> F32:
    """Return the vectors of some texts, or raise EmbedderFailed for unusable ones."""
    try:
        vectors = embedder.embed_many(texts)
    except EbbmemError:
        raise
    except Exception as exc:
        raise EmbedderFailed(f"{_expected(embedder, texts)}, got {exc!r}") from exc
    if not isinstance(vectors, np.ndarray) or vectors.dtype.kind != "f":
        got = getattr(vectors, "dtype", type(vectors).__name__)
        raise EmbedderFailed(f"{_expected(embedder, texts)}, got {got}")
    if vectors.shape != (len(texts), embedder.dim):
        raise EmbedderFailed(f"{_expected(embedder, texts)}, got shape {vectors.shape}")
    made = vectors
    if made.dtype != np.float32 or not (made.flags.c_contiguous and made.flags.aligned):
        with np.errstate(over="ignore"):
            made = np.require(vectors, np.float32, ["C", "A", "E"])
    flat = made.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        product = flat.dot(flat)
    # One product tells that all are finite; where it is not, they may still be, and large.
    if not math.isfinite(product) and not np.isfinite(made).all():
        raise EmbedderFailed(f"{_expected(embedder, texts)}, got NaN or infinity")
    return made


def _expected(embedder: Embedder, texts: Sequence[str]) -> str:
    """Return what an embedder should have returned, for an error message."""
    return f"{embedder.name}: expected ({len(texts)}, {embedder.dim}) finite float32 vectors"
