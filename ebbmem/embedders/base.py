"""What every embedder is, and the checks that all of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ebbmem import _tokenize
from ebbmem.errors import InvalidArgument, InvalidType

MAX_DIM = 2**24


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their cosine.

    A store that holds vectors remembers ``name`` and ``dim``: two embedders whose vectors must
    not be mixed need different names.
    """

    @property
    def name(self) -> str:
        """Name of the vector space."""
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text.

        Parameters
        ----------
        texts : sequence of str

        Returns
        -------
        (n, dim) float32, C-contiguous
            Rows of unit length; a text that says nothing may have a row of zeros.
        """
        ...


class WordEmbedder(Embedder, Protocol):
    """An embedder whose vectors are word counts by bucket, scaled to unit length."""

    def counts(self, text: str) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
        """Return the counts of one text: what `counts_many` does, but the end.

        Parameters
        ----------
        text : str

        Returns
        -------
        buckets : (m,) uint32
            Where its vector is not zero: each bucket once, below ``dim``.
        counts : (m,) int32
            The signed counts there.
        """
        ...

    def counts_many(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.int64]]:
        """Return the counts of each text, back to back.

        Parameters
        ----------
        texts : sequence of str

        Returns
        -------
        buckets : (m,) uint32
            Where a text's vector is not zero: each bucket once, below ``dim``.
        counts : (m,) int32
            The signed counts there.
        text_ends : (n,) int64
            Text ``t`` ends before ``buckets[text_ends[t]]``.
        """
        ...


def checked_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the texts as a tuple.

    Raises
    ------
    InvalidType
        If ``texts`` is no sequence, is itself one ``str``, or holds something else than ``str``.
    InvalidArgument
        If a text has a lone surrogate, so that UTF-8 cannot encode it.
    """
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Sequence):
        raise InvalidType.of("texts", "a sequence of str", texts)
    return _tokenize.checked(tuple(texts))


def checked_dim(dim: int) -> int:
    """Return the dimension as an ``int``.

    Raises
    ------
    InvalidType
        If it is no integer; ``bool`` is none here.
    InvalidArgument
        If it is not in 1..2**24.
    """
    if isinstance(dim, bool) or not isinstance(dim, (int, np.integer)):
        raise InvalidType.of("dim", "an integer", dim)
    if not 1 <= dim <= MAX_DIM:
        raise InvalidArgument.of("dim", f"an integer from 1 to {MAX_DIM}", dim)
    return int(dim)


def stores_vectors(embedder: Embedder) -> bool:
    """Return whether an embedder's vectors are kept with their memories.

    They are, unless it says ``stored = False``: its vectors follow from the text alone and are
    made again as fast as they are read.
    """
    return bool(getattr(embedder, "stored", True))


def counts_words(embedder: Embedder) -> TypeGuard[WordEmbedder]:
    """Return whether an embedder's vectors follow from word counts that it can tell."""
    if stores_vectors(embedder):
        return False
    return hasattr(embedder, "counts") and hasattr(embedder, "counts_many")


def checked_embedder(embedder: object) -> Embedder:
    """Return an embedder, or refuse what is none."""
    if not isinstance(embedder, Embedder):
        raise InvalidType.of("embedder", "an Embedder (name, dim, embed_many)", embedder)
    if not isinstance(embedder.name, str) or not embedder.name.strip():
        raise InvalidArgument.of("embedder.name", "a name that is not blank", embedder.name)
    checked_dim(embedder.dim)
    return embedder
