"""Texts given by the numbers of their terms, and the postings that they make."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ebbmem import _core


def ids(terms: Sequence[int]) -> np.ndarray:
    return np.array(terms, np.uint64)


def postings_of(texts: Sequence[Sequence[int]]) -> _core.Postings:
    """Return an index of texts, each in the slot of its place."""
    made = _core.Postings()
    ends = np.cumsum([len(text) for text in texts]).astype(np.int64)
    made.append(ids([term for text in texts for term in text]), ends)
    return made
