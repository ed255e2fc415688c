"""What changing the embedder asks of a record store: a part of its writer's protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Space(NamedTuple):
    """What an embedder's vectors are of: its name and their length."""

    name: str
    dim: int


class StagingWriter(Protocol):
    """Vectors of another embedder, kept beside the stored ones until there is one of each."""

    def begin_staging(self, space: Space) -> int:
        """Let vectors of a space be staged; return how many are, of an earlier try."""

    def stage_vectors(self, space: Space, vectors: Sequence[tuple[int, bytes]]) -> bool:
        """Keep (row_id, float32 bytes) beside the stored vectors.

        Returns False where the space has become the store's meanwhile; raises StoreError where
        another one has taken its place.
        """

    def switch_vectors(self, space: Space | None) -> bool:
        """Let the staged vectors take the place of all stored ones; None: let there be none.

        Returns False, and changes nothing, while a memory has none staged.
        """
