"""The lanes of a store: built from texts or stored vectors, for one embedder per store."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np

from ebbmem.changes import Change
from ebbmem.embedders.base import Embedder, stores_vectors
from ebbmem.errors import EmbedderMismatch
from ebbmem.index import ScopeIndex
from ebbmem.records.base import Reader, Writer
from ebbmem.records.store import RecordStore
from ebbmem.spaces import Lane, embedded

EMBEDDER_NAME = "embedder_name"
EMBEDDER_DIM = "embedder_dim"

WriteContext = Callable[[], AbstractContextManager[Change]]


def require_embedder(reader: Reader, path: str, embedder: Embedder) -> None:
    """Refuse an embedder other than the one whose vectors are stored."""
    bound = (reader.meta(EMBEDDER_NAME), reader.meta(EMBEDDER_DIM))
    if bound[0] is not None and bound != (embedder.name, str(embedder.dim)):
        raise EmbedderMismatch(
            f"{path}: holds vectors of embedder {bound[0]!r} (dim {bound[1]}), "
            f"used with {embedder.name!r} (dim {embedder.dim})"
        )


def bind_embedder(writer: Writer, path: str, embedder: Embedder) -> None:
    """Bind a store to the embedder whose first vectors are about to be stored."""
    if writer.meta(EMBEDDER_NAME) is None:
        writer.set_meta(EMBEDDER_NAME, embedder.name)
        writer.set_meta(EMBEDDER_DIM, str(embedder.dim))
    require_embedder(writer, path, embedder)


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
