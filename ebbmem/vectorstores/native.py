"""Vectors in memory, searched exactly by the native core."""

from __future__ import annotations

import operator
import threading
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch
from ebbmem.vectorstores.base import VectorHit


class InMemoryVectorStore:
    """Vectors by id, in memory; search is exact.

    Parameters
    ----------
    dim : int, optional
        Floats per vector, 1 to 2**24. Without it the first vectors added decide.

    Notes
    -----
    Searches of several threads run side by side. Memory of removed and replaced vectors is given
    back once they outnumber the others.
    """

    # A row's slot says when it was added, so ties need no column of their own. `_ids[slot]` is its
    # id, `_slots[id]` the one slot that counts; both change only under the lock, together with the
    # arena's size and slots. Compaction replaces `_ids`, which is how a search notices it.

    def __init__(self, dim: int | None = None) -> None:
        self._lock = threading.Lock()
        self._arena = None if dim is None else _core.Arena(dim)
        self._ids: list[str] = []
        self._slots: dict[str, int] = {}

    @property
    def dim(self) -> int | None:
        """Floats per vector; None until it is known."""
        return None if self._arena is None else self._arena.dim

    def add(self, ids: Iterable[str], vectors: NDArray[np.float32]) -> None:
        """Add vectors; one whose id is already there replaces the old one.

        Parameters
        ----------
        ids : iterable of str
            One per vector. When an id comes twice, the last vector is kept.
        vectors : (n, dim) float32
            Unit length or zero.

        Raises
        ------
        InvalidType
            If an id is no string or ``vectors`` is not a C-contiguous float32 array.
        InvalidArgument
            If the shape does not fit or a value is NaN or infinite. Nothing was added then.
        """
        added = _checked_ids(ids)
        if not isinstance(vectors, np.ndarray):
            raise InvalidType.of("vectors", "an (n, dim) float32 array", vectors)
        if vectors.ndim != 2 or len(vectors) != len(added):
            raise ShapeMismatch.of("vectors", f"{len(added)} rows, one per id", vectors.shape)
        if not added:
            return
        with self._lock:
            arena = self._arena if self._arena is not None else _core.Arena(vectors.shape[1])
            first = self._append(arena, added, vectors)
            self._arena = arena
            self._kill(arena, self._renumber(added, first))

    def remove(self, ids: Iterable[str]) -> None:
        """Remove vectors; ids that are not there are passed over.

        Parameters
        ----------
        ids : iterable of str
            Ids that :meth:`search` shall not return again.

        Raises
        ------
        InvalidType
            If an id is no string. Nothing was removed then.
        """
        removed = _checked_ids(ids)
        with self._lock:
            if self._arena is not None:
                dead = [self._slots.pop(id_) for id_ in set(removed) & self._slots.keys()]
                self._kill(self._arena, dead)

    def search(self, query: NDArray[np.float32], top_k: int) -> list[VectorHit]:
        """Return the vectors most similar to ``query``, best first.

        Parameters
        ----------
        query : (dim,) float32
            Unit length or zero.
        top_k : int
            At least 1; fewer hits come back when the store holds fewer vectors.

        Returns
        -------
        list of VectorHit
            With the cosine in [-1, 1], higher is closer; 0 for a zero vector.

        Raises
        ------
        InvalidType
            If ``query`` is not a C-contiguous float32 array or ``top_k`` no integer.
        InvalidArgument
            If the shape does not fit, a value is NaN or infinite, or ``top_k`` is below 1.

        Notes
        -----
        Of equal similarities the one added later comes first; replacing a vector adds it anew.
        """
        k = _checked_top_k(top_k)
        with self._lock:
            arena, ids = self._arena, self._ids
        if arena is None:
            return []
        slots, _, dots = _core.top_affine(arena, query, None, None, None, None, k)
        with self._lock:
            if self._ids is not ids:  # compacted meanwhile: the slots found mean nothing
                slots, _, dots = _core.top_affine(arena, query, None, None, None, None, k)
            found = [self._ids[slot] for slot in slots.tolist()]
        return list(map(VectorHit, found, dots.tolist()))

    def __len__(self) -> int:
        """Return how many vectors there are."""
        return len(self._slots)

    def __contains__(self, id: object) -> bool:  # noqa: A002
        """Return whether there is a vector of this id."""
        return id in self._slots

    def _append(self, arena: _core.Arena, added: list[str], vectors: NDArray[np.float32]) -> int:
        """Append rows and their ids, both or neither; return the first slot."""
        known = len(self._ids)
        self._ids.extend(added)
        try:
            return arena.append(vectors)
        except BaseException:
            del self._ids[known:]
            raise

    def _renumber(self, added: list[str], first: int) -> list[int]:
        """Give ids their new slots; return the slots they had."""
        replaced = []
        for slot, id_ in enumerate(added, first):
            if id_ in self._slots:
                replaced.append(self._slots[id_])
            self._slots[id_] = slot
        return replaced

    def _kill(self, arena: _core.Arena, dead: list[int]) -> None:
        """Tombstone rows, and close the gaps once most rows are dead."""
        if not dead:
            return
        arena.tombstone(np.array(dead, dtype=np.int64))
        if 2 * len(self._slots) < len(self._ids):
            kept = (arena.compact() >= 0).tolist()
            self._ids = [id_ for id_, stays in zip(self._ids, kept, strict=True) if stays]
            self._slots = {id_: slot for slot, id_ in enumerate(self._ids)}


def _checked_ids(ids: Iterable[str]) -> list[str]:
    """Return the ids as a list; a lone string is a mistake, not an iterable of letters."""
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise InvalidType.of("ids", "an iterable of strings", ids)
    listed = list(ids)
    for id_ in listed:
        if not isinstance(id_, str):
            raise InvalidType.of("ids", "strings", id_)
    return listed


def _checked_top_k(top_k: int) -> int:
    """Return ``top_k`` as an int of at least 1."""
    if isinstance(top_k, bool) or not hasattr(top_k, "__index__"):
        raise InvalidType.of("top_k", "an integer", top_k)
    k = operator.index(top_k)
    if k < 1:
        raise InvalidArgument.of("top_k", "an integer of at least 1", top_k)
    return k
