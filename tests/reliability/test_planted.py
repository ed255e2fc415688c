"""Every planted fault is caught by the harness that looks for it."""

from __future__ import annotations

import pytest

from reliability.scorecard import run

CAUGHT = [
    ("ack before commit", "R1", ["lost"]),
    ("every statement commits", "R1", ["half", "did not reopen", "exceptions"]),
    ("no lock before writing", "R12", ["did not open and write"]),
    ("no busy wait", "R12", ["did not open and write"]),
    ("locks lost at fork", "R13", ["facts lost"]),
]


@pytest.mark.parametrize(("plant", "figure", "kinds"), CAUGHT, ids=str)
def test_a_planted_fault_is_caught(plant: str, figure: str, kinds: list[str]) -> None:
    failures = run(figure, "short", plant=plant).failures
    assert any(failures[kind] for kind in kinds), failures
