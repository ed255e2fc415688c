"""Contests of exact nearest rows, without and beside approximate indexes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import data
import numpy as np
import peers
from contest import Contest, Fact, Rival, least_s, turning
from sizes import Sizes

from ebbmem import _core

K, BATCH = 10, 64
NUMPY_BLOCK = 16_384


def arena_of(rows: data.F32) -> _core.Arena:
    """Return an arena with these rows."""
    made = _core.Arena(rows.shape[1])
    made.append(rows)
    return made


def exact(queries: data.F32, rows: data.F32) -> data.I64:
    """Return the K best rows of each query by float64 dots."""
    likely = np.stack([peers.best_of(rows @ query, 2 * K) for query in queries])
    dots = [
        rows[at].astype(np.float64) @ query.astype(np.float64)
        for at, query in zip(likely, queries, strict=True)
    ]
    return np.stack(
        [at[np.argsort(-dot, kind="stable")][:K] for at, dot in zip(likely, dots, strict=True)]
    )


def scan(sizes: Sizes) -> Iterator[Contest]:
    """The ten nearest of many rows, one query; clustered rows, and rows without any order."""
    for clustered in (True, False):
        for count, dim in sizes.rows:
            yield _scan(sizes, count, dim, clustered)


def _scan(sizes: Sizes, count: int, dim: int, clustered: bool) -> Contest:
    rows = data.unit_rows(count, dim, clustered=clustered)
    queries = data.unit_rows(8, dim, clustered=clustered, seed=9)
    held = arena_of(rows)
    theirs: dict[str, Callable[[data.F32], data.I64] | None] = {
        "faiss IndexFlatIP": (peers.faiss_flat(rows, K) or (None,))[0],
        "simsimd + argpartition": peers.simsimd_top(rows, K),
        "numpy X @ q + argpartition": lambda query: peers.best_of(rows @ query, K),
    }

    def ours(query: data.F32) -> data.I64:
        return _core.top_affine(held, query, None, None, None, None, K)[0]

    expected = exact(queries, rows)
    np.testing.assert_array_equal([ours(query) for query in queries], expected)
    for call in theirs.values():
        if call is not None:
            assert share(np.stack([np.ravel(call(query)) for query in queries]), expected) > 0.99
    figures = (3.5, 3.5, 8.0) if clustered else (None, None, None)
    kind = "clustered" if clustered else "random"
    return Contest(
        f"exact top {K} of {sizes.shown(count)} x {dim}, {kind}",
        turning(ours, queries),
        [
            Rival(name, call and turning(call, queries), figure)
            for (name, call), figure in zip(theirs.items(), figures, strict=True)
        ],
        facts=[codes_alone(rows, queries[0])],
    )


def codes_alone(rows: data.F32, query: data.F32) -> Fact:
    """Say how many times numpy's speed reading a byte for each number would be, and no more."""
    halves = np.split(np.ones(rows.size // 4, np.float32), 2)
    read_s = least_s(lambda: halves[0] @ halves[1])
    numpy_s = least_s(lambda: peers.best_of(rows @ query, K))
    told = (
        f"reading a byte for each number, and no more, would be {numpy_s / read_s:.1f} times numpy"
    )
    return Fact(told)


def batch(sizes: Sizes) -> Iterator[Contest]:
    """The same for 64 queries at once; time is per query.

    Where ebbmem is held to AVX2 and the processor has AVX-VNNI, the contest is held with it, too:
    the same registers, and one instruction for four products of bytes.
    """
    beside = [None, "avxvnni"] if _core.isa() == "avx2" and "avxvnni" in _core.isas() else [None]
    for count, dim in sizes.rows:
        for isa in beside:
            yield _batch(sizes, count, dim, isa)


def _batch(sizes: Sizes, count: int, dim: int, isa: str | None) -> Contest:
    rows = data.unit_rows(count, dim, clustered=True)
    queries = data.unit_rows(BATCH, dim, clustered=True, seed=9)
    held = arena_of(rows)
    as_it_comes, by_blas = peers.faiss_flat(rows, K) or (None, None)
    expected = exact(queries, rows)

    def ours() -> data.I64:
        before = _core.isa()
        _core.choose_isa(isa or before)
        try:
            return _core.top_affine_many(held, queries, None, None, None, None, K)[0]
        finally:
            _core.choose_isa(before)

    np.testing.assert_array_equal(ours().reshape(BATCH, K), expected)
    # Matrix products sum in another order, so the nearest of ties may swap.
    assert share(by_blocks(queries, rows), expected) > 0.99
    if by_blas is not None:
        assert share(by_blas(queries), expected) > 0.99
    return Contest(
        f"the same, batch of {BATCH}, {sizes.shown(count)} x {dim}, per query"
        + (f", with {isa}" if isa else ""),
        ours,
        (
            Rival("faiss, BLAS path", by_blas and (lambda: by_blas(queries)), 2.2, BATCH),
            Rival(
                "numpy sgemm by blocks + argpartition",
                lambda: by_blocks(queries, rows),
                3.0,
                BATCH,
            ),
            Rival(
                "faiss as it comes",
                as_it_comes and (lambda: as_it_comes(queries)),
                None,
                BATCH,
            ),
        ),
        BATCH,
    )


def by_blocks(queries: data.F32, rows: data.F32) -> data.I64:
    """Return the best rows of each query by products of blocks that stay in the cache."""
    kept, dots = [], []
    for first in range(0, len(rows), NUMPY_BLOCK):
        block = queries @ rows[first : first + NUMPY_BLOCK].T
        k = min(K, block.shape[1])
        likely = np.argpartition(block, -k, axis=1)[:, -k:]
        kept.append(likely + first)
        dots.append(np.take_along_axis(block, likely, axis=1))
    slots, scores = np.concatenate(kept, axis=1), np.concatenate(dots, axis=1)
    order = np.argsort(-scores, axis=1)[:, :K]
    return np.take_along_axis(slots, order, axis=1)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Clustered rows, queries, their true neighbours, and hnswlib's index of the rows."""

    rows: data.F32
    queries: data.F32
    expected: data.I64
    index: Any

    @classmethod
    @cache
    def of(cls, sizes: Sizes) -> Neighbours:
        """Return them; building the index takes a minute or two."""
        rows = data.unit_rows(sizes.ann_rows, sizes.rows[0][1], clustered=True)
        queries = data.unit_rows(64, rows.shape[1], clustered=True, seed=9)
        return cls(rows, queries, exact(queries, rows), peers.hnsw(rows))


def approximate(sizes: Sizes) -> Iterator[Contest]:
    """Clustered rows without weights, where an approximate index is faster; and other exact ones.

    hnswlib is asked with the smallest breadth that finds 95 % of the true ten.
    """
    near = Neighbours.of(sizes)
    held = arena_of(near.rows)
    facts: list[Fact] = []
    rivals = [Rival("hnswlib, 0.95 of the ten found", None)]
    if near.index is not None:
        ef, recall = breadth(near)
        facts.append(Fact(f"hnswlib at ef={ef} finds {recall:.3f} of the true ten, ebbmem all"))
        rivals = [Rival(rivals[0].name, turning(near_by(near.index), near.queries))]
    with tempfile.TemporaryDirectory() as folder:
        others = {
            "usearch exact": peers.usearch_exact(near.rows, K),
            "scikit-learn brute force": peers.sklearn_brute(near.rows, K),
            "sqlite-vec through apsw, in RAM": peers.sqlite_vec(near.rows, K),
            "nano-vectordb": peers.nano(near.rows, K, Path(folder)),
        }
        for name, call in others.items():
            if call is not None:
                found = np.stack([call(query) for query in near.queries[:4]])
                assert share(found, near.expected[:4]) > 0.9
            rivals.append(Rival(name, call and turning(call, near.queries)))
        yield Contest(
            f"top {K} of {sizes.shown(len(near.rows))} x {near.rows.shape[1]}, no weights",
            turning(
                lambda query: _core.top_affine(held, query, None, None, None, None, K),
                near.queries,
            ),
            rivals,
            facts=facts,
        )


def near_by(index: Any) -> Callable[[data.F32], object]:
    """Return hnswlib's search for one query."""
    return lambda query: index.knn_query(query, K, num_threads=1)


def breadth(near: Neighbours) -> tuple[int, float]:
    """Return the smallest of some breadths (ef) that finds 95 % of the true ten, and its share."""
    ef, recall = 0, 0.0
    for ef in (10, 15, 20, 30, 40, 60, 80, 120, 160, 320):
        near.index.set_ef(ef)
        found = near.index.knn_query(near.queries, K, num_threads=1)[0]
        recall = share(found, near.expected)
        if recall >= 0.95:
            break
    return ef, recall


def share(found: data.I64, expected: data.I64) -> float:
    """Return how much of what is expected was found."""
    pairs = zip(found.tolist(), expected.tolist(), strict=True)
    hits = [len(set(one) & set(other)) / len(other) for one, other in pairs]
    return sum(hits) / len(hits)
