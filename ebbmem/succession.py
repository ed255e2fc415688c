"""Corrections among the slots of a scope: which memory stands for which."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ebbmem.columns import Columns

I64 = NDArray[np.int64]
BoolRows = NDArray[np.bool_]


def taking_part(columns: Columns, mask: BoolRows) -> BoolRows:
    """Return which memories activation may come from and go to.

    Left out is what a correction stands for that may come back itself: at a moment before the
    correction, the memory takes part as it did then.
    """
    if not columns.any_superseded:
        return mask
    superseded = np.flatnonzero(columns.successor)
    live: BoolRows = mask.copy()
    live[superseded[ends(columns, superseded, mask) >= 0]] = False
    return live


def successors(columns: Columns, slots: I64, mask: BoolRows) -> dict[int, int]:
    """Return, for each superseded memory, the newest correction of it that may come back."""
    if not columns.any_superseded:
        return {}
    old = slots[columns.successor[slots] != 0]
    newest = ends(columns, old, mask)
    there = newest >= 0
    return dict(zip(old[there].tolist(), newest[there].tolist(), strict=True))


def ends(columns: Columns, slots: I64, mask: BoolRows) -> I64:
    """Return the newest correction of each memory that the mask allows, or -1."""
    at, newest = slots.copy(), np.full(len(slots), -1, dtype=np.int64)
    going = np.arange(len(slots))
    while len(going):
        following = columns.slots(columns.successor[at[going]])
        goes_on = following > at[going]  # a correction is younger than what it corrects
        going = going[goes_on]
        at[going] = following[goes_on]
        allowed = going[mask[at[going]]]
        newest[allowed] = at[allowed]
    return newest
