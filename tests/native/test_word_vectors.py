"""Word-hash vectors through their postings against the oracle that compares every pair."""

from __future__ import annotations

import math
import threading
from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from word_cases import Case, add, built, i64, query

from ebbmem import _core

NOTHING = float("-inf")
SECOND = 1_000_000

cases = st.builds(
    Case,
    st.integers(0, 2**32),
    st.sampled_from([1, 5, 40, 255, 257, 600]),
    st.sampled_from([1, 2, 16, 100, 1024, 4096]),
    signed=st.booleans(),
    largest=st.sampled_from([1, 3, 9, 40_000]),
)


# --- the canonical cosine ---------------------------------------------------------------


def test_cosine_is_the_one_worked_out_by_hand() -> None:
    vectors = built([{1: 3, 2: 4}, {1: -2}, {5: 1}, {}])
    found = vectors.cosines(*query({1: 1, 2: 2, 7: 2}), i64([0, 1, 2, 3]))
    # dot 3 + 8 = 11, norms 5 and 3; dot -2, norms 2 and 3
    assert found.tolist() == [11 / 15, -1 / 3, 0.0, 0.0]


def test_equal_vectors_have_cosine_one() -> None:
    texts = [dict.fromkeys(range(n), 1) for n in range(1, 60)]
    vectors = built(texts)
    for slot, text in enumerate(texts):
        assert vectors.cosines(*query(text), i64([slot])).tolist() == [1.0]


def test_equal_dots_and_norms_tie_exactly() -> None:
    vectors = built([{1: 1, 2: 3, 3 + n % 50: 2 + n % 2} for n in range(200)])
    slots, scores, _ = vectors.top_affine(*query({1: 1, 2: 1}), None, None, None, None, 200)
    assert scores.tolist() == [4 / math.sqrt(14 * 2)] * 100 + [4 / math.sqrt(19 * 2)] * 100
    assert slots.tolist() == [*range(198, -1, -2), *range(199, 0, -2)]


@settings(max_examples=50)
@given(cases)
def test_cosines_equal_the_oracle(case: Case) -> None:
    asked = case.text()
    slots = case.rng.integers(0, case.count, 40)
    expected = [0.0 if s in case.dead else case.cosines(asked)[s] for s in slots.tolist()]
    assert case.vectors.cosines(*query(asked), slots).tolist() == expected


@settings(max_examples=50)
@given(cases)
def test_the_cosine_is_within_rounding_of_the_true_one(case: Case) -> None:
    asked = case.text()
    found = case.vectors.cosines(*query(asked), np.arange(min(case.count, 50)))
    norm = sum(c * c for c in asked.values())
    for slot, cosine in enumerate(found.tolist()):
        text = {} if slot in case.dead else case.texts[slot]
        dot = sum(c * asked.get(b, 0) for b, c in text.items())
        squares = max(norm * sum(c * c for c in text.values()), 1)
        assert abs(Fraction(cosine) ** 2 - Fraction(dot * dot, squares)) < Fraction(1, 10**15)
        assert math.copysign(1, cosine) == math.copysign(1, dot)


def test_counts_may_be_very_large() -> None:
    texts = [{1: 70_000, 2: 1}, {1: 1, 2: 70_000}, {1: -67_108_000}, {3: 2**26}] * 90
    vectors = built(texts)
    for asked in ({1: 1}, {1: 70_000, 2: -3}, {1: 40_000_000, 3: 9_000}):
        expected = np.array([oracles.count_cosine(asked, text) for text in texts])
        slots, scores, _ = vectors.top_affine(*query(asked), None, None, None, None, 360)
        assert scores.tolist() == expected[slots].tolist()
        assert slots.tolist() == oracles.best(expected.tolist(), range(360), [True] * 360, 360)


# --- ranking ----------------------------------------------------------------------------


@settings(max_examples=60)
@given(cases, st.sampled_from([1, 7, 50, 2000]))
def test_ranking_by_cosine_is_that_of_all_pairs(case: Case, k: int) -> None:
    asked = case.text()
    cosines = case.cosines(asked)
    found = case.vectors.top_affine(*query(asked), None, None, case.newness, case.mask, k)
    case.check(found, cosines, cosines, k)


@settings(max_examples=50)
@given(cases, st.sampled_from([1, 7, 50, 2000]), st.booleans(), st.booleans())
def test_ranking_by_columns_is_that_of_all_pairs(
    case: Case, k: int, multiplied: bool, added: bool
) -> None:
    asked = case.text()
    scale = case.rng.choice([1e-3, 1.0, 1e3, 1e12])
    mul = case.rng.normal(0, scale, case.count).round(2) if multiplied else None
    if mul is not None and case.seed % 2:
        mul = abs(mul)
    column = (scale * case.rng.normal(0, 1, case.count)).round(1) if added else None
    cosines = case.cosines(asked)
    scores = cosines if mul is None else mul * cosines
    scores = scores + (0.0 if column is None else column)
    found = case.vectors.top_affine(*query(asked), mul, column, case.newness, case.mask, k)
    case.check(found, scores, cosines, k)


@settings(max_examples=50)
@given(cases, st.sampled_from([1, 7, 50, 2000]))
def test_ranking_by_products_is_that_of_all_pairs(case: Case, k: int) -> None:
    asked = case.text()
    weights = case.rng.normal(0, case.rng.choice([0.1, 100, 1e9, 1e14]), case.count).round(1)
    weights[case.rng.random(case.count) < 0.1] = NOTHING
    cosines = case.cosines(asked)
    with np.errstate(invalid="ignore"):
        scores = weights + _core._testing.log((1.0 + cosines) / 2.0)
    found = case.vectors.top_product(*query(asked), weights, case.newness, case.mask, k)
    case.check(found, scores, cosines, k)


@settings(max_examples=50)
@given(cases, st.sampled_from([1, 7, 50, 2000]), st.sampled_from([0.0, 1e-6, 0.05, 1e6]))
def test_ranking_by_fading_lines_is_that_of_all_pairs(case: Case, k: int, rate: float) -> None:
    asked, now_us = case.text(), 1_000 * SECOND
    fading = _core.Fading(SECOND)
    importance = case.rng.choice([0.0, 1.0, 5.0, 10.0], case.count)
    fading.append(importance, case.rng.integers(-1000, 1100, case.count) * SECOND)
    fading.tombstone(i64(sorted(case.dead)))
    weights = fading.log_weights(np.arange(case.count), now_us, rate)
    cosines = case.cosines(asked)
    scores = weights + _core._testing.log((1.0 + cosines) / 2.0)
    found = case.vectors.top_faded(*query(asked), fading, now_us, rate, case.newness, case.mask, k)
    case.check(found, scores, cosines, k)


@pytest.mark.parametrize("count", [8191, 8192, 8193, 20_000])
def test_ranking_is_right_across_blocks(count: int, isa: str) -> None:
    rng = np.random.default_rng(count)
    vectors = _core.WordVectors(32)
    lengths = rng.integers(0, 6, count)
    buckets = [rng.choice(32, n, replace=False).tolist() for n in lengths.tolist()]
    texts = [dict.fromkeys(one, 1) for one in buckets]
    add(vectors, texts[: count // 2])
    add(vectors, texts[count // 2 :])
    asked = {3: 1, 9: 1, 31: 2}
    cosines = np.array([oracles.count_cosine(asked, text) for text in texts])
    weights = rng.normal(0, 1, count).round(1)
    scores = weights + _core._testing.log((1.0 + cosines) / 2.0)
    for k in (1, 10, 300):
        slots, found, _ = vectors.top_affine(*query(asked), None, None, None, None, k)
        assert slots.tolist() == np.lexsort((-np.arange(count), -cosines))[:k].tolist()
        assert found.tolist() == cosines[slots].tolist()
        slots, found, _ = vectors.top_product(*query(asked), weights, None, None, k)
        assert slots.tolist() == np.lexsort((-np.arange(count), -scores))[:k].tolist()
        assert found.tolist() == scores[slots].tolist()


def test_ties_go_to_the_newer_then_to_the_lower_slot() -> None:
    vectors = built([{1: 1}, {1: 2}, {1: 3}, {1: 1}])
    slots, _, _ = vectors.top_affine(*query({1: 1}), None, None, i64([5, 9, 9, 2]), None, 3)
    assert slots.tolist() == [1, 2, 0]


def test_a_query_without_words_ranks_by_the_columns() -> None:
    vectors = built([{1: 1}, {2: 1}, {3: 1}])
    slots, scores, found = vectors.top_affine(
        *query({}), None, np.array([0.1, 0.3, 0.2]), None, None, 2
    )
    assert (slots.tolist(), scores.tolist(), found.tolist()) == ([1, 2], [0.3, 0.2], [0.0, 0.0])


def test_nothing_is_ranked_among_nothing() -> None:
    slots, _, _ = _core.WordVectors(8).top_affine(*query({1: 1}), None, None, None, None, 3)
    assert slots.tolist() == []


# --- change -----------------------------------------------------------------------------


@settings(max_examples=60)
@given(cases)
def test_compaction_equals_vectors_built_anew(case: Case) -> None:
    moved = case.vectors.compact()
    kept = [text for slot, text in enumerate(case.texts) if slot not in case.dead]
    fresh, new_slots = built(kept, case.dim), iter(range(len(kept)))
    assert moved.tolist() == [-1 if s in case.dead else next(new_slots) for s in range(case.count)]
    assert (case.vectors.size, case.vectors.live, case.vectors.generation) == (
        len(kept),
        len(kept),
        1,
    )
    asked = query(case.text())
    everything = (None, None, None, None, 1000)
    for got, expected in zip(
        case.vectors.top_affine(*asked, *everything),
        fresh.top_affine(*asked, *everything),
        strict=True,
    ):
        assert got.tolist() == expected.tolist()


@settings(max_examples=60)
@given(cases)
def test_an_overwritten_vector_is_the_new_one(case: Case) -> None:
    live = [slot for slot in range(case.count) if slot not in case.dead]
    for slot in case.rng.choice(live, min(len(live), 5), replace=False).tolist() if live else []:
        case.texts[slot] = case.text()
        case.vectors.overwrite(slot, *query(case.texts[slot]))
    asked = case.text()
    cosines = case.cosines(asked)
    found = case.vectors.top_affine(*query(asked), None, None, case.newness, case.mask, 1000)
    case.check(found, cosines, cosines, 1000)


def test_a_row_takes_at_most_40_bytes() -> None:
    rng = np.random.default_rng(1)
    count, words, frequency = 20_000, 14, 1.0 / np.arange(1, 20_001)
    drawn = rng.choice(20_000, count * words, p=frequency / frequency.sum()) % 1024
    vectors = _core.WordVectors(1024)
    texts = [dict.fromkeys(one, 1) for one in drawn.reshape(count, words).tolist()]
    add(vectors, texts)
    assert vectors.bytes / count < 40


def test_appending_one_by_one_takes_no_more_than_at_once() -> None:
    texts = [{n % 13: 1, 13 + n % 7: 2} for n in range(3000)]
    pieces, whole = _core.WordVectors(64), built(texts)
    for text in texts:
        add(pieces, [text])
    assert pieces.bytes < 2 * whole.bytes + 10_000


def test_tombstones_are_idempotent_and_counted_once() -> None:
    vectors = built([{1: 1}, {1: 1}, {2: 1}])
    assert vectors.tombstone(i64([0, 0])) == 1
    assert vectors.tombstone(i64([0, 1])) == 1
    assert (vectors.size, vectors.live) == (3, 1)


def test_readers_see_whole_texts_while_a_writer_appends() -> None:
    vectors, failures = built([{1: 1, 2: 1}]), []

    def read() -> None:
        while vectors.size < 400:
            slots, scores, _ = vectors.top_affine(*query({1: 1, 2: 1}), None, None, None, None, 999)
            if set(scores.tolist()) != {1.0} or len(slots) > vectors.size:
                failures.append(scores.tolist())

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(399):
        add(vectors, [{1: 2, 2: 2}])
    for reader in readers:
        reader.join()
    assert not failures
