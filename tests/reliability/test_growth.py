"""Nothing grows with what was written and erased."""

from __future__ import annotations

from reliability.scorecard import run


def test_log_memory_descriptors_and_file_stay_within_their_bounds() -> None:
    run("R16", "short").require_none()
