"""The inverted index and BM25 against the oracle, and against an index built anew."""

from __future__ import annotations

import math
import threading
from itertools import pairwise

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

EDGES = (0, 1, 15, 16, 17, 31, 33, 1000)
Texts = list[list[int] | None]

term = st.integers(0, 12)
text = st.lists(term, max_size=8)
cue = st.lists(st.integers(0, 14), max_size=6)


def u64(values: object) -> np.ndarray:
    return np.array(values, np.uint64)


def i64(values: object) -> np.ndarray:
    return np.array(values, np.int64)


def add(postings: _core.Postings, texts: list[list[int]]) -> int:
    flat = [t for text in texts for t in text]
    return postings.append(u64(flat), i64(np.cumsum([len(t) for t in texts])))


def built(texts: Texts) -> _core.Postings:
    """An index with a tombstone wherever ``texts`` has None."""
    postings = _core.Postings()
    add(postings, [[1, 2, 3] if t is None else t for t in texts])
    postings.tombstone(i64([slot for slot, t in enumerate(texts) if t is None]))
    return postings


def scores(postings: _core.Postings, cue: list[int], k1: float = 1.2, b: float = 0.75) -> list:
    return postings.bm25(u64(cue), k1, b, np.arange(len(postings))).tolist()


def random_texts(count: int, vocabulary: int = 40) -> list[list[int]]:
    rng = np.random.default_rng(count)
    lengths = rng.integers(0, 20, count)
    return [(rng.zipf(1.4, n) % vocabulary).tolist() for n in lengths]


# --- scores -----------------------------------------------------------------------------


def test_score_is_the_one_worked_out_by_hand() -> None:
    postings = built([[7, 7, 8], [8], [9, 9]])
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 / (2 + 1.2 * (1 - 0.75 + 0.75 * 3 / 2))
    assert scores(postings, [7]) == pytest.approx([expected, 0, 0], rel=1e-14)


def test_idf_of_an_empty_index_is_ln_2() -> None:
    assert _core.Postings().idf(u64([5])).tolist() == pytest.approx([math.log(2)], rel=1e-15)


@settings(max_examples=60)
@given(st.lists(st.one_of(st.none(), text), max_size=20), cue, st.floats(0, 3), st.floats(0, 1))
def test_scores_equal_the_oracle(texts: Texts, cue: list[int], k1: float, b: float) -> None:
    expected = oracles.bm25(cue, texts, k1, b)
    np.testing.assert_allclose(scores(built(texts), cue, k1, b), expected, rtol=1e-12)


@pytest.mark.parametrize("count", EDGES)
def test_scores_equal_the_oracle_at_size(count: int) -> None:
    texts = random_texts(count)
    cue = [3, 1, 39, 1, 77]
    np.testing.assert_allclose(scores(built(texts), cue), oracles.bm25(cue, texts), rtol=1e-12)


def test_long_texts_are_scored_like_short_ones() -> None:
    texts = [[1] * 255, [1] * 256, [1] * 257, [2] * 3000 + [1]]
    np.testing.assert_allclose(scores(built(texts), [1]), oracles.bm25([1], texts), rtol=1e-12)


def test_repeated_terms_of_the_cue_count_once() -> None:
    postings = built([[1, 2], [2], [1]])
    assert scores(postings, [2, 1, 2, 2, 1]) == scores(postings, [2, 1])


@settings(max_examples=50)
@given(st.lists(st.one_of(st.none(), text), min_size=1, max_size=20), st.lists(term, max_size=5))
def test_counts_are_those_of_live_texts(texts: Texts, terms: list[int]) -> None:
    postings = built(texts)
    live = [t for t in texts if t is not None]
    with_term = [sum(term in t for t in live) for term in terms]
    idf = [oracles.bm25_idf(len(live), n) for n in with_term]
    assert (len(postings), postings.live) == (len(texts), len(live))
    assert postings.document_frequency(u64(terms)).tolist() == with_term
    np.testing.assert_allclose(postings.idf(u64(terms)), idf, rtol=1e-14)


# --- ranking ----------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    st.lists(st.one_of(st.none(), text), max_size=20),
    cue,
    st.integers(1, 25),
    st.randoms(use_true_random=False),
)
def test_ranking_is_the_oracles_order_of_the_scores(texts, cue, k, random) -> None:
    postings = built(texts)
    newness = [random.randrange(4) for _ in texts]
    mask = [random.random() < 0.7 for _ in texts]
    all_scores = scores(postings, cue)
    allowed = [ok and score > 0 for ok, score in zip(mask, all_scores, strict=True)]
    slots, found = postings.top_bm25(u64(cue), 1.2, 0.75, i64(newness), np.array(mask, np.bool_), k)
    assert slots.tolist() == oracles.best(all_scores, newness, allowed, k)
    assert found.tolist() == [all_scores[slot] for slot in slots]


@pytest.mark.parametrize("count", [8191, 8192, 8193, 20_000])
def test_ranking_is_right_across_blocks(count: int, isa: str) -> None:
    postings = _core.Postings()
    rng = np.random.default_rng(count)
    postings.append(rng.integers(0, 50, 3 * count).astype(np.uint64), np.arange(1, count + 1) * 3)
    all_scores = scores(postings, [4, 9, 1])
    expected = oracles.best(all_scores, range(count), [s > 0 for s in all_scores], count)
    for k in (1, 10, count):
        slots, found = postings.top_bm25(u64([4, 9, 1]), 1.2, 0.75, None, None, k)
        assert slots.tolist() == expected[:k]
        assert found.tolist() == [all_scores[slot] for slot in expected[:k]]


@settings(max_examples=40)
@given(
    st.integers(0, 2**32),
    st.integers(1, 3000),
    st.sampled_from([2, 20, 400]),
    st.sampled_from([2, 20, 80]),
    st.sampled_from([0.0, 1.0, 2.0, 3.0]) | st.floats(0, 3),
    st.sampled_from([0.0, 1.0]) | st.floats(0, 1),
)
def test_ranking_in_any_state_is_the_order_of_the_scores(
    seed: int, count: int, vocabulary: int, longest: int, k1: float, b: float
) -> None:
    """Dense and rare terms, many counts, merged blocks, dead texts, ties, masks."""
    rng = np.random.default_rng(seed)
    texts = [(rng.zipf(1.2, n) % vocabulary).tolist() for n in rng.integers(0, longest, count)]
    postings = _core.Postings()
    cuts = [0, *sorted(rng.integers(0, count + 1, rng.integers(0, 8)).tolist()), count]
    for begin, end in pairwise(cuts):
        add(postings, texts[begin:end])
    dead = rng.choice(count, count // rng.integers(2, 50), replace=False)
    postings.tombstone(dead)
    cue = (rng.zipf(1.2, rng.integers(1, 12)) % vocabulary).tolist()
    all_scores = np.array(scores(postings, cue, k1, b))
    mask = rng.random(count) < rng.choice([0.02, 0.5, 1.0])
    newness = rng.integers(0, rng.choice([1, 10, 5000]), count)
    order = np.lexsort((np.arange(count), -newness, -all_scores))
    order = order[mask[order] & (all_scores[order] > 0)]
    for k in (1, 7, 200, count):
        slots, found = postings.top_bm25(u64(cue), k1, b, newness, mask, k)
        assert slots.tolist() == order[:k].tolist()
        assert found.tolist() == all_scores[order[:k]].tolist()


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 400), st.sampled_from([3, 30, 300]))
def test_scores_in_any_state_equal_the_oracle(seed: int, count: int, vocabulary: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = rng.choice([0, 1, 12, 300], count)
    texts = [(rng.zipf(1.3, n) % vocabulary).tolist() for n in lengths]
    postings = _core.Postings()
    cuts = [0, *sorted(rng.integers(0, count + 1, 6).tolist()), count]
    for begin, end in pairwise(cuts):
        add(postings, texts[begin:end])
    dead = rng.choice(count, count // 3, replace=False).tolist()
    postings.tombstone(i64(dead))
    cue = [1, 2, vocabulary - 1]
    known = [None if slot in dead else t for slot, t in enumerate(texts)]
    np.testing.assert_allclose(scores(postings, cue), oracles.bm25(cue, known), rtol=1e-12)


def test_a_cue_of_very_many_terms_is_ranked_right() -> None:
    texts = [[n, n + 1, 5000] for n in range(3000)]
    postings = built(texts)
    cue = list(range(4000))
    slots, found = postings.top_bm25(u64(cue), 1.2, 0.75, None, None, 20)
    all_scores = scores(postings, cue)
    assert slots.tolist() == oracles.best(all_scores, range(3000), [True] * 3000, 20)
    assert found.tolist() == [all_scores[slot] for slot in slots]


def test_a_term_may_occur_very_often_in_a_text() -> None:
    texts = [[1] * 70_000 + [2], [1] * 3 + [2], [2] * 70_001, [1, 2], *([[3]] * 300)]
    postings = built(texts)
    all_scores = scores(postings, [1, 2])
    np.testing.assert_allclose(all_scores, oracles.bm25([1, 2], texts), rtol=1e-12)
    slots, found = postings.top_bm25(u64([1, 2]), 1.2, 0.75, None, None, 10)
    assert slots.tolist() == oracles.best(all_scores, range(304), [s > 0 for s in all_scores], 10)
    assert found.tolist() == [all_scores[slot] for slot in slots]


def test_ties_go_to_the_newer_then_to_the_lower_slot() -> None:
    postings = built([[1], [1], [1], [1]])
    slots, _ = postings.top_bm25(u64([1]), 1.2, 0.75, i64([5, 9, 9, 2]), None, 3)
    assert slots.tolist() == [1, 2, 0]


def test_without_newness_the_later_text_wins_a_tie() -> None:
    slots, _ = built([[1], [1], [1]]).top_bm25(u64([1]), 1.2, 0.75, None, None, 2)
    assert slots.tolist() == [2, 1]


def test_limit_leaves_out_later_slots_but_counts_them() -> None:
    postings = built([[1], [1, 2], [1]])
    columns = (i64([0, 0]), np.ones(2, np.bool_))
    slots, found = postings.top_bm25(u64([1]), 1.2, 0.75, *columns, 9, limit=2)
    assert slots.tolist() == [0, 1]
    assert found.tolist() == scores(postings, [1])[:2]


def test_scores_of_zero_are_not_ranked() -> None:
    slots, _ = built([[1], [2]]).top_bm25(u64([1]), 1e308, 1.0, None, None, 5)
    assert slots.tolist() in ([], [0])
    slots, _ = built([[1], [2]]).top_bm25(u64([3]), 1.2, 0.75, None, None, 5)
    assert slots.tolist() == []


# --- change -----------------------------------------------------------------------------


def test_append_returns_the_first_slot() -> None:
    postings = _core.Postings()
    assert [add(postings, [[1], []]), add(postings, []), add(postings, [[2]])] == [0, 2, 2]
    assert len(postings) == 3


@settings(max_examples=50)
@given(st.lists(st.one_of(st.none(), text), max_size=20), cue)
def test_appending_in_pieces_equals_appending_at_once(texts: Texts, cue: list[int]) -> None:
    whole = [t or [] for t in texts]
    pieces = _core.Postings()
    for one in whole:
        add(pieces, [one])
    assert scores(pieces, cue) == scores(built(whole), cue)


def test_tombstones_are_idempotent_and_counted_once() -> None:
    postings = built([[1], [1], [2]])
    assert postings.tombstone(i64([0, 0])) == 1
    assert postings.tombstone(i64([0, 1])) == 1
    assert (postings.live, postings.document_frequency(u64([1])).tolist()) == (1, [0])


@settings(max_examples=60)
@given(st.lists(st.one_of(st.none(), text), max_size=20), text, cue)
def test_compaction_equals_an_index_built_anew(texts: Texts, later: list, cue: list) -> None:
    postings, kept = built(texts), [t for t in texts if t is not None]
    moved = postings.compact()
    add(postings, [later])
    fresh = built([*kept, later])
    new_slots = iter(range(len(kept)))
    assert moved.tolist() == [-1 if t is None else next(new_slots) for t in texts]
    assert (len(postings), postings.live) == (len(fresh), fresh.live)
    assert scores(postings, cue) == scores(fresh, cue)
    everything = (u64(cue), 1.2, 0.75, None, None, 30)
    assert postings.top_bm25(*everything)[0].tolist() == fresh.top_bm25(*everything)[0].tolist()


def test_compaction_gives_memory_back() -> None:
    postings = built(random_texts(1000, vocabulary=500))
    before = postings.bytes
    postings.tombstone(np.arange(10, 1000))
    postings.compact()
    assert 0 < postings.bytes < before / 4


def test_readers_see_whole_texts_while_a_writer_appends() -> None:
    postings, failures = built([[1, 2]]), []

    def read() -> None:
        while len(postings) < 400:
            slots, _ = postings.top_bm25(u64([1, 2]), 1.2, 0.75, None, None, 1000)
            one, two = postings.document_frequency(u64([1, 2])).tolist()
            if one != two or len(slots) > len(postings):
                failures.append((one, two))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(399):
        add(postings, [[1, 2, 2]])
    for reader in readers:
        reader.join()
    assert not failures


# --- refusals ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("term_ids", "ends"), [([1, 2], [1]), ([1, 2], [3]), ([1, 2], [2, 1]), ([1], []), ([], [-1])]
)
def test_a_refused_append_changes_nothing(term_ids: list, ends: list) -> None:
    postings = built([[1]])
    with pytest.raises(InvalidArgument, match="text_ends"):
        postings.append(u64(term_ids), i64(ends))
    assert (len(postings), postings.document_frequency(u64([1])).tolist()) == (1, [1])


@pytest.mark.parametrize("slots", [[0, 2], [-1]])
def test_a_refused_tombstone_changes_nothing(slots: list) -> None:
    postings = built([[1], [1]])
    with pytest.raises(InvalidArgument, match="slots"):
        postings.tombstone(i64(slots))
    assert postings.live == 2


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"k": 0}, "k"),
        ({"k": -1}, "k"),
        ({"k1": math.nan}, "k1"),
        ({"k1": math.inf}, "k1"),
        ({"k1": -0.1}, "k1"),
        ({"b": 1.1}, "b"),
        ({"b": -0.1}, "b"),
        ({"b": math.nan}, "b"),
        ({"limit": 3}, "limit"),
        ({"limit": -1}, "limit"),
    ],
)
def test_values_out_of_range_are_refused(change: dict, argument: str) -> None:
    good = {"k1": 1.2, "b": 0.75, "newness": None, "mask": None, "k": 3}
    with pytest.raises(InvalidArgument, match=f"^{argument}: expected"):
        built([[1], [2]]).top_bm25(u64([1]), **{**good, **change})


@pytest.mark.parametrize(
    "change", [{"k": 1.0}, {"k": True}, {"k1": "1"}, {"b": None}, {"b": True}, {"limit": 1.0}]
)
def test_values_of_another_type_are_refused(change: dict) -> None:
    good = {"k1": 1.2, "b": 0.75, "newness": None, "mask": None, "k": 3}
    with pytest.raises(InvalidType, match=f"^{next(iter(change))}: expected"):
        built([[1], [2]]).top_bm25(u64([1]), **{**good, **change})


def test_k_may_be_larger_than_any_index() -> None:
    slots, _ = built([[1], [1]]).top_bm25(u64([1]), 1.2, 0.75, None, None, 2**80)
    assert slots.tolist() == [1, 0]


@pytest.mark.parametrize("length", [0, 1, 3])
@pytest.mark.parametrize("column", ["newness", "mask"])
def test_columns_of_another_length_are_refused(column: str, length: int) -> None:
    arrays = {"newness": np.zeros(length, np.int64), "mask": np.ones(length, np.bool_)}
    columns = {"newness": None, "mask": None, column: arrays[column]}
    with pytest.raises(ShapeMismatch, match=column):
        built([[1], [2]]).top_bm25(u64([1]), 1.2, 0.75, k=1, **columns)


@pytest.mark.parametrize(
    "terms", [[1], np.array([1]), np.array([1.0]), np.arange(4, dtype="u8")[::2]]
)
def test_arrays_are_never_converted(terms: object) -> None:
    with pytest.raises(InvalidType, match="terms"):
        built([[1]]).top_bm25(terms, 1.2, 0.75, None, None, 1)


def test_unknown_slots_have_no_score() -> None:
    with pytest.raises(InvalidArgument, match="slots"):
        built([[1]]).bm25(u64([1]), 1.2, 0.75, i64([1]))
