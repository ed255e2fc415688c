"""Exact nearest rows under ``mul * dot + add``."""

from __future__ import annotations

import data
import numpy as np
import pytest
import rivals
from timing import Timed

from ebbmem import _core

pytestmark = pytest.mark.benchmark(max_time=0.5, min_rounds=3)

K = 10
SMALL, LARGE = 1_000, 50_000


def arena(rows: data.F32) -> _core.Arena:
    made = _core.Arena(rows.shape[1])
    made.append(rows)
    return made


def columns(count: int) -> tuple[data.F64, data.F64]:
    """Return weights and offsets as a sum of relevance, recency and importance has them."""
    s = data.strengths(count)
    return np.full(count, 0.5), 0.3 * np.exp(-0.005 * s.idle_h) + 0.02 * s.importance


def cases(sizes: tuple[int, ...], rivals: tuple[str, ...]) -> list[tuple[int, str]]:
    return [(size, who) for size in sizes for who in ("ebbmem", *rivals)]


@pytest.mark.parametrize(
    ("count", "who"), [*cases((SMALL,), ("numpy", "python")), *cases((LARGE,), ("numpy",))]
)
@pytest.mark.parametrize("dim", [256])
def test_top_affine(timed: Timed, who: str, count: int, dim: int) -> None:
    rows, query = data.vectors(count, dim), data.vectors(1, dim, seed=6)[0]
    mul, add = columns(count)
    calls = {
        "ebbmem": ours(rows, query, mul, add),
        "numpy": lambda: rivals.scan_numpy(query, rows, mul, add, K),
        "python": plain(rows, query, mul, add),
    }
    assert list(calls[who]()) == list(calls["numpy"]())

    timed(calls[who], group=f"scan {count} x {dim}", units=count, unit="row")


def ours(rows, query, mul, add):  # type: ignore[no-untyped-def]
    held = arena(rows)
    return lambda: _core.top_affine(held, query, mul, add, None, None, K)[0]


def plain(rows, query, mul, add):  # type: ignore[no-untyped-def]
    if len(rows) > SMALL:
        return None
    lists = (query.tolist(), rows.tolist(), mul.tolist(), add.tolist())
    return lambda: rivals.scan_python(*lists, K)


ONE_STAGE = 1


@pytest.mark.parametrize("who", ["ebbmem", "one stage", "numpy"])
@pytest.mark.parametrize(("count", "dim"), [(LARGE, 256), (LARGE, 384)])
def test_nearest(timed: Timed, who: str, count: int, dim: int) -> None:
    rows, query = data.vectors(count, dim), data.vectors(1, dim, seed=6)
    held = arena(rows)
    flat = (None, None, None, None, K)

    calls = {
        "ebbmem": lambda: _core.top_affine(held, query[0], *flat)[0],
        "one stage": lambda: _core._testing.top_affine_many(ONE_STAGE, held, query, *flat)[0],
        "numpy": lambda: nearest_numpy(query, rows)[0],
    }
    assert list(calls[who]()) == list(calls["numpy"]())

    timed(calls[who], group=f"nearest {count} x {dim}", units=count, unit="row")


@pytest.mark.parametrize("who", ["ebbmem", "numpy"])
def test_nearest_to_each_of_a_batch(timed: Timed, who: str) -> None:
    rows, queries = data.vectors(LARGE, 384), data.vectors(64, 384, seed=6)
    held = arena(rows)

    calls = {
        "ebbmem": lambda: _core.top_affine_many(held, queries, None, None, None, None, K)[0],
        "numpy": lambda: nearest_numpy(queries, rows).ravel(),
    }
    assert list(calls[who]()) == list(calls["numpy"]())

    timed(calls[who], group=f"nearest {LARGE} x 384, batch of 64", units=64, unit="query")


def nearest_numpy(queries: data.F32, rows: data.F32) -> data.I64:
    """Return the best rows of each query, by one matrix product."""
    dots = queries @ rows.T
    best = np.argpartition(dots, -K, axis=1)[:, -K:]
    order = np.argsort(-np.take_along_axis(dots, best, axis=1), axis=1)
    return np.take_along_axis(best, order, axis=1)


@pytest.mark.parametrize("who", ["ebbmem", "numpy"])
def test_top_product(timed: Timed, who: str) -> None:
    rows, query = data.vectors(LARGE, 256), data.vectors(1, 256, seed=6)[0]
    s = data.strengths(LARGE)
    age_s = s.idle_h  # as seconds: old ones fade to nothing, as the law has it
    held = arena(rows)

    def by_core() -> list[int]:
        weights = _core.log_weights(s.importance, age_s, 0.05)
        return _core.top_product(held, query, weights, None, None, K)[0].tolist()

    def by_numpy() -> list[int]:
        scores = (rows @ query + 1) / 2 * s.importance * np.exp(-0.05 * age_s)
        best = np.argpartition(scores, -K)[-K:]
        return best[np.argsort(-scores[best])].tolist()

    assert by_core() == by_numpy()

    call = {"ebbmem": by_core, "numpy": by_numpy}[who]
    timed(call, group=f"Ebbinghaus law and scan {LARGE} x 256", units=LARGE, unit="row")
