"""Every planted fault is caught by the harness that looks for it."""

from __future__ import annotations

import pytest

from reliability.scorecard import run

CAUGHT = [
    ("ack before commit", "R1", ["lost"]),
    ("every statement commits", "R1", ["half", "did not reopen", "exceptions"]),
    ("every statement commits", "R2", ["did not reopen", "neither before nor after"]),
    ("synced seldom", "R3", ["lost"]),
    ("synced never", "R3", ["did not reopen", "store unsound"]),
    ("no busy wait", "R11", ["locked"]),
    ("other processes overlooked", "R11", ["another process's fact not found"]),
    ("no lock before writing", "R12", ["did not open and write"]),
    ("no busy wait", "R12", ["did not open and write"]),
    ("locks lost at fork", "R13", ["facts lost"]),
    ("commit on cancel", "R14", ["part of a call", "file unsound"]),
    ("lock kept on cancel", "R14", ["second process could not write within 1 s"]),
    ("log never checkpointed", "R16", ["log beyond its bound"]),
    ("a file left open", "R16", ["descriptors left open"]),
    ("scope matched by prefix", "R17", ["secret of another scope in an answer"]),
    ("id of any scope", "R17", ["secret of another scope in an answer"]),
    ("erase misses the index", "R17", ["erased but recalled"]),
    ("erase misses the pages", "R17", ["erased but in a file"]),
]
FEW_ROUNDS = {"R1", "R2", "R3", "R12", "R13", "R14"}
"""Figures whose rounds are so few that all are made, however long they take beside other tests."""
PLENTY_S = 400


@pytest.mark.parametrize(("plant", "figure", "kinds"), CAUGHT, ids=str)
def test_a_planted_fault_is_caught(plant: str, figure: str, kinds: list[str]) -> None:
    seconds = PLENTY_S if figure in FEW_ROUNDS else None
    failures = run(figure, "short", plant=plant, seconds=seconds).failures
    assert any(failures[kind] for kind in kinds), failures
