"""What word-hash vectors refuse, and that they are then as they were."""

from __future__ import annotations

import math

import numpy as np
import pytest
from word_cases import Counts, built, i32, i64, query, u32

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

SECOND = 1_000_000


@pytest.mark.parametrize(
    ("buckets", "counts", "ends", "argument"),
    [
        ([1, 1], [1, 2], [2], "buckets"),
        ([*range(40), 39], [1] * 41, [41], "buckets"),
        ([64], [1], [1], "buckets"),
        ([1], [2**30], [1], "counts"),
        ([1, 2], [1], [2], "counts"),
        ([1, 2], [1, 1], [1], "text_ends"),
        ([1, 2], [1, 1], [2, 1], "text_ends"),
        ([1], [1], [], "text_ends"),
    ],
)
def test_a_refused_append_changes_nothing(
    buckets: list, counts: list, ends: list, argument: str
) -> None:
    vectors = built([{1: 1}])
    with pytest.raises((InvalidArgument, ShapeMismatch), match=argument):
        vectors.append(u32(buckets), i32(counts), i64(ends))
    assert (vectors.size, vectors.cosines(*query({1: 1}), i64([0])).tolist()) == (1, [1.0])


@pytest.mark.parametrize("slots", [[0, 2], [-1]])
def test_a_refused_tombstone_changes_nothing(slots: list) -> None:
    vectors = built([{1: 1}, {1: 1}])
    with pytest.raises(InvalidArgument, match="slots"):
        vectors.tombstone(i64(slots))
    assert vectors.live == 2


@pytest.mark.parametrize("slot", [1, 2, -1])
def test_only_a_live_vector_is_overwritten(slot: int) -> None:
    vectors = built([{1: 1}, {1: 1}])
    vectors.tombstone(i64([1]))
    with pytest.raises(InvalidArgument, match="slot"):
        vectors.overwrite(slot, *query({2: 1}))


@pytest.mark.parametrize("dim", [0, 2**24 + 1])
def test_dim_has_limits(dim: int) -> None:
    with pytest.raises(InvalidArgument, match="dim"):
        _core.WordVectors(dim)


@pytest.mark.parametrize("asked", [({1: 1, 99: 1}), ({64: 1}), ({1: 2**31 - 1})])
def test_queries_are_checked_like_texts(asked: Counts) -> None:
    with pytest.raises(InvalidArgument):
        built([{1: 1}]).top_affine(*query(asked), None, None, None, None, 1)


@pytest.mark.parametrize("length", [0, 1, 3])
@pytest.mark.parametrize("column", ["mul", "add", "newness", "mask"])
def test_columns_of_another_length_are_refused(column: str, length: int) -> None:
    kinds = {"mul": np.float64, "add": np.float64, "newness": np.int64, "mask": np.bool_}
    columns = dict.fromkeys(kinds, None) | {column: np.ones(length, kinds[column])}
    with pytest.raises(ShapeMismatch, match=column):
        built([{1: 1}, {2: 1}]).top_affine(*query({1: 1}), **columns, k=1)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_columns_of_no_numbers_are_refused(value: float) -> None:
    vectors, bad = built([{1: 1}]), np.array([value])
    for name in ("mul", "add"):
        columns = {"mul": None, "add": None, name: bad}
        with pytest.raises(InvalidArgument, match=name):
            vectors.top_affine(*query({1: 1}), **columns, newness=None, mask=None, k=1)
    with pytest.raises(InvalidArgument, match="log_weight"):
        vectors.top_product(*query({1: 1}), bad, None, None, 1)


def test_fading_has_the_same_slots() -> None:
    vectors = built([{1: 1}])
    with pytest.raises(ShapeMismatch, match="fading"):
        vectors.top_faded(*query({1: 1}), _core.Fading(SECOND), 0, 0.1, None, None, 1)


def test_arrays_are_never_converted() -> None:
    with pytest.raises(InvalidType, match="buckets"):
        built([{1: 1}]).top_affine(i64([1]), i32([1]), None, None, None, None, 1)


def test_unknown_slots_have_no_cosine() -> None:
    with pytest.raises(InvalidArgument, match="slots"):
        built([{1: 1}]).cosines(*query({1: 1}), i64([1]))
