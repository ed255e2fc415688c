"""Changing a store's embedder while it is in use: in batches, then in one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ebbmem.embedders.base import Embedder, stores_vectors
from ebbmem.engine import Engine
from ebbmem.errors import EmbedderFailed
from ebbmem.lanes import bound_space
from ebbmem.records.stageable import Space
from ebbmem.reports import ReembedReport
from ebbmem.spaces import embedded

BATCH: Final = 256
"""Texts that the embedder is given at once, and that one transaction stages."""


def reembed(engine: Engine, embedder: Embedder) -> ReembedReport:
    """Let a store hold the vectors of another embedder.

    Parameters
    ----------
    engine : Engine
        The store.
    embedder : Embedder
        The new one; one whose vectors follow from the text leaves none stored.

    Notes
    -----
    The embedder runs under no lock.  What is staged is committed batch by batch; the last step
    finds a staged vector of every memory, or goes back to the batches.
    """
    space = Space(embedder.name, embedder.dim) if stores_vectors(embedder) else None
    with engine.records.read() as reader:
        bound = bound_space(reader)
    if bound == space:
        return ReembedReport(0, 0, changed=False)
    staged = count = 0
    if space is not None:
        staged = _begun(engine, space)
        count = _stage_all(engine, embedder, space)
    while not engine.commit_many((), lambda opened: opened.writer.switch_vectors(space)):
        # Somebody remembered more meanwhile.
        if space is not None:
            count += _stage_all(engine, embedder, space)
    engine.binding.require(embedder)
    return ReembedReport(staged + count, count, changed=True)


def _begun(engine: Engine, space: Space) -> int:
    """Begin, or go on where an earlier call was cut short; return how much is staged."""
    return engine.commit_many((), lambda opened: opened.writer.begin_staging(space))


def _stage_all(engine: Engine, embedder: Embedder, space: Space) -> int:
    """Stage a vector for every memory that has none; return how many."""
    count = after = 0
    while True:
        with engine.records.read() as reader:
            waiting = reader.unstaged(after, BATCH)
        if not waiting:
            return count
        made = embedded(embedder, [summary for _, summary in waiting])
        if (embedder.name, embedder.dim) != space:
            expected = f"to stay {space.name!r} (dim {space.dim})"
            raise EmbedderFailed(f"embedder: expected it {expected}, got {embedder.name!r}")
        rows = [row for row, _ in waiting]
        vectors = [(row, one.tobytes()) for row, one in zip(rows, made, strict=True)]
        if not _stage(engine, space, vectors):
            return count
        count, after = count + len(rows), rows[-1]


def _stage(engine: Engine, space: Space, vectors: Sequence[tuple[int, bytes]]) -> bool:
    """Commit one batch; return False where another call has finished the work."""
    return engine.commit_many((), lambda opened: opened.writer.stage_vectors(space, vectors))
