"""The word-hash embedder: no model, no vocabulary, the same vector on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ebbmem._tokenize import WordHasher
from ebbmem.embedders.base import checked_dim, checked_texts
from ebbmem.errors import InvalidArgument, InvalidType


@dataclass(frozen=True, slots=True)
class HashingEmbedder:
    r"""Count words in buckets chosen by their MD5, and scale the row to unit length.

    Two texts are close when they share words; meaning beyond words is not seen. The defaults are
    the plain word hash of the Ebbinghaus law. For a new store ``sign="independent"`` is the better
    choice: words that happen to share a bucket then cancel as often as they add, so unrelated
    texts have cosines around 0 instead of above it.

    Parameters
    ----------
    dim : int, default 1024
        Length of a vector, 1 to 2**24. A word's bucket is its MD5, as a big-endian integer,
        mod ``dim``.
    sign : None or "seed" or "independent", keyword-only
        None adds 1 for every word. The others add +1 or -1 by one bit of the MD5: ``"seed"`` by
        bit 8, as the signed split embedder does (when ``dim`` is a power of two of 512 or more
        that bit is part of the bucket, and words in one bucket never cancel);
        ``"independent"`` by bit 64.
    split : "words" or "lower_split", keyword-only
        ``"words"`` takes the runs of ``\w`` as they are written, so that ``Rex`` and ``rex`` are
        two words; ``"lower_split"`` takes ``text.lower().split()``.

    Raises
    ------
    InvalidType
        If ``dim`` is no integer, or ``sign`` or ``split`` no string.
    InvalidArgument
        If ``dim``, ``sign`` or ``split`` is none of the values above.
    """

    stored: ClassVar[bool] = False
    """The vectors follow from the text: a store keeps none of them."""

    dim: int = 1024
    sign: Literal["seed", "independent"] | None = field(default=None, kw_only=True)
    split: Literal["words", "lower_split"] = field(default="words", kw_only=True)
    _hasher: WordHasher = field(init=False, repr=False, compare=False)
    _name: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", checked_dim(self.dim))
        if self.sign is not None:
            _check_choice("sign", self.sign, ("seed", "independent"))
        _check_choice("split", self.split, ("words", "lower_split"))
        object.__setattr__(self, "_hasher", WordHasher(self.split, self.dim, self.sign))
        name = f"word-hash:{self.split}:{self.sign or 'unsigned'}:{self.dim}"
        object.__setattr__(self, "_name", name)

    @property
    def name(self) -> str:
        """Name of the vector space: equal names give equal vectors."""
        return self._name

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of one text.

        Parameters
        ----------
        text : str

        Returns
        -------
        (dim,) float32
            Of unit length; zeros for a text without words, or whose signed counts cancel.

        Raises
        ------
        InvalidType
            If ``text`` is no ``str``.
        InvalidArgument
            If it has a lone surrogate.
        """
        return self._hasher.embed(text)

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text.

        Parameters
        ----------
        texts : sequence of str

        Returns
        -------
        (n, dim) float32, C-contiguous
            Row by row what ``embed`` returns: the rest of the batch has no influence.

        Raises
        ------
        InvalidType
            If ``texts`` is no sequence of ``str``.
        InvalidArgument
            If a text has a lone surrogate.
        """
        return self._hasher.embed_many(_listed(texts))

    def counts(self, text: str) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
        """Return the vector of one text as counts: what ``embed`` scales to unit length.

        Parameters
        ----------
        text : str

        Returns
        -------
        buckets : (m,) uint32
            Where the vector is not zero: each bucket once, in order of first occurrence.
        counts : (m,) int32
            The signed counts there, never 0. The squared norm of the vector before scaling is the
            sum of their squares; it takes nothing of size ``dim`` to compute them.

        Raises
        ------
        InvalidType
            If ``text`` is no ``str``.
        InvalidArgument
            If it has a lone surrogate.
        """
        return self._hasher.counts(text)

    def counts_many(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.int64]]:
        """Return the vectors of many texts as counts, back to back.

        Parameters
        ----------
        texts : sequence of str

        Returns
        -------
        buckets : (m,) uint32
            Text by text what ``counts`` returns.
        counts : (m,) int32
            The signed counts there, never 0.
        text_ends : (n,) int64
            Text ``t`` ends before ``buckets[text_ends[t]]``.

        Raises
        ------
        InvalidType
            If ``texts`` is no sequence of ``str``.
        InvalidArgument
            If a text has a lone surrogate.
        """
        return self._hasher.counts_many(_listed(texts))


def _listed(texts: Sequence[str]) -> list[str] | tuple[str, ...]:
    return texts if isinstance(texts, (list, tuple)) else checked_texts(texts)


def _check_choice(argument: str, value: str, allowed: tuple[str, str]) -> None:
    expected = f"{allowed[0]!r} or {allowed[1]!r}"
    if not isinstance(value, str):
        raise InvalidType.of(argument, expected, value)
    if value not in allowed:
        raise InvalidArgument.of(argument, expected, value)
