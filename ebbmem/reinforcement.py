"""How a recall, or a failed one, changes storage strength S and retrievability R.

Both updates take R as it is at that moment (not as stored): the more a memory had faded, the
more a success gains, and the more it was expected, the more a failure costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem import arguments

F64 = NDArray[np.float64]

NEW_STRENGTH = 0.1
NEW_RETRIEVABILITY = 0.55
NEW_ACCESS_COUNT = 1


class Strength(NamedTuple):
    """Storage strength S and retrievability R, each in [0, 1]."""

    storage: float
    retrievability: float


@dataclass(frozen=True, slots=True)
class Reinforcement:
    """Coefficients of the two updates.

    Parameters
    ----------
    beta : float
        Gain of S per success, in [0.1, 0.3].
    gamma : float
        Loss of S per failure, in [0.2, 0.4].
    """

    beta: float = 0.1
    gamma: float = 0.3

    def __post_init__(self) -> None:
        arguments.number(self.beta, "beta", 0.1, 0.3)
        arguments.number(self.gamma, "gamma", 0.2, 0.4)

    def succeed(self, before: Strength) -> Strength:
        """Return S and R after a success.

        First ``S += beta (1 - R)(1 - S)``, then ``R = 0.5 + 0.5 S`` from the new S.
        """
        storage = before.storage + self.beta * (1.0 - before.retrievability) * (
            1.0 - before.storage
        )
        return Strength(storage, 0.5 + 0.5 * storage)

    def fail(self, before: Strength) -> Strength:
        """Return S and R after a failure: ``S = max(S - gamma R S, 0)``, ``R = R / 2``."""
        loss = self.gamma * before.retrievability * before.storage
        return Strength(max(before.storage - loss, 0.0), before.retrievability * 0.5)


def success(storage: F64, retrievability: F64, beta: F64 | float) -> tuple[F64, F64]:
    """Return S and R of each memory after a success, bit for bit those of one by one."""
    after = storage + beta * (1.0 - retrievability) * (1.0 - storage)
    return after, 0.5 + 0.5 * after


def failure(storage: F64, retrievability: F64, gamma: F64 | float) -> tuple[F64, F64]:
    """Return S and R of each memory after a failure, bit for bit those of one by one."""
    loss = gamma * retrievability * storage
    return np.maximum(storage - loss, 0.0), retrievability * 0.5
