"""Many short words at a time: every lane, every length, every place in memory, against hashlib."""

from __future__ import annotations

import ctypes
import hashlib
import mmap
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core

ISAS = _core.isas()
SHORT = 15
LOW_64 = 2**64 - 1


def digest(word: bytes) -> int:
    return int(hashlib.md5(word, usedforsecurity=False).hexdigest(), 16)


def digests(isa: str, memory: np.ndarray, begins: list[int], ends: list[int]) -> list[int]:
    found = _core._testing.md5_short(
        isa, memory, np.array(begins, np.int64), np.array(ends, np.int64)
    )
    return [high << 64 | low for high, low in found.tolist()]


def digests_of(isa: str, words: list[bytes]) -> list[int]:
    edges = [0, *np.cumsum([len(word) for word in words], dtype=np.int64).tolist()]
    memory = np.frombuffer(b"".join(words) + b"\xff" * 16, np.uint8)
    return digests(isa, memory, edges[:-1], edges[1:])


def text(length: int, shift: int = 0) -> bytes:
    return bytes(1 + (7 * i + 31 * length + shift) % 255 for i in range(length))


@pytest.mark.parametrize("length", range(SHORT + 1))
def test_every_length(isa: str, length: int) -> None:
    words = [text(length, shift) for shift in range(48)]

    assert digests_of(isa, words) == [digest(word) for word in words]


@pytest.mark.parametrize("count", [*range(70), 95, 96, 97, 127, 128, 129, 1000])
def test_any_number_of_words(isa: str, count: int) -> None:
    words = [text(i % (SHORT + 1), i) for i in range(count)]

    assert digests_of(isa, words) == [digest(word) for word in words]


def test_long_words_leave_their_neighbours_alone(isa: str) -> None:
    words = [text((5 * i) % 40, i) for i in range(100)]

    found = digests_of(isa, words)

    assert [f for f, w in zip(found, words, strict=True) if len(w) <= SHORT] == [
        digest(word) for word in words if len(word) <= SHORT
    ]


@pytest.mark.parametrize("isa", ISAS)
@given(words=st.lists(st.binary(max_size=SHORT), max_size=60))
@settings(max_examples=40)
def test_any_words(isa: str, words: list[bytes]) -> None:
    assert digests_of(isa, words) == [digest(word) for word in words]


@pytest.mark.skipif(sys.platform != "linux", reason="protects a page by libc's mprotect")
def test_words_at_the_end_of_the_last_page_that_can_be_read(isa: str) -> None:
    page = mmap.PAGESIZE
    pages = mmap.mmap(-1, 3 * page)
    content = (text(page), text(page, 1))
    pages[: 2 * page] = content[0] + content[1]
    memory = np.frombuffer(pages, np.uint8)
    beyond = ctypes.c_void_p(memory.ctypes.data + 2 * page)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(beyond, ctypes.c_size_t(page), 0) == 0
    try:
        end = 2 * page
        near = [(b, e) for b in range(end - 20, end + 1) for e in range(b, min(b + 15, end) + 1)]
        across = [(b, b + size) for b in range(page - 17, page + 2) for size in range(16)]
        begins, ends = zip(*near, *across, strict=True)

        found = digests(isa, memory, list(begins), list(ends))

        bytes_ = content[0] + content[1]
        assert found == [digest(bytes_[b:e]) for b, e in zip(begins, ends, strict=True)]
    finally:
        libc.mprotect(beyond, ctypes.c_size_t(page), 3)


@pytest.mark.parametrize("dim", [1, 7, 1000, 1024, 2**32 - 5, 2**32])
def test_words_of_every_length_in_buckets(isa: str, dim: int) -> None:
    words = [text(length, length) for length in [*range(201), *reversed(range(64))]]
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)

    ids = _core._testing.hash_words(b"".join(words), ends)
    buckets, signs = _core._testing.bucket_words(b"".join(words), ends, dim, "independent")

    want = [digest(word) for word in words]
    assert ids.tolist() == [value & LOW_64 for value in want]
    assert buckets.tolist() == [value % dim for value in want]
    assert signs.tolist() == [1 if value >> 64 & 1 else -1 for value in want]
