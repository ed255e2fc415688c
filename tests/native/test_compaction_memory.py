"""Compaction where memory runs out: the gaps are closed and told, or nothing has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import numpy as np
import pytest

from ebbmem import _core

_testcapi = pytest.importorskip("_testcapi", reason="a Python without its own tests")


class Store(Protocol):
    def compact(self) -> np.ndarray: ...
    def tombstone(self, slots: np.ndarray, /) -> int: ...


def arena() -> _core.Arena:
    made = _core.Arena(3)
    made.append(np.eye(3, dtype=np.float32))
    return made


def fading() -> _core.Fading:
    made = _core.Fading()
    made.append(np.ones(3), np.zeros(3, dtype=np.int64))
    return made


def words() -> _core.WordVectors:
    made = _core.WordVectors(8)
    made.append(np.arange(3, dtype=np.uint32), np.ones(3, dtype=np.int32), np.arange(1, 4))
    return made


def postings() -> _core.Postings:
    made = _core.Postings()
    made.append(np.arange(3, dtype=np.uint64), np.arange(1, 4))
    return made


def size(store: Store) -> int:
    return len(store) if isinstance(store, _core.Postings) else store.size  # type: ignore[attr-defined]


@contextmanager
def failing(at: int) -> Iterator[None]:
    """Let the interpreter get no memory for its ``at``-th request from here on."""
    _testcapi.set_nomemory(at, at + 1)
    try:
        yield
    finally:
        _testcapi.remove_mem_hooks()


def refusals(make: Callable[[], Store], check: Callable[[Store], None]) -> int:
    """Fail each request for memory of a compaction in turn; return how many of them failed it."""
    for at in range(50):
        store = make()
        store.tombstone(np.array([1]))
        moved = None
        try:
            with failing(at):
                moved = store.compact()
        except MemoryError:
            check(store)
        if moved is not None:
            assert moved.tolist() == [0, -1, 1]
            assert size(store) == 2
            return at
    raise AssertionError("compaction never succeeds")


@pytest.mark.parametrize("make", [arena, fading, words, postings])
def test_a_compaction_that_fails_has_not_happened(make: Callable[[], Store]) -> None:
    def unchanged(store: Store) -> None:
        assert size(store) == 3
        assert store.compact().tolist() == [0, -1, 1]

    assert refusals(make, unchanged) > 0
