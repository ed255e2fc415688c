"""R13: forks of a process that has a store open; nothing hangs, and the parent loses nothing."""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from functools import partial
from pathlib import Path

from reliability import plants
from reliability.forking import FORKED, HUNG, LONGEST_S, WORKED
from reliability.processes import HERE, WorkerFailed, answer_of, folder, python
from reliability.results import Course, Result, quantile
from reliability.stored import faults, told

FORKS_PER_PROCESS = 10
HANGS, LOST, TWICE, UNTYPED, PARENT, UNSOUND = (
    "hangs > 5 s",
    "facts lost",
    "facts twice",
    "children with another error",
    "failures in the parent",
    "file unsound",
)


def measure(rounds: int, seed: int, seconds: float) -> Result:
    """Fork so often; count hangs, what was lost, and what children raised but ForkedStore."""
    result = Result.looking_for("R13", "forks", seed, HANGS, LOST, TWICE, UNTYPED, PARENT, UNSOUND)
    course, took_s = Course(-(-rounds // FORKS_PER_PROCESS), seconds), []
    for number in course:
        count = min(FORKS_PER_PROCESS, rounds - number * FORKS_PER_PROCESS)
        with folder() as where:
            path = where / "store.db"
            options = {"path": str(path), "seed": seed + number, "forks": count}
            options |= {"first": number * FORKS_PER_PROCESS, "close": number % 2 == 1}
            lines, err = _lines(options, result)
            took_s += _judge_forks(lines, err, result)
            _judge_facts(path, [line["fact"] for line in lines if "fact" in line], result)
    result.measured = {
        "s, longest fork": max(took_s, default=0.0),
        "s, median": quantile(took_s, 0.5),
    }
    result.took_s = course.took_s
    return result


def _lines(options: dict[str, object], result: Result) -> tuple[list[dict[str, object]], str]:
    """Run a process that forks; return what it and its children said, and its error output."""
    process = python(
        str(HERE),
        *("--call", "forking", "run", json.dumps(options)),
        plant=plants.planted() or None,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=60 + 2 * LONGEST_S * FORKS_PER_PROCESS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        result.fail(HANGS, "the parent")
    lines = [json.loads(line) for line in out.splitlines() if line.endswith("}")]
    if not any("ended" in line for line in lines):
        result.fail(PARENT, err[-500:])
    return lines, err


def _judge_forks(lines: list[dict[str, object]], err: str, result: Result) -> list[float]:
    """Count what became of the children; return how long each took, in seconds."""
    took_s = []
    for line in lines:
        if "failure" in line:
            result.fail(PARENT, str(line["failure"]))
        if "fork" not in line:
            continue
        result.trials += 1
        took_s.append(float(str(line["took_s"])))
        if line["outcome"] == HUNG:
            result.fail(HANGS, f"{line['fork']}{err[-700:]}")
        elif line["outcome"] != WORKED and (
            line["outcome"] != FORKED or str(line["fork"]).endswith("reopen")
        ):
            result.fail(UNTYPED, f"{line['fork']}: {line['outcome']}")
    return took_s


def _judge_facts(path: Path, facts: list[object], result: Result) -> None:
    """Count what was acknowledged and is not there once."""
    try:
        scopes = answer_of(partial(told, path))
    except WorkerFailed as exc:
        result.fail(UNSOUND, str(exc))
        return
    texts = Counter(m["summary"] for scope in scopes.values() for m in scope.memories.values())
    for fact in facts:
        there = texts[str(fact)]
        if there == 0:
            result.fail(LOST, str(fact))
        elif there > 1:
            result.fail(TWICE, str(fact))
    for fault in answer_of(partial(faults, path)):
        result.fail(UNSOUND, fault)
