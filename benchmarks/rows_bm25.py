"""Contests of full-text ranking: from the text of a cue to the ten best texts."""

from __future__ import annotations

from collections.abc import Iterator

import data
import numpy as np
import peers
from contest import Contest, Fact, Rival, turning
from sizes import Sizes

from ebbmem import _core, analysis

K, CUES = 10, 50
K1, B = 0.9, 0.4
FTS5_RULE = (1.2, 0.75)


class Ours:
    """ebbmem's postings under its default analysis."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self._analyzer = analysis.Analyzer()
        self._postings = _core.Postings()
        self._postings.append(*self._analyzer.terms(texts))
        self._newness = np.arange(len(texts))

    def top(self, cue: str, k1: float = K1, b: float = B) -> tuple[data.I64, data.F64]:
        """Return the best slots and their scores."""
        terms = np.unique(self._analyzer.terms([cue])[0])
        return self._postings.top_bm25(terms, k1, b, self._newness, None, K)


def bm25(sizes: Sizes) -> Iterator[Contest]:
    """Default analysis: case folding, stop words, stems."""
    texts, cues = data.texts(sizes.bm25_texts), data.cues(CUES)
    ours = Ours(texts)
    stop_words = analysis._STOP_WORDS["english"]
    bm25s = peers.bm25s_top(texts, K, (K1, B), stop_words)
    fts5 = peers.fts5(texts, K, stop_words)
    facts = []
    for cue in cues:
        if bm25s is not None:
            scores = ours.top(cue)[1]
            np.testing.assert_allclose(bm25s(cue)[1][: len(scores)], scores, rtol=1e-5)
    if fts5 is not None:
        same = [overlap(fts5(cue), ours.top(cue, *FTS5_RULE)[0].tolist()) for cue in cues]
        facts.append(
            Fact(f"FTS5 (k1=1.2, b=0.75 and its own idf) has {np.mean(same):.2f} of the same ten")
        )
    yield Contest(
        f"BM25 top {K} of {sizes.shown(len(texts))} texts, default analysis",
        turning(ours.top, cues),
        (
            Rival("SQLite FTS5 bm25 (porter, in RAM)", fts5 and turning(fts5, cues), 5.0),
            Rival("bm25s (numba, words by re, Snowball)", bm25s and turning(bm25s, cues), 2.0),
        ),
        facts=facts,
    )


def overlap(one: list[int], other: list[int]) -> float:
    """Return the share of one list that is in the other."""
    return len(set(one) & set(other)) / max(1, len(one))
