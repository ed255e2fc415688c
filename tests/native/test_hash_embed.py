"""Buckets into rows: bit-equal to the float64 oracle cast to float32."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem._tokenize import WordHasher

ORACLES = {"words": oracles.words, "lower_split": oracles.lower_split}
SIGNS = [None, "seed", "independent"]
GOLDEN = json.loads((Path(__file__).parents[1] / "golden_embeddings.json").read_text("utf-8"))


def embedded(texts, dim, sign=None, split="words") -> np.ndarray:
    return WordHasher(split, dim, sign).embed_many(texts)


def expected(texts, dim, sign=None, split="words") -> np.ndarray:
    rows = [oracles.embed(text, dim, sign, ORACLES[split]) for text in texts]
    return np.array(rows, dtype=np.float32).reshape(len(texts), dim)


def assert_same_bits(got: np.ndarray, want: np.ndarray) -> None:
    assert got.dtype == want.dtype == np.float32
    assert got.shape == want.shape
    assert (got.view(np.uint32) == want.view(np.uint32)).all()


def case_name(case: dict) -> str:
    return f"{case['split']}-{case['sign']}-{case['dim']}"


def pinned_rows(case: dict) -> np.ndarray:
    rows = np.zeros((len(GOLDEN["texts"]), case["dim"]), dtype=np.float32)
    for row, entries in zip(rows, case["rows"], strict=True):
        for bucket, value in entries:
            row[bucket] = value
    return rows


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=case_name)
def test_golden_rows(isa, case):
    dim, sign, split = case["dim"], case["sign"], case["split"]
    pinned = pinned_rows(case)

    assert_same_bits(embedded(GOLDEN["texts"], dim, sign, split), pinned)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=case_name)
def test_golden_rows_are_those_of_the_oracle(case):
    dim, sign, split = case["dim"], case["sign"], case["split"]
    pinned = pinned_rows(case)

    assert_same_bits(expected(GOLDEN["texts"], dim, sign, split), pinned)


@pytest.mark.parametrize("split", ["words", "lower_split"])
@pytest.mark.parametrize("sign", SIGNS)
def test_random_texts_are_bit_equal(sign, split, random_texts):
    got = embedded(random_texts, 100, sign, split)

    assert_same_bits(got, expected(random_texts, 100, sign, split))


def test_real_texts_are_bit_equal(isa, real_texts):
    assert_same_bits(embedded(real_texts, 256), expected(real_texts, 256))


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("dim", [1, 2, 3, 7, 384, 1000, 1024, 1_000_003])
def test_any_dim_is_bit_equal(dim, sign):
    texts = ["Rex", "", "a b a c a b", "the dog and the cat and the rest of the house"]

    assert_same_bits(embedded(texts, dim, sign), expected(texts, dim, sign))


@pytest.mark.parametrize("sign", SIGNS)
@given(
    texts=st.lists(st.text(st.sampled_from("ab c\n漢"), max_size=30), max_size=6),
    dim=st.integers(1, 40),
)
@settings(max_examples=50)
def test_batch_equals_one_by_one(sign, texts, dim):
    assert_same_bits(embedded(texts, dim, sign), expected(texts, dim, sign))


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 31, 33, 255, 256, 257, 1000])
def test_texts_around_the_hashing_chunk(isa, count):
    text = " ".join(f"w{i % 97}" for i in range(count))
    texts = ["", text, "", "", text[::-1], ""]

    assert_same_bits(embedded(texts, 64, "seed"), expected(texts, 64, "seed"))


@pytest.mark.parametrize("sign", SIGNS)
def test_rows_have_unit_length(sign):
    rows = embedded(["Rex", "Adopted a puppy named Rex", "x " * 1000, "漢字 kanji"], 1024, sign)

    assert np.linalg.norm(rows.astype(np.float64), axis=1) == pytest.approx(1.0, abs=1e-7)


def test_signed_counts_that_cancel_give_zeros():
    signs = {w: oracles.word_sign(oracles.word_hash(w), "independent") for w in "abcdefgh"}
    up = next(w for w, s in signs.items() if s > 0)
    down = next(w for w, s in signs.items() if s < 0)

    row = embedded([f"{up} {down} {down} {up}"], 1, "independent")

    assert_same_bits(row, np.zeros((1, 1), dtype=np.float32))


def test_bucket_that_came_back_to_nothing_may_be_used_again():
    signs = {w: oracles.word_sign(oracles.word_hash(w), "independent") for w in "abcdefgh"}
    up = next(w for w, s in signs.items() if s > 0)
    down = next(w for w, s in signs.items() if s < 0)

    assert embedded([f"{up} {down} {down} {down}"], 1, "independent").tolist() == [[-1.0]]


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("dim", [5, 4096, 4097])
def test_words_that_come_often(dim, sign):
    # Counts up to 3 have their quotients ready; a lone text, and one row above 4096 buckets, is
    # counted in its own memory.
    texts = [" ".join(w for i, w in enumerate("abcdefg") for _ in range(i + n)) for n in range(3)]

    assert_same_bits(embedded(texts, dim, sign), expected(texts, dim, sign))
    for text in texts:
        assert_same_bits(embedded([text], dim, sign), expected([text], dim, sign))


def test_large_results_that_live_share_no_memory():
    texts = [f"word{i} and w{i % 7}" for i in range(300)]
    want = expected(texts, 256)

    kept = [embedded(texts, 256) for _ in range(3)]

    assert kept[0].nbytes > 1 << 17
    assert not any(np.shares_memory(kept[0], other) for other in kept[1:])
    assert_same_bits(kept[0], want)


@pytest.mark.parametrize("dim", [256, 3001])
def test_memory_of_a_large_result_is_written_anew(dim):
    texts = [f"word{i} and w{i % 7}" for i in range(300)]
    want = expected(texts, dim)

    for count in (300, 200, 300, 150, 1, 300):
        rows = embedded(texts[:count], dim)
        assert_same_bits(rows, want[:count])
        assert rows.flags.carray
        rows.fill(np.nan)
        del rows


def test_cosine_of_a_shared_word_is_one_over_the_root_of_the_lengths():
    cue, memory = embedded(["Rex", "Adopted a puppy named Rex"], 1024).astype(np.float64)

    # One word of one against one of five: 1 / (sqrt(1) * sqrt(5)).
    assert cue @ memory == pytest.approx(0.4472136, abs=1e-7)


def test_no_texts_give_no_rows():
    assert embedded([], 7).shape == (0, 7)


@pytest.mark.parametrize("dim", [64, 4096])
def test_threads_get_the_same_rows(random_texts, dim):
    want = embedded(random_texts, dim, "seed")
    got: list[np.ndarray] = []
    threads = [
        threading.Thread(target=lambda: got.append(embedded(random_texts, dim, "seed")))
        for _ in range(4)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(got) == 4
    assert all((rows == want).all() for rows in got)
