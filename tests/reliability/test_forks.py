"""A process with an open store forks, whatever it is doing."""

from __future__ import annotations

from reliability.scorecard import run


def test_no_fork_hangs_or_costs_the_parent_a_fact() -> None:
    run("R13", "short").require_none()
