"""Changing a store's embedder: new vectors are staged beside the old, then take their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ebbmem.errors import StoreError
from ebbmem.records.base import EMBEDDER_DIM, EMBEDDER_EPOCH, EMBEDDER_NAME
from ebbmem.records.connection import Connection
from ebbmem.records.counters import put_meta
from ebbmem.records.rows import agrees, meta_checksum, vector_checksum
from ebbmem.records.stageable import Space
from ebbmem.records.statements import SELECT_META

_TARGET: Final = "reembedding"
"""The meta key of the space whose vectors are staged."""

_COUNT: Final = "SELECT count(*) FROM staged"
_SEQ: Final = "SELECT row_id, seq FROM memories WHERE row_id = ?"
_STAGE: Final = (
    "INSERT INTO staged (row_id, vector, seq, checksum) VALUES (?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET vector = excluded.vector, seq = excluded.seq,"
    " checksum = excluded.checksum"
)
_UNSTAGED: Final = (
    "SELECT row_id, summary, keywords, text_checksum FROM memories AS m WHERE row_id > ?"
    " AND NOT EXISTS (SELECT 1 FROM staged AS s WHERE s.row_id = m.row_id)"
    " ORDER BY row_id LIMIT ?"
)
_DROP_VECTORS: Final = "DELETE FROM vectors"
_DROP_STAGED: Final = "DELETE FROM staged"
_TAKE_STAGED: Final = (
    "INSERT INTO vectors (row_id, seq, checksum, vector)"
    " SELECT row_id, seq, checksum, vector FROM staged ORDER BY row_id"
)
_DELETE_META: Final = "DELETE FROM meta WHERE key = ?"


def unstaged(connection: Connection, after: int, limit: int) -> list[Any]:
    """Return row_id, summary, keywords, text_checksum of memories without a staged vector."""
    return connection.rows(_UNSTAGED, (after, limit))


def begin(connection: Connection, space: Space) -> int:
    """Let vectors of a space be staged; return how many are there already."""
    if _meta(connection, _TARGET) != _written(space):
        connection.run(_DROP_STAGED)
        put_meta(connection, _TARGET, _written(space))
    return int(connection.rows(_COUNT)[0][0])


def stage(connection: Connection, space: Space, vectors: Sequence[tuple[int, bytes]]) -> bool:
    """Keep vectors until all are there; those of memories that are gone are passed over.

    Returns False where another call for the same space has brought it to its end.
    """
    if _meta(connection, _TARGET) != _written(space):
        if _bound(connection) == space:
            return False
        raise StoreError(f"{connection.path}: its embedder was changed by another call meanwhile")
    seqs = dict(connection.rows_of_each(_SEQ, [(row,) for row, _ in vectors]))
    columns = [(row, vector, seqs[row]) for row, vector in vectors if row in seqs]
    connection.run_for_each(_STAGE, [(*row, vector_checksum(row)) for row in columns])
    return True


def switch(connection: Connection, space: Space | None) -> bool:
    """Let staged vectors take the place of the stored ones, unless a memory has none yet.

    With None there are no vectors afterwards, and no embedder that the store is bound to.
    """
    if space is not None:
        if _meta(connection, _TARGET) != _written(space):
            # Another call for the same space was first.
            return _bound(connection) == space
        if unstaged(connection, 0, 1):
            return False
    connection.run(_DROP_VECTORS)
    if space is not None:
        connection.run(_TAKE_STAGED)
        put_meta(connection, EMBEDDER_NAME, space.name)
        put_meta(connection, EMBEDDER_DIM, str(space.dim))
    gone = (_TARGET,) if space is not None else (_TARGET, EMBEDDER_NAME, EMBEDDER_DIM)
    connection.run_for_each(_DELETE_META, [(key,) for key in gone])
    connection.run(_DROP_STAGED)
    epoch = int(_meta(connection, EMBEDDER_EPOCH) or "0") + 1
    put_meta(connection, EMBEDDER_EPOCH, str(epoch))
    return True


def _bound(connection: Connection) -> Space | None:
    name, dim = _meta(connection, EMBEDDER_NAME), _meta(connection, EMBEDDER_DIM)
    return None if name is None or dim is None else Space(name, int(dim))


def _written(space: Space) -> str:
    return f"{space.dim} {space.name}"


def _meta(connection: Connection, key: str) -> str | None:
    row = connection.row(SELECT_META, (key,))
    # A key that is not whole counts as not there: the work is begun anew.
    return None if row is None or not agrees(meta_checksum, row) else str(row[1])
