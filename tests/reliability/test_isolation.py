"""Scopes keep their secrets, and what was erased is gone."""

from __future__ import annotations

from reliability.scorecard import run


def test_no_scope_tells_of_another_and_no_file_of_what_was_erased() -> None:
    run("R17", "short").require_none()
