"""What is noted of hits that other memories speak against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ebbmem import succession
from ebbmem.hits import CONFLICT, SUPERSEDED
from ebbmem.index import ScopeIndex
from ebbmem.questions import Question
from ebbmem.records.base import number_of

I64 = NDArray[np.int64]


def superseded(index: ScopeIndex, slots: I64) -> dict[int, str]:
    """Return the notes of those that were replaced by another memory."""
    columns = index.columns
    if not columns.any_superseded:
        return {}
    return dict.fromkeys(slots[columns.successor[slots] != 0].tolist(), SUPERSEDED)


def in_conflict(one: Question, slots: I64, notes: dict[int, str]) -> dict[int, str]:
    """Return notes with what the memories are in conflict with.

    Told is of those that recall may bring back, in any run and whatever the filters, and that no
    correction stands for: what was settled, or is not known at the moment asked for, is not.
    """
    index = one.index
    if not index.any_conflicts:
        return notes
    seen = succession.taking_part(index.columns, one.request.seen)
    for slot in slots.tolist():
        numbers = ", ".join(f"#{number_of(row)}" for row in index.in_conflict(slot, seen))
        if numbers:
            told = f"{CONFLICT} {numbers}"
            notes[slot] = f"{notes[slot]}; {told}" if slot in notes else told
    return notes
