"""What was ranked by a product: ``((cosine + 1) / 2) * importance * R``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem.hits import NO_CASCADE, Ranked

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]


class Products(NamedTuple):
    """Slots, best first; the cosine, the terms of the score, and the score of each."""

    slots: I64
    cosines: F64
    nearness: F64
    importance: F64
    retained: F64
    scores: Sequence[float]

    def ranked(self, recipe: str, notes: Mapping[int, str]) -> Ranked:
        """Return them as a recipe ranked them, with notes by slot."""
        return Ranked(
            recipe,
            self.slots,
            self.scores,
            range(len(self.slots)),
            self.cosines,
            NO_CASCADE,
            self.retained,
            {
                "similarity": self.nearness,
                "importance": self.importance,
                "retrievability": self.retained,
            },
            {"dense": self.slots},
            {},
            notes,
        )


def products(found: _core.FoundProducts) -> Products:
    """Return what the core found, as columns."""
    return Products(
        found.slots,
        found.cosines,
        found.nearness,
        found.importance,
        found.retained,
        found.scores,
    )
