"""ratios.py, once, on tiny inputs: every row runs, and its answers are right."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_row_runs() -> None:
    done = run("--quick")

    assert done.returncode == 0, done.stderr[-2000:]
    assert "nothing is judged" in done.stdout


def test_an_unknown_row_is_refused() -> None:
    done = run("--only", "no such row")

    assert done.returncode != 0
    assert "no such row" in done.stderr


def run(
    *arguments: str, script: Path = ROOT / "benchmarks/ratios.py"
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(script), *arguments]
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=300, check=False
    )
