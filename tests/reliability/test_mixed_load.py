"""Processes and threads recall and remember side by side."""

from __future__ import annotations

from reliability.scorecard import run


def test_nothing_is_lost_locked_or_overlooked_under_mixed_load() -> None:
    run("R11", "short").require_none()
