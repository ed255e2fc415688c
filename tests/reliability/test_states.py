"""A process is killed inside an operation."""

from __future__ import annotations

from reliability.scorecard import run


def test_an_operation_that_was_killed_was_done_or_not() -> None:
    run("R2", "short").require_none()
