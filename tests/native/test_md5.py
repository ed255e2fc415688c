"""The one-lane MD5 and what is made of it, against hashlib."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core

# RFC 1321, appendix A.5.
RFC = {
    "": "d41d8cd98f00b204e9800998ecf8427e",
    "a": "0cc175b9c0f1b6a831c399e269772661",
    "abc": "900150983cd24fb0d6963f7d28e17f72",
    "message digest": "f96b697d7cb7938d525a2f31aaf161d0",
    "abcdefghijklmnopqrstuvwxyz": "c3fcd3d76192e4007dfb496cca67e13b",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789": (
        "d174ab98d277d9f5a5611c2c9f419d9f"
    ),
    "12345678901234567890" * 4: "57edf4a22be3c955ac49da2e2107b67a",
}
DIMS = [1, 2, 3, 7, 384, 1000, 1024, 10**6, 1_000_003, 2**31 - 1, 2**31, 2**32 - 5, 2**32]
LOW_64 = 2**64 - 1
SIGN_BITS = {"seed": 8, "independent": 64}


def packed(texts: list[str]) -> tuple[bytes, np.ndarray]:
    encoded = [text.encode() for text in texts]
    return b"".join(encoded), np.cumsum([len(e) for e in encoded], dtype=np.int64)


def test_rfc_vectors():
    ids = _core._testing.hash_words(*packed(list(RFC)))

    assert ids.dtype == np.uint64
    assert ids.tolist() == [int(digest, 16) & LOW_64 for digest in RFC.values()]


@pytest.mark.parametrize("dim", DIMS)
def test_rfc_vectors_mod_dim(dim):
    buckets, _ = _core._testing.bucket_words(*packed(list(RFC)), dim, "none")

    assert buckets.tolist() == [int(digest, 16) % dim for digest in RFC.values()]


@pytest.mark.parametrize("dim", DIMS)
def test_every_length_around_the_block_edges(dim):
    texts = ["".join(chr(33 + (7 * i + n) % 90) for i in range(n)) for n in range(201)]

    buckets, _ = _core._testing.bucket_words(*packed(texts), dim, "none")

    assert buckets.tolist() == [oracles.word_hash(text) % dim for text in texts]


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 31, 33, 255, 256, 257, 1000])
def test_any_number_of_words(count):
    texts = [f"word{i}" for i in range(count)]

    ids = _core._testing.hash_words(*packed(texts))

    assert ids.tolist() == [oracles.word_hash(text) & LOW_64 for text in texts]


@pytest.mark.parametrize("sign", ["seed", "independent"])
def test_sign_is_one_bit_of_the_digest(sign):
    texts = [f"word{i}" for i in range(300)]

    _, signs = _core._testing.bucket_words(*packed(texts), 1000, sign)

    bits = [oracles.word_hash(text) >> SIGN_BITS[sign] & 1 for text in texts]
    assert signs.tolist() == [1 if bit else -1 for bit in bits]


def test_without_a_sign_every_word_adds():
    _, signs = _core._testing.bucket_words(*packed(["a", "b", "c"]), 8, "none")

    assert signs.tolist() == [1, 1, 1]


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=20), st.integers(1, 2**32)
)
@settings(max_examples=50)
def test_any_words_and_any_dim(texts, dim):
    buckets, _ = _core._testing.bucket_words(*packed(texts), dim, "none")

    assert buckets.tolist() == [oracles.word_hash(text) % dim for text in texts]


def test_long_message_of_many_blocks():
    text = "abcdefghij" * 100_000

    assert _core._testing.hash_words(*packed([text])).tolist() == [oracles.word_hash(text) & LOW_64]
