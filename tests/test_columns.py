"""What the columns derive from themselves keeps step with them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ebbmem.columns import Columns
from ebbmem.decay import Ebbinghaus
from ebbmem.records.base import IndexRow

S = 1_000_000
NOW_US = 1_700_000_000 * S


def row(row_id: int) -> IndexRow:
    return IndexRow(
        row_id=row_id,
        memory_type="episodic",
        importance=float(row_id % 10 + 1),
        emotional_valence=0.0,
        emotional_intensity=0.0,
        storage_strength=0.1,
        r_anchor=0.55,
        anchored_at=NOW_US,
        access_count=1,
        created_at=NOW_US - 100 * S * row_id,
        valid_from=None,
        valid_to=None,
        expires_at=None,
        pinned=0,
        tier=0,
        superseded_by=None,
        run_id=None,
    )


def weights(columns: Columns, rate: float) -> list[float]:
    fading = columns.fading()
    return fading.log_weights(np.arange(fading.size), NOW_US, rate).tolist()


def lawful(columns: Columns, rate: float) -> list[float]:
    """The law's own column, with the dead forgotten altogether."""
    law = Ebbinghaus(rate)
    known = np.where(columns.alive, law.log_weights(columns.traces(), NOW_US), -math.inf)
    return [float(weight) for weight in known]


def test_fading_lines_start_with_what_is_there_and_follow_every_change() -> None:
    columns = Columns()
    assert columns.fading().size == 0
    columns.append([row(n) for n in range(1, 90)])
    columns.drop([3, 17])
    assert weights(columns, 0.05) == lawful(columns, 0.05)
    columns.append([row(n) for n in range(90, 300)])
    columns.drop([3, 120])
    assert weights(columns, 0.001) == lawful(columns, 0.001)


def test_fading_lines_asked_for_late_are_the_same() -> None:
    columns = Columns()
    columns.append([row(n) for n in range(1, 90)])
    columns.drop([5])
    before = columns.bytes
    assert weights(columns, 0.05) == lawful(columns, 0.05)
    assert columns.bytes > before


def test_a_mask_that_is_handed_out_again_cannot_be_written_to() -> None:
    columns = Columns()
    mask = columns.mask(0, as_of_us=None, run=None, archive=False)
    with pytest.raises(ValueError, match="read-only"):
        mask[:] = True
