"""Contests of word-hash vectors: their postings against dense rows."""

from __future__ import annotations

from collections.abc import Iterator

import data
import fading
import numpy as np
from contest import Contest, Fact, Rival, turning
from rows_scan import K, arena_of
from sizes import Sizes

from ebbmem import HashingEmbedder, _core

DIM, CUES, CUE_WORDS = 1024, 32, 8
DENSE_SHARE = 4  # dense rows are measured on a quarter of the memories: all would take 4 GB
MOST_BYTES = 40


def words(sizes: Sizes) -> Iterator[Contest]:
    """The ten nearest by the cosine of word counts, every cue another one."""
    count, embedder = sizes.columns, HashingEmbedder(DIM)
    texts = data.texts(count)
    vectors = _core.WordVectors(DIM)
    for first in range(0, count, 100_000):
        vectors.append(*embedder.counts_many(list(texts[first : first + 100_000])))
    rows = embedder.embed_many(list(texts[: count // DENSE_SHARE]))
    held = arena_of(rows)
    cues = data.cues(CUES, CUE_WORDS)
    first_part = np.arange(count) < len(rows)
    for cue in cues:
        mine = vectors.top_affine(*embedder.counts(cue), None, None, None, first_part, K)[1]
        dense = _core.top_affine(held, embedder.embed(cue), None, None, None, None, K)[1]
        np.testing.assert_allclose(mine, dense, rtol=1e-5)
    asked = [embedder.counts(cue) for cue in cues]
    queries = [embedder.embed(cue) for cue in cues]
    share = 1 / DENSE_SHARE

    def dots(query: data.F32) -> object:
        return _core._testing.dot_rows(_core.isa(), query, rows)

    def scanned(query: data.F32) -> object:
        return _core.top_affine(held, query, None, None, None, None, K)

    rivals = (
        Rival("own float32 dots of every row, unranked", turning(dots, queries), 80.0, share),
        Rival("own dense scan, codes first", turning(scanned, queries), None, share),
    )
    size = vectors.bytes / count
    yield Contest(
        f"word-hash cosine, top {K} of {sizes.shown(count)}, D={DIM}",
        turning(lambda a: vectors.top_affine(*a, None, None, None, None, K), asked),
        rivals,
        facts=(Fact(f"{size:.1f} bytes a row, at most {MOST_BYTES}", size <= MOST_BYTES),),
    )
    case = fading.YEAR
    lines = fading.remembered(case, count)
    yield Contest(
        f"word-hash decayed top {K} of {sizes.shown(count)}, {case.name}",
        turning(
            lambda a: vectors.top_faded(*a, lines, fading.NOW_US, case.rate, None, None, K), asked
        ),
        (Rival("own float32 dots of every row, unranked", turning(dots, queries), None, share),),
    )
