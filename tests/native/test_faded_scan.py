"""The search by fading lines returns what ranking by the column of their weights would."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

S = 1_000_000
H = 3_600 * S
NOW = 1_700_000_000 * S
ORDERED = _core._testing.ordered_slots  # from so many slots on there is an order to follow

RATES = st.sampled_from([0.0, 1e-300, 1e-9, 1e-5, 0.05, 1e9])
TOP_K = st.sampled_from([1, 10, 500, 10**6])
SPREADS = st.sampled_from([0, 1, 60 * S, 24 * H, 365 * 24 * H])


class Memory:
    """An arena and its lines, with few distinct values, so that ties are everywhere."""

    def __init__(self, seed: int, dim: int, spread_us: int, paced: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.spread_us = spread_us
        self.paced = paced
        self.axes = self.rng.integers(-1, 2, (40, dim)).astype(np.float32)
        self.axes /= np.maximum(np.linalg.norm(self.axes, axis=1, keepdims=True), 1)
        self.arena = _core.Arena(dim)
        self.fading = _core.Fading()
        self.alive = np.zeros(0, dtype=bool)
        self.newness = np.zeros(0, dtype=np.int64)

    def lines(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Importances, times (some of them to come, some in order) and paces of some rows."""
        importance = self.rng.choice([0.0, 1.0, 1.05, 9.0, 10.0, 1e9], count)
        steps = self.rng.integers(0, 50, count) * self.spread_us // 50
        since = NOW + self.spread_us // 20 - (np.sort(steps)[::-1] if count % 2 else steps)
        pace = self.rng.choice([0.0, 0.05, 0.6, 1.0, 40.0], count) if self.paced else None
        return importance, since.astype(np.int64), pace

    def append(self, count: int) -> None:
        self.arena.append(self.axes[self.rng.integers(0, len(self.axes), count)])
        self.fading.append(*self.lines(count))
        self.alive = np.concatenate([self.alive, np.ones(count, dtype=bool)])
        self.newness = np.concatenate([self.newness, self.rng.integers(-2, 3, count)])

    def overwrite(self, count: int) -> None:
        live = np.flatnonzero(self.alive)
        if len(live):
            self.fading.overwrite(self.rng.choice(live, count), *self.lines(count))

    def tombstone(self, count: int) -> None:
        if len(self.alive):
            dead = self.rng.integers(0, len(self.alive), count)
            self.arena.tombstone(dead)
            self.fading.tombstone(dead)
            self.alive[dead] = False

    def compact(self, _: int) -> None:
        moved = self.fading.compact()
        assert moved.tolist() == self.arena.compact().tolist()
        self.newness, self.alive = self.newness[self.alive], self.alive[self.alive]

    def mask(self, share: float) -> np.ndarray | None:
        return None if share == 1.0 else self.rng.random(len(self.alive)) < share

    def check(self, now_us: int, rate: float, share: float, k: int) -> None:
        query, mask = self.axes[0], self.mask(share)
        weight = self.fading.log_weights(np.arange(self.fading.size), now_us, rate)
        for newness in (None, self.newness):
            want = _core.top_product(self.arena, query, weight, newness, mask, k)
            got = _core.top_faded(self.arena, self.fading, query, now_us, rate, newness, mask, k)
            for column, wanted in zip(got, want, strict=True):
                assert column.tobytes() == wanted.tobytes()


DIMS = st.sampled_from([1, 3, 16, 17])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["append", "overwrite", "tombstone", "compact"]), st.integers(0, 300)
    ),
    max_size=8,
)


@settings(max_examples=60)
@given(
    st.builds(Memory, st.integers(0, 2**32), DIMS, SPREADS, st.booleans()),
    st.sampled_from([0, ORDERED - 1, ORDERED, ORDERED + 1, 2100, 2800, 4500]),
    STEPS,
    st.sampled_from([-365 * 24 * H, -S, 0, 24 * H, 10**17]),
    RATES,
    st.sampled_from([1.0, 0.9, 0.01]),
    TOP_K,
)
def test_it_is_the_ranking_by_the_column(
    memory: Memory,
    count: int,
    steps: list[tuple[str, int]],
    later_us: int,
    rate: float,
    share: float,
    k: int,
) -> None:
    memory.append(count)
    for verb, rows in steps:
        getattr(memory, verb)(rows)
        if verb != "compact":
            memory.check(NOW + later_us, rate, share, k)
    memory.check(NOW + later_us, rate, share, k)


@pytest.mark.parametrize("paced", [False, True])
@pytest.mark.parametrize("rate", [0.0, 0.01 / 3600, 0.05])
def test_every_live_slot_keeps_its_place_through_many_changes(rate: float, paced: bool) -> None:
    memory = Memory(5, 16, 30 * 24 * H, paced)
    memory.append(2700)
    for count in (1, 2, 700, 1500, 1, 90, 300):
        memory.overwrite(count)
        memory.check(NOW, rate, 1.0, 10**6)
    for _ in range(12):
        memory.tombstone(300)
        memory.append(20)
        memory.check(NOW, rate, 1.0, 10**6)
    memory.compact(0)
    memory.append(ORDERED)
    memory.check(NOW, rate, 1.0, 10**6)


@pytest.mark.parametrize("dim", [1, 15, 33, 384, 1000, 4096])
def test_it_is_exact_in_every_dimension(isa: str, dim: int) -> None:
    rng = np.random.default_rng(dim)
    rows = rng.standard_normal((2300, dim)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    arena, fading = _core.Arena(dim), _core.Fading()
    arena.append(rows)
    importance = rng.integers(1, 11, 2300).astype(float)
    since = NOW - np.sort(rng.integers(0, 30 * 24 * H, 2300))
    fading.append(importance, since)
    for rate in (0.0, 0.01 / 3600, 0.05):
        weight = _core.log_weights(importance, np.maximum(NOW - since, 0) / S, rate)
        for query in rows[:3]:
            want = _core.top_product(arena, query, weight, None, None, 10)
            got = _core.top_faded(arena, fading, query, NOW, rate, None, None, 10)
            assert [c.tobytes() for c in got] == [c.tobytes() for c in want]


def test_a_row_too_long_for_codes_is_ranked_all_the_same() -> None:
    dim = 2**16 + 1
    arena, fading = _core.Arena(dim), _core.Fading()
    rows = np.zeros((3, dim), np.float32)
    rows[[0, 1, 2], [0, dim - 1, 0]] = 1.0
    arena.append(rows)
    fading.append(np.array([1.0, 9.0, 1.0]), np.array([NOW, NOW, NOW - S]))
    got = _core.top_faded(arena, fading, rows[0], NOW, 0.05, None, None, 2)
    assert got[0].tolist() == [1, 0]


def test_rows_beyond_underflow_are_ranked() -> None:
    # A day old and more: the linear scores of all are 0.0 in double.
    arena, fading = _core.Arena(2), _core.Fading()
    arena.append(np.array([[1, 0], [1, 0], [0, 1]], np.float32))
    ages_s = np.array([86_500, 86_400, 86_399])
    fading.append(np.full(3, 5.0), NOW - ages_s * S)
    slots, scores, dots = _core.top_faded(
        arena, fading, np.array([1, 0], np.float32), NOW, 0.05, None, None, 3
    )
    want = [oracles.ebbinghaus_key(c, 5, a) for c, a in ((1, 86_400), (0, 86_399), (1, 86_500))]
    assert slots.tolist() == [1, 2, 0]
    assert scores.tolist() == pytest.approx(want, rel=1e-15)
    assert dots.tolist() == [1.0, 0.0, 1.0]


def test_old_rows_are_not_looked_at() -> None:
    memory = Memory(1, 16, 0, False)
    memory.append(50_000)
    since = NOW - np.arange(50_000)[::-1] * H
    memory.fading.overwrite(np.arange(50_000), np.full(50_000, 5.0), since)
    work = _core._testing.faded_work(memory.arena, memory.fading, memory.axes[0], NOW, 0.01, 10)
    assert all(rows < 600 for rows in work)


def test_when_nothing_fades_each_row_is_compared_at_most_once_and_a_little() -> None:
    memory = Memory(1, 16, 0, False)
    memory.append(50_000)
    memory.fading.overwrite(np.arange(50_000), np.ones(50_000), np.full(50_000, NOW))
    _, compared, _ = _core._testing.faded_work(
        memory.arena, memory.fading, memory.axes[0], NOW, 0.0, 10
    )
    assert compared <= 55_000


@settings(max_examples=15)
@given(
    st.builds(Memory, st.integers(0, 2**32), DIMS, SPREADS, st.booleans()),
    st.sampled_from([0, 50, 3000]),
    st.integers(0, 5),
    RATES,
    TOP_K,
)
def test_a_batch_equals_its_queries_one_by_one(
    memory: Memory, count: int, queries: int, rate: float, k: int
) -> None:
    memory.append(count)
    memory.tombstone(count // 3)
    batch, rest = memory.axes[:queries], (NOW, rate, memory.newness, memory.mask(0.5), k)
    *columns, ends = _core.top_faded_many(memory.arena, memory.fading, batch, *rest)
    assert ends.size == queries
    for i, query in enumerate(batch):
        part = slice(ends[i - 1] if i else 0, ends[i])
        single = _core.top_faded(memory.arena, memory.fading, query, *rest)
        for got, want in zip(columns, single, strict=True):
            assert got[part].tolist() == want.tolist()


@settings(max_examples=15)
@given(st.builds(Memory, st.integers(0, 2**32), DIMS, SPREADS, st.booleans()), RATES, TOP_K)
def test_every_isa_gives_the_same_bytes(memory: Memory, rate: float, k: int) -> None:
    memory.append(2500)
    before, results = _core.isa(), []
    try:
        for isa in _core.isas():
            _core.choose_isa(isa)
            got = _core.top_faded(
                memory.arena, memory.fading, memory.axes[0], NOW, rate, None, None, k
            )
            results.append([column.tobytes() for column in got])
    finally:
        _core.choose_isa(before)
    assert all(result == results[0] for result in results)


def run_while_writing(read: Callable[[], None], write: Callable[[], None]) -> None:
    done = threading.Event()

    def reading() -> None:
        while not done.is_set():
            read()

    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(reading) for _ in range(3)]
        try:
            write()
        finally:
            done.set()
        for future in futures:
            future.result(timeout=60)


def test_readers_search_while_memories_are_recalled_and_dropped() -> None:
    memory = Memory(3, 17, 24 * H, True)
    memory.append(3000)

    def read() -> None:
        slots, scores, _ = _core.top_faded(
            memory.arena, memory.fading, memory.axes[0], NOW, 1e-5, None, None, 50
        )
        assert len(set(slots.tolist())) == slots.size == 50
        assert np.all(np.diff(scores) <= 0)

    def write() -> None:
        for _ in range(60):
            memory.overwrite(40)
            memory.tombstone(20)

    run_while_writing(read, write)
    memory.check(NOW, 1e-5, 1.0, 50)


def test_sizes_of_different_moments_are_refused_not_misread() -> None:
    memory = Memory(3, 17, 24 * H, False)
    memory.append(10)

    def read() -> None:
        try:
            _core.top_faded(memory.arena, memory.fading, memory.axes[0], NOW, 0.05, None, None, 5)
        except ShapeMismatch as refused:
            assert "fading: expected" in str(refused)  # noqa: PT017

    def write() -> None:
        for _ in range(200):
            memory.append(20)

    run_while_writing(read, write)
    memory.check(NOW, 0.05, 1.0, 5)


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("query", np.zeros(5, np.float32), ShapeMismatch),
        ("query", np.full(4, np.nan, np.float32), InvalidArgument),
        ("fading", _core.Fading(), ShapeMismatch),
        ("now_us", 2**61 + 1, InvalidArgument),
        ("rate", -1.0, InvalidArgument),
        ("rate", math.nan, InvalidArgument),
        ("newness", np.zeros(1, np.int64), ShapeMismatch),
        ("mask", np.zeros(3, bool), ShapeMismatch),
        ("k", 0, InvalidArgument),
        ("k", 1.5, InvalidType),
    ],
)
def test_wrong_arguments_are_named(argument: str, value: object, error: type) -> None:
    arena, fading = _core.Arena(4), _core.Fading()
    arena.append(np.eye(4, dtype=np.float32)[:2])
    fading.append(np.ones(2), np.zeros(2, np.int64))
    arguments = {"newness": None, "mask": None, "fading": fading, "now_us": 0, "rate": 1.0}
    arguments |= {"query": np.zeros(4, np.float32), "k": 1, argument: value}
    with pytest.raises(error, match=f"{argument}: expected"):
        _core.top_faded(arena, **arguments)


@pytest.mark.parametrize("size", [5, 100, 3000])
@pytest.mark.parametrize("length", [1.0, 1.01, 3.0, 1e30])
def test_rows_longer_than_one_rank_last_and_are_not_left_out(size: int, length: float) -> None:
    arena, fading = _core.Arena(2), _core.Fading()
    rows = np.full((size, 2), [-length, 0.0], dtype=np.float32)
    arena.append(rows)
    fading.append(np.ones(size), np.full(size, NOW), None)
    query = np.array([length, 0.0], dtype=np.float32)

    slots, scores, dots = _core.top_faded(arena, fading, query, NOW, 0.0, None, None, size)

    assert slots.tolist() == list(range(size))[::-1]
    assert set(scores.tolist()) == {-math.inf}
    assert set(dots.tolist()) == {-1.0}
