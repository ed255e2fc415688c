"""fleet_figures.py, once, on tiny stores: every row runs, and its answers are right."""

from __future__ import annotations

from pathlib import Path

from bench_ratios import run

SCRIPT = Path(__file__).parent / "fleet_figures.py"


def test_every_row_runs() -> None:
    done = run("--quick", script=SCRIPT)

    assert done.returncode == 0, done.stderr[-2000:]
    assert "nothing is judged" in done.stdout


def test_an_unknown_row_is_refused() -> None:
    done = run("--only", "no such row", script=SCRIPT)

    assert done.returncode != 0
    assert "no such row" in done.stderr
