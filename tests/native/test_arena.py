"""Rows by slot: what was put in comes out, the dead stay dead, compaction keeps the order."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

DIMS = [1, 15, 16, 17, 31, 33, 1000]


def rows_of(count: int, dim: int, start: int = 0) -> np.ndarray:
    return (np.arange(count * dim, dtype=np.float32).reshape(count, dim) + start) / 7


def slots(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def all_slots(arena: _core.Arena) -> np.ndarray:
    return np.arange(arena.size, dtype=np.int64)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 1000])
def test_rows_come_back_as_they_went_in(dim: int, count: int) -> None:
    arena, rows = _core.Arena(dim), rows_of(count, dim)
    assert arena.append(rows) == 0
    assert (arena.size, arena.live, arena.dim) == (count, count, dim)
    assert np.array_equal(arena.copy_rows(all_slots(arena)), rows)


def test_slots_go_on_across_chunks() -> None:
    arena = _core.Arena(1000)
    firsts = [arena.append(rows_of(100, 1000, start=n)) for n in range(8)]
    assert firsts == [0, 100, 200, 300, 400, 500, 600, 700]
    assert np.array_equal(arena.copy_rows(slots(699)), rows_of(100, 1000, start=6)[99:])


def test_a_row_larger_than_a_chunk_has_one_of_its_own() -> None:
    arena = _core.Arena(300_000)
    arena.append(rows_of(3, 300_000))
    assert np.array_equal(arena.copy_rows(slots(2)), rows_of(3, 300_000)[2:])


def test_overwrite_replaces_one_row() -> None:
    arena = _core.Arena(3)
    arena.append(rows_of(3, 3))
    arena.overwrite(1, np.array([7, 8, 9], dtype=np.float32))
    assert arena.copy_rows(all_slots(arena))[1].tolist() == [7, 8, 9]
    assert np.array_equal(arena.copy_rows(slots(0, 2)), rows_of(3, 3)[[0, 2]])


def test_tombstone_is_idempotent_and_leaves_no_trace_of_the_row() -> None:
    arena = _core.Arena(3)
    arena.append(rows_of(4, 3, start=1))
    assert arena.tombstone(slots(1, 2, 1)) == 2
    assert arena.tombstone(slots(1)) == 0
    assert (arena.size, arena.live) == (4, 2)
    assert arena.copy_rows(slots(1, 2)).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_compact_maps_old_slots_to_new_ones() -> None:
    arena, rows = _core.Arena(5), rows_of(6, 5)
    arena.append(rows)
    arena.tombstone(slots(0, 3))
    assert arena.compact().tolist() == [-1, 0, 1, -1, 2, 3]
    assert (arena.size, arena.live, arena.generation) == (4, 4, 1)
    assert np.array_equal(arena.copy_rows(all_slots(arena)), rows[[1, 2, 4, 5]])


def test_compact_gives_memory_back() -> None:
    arena = _core.Arena(1024)
    arena.append(np.ones((2000, 1024), dtype=np.float32))
    before = arena.bytes
    arena.tombstone(np.arange(1990, dtype=np.int64))
    arena.compact()
    assert arena.bytes < before / 4


def test_compact_of_nothing_and_of_all_dead() -> None:
    arena = _core.Arena(2)
    assert arena.compact().tolist() == []
    arena.append(rows_of(2, 2))
    arena.tombstone(slots(0, 1))
    assert arena.compact().tolist() == [-1, -1]
    assert arena.append(rows_of(1, 2)) == 0
    assert arena.generation == 2


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.sampled_from(["append", "kill", "write", "compact"]), st.integers(0, 40)))
)
def test_arena_does_what_a_list_would(steps: list[tuple[str, int]]) -> None:
    arena = _core.Arena(3)
    model: list[list[float] | None] = []
    for step, (verb, n) in enumerate(steps):
        if verb == "append":
            model.extend(rows_of(n, 3, start=step).tolist())
            arena.append(rows_of(n, 3, start=step))
        elif verb == "compact":
            arena.compact()
            model = [row for row in model if row is not None]
        elif n < len(model) and verb == "kill":
            arena.tombstone(slots(n))
            model[n] = None
        elif n < len(model) and model[n] is not None:
            arena.overwrite(n, rows_of(1, 3, start=step)[0])
            model[n] = rows_of(1, 3, start=step)[0].tolist()
    assert arena.live == sum(row is not None for row in model)
    assert arena.copy_rows(all_slots(arena)).tolist() == [row or [0, 0, 0] for row in model]


@pytest.mark.parametrize("dim", [0, -1, 2**24 + 1, 2**70])
def test_dim_out_of_range_is_refused(dim: int) -> None:
    with pytest.raises(InvalidArgument, match="dim: expected"):
        _core.Arena(dim)


@pytest.mark.parametrize("dim", [1.0, "3", None, True])
def test_dim_of_another_type_is_refused(dim: object) -> None:
    with pytest.raises(InvalidType, match="dim: expected an integer"):
        _core.Arena(dim)


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        (np.zeros((2, 4), np.float32), ShapeMismatch),
        (np.zeros(3, np.float32), ShapeMismatch),
        (np.zeros((2, 3)), InvalidType),
        (np.zeros((3, 2), np.float32).T, InvalidType),
        ([[0.0, 0.0, 0.0]], InvalidType),
        (np.array([[0, np.nan, 0]], np.float32), InvalidArgument),
        (np.array([[0, 0, np.inf]], np.float32), InvalidArgument),
    ],
)
def test_append_refuses_what_is_no_row_and_stays_as_it_was(rows: object, error: type) -> None:
    arena = _core.Arena(3)
    with pytest.raises(error, match="rows: expected"):
        arena.append(rows)
    assert arena.size == 0


@pytest.mark.parametrize("slot", [3, 2**62, 2**80, -1])
def test_unknown_slots_are_refused(slot: int) -> None:
    arena = _core.Arena(2)
    arena.append(rows_of(3, 2))
    with pytest.raises(InvalidArgument, match="slot: expected"):
        arena.overwrite(slot, np.zeros(2, np.float32))
    if slot < 2**63:
        with pytest.raises(InvalidArgument, match="slots: expected slots from 0 to below 3"):
            arena.tombstone(slots(0, slot))
        with pytest.raises(InvalidArgument, match="slots: expected"):
            arena.copy_rows(slots(slot))
    assert arena.live == 3


def test_a_dead_row_cannot_be_overwritten() -> None:
    arena = _core.Arena(2)
    arena.append(rows_of(2, 2))
    arena.tombstone(slots(1))
    with pytest.raises(InvalidArgument, match="slot: expected a live row"):
        arena.overwrite(1, np.ones(2, np.float32))


def test_slots_must_be_int64() -> None:
    arena = _core.Arena(2)
    with pytest.raises(InvalidType, match="slots: expected"):
        arena.tombstone(np.zeros(1, np.int32))


OUT_OF_MEMORY = """
import resource
import numpy as np
from ebbmem import _core

arena, rows = _core.Arena(2**20), np.ones((8, 2**20), np.float32)
arena.append(rows)
in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (in_use + 3 * rows.nbytes // 2,) * 2)
try:
    while arena.size < 1000:
        arena.append(rows)
except MemoryError:
    pass
assert arena.size == arena.live == 16, arena.size
assert arena.copy_rows(np.array([15]))[0, -1] == 1
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on address space")
def test_an_append_without_memory_adds_nothing() -> None:
    subprocess.run([sys.executable, "-c", OUT_OF_MEMORY], check=True, timeout=60)
