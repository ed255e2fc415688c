"""Words into sparse counts: what the dense rows are before they are scaled."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem._tokenize import WordHasher

SIGNS = [None, "seed", "independent"]
WORDS = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "h", "Rex", "漢字", "x" * 60])
TEXTS = st.lists(st.lists(WORDS, max_size=30).map(" ".join), max_size=6)


def counted(texts: list[str], dim: int, sign: str | None = None) -> list[list[tuple[int, int]]]:
    buckets, counts, ends = WordHasher("words", dim, sign).counts_many(texts)
    assert (buckets.dtype, counts.dtype, ends.dtype) == (np.uint32, np.int32, np.int64)
    pairs = list(zip(buckets.tolist(), counts.tolist(), strict=True))
    return [pairs[a:b] for a, b in zip([0, *ends.tolist()], ends.tolist(), strict=False)]


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("dim", [1, 2, 7, 256, 1000, 1024, 4096, 2**24])
def test_real_texts_are_counted_as_by_the_oracle(real_texts, dim, sign):
    texts = real_texts[:300]

    assert counted(texts, dim, sign) == [oracles.bucket_counts(t, dim, sign) for t in texts]


@given(TEXTS, st.integers(1, 64), st.sampled_from(SIGNS))
@settings(max_examples=100)
def test_any_texts_are_counted_as_by_the_oracle(texts, dim, sign):
    assert counted(texts, dim, sign) == [oracles.bucket_counts(t, dim, sign) for t in texts]


@given(TEXTS, st.integers(1, 64), st.sampled_from(SIGNS))
@settings(max_examples=50)
def test_scaled_counts_are_the_dense_row(texts, dim, sign):
    rows = WordHasher("words", dim, sign).embed_many(texts)

    for row, pairs in zip(rows, counted(texts, dim, sign), strict=True):
        dense = np.zeros(dim)
        dense[[bucket for bucket, _ in pairs]] = [count for _, count in pairs]
        norm = np.sqrt((dense**2).sum()) or 1.0
        assert (dense / norm).astype(np.float32).tobytes() == row.tobytes()


@pytest.mark.parametrize("count", [31, 32, 33, 63, 64, 65, 127, 128, 129, 5000])
def test_texts_of_any_number_of_distinct_words(count):
    text = " ".join(f"w{i}" for i in range(count))

    assert counted(["Rex", text, "Rex"], 2**24) == [
        oracles.bucket_counts(t, 2**24) for t in ("Rex", text, "Rex")
    ]


def test_counts_that_cancel_are_left_out():
    signs = {w: oracles.word_sign(oracles.word_hash(w), "independent") for w in "abcdefgh"}
    up = next(w for w, s in signs.items() if s > 0)
    down = next(w for w, s in signs.items() if s < 0)

    assert counted([f"{up} {down}", f"{up} {up}", f"{down}"], 1, "independent") == [
        [],
        [(0, 2)],
        [(0, -1)],
    ]


def test_texts_without_words_end_where_they_begin():
    buckets, _, ends = WordHasher("words", 8, None).counts_many(["", "Rex", " "])

    assert len(buckets) == 1
    assert ends.tolist() == [0, 1, 1]


def test_no_texts_give_no_counts():
    assert [len(part) for part in WordHasher("words", 8, None).counts_many([])] == [0, 0, 0]
