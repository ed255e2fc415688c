"""Lines that fall with time: the weights are those of the column, bounds hold, slots keep step."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

RANGE = 256
LATEST = 2**61
S = 1_000_000
H = 3_600 * S

TIMES = st.one_of(st.integers(-10 * S, 10 * S), st.integers(-LATEST, LATEST))
RATES = st.sampled_from([0.0, 1e-300, 1e-7, 0.05, 1.0, 1e9, 1e308])
IMPORTANCES = st.sampled_from([0.0, 5e-324, 0.3, 1.0, 7.0, 10.0, 1e308])
PACES = st.sampled_from([0.0, 0.05, 0.99, 1.0, 3.0, 1e300])
ROWS = st.tuples(IMPORTANCES, TIMES, PACES)


def slots(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def columns(rows: list[tuple[float, int, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        np.array([row[0] for row in rows], dtype=np.float64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([row[2] for row in rows], dtype=np.float64),
    )


def line(row: tuple[float, int, float] | None, now_us: int, rate: float, unit_us: int) -> float:
    """The definition, one slot at a time, through the column of the law."""
    if row is None:
        return -math.inf
    importance, since_us, pace = row
    age = float(max(now_us - since_us, 0)) / unit_us
    effective = min(rate * pace, sys.float_info.max)
    return float(_core.log_weights(np.array([importance]), np.array([age]), effective)[0])


def weights(fading: _core.Fading, now_us: int, rate: float) -> list[float]:
    return fading.log_weights(np.arange(fading.size), now_us, rate).tolist()


def made(count: int, **paces: np.ndarray) -> _core.Fading:
    fading = _core.Fading()
    fading.append(np.ones(count), np.arange(count) * S, **paces)
    return fading


def test_a_line_falls_from_the_logarithm_of_importance() -> None:
    fading = _core.Fading()
    fading.append(np.array([1.0, 10.0, 1.0]), np.array([0, 0, 5 * S]), np.array([1.0, 0.5, 1.0]))
    at = weights(fading, 2 * S, 0.25)
    assert at == [-0.5, pytest.approx(2.302585092994046 - 0.25, rel=1e-15), 0.0]


def test_a_rate_may_be_per_hour() -> None:
    fading = _core.Fading(H)
    fading.append(np.array([1.0]), np.array([0]))
    assert weights(fading, 50 * H, 0.5) == [-25.0]


def test_without_importance_there_is_no_weight() -> None:
    fading = _core.Fading()
    fading.append(np.array([0.0]), np.array([0]))
    assert weights(fading, S, 0.0) == weights(fading, S, 1.0) == [-math.inf]


@settings(max_examples=100)
@given(st.lists(st.tuples(IMPORTANCES, TIMES), max_size=40), TIMES, RATES)
def test_weights_are_those_of_the_column_bit_for_bit(
    rows: list[tuple[float, int]], now_us: int, rate: float
) -> None:
    importance, since_us, _ = columns([(*row, 1.0) for row in rows])
    fading = _core.Fading()
    fading.append(importance, since_us)
    age_s = np.maximum(now_us - since_us, 0) / S
    assert weights(fading, now_us, rate) == _core.log_weights(importance, age_s, rate).tolist()


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["append", "overwrite", "tombstone", "compact"]),
        st.lists(ROWS, max_size=300 // 4),
        st.integers(0, 2**32),
    ),
    max_size=12,
)


@settings(max_examples=60)
@given(STEPS, TIMES, RATES, st.sampled_from([1, S, H]))
def test_fading_does_what_a_list_of_lines_would(
    steps: list[tuple[str, list[tuple[float, int, float]], int]],
    now_us: int,
    rate: float,
    unit_us: int,
) -> None:
    fading = _core.Fading(unit_us)
    model: list[tuple[float, int, float] | None] = []
    for verb, rows, seed in steps:
        rng = np.random.default_rng(seed)
        live = [slot for slot, row in enumerate(model) if row is not None]
        if verb == "append":
            assert fading.append(*columns(rows)) == len(model)
            model.extend(rows)
        elif verb == "overwrite" and live:
            chosen = rng.choice(live, len(rows)).astype(np.int64)
            fading.overwrite(chosen, *columns(rows))
            for slot, row in zip(chosen.tolist(), rows, strict=True):
                model[slot] = row
        elif verb == "tombstone" and model:
            dead = rng.integers(0, len(model), len(rows))
            killed = {slot for slot in dead.tolist() if model[slot] is not None}
            assert fading.tombstone(dead) == len(killed)
            for slot in killed:
                model[slot] = None
        elif verb == "compact":
            numbers = iter(range(len(live)))
            want = [-1 if row is None else next(numbers) for row in model]
            assert fading.compact().tolist() == want
            model = [row for row in model if row is not None]
    want_weights = [line(row, now_us, rate, unit_us) for row in model]
    assert (fading.size, fading.live) == (len(model), sum(row is not None for row in model))
    assert weights(fading, now_us, rate) == want_weights
    for first, count in ((0, len(model)), (len(model) // 2, len(model) // 3)):
        highest = max(want_weights[first : first + count], default=-math.inf)
        assert fading.bound(first, count, now_us, rate) >= highest


def test_a_bound_of_rows_alike_is_their_weight() -> None:
    fading = _core.Fading()
    fading.append(np.full(1000, 3.0), np.repeat([0, 9 * S], 500), np.full(1000, 0.5))
    assert fading.bound(0, RANGE, 10 * S, 0.2) == weights(fading, 10 * S, 0.2)[0]
    assert fading.bound(0, 1000, 10 * S, 0.2) == weights(fading, 10 * S, 0.2)[999]


def test_the_dead_and_the_changed_count_in_no_bound() -> None:
    fading = made(3 * RANGE)
    fading.tombstone(np.arange(RANGE, 3 * RANGE))
    assert fading.bound(RANGE, 2 * RANGE, 10**9, 0.1) == -math.inf
    fading.overwrite(np.arange(RANGE), np.full(RANGE, 1.0), np.full(RANGE, -100 * S))
    assert fading.bound(0, 3 * RANGE, 0, 0.1) == -10.0


def test_of_a_slot_named_twice_the_last_line_counts() -> None:
    fading = made(2)
    fading.overwrite(slots(1, 1), np.array([1.0, 1.0]), np.array([-S, -2 * S]))
    assert weights(fading, 0, 1.0) == [0.0, -2.0]


def test_paces_come_and_stay() -> None:
    fading = made(3)
    fading.overwrite(slots(1), np.ones(1), np.zeros(1, np.int64), np.array([0.5]))
    fading.append(np.ones(1), np.zeros(1, np.int64))
    fading.tombstone(slots(0))
    fading.compact()
    assert weights(fading, 2 * S, 1.0) == [-1.0, 0.0, -2.0]
    assert fading.generation == 1


def test_lines_take_few_bytes() -> None:
    assert made(100_000).bytes < 100_000 * 24


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("importance", np.array([-1.0]), InvalidArgument),
        ("importance", np.array([math.nan]), InvalidArgument),
        ("importance", np.array([math.inf]), InvalidArgument),
        ("importance", np.array([1]), InvalidType),
        ("importance", [1.0], InvalidType),
        ("since_us", np.array([2**61 + 1]), InvalidArgument),
        ("since_us", np.array([-(2**61) - 1]), InvalidArgument),
        ("since_us", np.zeros(2, np.int64), ShapeMismatch),
        ("since_us", np.zeros(1), InvalidType),
        ("pace", np.array([-1.0]), InvalidArgument),
        ("pace", np.array([math.nan]), InvalidArgument),
        ("pace", np.ones(2), ShapeMismatch),
        ("pace", np.ones((1, 1)), ShapeMismatch),
    ],
)
def test_what_is_no_line_is_refused_and_nothing_changes(
    argument: str, value: object, error: type
) -> None:
    fading = made(3)
    row = {"importance": np.ones(1), "since_us": np.zeros(1, np.int64), "pace": None}
    row[argument] = value
    with pytest.raises(error, match=f"{argument}: expected"):
        fading.append(**row)
    with pytest.raises(error, match=f"{argument}: expected"):
        fading.overwrite(slots(1), **row)
    assert weights(fading, 2 * S, 1.0) == [-2.0, -1.0, 0.0]


def test_unknown_and_dead_slots_are_refused() -> None:
    fading = made(3)
    fading.tombstone(slots(1))
    row = (np.ones(2), np.zeros(2, np.int64))
    for bad in (slots(0, 3), slots(-1, 0)):
        with pytest.raises(InvalidArgument, match="slots: expected slots from 0 to below 3"):
            fading.overwrite(bad, *row)
        with pytest.raises(InvalidArgument, match="slots: expected"):
            fading.tombstone(bad)
        with pytest.raises(InvalidArgument, match="slots: expected"):
            fading.log_weights(bad, 0, 1.0)
    with pytest.raises(InvalidArgument, match="slots: expected live slots, got the dead slot 1"):
        fading.overwrite(slots(0, 1), *row)
    with pytest.raises(InvalidArgument, match="first, count: expected slots below 3"):
        fading.bound(1, 3, 0, 1.0)
    assert (fading.live, weights(fading, 2 * S, 1.0)) == (2, [-2.0, -math.inf, 0.0])


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("now_us", 2**61 + 1, InvalidArgument),
        ("now_us", -(2**80), InvalidArgument),
        ("now_us", 1.0, InvalidType),
        ("rate", -0.1, InvalidArgument),
        ("rate", math.inf, InvalidArgument),
        ("rate", math.nan, InvalidArgument),
        ("rate", "1", InvalidType),
    ],
)
def test_a_wrong_moment_is_named(argument: str, value: object, error: type) -> None:
    moment = {"now_us": 0, "rate": 1.0, argument: value}
    with pytest.raises(error, match=f"{argument}: expected"):
        made(1).log_weights(slots(0), **moment)
    with pytest.raises(error, match=f"{argument}: expected"):
        made(1).bound(0, 1, **moment)


@pytest.mark.parametrize("unit_us", [0, -5])
def test_a_unit_of_no_time_is_refused(unit_us: int) -> None:
    with pytest.raises(InvalidArgument, match="unit_us: expected"):
        _core.Fading(unit_us)


def test_readers_see_lines_of_one_moment() -> None:
    fading, done = _core.Fading(), threading.Event()
    fading.append(np.ones(600), np.zeros(600, np.int64))

    def reading() -> None:
        while not done.is_set():
            # Every step of the writer leaves all live lines alike, and falls.
            highest = fading.bound(0, 600, S, 1.0)
            found = set(fading.log_weights(np.arange(600), S, 1.0).tolist()) - {-math.inf}
            assert len(found) == 1
            assert highest >= found.pop()

    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(reading) for _ in range(3)]
        try:
            for turn in range(300):
                since = np.full(600, -turn * S)
                fading.overwrite(np.arange(600), np.ones(600), since)
                fading.append(np.ones(100), since[:100])
                fading.tombstone(np.arange(600, 700))
                fading.compact()
        finally:
            done.set()
        for future in futures:
            future.result(timeout=60)


OUT_OF_MEMORY = """
import resource
import numpy as np
from ebbmem import _core

fading, count = _core.Fading(), 1_000_000
row = (np.ones(count), np.zeros(count, np.int64))
fading.append(*row)
in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (in_use + 150_000_000,) * 2)
size = 0
try:
    while size < 10**9:
        size = fading.size
        fading.append(*row)
except MemoryError:
    pass
assert fading.size == fading.live == size, (fading.size, size)
assert fading.bound(0, size, 10**6, 0.5) == -0.5
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on address space")
def test_an_append_without_memory_adds_nothing() -> None:
    subprocess.run([sys.executable, "-c", OUT_OF_MEMORY], check=True, timeout=60)
