"""Any function that turns texts into vectors, made an embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ebbmem.embedders.base import checked_dim, checked_texts
from ebbmem.errors import EmbedderFailed, InvalidArgument, InvalidType


@dataclass(frozen=True, slots=True)
class CallableEmbedder:
    """Wrap a function, say a sentence model or a remote service.

    Parameters
    ----------
    fn : callable, ``list[str] -> array-like``
        Gets a list of its own with at least one text and returns (n, dim) real numbers. It is
        called from whatever thread embeds.
    dim : int
        Length of a vector, 1 to 2**24.
    name : str
        Name of the vector space. A store that holds vectors of one name refuses another, so it
        should say which model and which version ``fn`` asks.

    Raises
    ------
    InvalidType
        If ``fn`` cannot be called, ``dim`` is no integer or ``name`` no ``str``.
    InvalidArgument
        If ``dim`` is out of range, or ``name`` is blank or cannot be encoded as UTF-8.
    """

    fn: Callable[[list[str]], ArrayLike]
    dim: int
    name: str

    def __post_init__(self) -> None:
        if not callable(self.fn):
            raise InvalidType.of("fn", "a callable, list[str] -> array-like", self.fn)
        object.__setattr__(self, "dim", checked_dim(self.dim))
        if not isinstance(self.name, str):
            raise InvalidType.of("name", "str", self.name)
        if not self.name.strip() or not _encodable(self.name):
            raise InvalidArgument.of("name", "a name that is not blank", self.name)

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, scaled to unit length.

        Parameters
        ----------
        texts : sequence of str
            When it is empty ``fn`` is not called.

        Returns
        -------
        (n, dim) float32, C-contiguous
            A new array. Rows of zeros stay zero.

        Raises
        ------
        EmbedderFailed
            If ``fn`` raises (its error is the cause), or returns something else than
            (n, dim) finite real numbers.
        InvalidType
            If ``texts`` is no sequence of ``str``.
        InvalidArgument
            If a text has a lone surrogate.
        """
        checked = checked_texts(texts)
        if not checked:
            return np.empty((0, self.dim), dtype=np.float32)
        try:
            returned = np.asarray(self.fn(list(checked)))
        except Exception as exc:
            raise EmbedderFailed(f"embedder {self.name!r} raised {exc!r}") from exc
        return _unit_rows(self._rows(returned, len(checked)))

    def _rows(self, returned: NDArray[np.generic], count: int) -> NDArray[np.float64]:
        """Return what ``fn`` returned as float64, or refuse it."""
        expected = f"({count}, {self.dim}) finite real numbers"
        if returned.dtype.kind not in "fiu":
            raise self._unusable(expected, f"dtype {returned.dtype}")
        if returned.shape != (count, self.dim):
            raise self._unusable(expected, f"shape {returned.shape}")
        rows = returned.astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if bad.size:
            raise self._unusable(expected, f"NaN or infinity in row {bad[0]}")
        return rows

    def _unusable(self, expected: str, got: str) -> EmbedderFailed:
        return EmbedderFailed(f"embedder {self.name!r}: expected {expected}, got {got}")


def _unit_rows(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    # Scaled by the largest value first: squares then neither overflow nor vanish.
    peaks = np.abs(rows).max(axis=1, keepdims=True)
    scaled = rows / np.where(peaks > 0, peaks, 1.0)
    norms = np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
    return np.ascontiguousarray(scaled / np.where(norms > 0, norms, 1.0), dtype=np.float32)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
