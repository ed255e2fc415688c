"""A product ranking in one call is the ranking, and the scores of what it finds."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

S = 1_000_000
DIM = 8
WORKERS = _core.Workers(3)
counted = st.dictionaries(st.integers(0, DIM - 1), st.integers(1, 3), max_size=4)
rows = st.lists(
    st.tuples(counted, st.floats(1, 10), st.integers(-(10**12), 10**12), st.booleans()),
    min_size=1,
    max_size=30,
)


def counts_of(texts):
    pairs = [pair for text in texts for pair in text.items()]
    buckets, counts = (np.array([pair[part] for pair in pairs], np.int64) for part in (0, 1))
    ends = np.cumsum([len(text) for text in texts]).astype(np.int64)
    return buckets.astype(np.uint32), counts.astype(np.int32), ends


def filled(found):
    texts, importance, created, mask = (list(part) for part in zip(*found, strict=True))
    words, fading = _core.WordVectors(DIM), _core.Fading(S)
    words.append(*counts_of(texts))
    columns = np.array(importance, float), np.array(created, np.int64)
    fading.append(*columns)
    return words, fading, *columns, np.array(mask, np.bool_)


@settings(max_examples=200)
@given(rows, counted, st.integers(-(10**12), 10**12), st.floats(0, 1), st.integers(1, 12))
def test_it_is_what_the_two_calls_tell(found, cue, now, rate, k):
    words, fading, importance, created, mask = filled(found)
    query = counts_of([cue])[:2]
    slots, _, cosines = words.top_faded(*query, fading, now, rate, created, mask, k)
    terms = _core.product_scores(slots, cosines, importance, created, now, S, rate)
    products = _core.Products(words, fading, importance, created, mask, S)
    found = products.best(*query, now, rate, k)
    got = (found.slots, found.cosines, found.nearness, found.importance, found.retained)
    *wanted, scores = terms
    assert [one.tolist() for one in got] == [one.tolist() for one in (slots, cosines, *wanted)]
    assert (found.slot_list, found.scores) == (slots.tolist(), scores.tolist())
    assert len(found) == len(slots)


def test_by_hand():
    # Both memories have the cue's word alone: 2 e^-1 = 0.7357589 against 1 e^0.
    words, fading, *columns, mask = filled([({3: 1}, 2.0, 0, True), ({3: 2}, 1.0, 20 * S, True)])
    products = _core.Products(words, fading, *columns, mask, S)
    found = products.best(*counts_of([{3: 1}])[:2], 20 * S, 0.05, 5)
    assert found.slot_list == [1, 0]
    assert [found.cosines.tolist(), found.nearness.tolist()] == [[1.0, 1.0], [1.0, 1.0]]
    assert found.importance.tolist() == [1.0, 2.0]
    assert found.retained == pytest.approx([1.0, 0.36787944], abs=1e-8)
    assert found.scores == pytest.approx([1.0, 0.7357589], abs=1e-7)


def test_what_a_dict_has_for_each_slot():
    words, fading, *columns, mask = filled([({3: 1}, 2.0, 0, True), ({3: 2}, 1.0, 20 * S, True)])
    found = _core.Products(words, fading, *columns, mask, S).best(
        *counts_of([{3: 1}])[:2], 20 * S, 0.05, 5
    )
    assert found.values_of({0: "first", 1: "second", 2: "third"}) == ("second", "first")
    assert found.values_of({1: "second", 2: "third"}) is None
    assert found.values_of({}) is None
    with pytest.raises(TypeError):
        found.values_of(["first", "second"])


def test_what_is_ranked_lives_as_long_as_what_ranks_it():
    words, fading, *columns, mask = filled([({3: 1}, 2.0, 0, True)])
    products = _core.Products(words, fading, *columns, mask, S)
    del words, fading, columns, mask
    gc.collect()
    assert products.best(*counts_of([{3: 1}])[:2], 0, 0.05, 1).slot_list == [0]


def test_what_does_not_fit_is_refused():
    words, fading, importance, created, mask = filled([({3: 1}, 2.0, 0, True)])
    of = words, fading
    with pytest.raises(TypeError):
        _core.Products(fading, words, importance, created, mask, S)
    with pytest.raises(TypeError):
        _core.Products(None, fading, importance, created, mask, S)
    with pytest.raises(InvalidType, match="importance"):
        _core.Products(*of, importance.astype(np.float32), created, mask, S)
    with pytest.raises(ShapeMismatch, match="created_us"):
        _core.Products(*of, importance, np.zeros(2, np.int64), mask, S)
    with pytest.raises(InvalidArgument, match="unit_us"):
        _core.Products(*of, importance, created, mask, 0)
    query = counts_of([{3: 1}])[:2]
    good = _core.Products(*of, importance, created, None, S)
    with pytest.raises(InvalidArgument, match="k"):
        good.best(*query, 0, 0.05, 0)
    with pytest.raises(InvalidArgument, match="rate"):
        good.best(*query, 0, -1.0, 1)
    longer = _core.Products(*of, np.ones(2), np.zeros(2, np.int64), np.ones(2, np.bool_), S)
    with pytest.raises(ShapeMismatch):
        longer.best(*query, 0, 0.05, 1)
    other = _core.Products(*of, importance, created, np.ones(2, np.bool_), S)
    with pytest.raises(ShapeMismatch, match="mask"):
        other.best(*query, 0, 0.05, 1)


def test_nobody_makes_what_was_found():
    with pytest.raises(TypeError):
        _core.FoundProducts()


@settings(max_examples=50)
@given(st.lists(st.tuples(rows, counted), max_size=6), st.floats(0, 1), st.integers(1, 4))
def test_many_are_each_alone(asked, rate, threads):
    questions = []
    for found, cue in asked:
        words, fading, importance, created, mask = filled(found)
        held = _core.Products(words, fading, importance, created, mask, S)
        questions.append((held, *counts_of([cue])[:2]))
    several = _core.best_products(iter(questions), 10**9, rate, 5, threads, WORKERS)
    alone = [held.best(*query, 10**9, rate, 5) for held, *query in questions]
    assert [told(one) for one in several] == [told(one) for one in alone]


def told(found):
    columns = (found.slots, found.cosines, found.nearness, found.importance, found.retained)
    return [one.tolist() for one in columns], found.slot_list, found.scores


def test_questions_that_are_none_are_refused():
    held = _core.Products(*filled([({3: 1}, 2.0, 0, True)])[:4], None, S)
    buckets, counts = counts_of([{3: 1}])[:2]
    wrong_ones = ([(held, buckets)], [held], [[held, buckets, counts]], [(None, buckets, counts)])
    for wrong in wrong_ones:
        with pytest.raises(InvalidType, match="questions: expected tuples"):
            _core.best_products(wrong, 0, 0.05, 1, 1)
    with pytest.raises(InvalidType, match="buckets"):
        _core.best_products([(held, counts, counts)], 0, 0.05, 1, 1)
    with pytest.raises(TypeError):
        _core.best_products(5, 0, 0.05, 1, 1)
    with pytest.raises(InvalidArgument, match="rate"):
        _core.best_products([(held, buckets, counts)], 0, -1.0, 1, 2, WORKERS)
    assert _core.best_products([], 0, 0.05, 1, 1) == []
