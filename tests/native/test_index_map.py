"""The map that numbers terms, buckets and word forms, against a dict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core

ABSENT = 2**32 - 1
INVERSE = pow(0x9E3779B97F4A7C15, -1, 2**64)
"""Turns a hash back into the key that has it."""

key = st.one_of(
    st.integers(0, 2**64 - 1),
    st.integers(0, 20),
    st.integers(0, 20).map(lambda high: high << 32),
    # All begin at the last cells, so that they go on at the first ones.
    st.integers(0, 40).map(lambda low: (2**64 - 1 - low) * INVERSE % 2**64),
    # The same piece of hash in every cell.
    st.integers(0, 40).map(lambda high: (high << 59) * INVERSE % 2**64),
)


def agrees_with_a_dict(keys: list[int], others: list[int], fit_after: int) -> None:
    numbers: dict[int, int] = {}
    expected = [numbers.setdefault(one, len(numbers)) for one in keys]
    inserted, found, held, _ = _core._testing.index_map(
        np.array(keys, np.uint64), np.array(others, np.uint64), fit_after
    )
    assert inserted.tolist() == expected
    assert found.tolist() == [numbers.get(one, ABSENT) for one in others]
    assert held.tolist() == list(numbers)


@settings(max_examples=300)
@given(st.lists(key, max_size=120), st.lists(key, max_size=40), st.integers(0, 130))
def test_it_numbers_and_finds_as_a_dict_does(
    keys: list[int], others: list[int], fit_after: int
) -> None:
    agrees_with_a_dict(keys, keys + others, fit_after)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 31, 32, 33, 65_535, 65_537, 200_000])
def test_it_numbers_and_finds_as_a_dict_does_at_size(count: int) -> None:
    rng = np.random.default_rng(count)
    keys = rng.integers(0, 2**64, count, np.uint64).tolist()
    agrees_with_a_dict(keys, [*keys, *rng.integers(0, 2**64, 100, np.uint64).tolist()], count // 2)


@pytest.mark.parametrize("count", [1_000, 5_600, 100_000])
def test_it_takes_few_bytes_a_key(count: int) -> None:
    keys = np.arange(count, dtype=np.uint64)
    exact = _core._testing.index_map(np.append(keys, keys[:1]), keys, count)[3]
    assert 8 * count + 4 * (count * 10 // 7) <= exact <= 8 * count + 4 * (count * 10 // 7 + 2)
    grown = _core._testing.index_map(keys, keys, 2 * count)[3]
    assert exact <= grown <= exact * 1.26
