"""End to end: import conversations, kill the process, recall in another one.

Run as a program, this file is that other process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from quality import locomo

from ebbmem import AgenticMemory, Database

REPOSITORY = Path(__file__).resolve().parents[1]
WORST_ALLOWED = 0.60

HOLD = """\
import sys, time
from ebbmem import AgenticMemory
from ebbmem.__main__ import main

store, *files = sys.argv[1:]
for file in files:
    code = main(["import", file, "--as-memories", "--db", store, "--scope", file.split("/")[-1]])
    assert code == 0, code
memory = AgenticMemory(store, scope=files[0].split("/")[-1])
memory.remember("said just before the kill")
print("ready", flush=True)
time.sleep(600)
"""


def environment() -> dict[str, str]:
    paths = [str(REPOSITORY), str(REPOSITORY / "benchmarks"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def kill_after_import(store: Path, files: list[Path]) -> None:
    """Import in a process that is killed while it holds the store open."""
    command = [sys.executable, "-c", HOLD, str(store), *map(str, files)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "ready\n"
        finally:
            holder.send_signal(signal.SIGKILL)
    assert holder.returncode == -signal.SIGKILL


def test_conversations_survive_a_kill_and_are_recalled(data_dir: Path, tmp_path: Path) -> None:
    source = data_dir / "locomo_dev.json.gz"
    if not source.is_file():
        pytest.skip(f"no {source.name} among the data sets")
    files = []
    for one in locomo.conversations(source):
        files.append(tmp_path / one.name)
        files[-1].write_text("".join(json.dumps(line) + "\n" for line in one.lines), "utf-8")
    kill_after_import(tmp_path / "store.sqlite", files)

    command = [sys.executable, __file__, str(tmp_path / "store.sqlite"), str(source)]
    found = subprocess.run(
        command, env=environment(), capture_output=True, text=True, check=True, timeout=120
    )

    print(found.stdout)
    last = json.loads(found.stdout.splitlines()[-1])
    assert last["said_before_the_kill"] == 1
    assert last["recall_at_10"] >= WORST_ALLOWED, found.stdout


def recall_all(store: str, source: str) -> None:
    """Answer every question from the store, and print how well."""
    answers = []
    conversations = locomo.conversations(Path(source))
    with Database(store) as database:
        for one in conversations:
            memory = AgenticMemory(database, scope=one.name)
            texts = [question.text for question in one.questions]
            results = memory.recall_many(texts, top_k=10, reinforce=False, now=one.end_s)
            ranked = [[hit.memory.metadata.get("id", "") for hit in result] for result in results]
            answers += zip(one.questions, ranked, strict=True)
        first = AgenticMemory(database, scope=conversations[0].name)
        kept = first.recall("said just before the kill", top_k=1).memories[0].summary
    found = locomo.quality(answers)
    print(locomo.shown(found))
    print(json.dumps(asdict(found) | {"said_before_the_kill": int("before the kill" in kept)}))


if __name__ == "__main__":
    recall_all(*sys.argv[1:])
