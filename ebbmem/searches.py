"""Rankings of one index's lanes, to be made alone or in one call with those of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

_F64 = np.dtype(np.float64)


class Ranking(NamedTuple):
    """Slots, best first, and the score or cosine of each."""

    slots: I64
    values: F64


class Search(NamedTuple):
    """A ranking that is to be made of ``args``.

    ``alone`` makes it: slots first, values last.  ``together`` adds it to a `_core.Searches`.
    """

    alone: Callable[..., tuple[NDArray[Any], ...]]
    together: Callable[..., None]
    args: tuple[Any, ...]

    def ranking(self) -> Ranking:
        """Make it."""
        found = self.alone(*self.args)
        values = found[-1]
        return Ranking(found[0], values if values.dtype == _F64 else values.astype(np.float64))


def made_together(
    searches: Sequence[Search], threads: int, workers: _core.Workers
) -> list[Ranking]:
    """Make rankings in one native call; each is what it would be alone."""
    batch = _core.Searches()
    for one in searches:
        one.together(batch, *one.args)
    slots, values, ends = batch.run(threads, workers)
    bounds = pairwise([0, *ends.tolist()])
    return [Ranking(slots[start:end], values[start:end]) for start, end in bounds]
