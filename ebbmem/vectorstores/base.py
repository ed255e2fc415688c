"""What a vector store must do.

Similarity is the cosine, in [-1, 1], and higher is closer, in every store.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class VectorHit:
    """One vector found.

    Attributes
    ----------
    id : str
        The id it was added under.
    similarity : float
        Cosine with the query, in [-1, 1]; 0 for a zero vector.
    """

    id: str
    similarity: float


class VectorStore(Protocol):
    """Vectors by id, searched by similarity.

    Vectors are expected to have unit length, or to be zero; a store does not normalise them.
    Calls may come from several threads at once.
    """

    @property
    def dim(self) -> int | None:
        """Floats per vector; None until it is known."""
        ...

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
        ...

    def remove(self, ids: Iterable[str]) -> None:
        """Remove vectors; ids that are not there are passed over."""
        ...

    def search(self, query: NDArray[np.float32], top_k: int) -> list[VectorHit]:
        """Return the vectors most similar to ``query``, best first.

        Parameters
        ----------
        query : (dim,) float32
            Unit length or zero.
        top_k : int
            At least 1; fewer hits come back when the store holds fewer vectors.

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
        ...

    def __len__(self) -> int:
        """Return how many vectors there are."""
        ...

    def __contains__(self, id: object) -> bool:  # noqa: A002
        """Return whether there is a vector of this id."""
        ...
