"""The lanes of a store: built from texts or stored vectors, for one embedder per store."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np

from ebbmem.changes import Change
from ebbmem.embedders.base import Embedder, stores_vectors
from ebbmem.errors import EmbedderMismatch
from ebbmem.index import ScopeIndex
from ebbmem.records.base import (
    EMBEDDER_DIM,
    EMBEDDER_EPOCH,
    EMBEDDER_NAME,
    Reader,
    Writer,
)
from ebbmem.records.stageable import Space
from ebbmem.records.store import RecordStore
from ebbmem.spaces import Lane, embedded

WriteContext = Callable[[], AbstractContextManager[Change]]


class Binding:
    """The embedder whose vectors a store holds, as it was last seen there.

    Parameters
    ----------
    records : RecordStore
        The store.
    """

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._space: Space | None = None
        self._epoch = ""

    def look(self, reader: Reader) -> tuple[Space | None, str]:
        """See what the store says now, and return it."""
        space, epoch = bound_space(reader), reader.meta(EMBEDDER_EPOCH) or ""
        self._space, self._epoch = space, epoch
        return space, epoch

    def fit(self, embedder: Embedder) -> str:
        """Return the epoch of the store's vectors, or raise EmbedderMismatch for another embedder.

        It changes whenever the store changes its embedder.
        """
        _require(self._space, self._records.path, embedder)
        return self._epoch

    def require(self, embedder: Embedder) -> str:
        """Look, then do as `fit` does."""
        with self._records.read() as reader:
            space, epoch = self.look(reader)
        _require(space, self._records.path, embedder)
        return epoch


def bound_space(reader: Reader) -> Space | None:
    """Return what the stored vectors are of; None for a store that is not bound to an embedder."""
    name = reader.meta(EMBEDDER_NAME)
    return None if name is None else Space(name, int(reader.meta(EMBEDDER_DIM) or 0))


def bind_embedder(writer: Writer, path: str, embedder: Embedder) -> None:
    """Refuse another embedder than the store's; one that stores vectors binds a store to it."""
    # Asked of the transaction: another handle, or process, may have changed it just before.
    bound = bound_space(writer)
    if bound is None and stores_vectors(embedder):
        writer.set_meta(EMBEDDER_NAME, embedder.name)
        writer.set_meta(EMBEDDER_DIM, str(embedder.dim))
    _require(bound, path, embedder)


def _require(bound: Space | None, path: str, embedder: Embedder) -> None:
    """Refuse an embedder other than the one whose vectors are stored."""
    if bound is not None and bound != (embedder.name, embedder.dim):
        raise EmbedderMismatch(
            f"{path}: holds vectors of embedder {bound.name!r} (dim {bound.dim}), "
            f"used with {embedder.name!r} (dim {embedder.dim})"
        )


def built(records: RecordStore, write: WriteContext, index: ScopeIndex, embedder: Embedder) -> Lane:
    """Return the lane of an embedder that an index has not built yet."""
    if stores_vectors(embedder):
        return _stored(records, write, index, embedder)
    with records.read() as reader:
        texts = reader.texts(None, index.scope.scope_id)
    by_row = {row: summary for row, summary, _ in texts}
    summaries = [by_row.get(row, "") for row in index.columns.row.tolist()]
    return index.build_lane(embedder, summaries, None)


def _stored(
    records: RecordStore, write: WriteContext, index: ScopeIndex, embedder: Embedder
) -> Lane:
    """Build a lane from stored vectors; memories that still wait for theirs get it now."""
    scope_id = index.scope.scope_id
    with records.read() as reader:
        # In the same view as the vectors: they must not be another embedder's.
        _require(bound_space(reader), records.path, embedder)
        stored = {
            row: np.frombuffer(blob, dtype=np.float32) for row, blob in reader.vectors(scope_id)
        }
        waiting = [r for r in index.columns.row.tolist() if r not in stored]
        texts = reader.texts(waiting, scope_id) if waiting else []
    if texts:
        fresh = embedded(embedder, [summary for _, summary, _ in texts])
        rows = [row for row, _, _ in texts]
        with write() as change:
            bind_embedder(change.writer, records.path, embedder)
            change.writer.insert_vectors(
                (row, vector.tobytes()) for row, vector in zip(rows, fresh, strict=True)
            )
        stored.update(zip(rows, fresh, strict=True))
    blank = np.zeros(embedder.dim, dtype=np.float32)  # of what was erased meanwhile
    vectors = [stored.get(row, blank) for row in index.columns.row.tolist()]
    return index.build_lane(embedder, [""] * len(vectors), np.stack(vectors) if vectors else None)
