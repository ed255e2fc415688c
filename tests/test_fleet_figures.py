"""The harness of benchmarks/fleet_figures.py: what a figure means, and when it fails."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import fleet_figures
import pytest
from figures import HEADINGS, Figure, amount, cells, markdown, markdown_head
from fleet_sizes import FleetSizes


@pytest.mark.parametrize(
    ("measured", "bound", "verdict"),
    [
        (10.0, {"at_most": 10.0}, "reached"),
        (11.0, {"at_most": 10.0}, "within 15 %"),
        (11.8, {"at_most": 10.0}, "MISSED"),
        (10.0, {"at_least": 10.0}, "reached"),
        (9.0, {"at_least": 10.0}, "within 15 %"),
        (8.4, {"at_least": 10.0}, "MISSED"),
        (10.1, {"at_most": 10.0, "exact": True}, "MISSED"),
        (0.0, {"at_most": 10.0}, "reached"),
        (1.0, {}, "information"),
        (math.nan, {"at_least": 1.0}, "not installed"),
    ],
)
def test_a_verdict_goes_by_the_figure(measured, bound, verdict):
    assert Figure("work", "what", measured, "s", **bound).verdict == verdict


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.0002, "s", "200 us"),
        (40_000.0, "/s", "40,000/s"),
        (1.0, "x", "1"),
        (250.4, "B", "250 B"),
        (64.0 * 2**20, "B", "64.0 MiB"),
        (12.0, "", "12"),
        (math.nan, "x", "-"),
    ],
)
def test_quantities_are_shown_with_their_units(value, unit, shown):
    assert amount(value, unit) == shown


def test_a_row_has_a_cell_per_heading():
    one = Figure("work", "what", 2.0, "s", at_most=1.0)

    assert len(cells(one)) == len(HEADINGS)
    assert cells(one)[3] == "at most 1 s"
    assert markdown(one).count("|") == markdown_head().splitlines()[0].count("|")


@pytest.mark.parametrize(
    ("measured", "quick", "status"), [(1.0, False, 0), (9.0, False, 1), (9.0, True, 0)]
)
def test_the_exit_status_says_whether_something_was_missed(
    measured, quick, status, tmp_path, monkeypatch
):
    def row(_sizes: FleetSizes, _folder: Path) -> Iterator[Figure]:
        yield Figure("work", "what", measured, "s", at_most=2.0)

    monkeypatch.setattr(fleet_figures, "ROWS", {"row": row})
    chosen = argparse.Namespace(only=None, markdown=False, quick=quick)

    assert fleet_figures.judged(chosen, tmp_path) == status
