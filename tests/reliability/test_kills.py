"""Processes that write are killed; what they were told is kept is there, whole, and once."""

from __future__ import annotations

from reliability.scorecard import run


def test_what_was_acknowledged_survives_kill_9() -> None:
    run("R1", "short").require_none()
