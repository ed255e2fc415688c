"""BM25 rankings that leave out what is far behind equal the filtered full ranking."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType

RULE = (1.2, 0.75)
PLAIN = (*RULE, None, None)


def built(texts: list[list[int]]) -> _core.Postings:
    postings = _core.Postings()
    ids = np.array([term for text in texts for term in text], dtype=np.uint64)
    postings.append(ids, np.cumsum([len(text) for text in texts], dtype=np.int64))
    return postings


def drawn(seed: int, count: int, vocabulary: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [(rng.zipf(1.2, n) % vocabulary).tolist() for n in rng.integers(0, 20, count)]


def near(slots: list[int], scores: list[float], rule: tuple[int, float, float]) -> list[int]:
    """Oracle: of the k best, those that are not far behind."""
    count, share, spare = rule
    if count == 0 or len(scores) < count:
        return slots
    least = share * scores[count - 1] - spare
    return [slot for slot, score in zip(slots, scores, strict=True) if score >= least]


rules = st.tuples(
    st.integers(0, 30),
    st.sampled_from([0.0, 0.5, 0.8, 0.99, 1.0]),
    st.sampled_from([0.0, 1e-9, 0.3, 1e9]),
)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32),
    st.integers(1, 3000),
    st.sampled_from([2, 20, 400]),
    st.integers(1, 200),
    rules,
)
def test_what_is_left_is_the_full_ranking_filtered(
    seed: int, count: int, vocabulary: int, k: int, rule: tuple[int, float, float]
) -> None:
    rng = np.random.default_rng(seed)
    postings = built(drawn(seed, count, vocabulary))
    postings.tombstone(rng.choice(count, count // 5, replace=False))
    cue = (rng.zipf(1.2, rng.integers(1, 12)) % vocabulary).astype(np.uint64)
    columns = (rng.integers(0, 3, count), rng.random(count) < 0.7)
    slots, scores = postings.top_bm25(cue, *RULE, *columns, k)
    few, their_scores = postings.top_bm25(cue, *RULE, *columns, k, None, *rule)
    # The count-th best of all is what counts, also where k is less; then nothing is left out.
    expected = near(slots.tolist(), scores.tolist(), rule) if rule[0] <= k else slots.tolist()
    assert few.tolist() == expected
    assert their_scores.tolist() == scores[: len(few)].tolist()


@pytest.mark.parametrize("rule", [(1, 0.9, 0.0), (10, 0.8, 1e-9), (100, 1.0, 0.0)])
def test_it_is_right_across_blocks(rule: tuple[int, float, float], isa: str) -> None:
    postings = built(drawn(5, 20_000, 300))
    cue = np.array([4, 9, 1, 77], dtype=np.uint64)
    slots, scores = postings.top_bm25(cue, *PLAIN, 200)
    few, _ = postings.top_bm25(cue, *PLAIN, 200, None, *rule)
    assert few.tolist() == near(slots.tolist(), scores.tolist(), rule)
    assert 0 < len(few) < 200


def test_equals_at_the_edge_all_stay() -> None:
    """Slots 0 and 1 tie; of the two others each holds a term that more texts hold."""
    postings = built([[1], [1], [2], [2], [2]])
    cue = np.array([1, 2], dtype=np.uint64)
    assert postings.top_bm25(cue, *PLAIN, 5, None, 1, 1.0, 0.0)[0].tolist() == [1, 0]
    assert postings.top_bm25(cue, *PLAIN, 5, None, 1, 0.0, 0.0)[0].tolist() == [1, 0, 4, 3, 2]


@pytest.mark.parametrize(
    "change",
    [
        {"count": -1},
        {"share": -0.1},
        {"share": 1.1},
        {"share": math.nan},
        {"spare": -1.0},
        {"spare": math.inf},
        {"spare": math.nan},
    ],
)
def test_values_out_of_range_are_refused(change: dict[str, float]) -> None:
    name = next(iter(change))
    with pytest.raises(InvalidArgument, match=f"^{name}: expected"):
        built([[1]]).top_bm25(np.array([1], dtype=np.uint64), *PLAIN, 1, **change)


@pytest.mark.parametrize("change", [{"count": 1.0}, {"share": "1"}, {"spare": None}])
def test_values_of_another_type_are_refused(change: dict[str, object]) -> None:
    name = next(iter(change))
    with pytest.raises(InvalidType, match=f"^{name}: expected"):
        built([[1]]).top_bm25(np.array([1], dtype=np.uint64), *PLAIN, 1, **change)
