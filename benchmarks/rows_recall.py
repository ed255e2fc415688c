"""Contests of a whole recall: a text in, hits out, what recall changes written."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import data
import numpy as np
import peers
import rivals
from contest import Contest, Rival, turning
from sizes import Sizes

from ebbmem import AgenticMemory, HashingEmbedder, recipes

K, CUES, CHECKED = 10, 50, 3
DIM = 256
START_S = 1_700_000_000
RATE = recipes.EBBINGHAUS.law.decay_factor  # type: ignore[attr-defined]
AT_LEAST_SEED = {1_000: (100.0, 2.0), 100_000: (1000.0, 10.0)}
AT_LEAST_CHROMA = {1_000: 8.0, 100_000: 5.0}


def ebbinghaus(sizes: Sizes) -> Iterator[Contest]:
    """One memory per second, recalled by the seed's law, reinforcement on."""
    for count in sizes.memories:
        with tempfile.TemporaryDirectory() as folder:
            yield from _ebbinghaus(sizes, count, Path(folder))


def _ebbinghaus(sizes: Sizes, count: int, folder: Path) -> Iterator[Contest]:
    texts, cues = data.texts(count), data.cues(CUES)
    importance = data.strengths(count).importance
    created_s = START_S + np.arange(count, dtype=float)
    now_s = START_S + count
    python = rivals.PythonMemory(DIM)
    for text, weight, at in zip(texts, importance.tolist(), created_s.tolist(), strict=True):
        python.remember(text, weight, at)
    numpy = rivals.NumpyMemory(texts, DIM, importance, created_s, best_dot())
    embedder = HashingEmbedder(DIM)
    with AgenticMemory(folder / "m.db", embedder=embedder, recipe=recipes.EBBINGHAUS) as memory:
        memory.remember_many(
            {"summary": text, "importance": weight, "now": at}
            for text, weight, at in zip(texts, importance.tolist(), created_s.tolist(), strict=True)
        )

        def ours(cue: str) -> list[str]:
            return [hit.summary for hit in memory.recall(cue, top_k=K, now=now_s)]

        def unkept(cue: str) -> list[str]:
            found = memory.recall(cue, top_k=K, now=now_s, reinforce=False)
            return [hit.summary for hit in found]

        for cue in cues[:CHECKED]:
            assert unkept(cue) == numpy.recall(cue, now_s, K, RATE)
            assert ours(cue) == numpy.recall(cue, now_s, K, RATE)
            assert ours(cue) == python.recall(cue, now_s, K, RATE)
        name = f"recall, EBBINGHAUS, {sizes.shown(count)} memories"
        figures = AT_LEAST_SEED.get(count, (None, None))
        by_python = turning(lambda cue: python.recall(cue, now_s, K, RATE), cues)
        by_numpy = turning(lambda cue: numpy.recall(cue, now_s, K, RATE), cues)
        theirs = f"the seed in numpy, dots by {'numpy' if best_dot() is None else 'simsimd'}"
        rivals_of_all = (
            Rival("the seed in pure Python", by_python, figures[0]),
            Rival(theirs, by_numpy, figures[1]),
        )
        yield Contest(name, turning(ours, cues), rivals_of_all)
        yield Contest(
            f"{name}, nothing strengthened", turning(unkept, cues), (Rival(theirs, by_numpy),)
        )


def best_dot() -> Callable[[data.F32, data.F32], data.F64] | None:
    """Return simsimd's product of rows and a query, or None where it is not installed."""
    simsimd = peers.load("simsimd")
    return None if simsimd is None else lambda rows, query: np.asarray(simsimd.dot(query, rows))


def default(sizes: Sizes) -> Iterator[Contest]:
    """The default recipe against a vector store on disk with the same embedder."""
    for count in sizes.memories:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            yield from _default(sizes, count, Path(folder))


def _default(sizes: Sizes, count: int, folder: Path) -> Iterator[Contest]:
    texts, cues = data.texts(count), data.cues(CUES)
    embedder = HashingEmbedder()
    chroma = None
    if peers.load("chromadb") is not None:
        chroma = peers.Chroma(folder / "chroma", embedder.embed_many)
        chroma.remember_many(texts)
        assert len(chroma.recall(cues[0], K)) == K
    with AgenticMemory(folder / "m.db", embedder=embedder) as memory:
        memory.remember_many(texts)
        assert all(len(memory.recall(cue, top_k=K)) > 0 for cue in cues[:CHECKED])
        yield Contest(
            f"recall, DEFAULT, {sizes.shown(count)} memories",
            turning(lambda cue: [hit.summary for hit in memory.recall(cue, top_k=K)], cues),
            (
                Rival(
                    "chromadb persistent query",
                    chroma and turning(lambda cue: chroma.recall(cue, K), cues),
                    AT_LEAST_CHROMA.get(count),
                ),
            ),
        )
