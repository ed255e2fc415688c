"""Readers scan while a writer appends, overwrites, kills and compacts."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ebbmem import _core
from ebbmem.errors import ShapeMismatch

DIM = 33
AXES = np.eye(DIM, dtype=np.float32)


def run_while_writing(read: object, write: object, readers: int = 3) -> None:
    """Readers loop until the writer has finished; any exception of either ends the test."""
    done = threading.Event()

    def reading() -> int:
        count = 0
        while not done.is_set() or count == 0:
            read()
            count += 1
        return count

    with ThreadPoolExecutor(readers) as pool:
        futures = [pool.submit(reading) for _ in range(readers)]
        try:
            write()
        finally:
            done.set()
        assert all(future.result(timeout=60) > 0 for future in futures)


def churn(arena: _core.Arena, rounds: int) -> None:
    """Keep between 500 and 1500 live rows, each of them an axis."""
    rng = np.random.default_rng(1)
    for _ in range(rounds):
        first = arena.append(AXES[rng.integers(0, DIM, 500)])
        arena.overwrite(first + 3, AXES[5])
        arena.tombstone(np.arange(first, first + 400, 2))
        if arena.size > 1500:
            arena.tombstone(np.arange(arena.size - 500))
            arena.compact()


def test_readers_see_whole_rows_of_one_moment() -> None:
    arena = _core.Arena(DIM)
    arena.append(AXES)

    def read() -> None:
        slots, scores, dots = _core.top_affine(arena, AXES[5], None, None, None, None, 40)
        assert len(set(slots.tolist())) == slots.size > 0
        assert set(dots.tolist()) <= {0.0, 1.0}
        assert np.all(np.diff(scores) <= 0)

    run_while_writing(read, lambda: churn(arena, 60))


def test_a_column_of_another_moment_is_refused_not_misread() -> None:
    arena = _core.Arena(DIM)
    arena.append(AXES)
    outcomes = set()

    def read() -> None:
        try:
            _core.top_product(arena, AXES[5], np.zeros(arena.size), None, None, 5)
        except ShapeMismatch:
            outcomes.add("refused")

    run_while_writing(read, lambda: churn(arena, 60))
    assert outcomes <= {"refused"}


def test_a_writer_is_not_starved_by_overlapping_readers() -> None:
    arena = _core.Arena(DIM)
    arena.append(np.tile(AXES, (200, 1)))

    def read() -> None:
        _core.top_affine(arena, AXES[5], None, None, None, None, 5)

    def write() -> None:
        for _ in range(200):
            arena.append(AXES[:1])

    run_while_writing(read, write, readers=4)
    assert arena.size == 200 * DIM + 200


def test_writers_queue_behind_each_other() -> None:
    arena = _core.Arena(DIM)
    with ThreadPoolExecutor(4) as pool:
        firsts = list(pool.map(lambda n: arena.append(AXES[n : n + 3]), [0, 3, 6, 9] * 50))
    assert sorted(firsts) == list(range(0, 600, 3))
    rows = arena.copy_rows(np.arange(600))
    starts = [int(np.argmax(rows[first])) for first in range(0, 600, 3)]
    assert sorted(starts) == sorted([0, 3, 6, 9] * 50)
    assert all(
        np.array_equal(rows[f : f + 3], AXES[s : s + 3])
        for f, s in zip(range(0, 600, 3), starts, strict=True)
    )


def test_properties_can_be_read_while_the_arena_changes() -> None:
    arena = _core.Arena(DIM)

    def read() -> None:
        assert arena.live >= 0
        assert arena.generation >= 0
        assert arena.bytes >= 0

    run_while_writing(read, lambda: churn(arena, 30))
