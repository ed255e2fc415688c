"""The power fails."""

from __future__ import annotations

from reliability.scorecard import run


def test_a_power_cut_leaves_a_whole_store_and_what_was_synced() -> None:
    run("R3", "short").require_none()
