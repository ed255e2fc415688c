"""When a commit is synced to disk: before it returns with durability="power", else seldom."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WRITES = 12
MARK = "returned"
SCRIPT = """
import os, sys
from ebbmem import AgenticMemory, Database
with Database(sys.argv[1], durability=sys.argv[2]) as db:
    memory = AgenticMemory(db)
    memory.remember("opens the log")
    os.write(1, b"returned\\n")
    calls = (
        lambda: memory.remember("kettle"),
        lambda: memory.remember_many(["kettle", "river"]),
        lambda: memory.add_turn("user", "kettle"),
    )
    for number in range(int(sys.argv[3])):
        calls[number % 3]()
        os.write(1, b"returned\\n")
"""


def traced(path: Path, durability: str) -> list[list[str]]:
    """Return the files that were synced in each call that writes, in their order."""
    trace = path.with_suffix(".trace")
    watched = ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,write", "-o", str(trace)]
    command = [sys.executable, "-c", SCRIPT, str(path), durability, str(WRITES)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run(
        [*watched, *command], env=environment, capture_output=True, text=True, check=False
    )
    if "ptrace" in done.stderr and not trace.exists():
        pytest.skip("strace may not trace processes here")
    assert done.returncode == 0, done.stderr
    synced: list[list[str]] = [[]]
    for line in trace.read_text("utf-8", "replace").splitlines():
        if f'"{MARK}\\n"' in line:
            synced.append([])
        elif found := re.search(r"\bf(?:data)?sync\(\d+<([^>]*)>\)\s+= 0", line):
            synced[-1].append(Path(found[1]).name)
    return synced[1:-1]


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_commit_is_on_disk_before_it_returns_with_durability_power_alone(tmp_path) -> None:
    power = traced(tmp_path / "power.db", "power")
    process = traced(tmp_path / "process.db", "process")

    assert [("power.db-wal" in synced) for synced in power] == [True] * WRITES
    assert [synced for synced in process if synced] == []
