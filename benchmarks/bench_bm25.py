"""BM25 over an inverted index."""

from __future__ import annotations

from itertools import pairwise

import data
import numpy as np
import pytest
import rivals
from timing import Timed

from ebbmem import _core
from ebbmem.analysis import Analyzer

pytestmark = pytest.mark.benchmark(max_time=0.5, min_rounds=3)

COUNT, CUES, K = 20_000, 50, 10
K1, B = 0.9, 0.4


def terms(texts: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    return Analyzer(None).terms(texts)


def per_text(texts: tuple[str, ...]) -> list[list[int]]:
    """Return the terms of each text as Python integers."""
    ids, ends = terms(texts)
    return [ids[a:b].tolist() for a, b in pairwise([0, *ends.tolist()])]


@pytest.mark.parametrize("who", ["ebbmem", "numpy", "python"])
def test_top_bm25(timed: Timed, who: str) -> None:
    corpus, cues = data.texts(COUNT), data.cues(CUES)
    postings = _core.Postings()
    postings.append(*terms(corpus))
    newness = np.arange(COUNT)
    cue_terms = [np.array(one, np.uint64) for one in per_text(cues)]
    lists = per_text(cues)
    plain = rivals.PythonBm25(per_text(corpus), K1, B)
    arrays = rivals.NumpyBm25(per_text(corpus), K1, B)
    calls = {
        "ebbmem": lambda: [
            postings.top_bm25(one, K1, B, newness, None, K)[0].tolist() for one in cue_terms
        ],
        "numpy": lambda: [arrays.top(one, K).tolist() for one in lists],
        "python": lambda: [plain.top(one, K) for one in lists],
    }
    assert calls[who]() == calls["python"]()

    timed(calls[who], group=f"BM25 top {K} of {COUNT}", units=CUES, unit="cue")


def test_append(timed: Timed) -> None:
    ids, ends = terms(data.texts(COUNT))

    def build() -> _core.Postings:
        postings = _core.Postings()
        postings.append(ids, ends)
        return postings

    assert len(build()) == COUNT

    timed(build, group=f"index {COUNT} texts", units=COUNT, unit="text")
