"""A batch has the same answer on one thread and on many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType

NOW_US = 1_700_000_000_000_000
WORKERS = _core.Workers(7)
YEAR_US = 365 * 24 * 3_600_000_000

Answer = tuple[np.ndarray, ...]
Search = Callable[[int], Answer]


class World:
    """Rows, lines and texts with few distinct values, so that ties are everywhere."""

    def __init__(self, seed: int, size: int, queries: int, dim: int) -> None:
        rng = np.random.default_rng(seed)
        axes = rng.integers(-1, 2, (20, dim)).astype(np.float32)
        axes /= np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), 1)
        self.queries = axes[rng.integers(0, 20, queries)]
        self.arena = _core.Arena(dim)
        self.arena.append(axes[rng.integers(0, 20, size)])
        self.fading = _core.Fading()
        self.fading.append(
            rng.integers(1, 11, size).astype(np.float64),
            NOW_US - rng.integers(0, YEAR_US, size),
            None,
        )
        self.add = rng.choice([0.0, 0.25, 1.0], size)
        self.log_weight = rng.choice([-np.inf, -3.0, 0.0], size)
        self.mask = rng.random(size) < 0.7

    def searches(self, k: int) -> dict[str, Search]:
        """Every search that takes a batch, by name."""
        one, mask = (self.arena, self.queries), self.mask
        return {
            "affine": lambda n: _core.top_affine_many(
                *one, None, self.add, None, mask, k, n, WORKERS
            ),
            "flat": lambda n: _core.top_affine_many(*one, None, None, None, None, k, n, WORKERS),
            "product": lambda n: _core.top_product_many(
                *one, self.log_weight, None, mask, k, n, WORKERS
            ),
            "faded": lambda n: _core.top_faded_many(
                self.arena, self.fading, self.queries, NOW_US, 1e-6, None, mask, k, n, WORKERS
            ),
        }


WORLDS = st.builds(
    World,
    st.integers(0, 2**32),
    st.sampled_from([0, 1, 300, 3000]),
    st.integers(0, 9),
    st.sampled_from([1, 17, 64]),
)


@settings(max_examples=40)
@given(WORLDS, st.integers(2, 12), st.sampled_from([1, 10, 5000]))
def test_any_number_of_threads_answers_as_one(world: World, threads: int, k: int) -> None:
    for name, search in world.searches(k).items():
        for alone, together in zip(search(1), search(threads), strict=True):
            assert together.tobytes() == alone.tobytes(), name


@pytest.mark.parametrize("name", ["affine", "flat", "product", "faded"])
def test_a_number_of_threads_is_at_least_one(name: str) -> None:
    search = World(1, 20, 2, 17).searches(3)[name]

    with pytest.raises(InvalidArgument, match="threads"):
        search(0)
    with pytest.raises(InvalidType, match="threads"):
        search(1.5)  # type: ignore[arg-type]


def test_what_fails_in_a_part_comes_out() -> None:
    world = World(2, 300, 8, 17)
    world.queries[5, 3] = np.nan

    with pytest.raises(InvalidArgument, match="query"):
        world.searches(3)["flat"](4)
