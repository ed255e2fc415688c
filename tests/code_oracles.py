"""What codes of 8 bits must obey, in float64 and Python's integers.  Imports nothing of ebbmem."""

from __future__ import annotations

import math

import numpy as np

# float64 sums of float32 products and squares are off by less than this, relatively.
FLOAT64_SLACK = 1e-11


def integer_dot(a: np.ndarray, b: np.ndarray) -> int:
    """Return the dot of two rows of codes."""
    return sum(int(x) * int(y) for x, y in zip(a, b, strict=True))


def norm(row: np.ndarray) -> float:
    """Return the Euclidean norm."""
    return math.sqrt(math.fsum(float(x) * float(x) for x in row))


def missed(row: np.ndarray, codes: np.ndarray, scale: float) -> float:
    """Return how far ``scale * codes`` is from the row."""
    return norm(row.astype(np.float64) - scale * codes[: len(row)].astype(np.float64))
