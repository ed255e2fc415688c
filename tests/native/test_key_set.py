"""Numbered sets of keys, and counts of a byte, against a dict and a Counter."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core

LAST = 2**32 - 1

near = st.integers(0, 300)
far = st.one_of(near, st.integers(0, LAST), st.integers(0, 70).map(lambda back: LAST - back))
keys = st.one_of(st.sets(near, max_size=200), st.sets(far, max_size=200))


def agrees_with_a_dict(held: set[int], others: list[int]) -> int:
    """Return the bytes of the set."""
    numbers = {key: number for number, key in enumerate(sorted(held))}
    wanted = [*held, *others]
    found, again, taken = _core._testing.key_set(
        np.array(sorted(held), np.uint32), np.array(wanted, np.uint32)
    )
    assert again.tolist() == sorted(held)
    assert found.tolist() == [numbers.get(key, -1) for key in wanted]
    return int(taken)


@settings(max_examples=300)
@given(keys, st.lists(far, max_size=60))
def test_a_set_numbers_its_keys_in_order(held: set[int], others: list[int]) -> None:
    beside = [key + step for key in held for step in (-1, 1, 64) if 0 <= key + step <= LAST]
    agrees_with_a_dict(held, others + beside)


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 4_096, 70_000])
@pytest.mark.parametrize("apart", [1, 2, 20, 26, 27, 28, 1_000, LAST // 70_000])
def test_keys_at_regular_steps_are_found(count: int, apart: int) -> None:
    held = set(range(0, count * apart, apart))
    agrees_with_a_dict(held, [*range(200), count * apart, LAST])


def test_close_keys_take_bits_and_others_no_more_than_themselves_and_a_table() -> None:
    assert agrees_with_a_dict(set(range(6_400)), []) == 12 * 100
    assert agrees_with_a_dict(set(range(0, 6_400 * 10, 10)), []) == 12 * 1_000
    assert agrees_with_a_dict(set(range(0, 6_400 * 100, 100)), []) <= 5 * 6_400 + 8


@settings(max_examples=200)
@given(
    st.lists(st.lists(st.sampled_from([0, 0, 0, 0, 1, 2, 5, 6]), max_size=260), max_size=8),
    st.integers(7, 2_000),
    st.data(),
)
def test_counts_are_those_of_a_counter(
    added: list[list[int]], size: int, data: st.DataObject
) -> None:
    counts = Counter(number for numbers in added for number in numbers)
    less = {number: data.draw(st.integers(0, count)) for number, count in counts.items()}
    left, _ = _core._testing.small_counts(
        size,
        [np.array(numbers, np.uint32) for numbers in added],
        np.array([less.get(number, 0) for number in range(size)], np.uint32),
    )
    assert left.tolist() == [counts[number] - less.get(number, 0) for number in range(size)]


@pytest.mark.parametrize("times", [0, 1, 253, 254, 255, 256, 257, 511, 65_536, 70_001])
@pytest.mark.parametrize("at_once", [True, False])
def test_counts_around_a_byte_are_right(times: int, at_once: bool) -> None:
    one = np.full(times, 1, np.uint32)
    added = [one] if at_once else [one[i : i + 7] for i in range(0, times, 7)]
    nothing = np.zeros(40, np.uint32)
    left, taken = _core._testing.small_counts(40, added, nothing)
    assert left.tolist() == [0, times] + 38 * [0]
    assert 40 <= taken <= 40 + (0 if times < 255 else 300)
