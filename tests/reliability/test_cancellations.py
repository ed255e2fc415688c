"""Calls are ended by signals, timeouts and cancelling."""

from __future__ import annotations

from reliability.scorecard import run


def test_a_call_that_was_ended_leaves_no_part_and_no_lock() -> None:
    run("R14", "short").require_none()
