"""The command line, run in this process or in another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from ebbmem.cli import app

REPOSITORY = Path(__file__).resolve().parents[1]


def environment() -> dict[str, str]:
    """Return this process's environment, in which another one finds the package."""
    return os.environ | {"PYTHONPATH": str(REPOSITORY)}


def run(*arguments: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(app, list(arguments), input=stdin)


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``python -m ebbmem`` with text in and out."""
    command = [sys.executable, "-m", "ebbmem", *arguments]
    return subprocess.run(
        command,
        env=environment() | options.pop("env", {}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )
