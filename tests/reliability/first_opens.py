"""R12: many processes open one path at the same moment: a missing one, an older store, a newer one.

They are forked first and wait behind a barrier; then each opens the store, remembers one thing and
closes it.  A store of a newer schema must be refused by all of them, and keep its bytes.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from ebbmem import AgenticMemory, Database
from ebbmem.errors import StoreTooNew
from ebbmem.records.migrate import migrations
from reliability import older
from reliability.processes import Worker, WorkerFailed, answer_of, folder
from reliability.results import Course, Result, quantile
from reliability.stored import faults, files, schema_version, told

PROCESSES = 16
LONGEST_S = 10.0
FAILED, SLOW, LOST, UNSOUND, SCHEMA, TAKEN, TOUCHED = (
    "did not open and write",
    "longer than 10 s",
    "facts lost or twice",
    "file unsound",
    "another schema",
    "newer store not refused",
    "newer store touched",
)


def measure(rounds: int, seed: int, seconds: float, processes: int = PROCESSES) -> Result:
    """Open a missing path, an older store and a newer one in so many processes, again and again."""
    kinds = (FAILED, SLOW, LOST, UNSOUND, SCHEMA, TAKEN, TOUCHED)
    result = Result.looking_for("R12", "opens", seed, *kinds)
    course, took_s = Course(rounds, seconds), []
    for _ in course:
        with folder() as where:
            took_s += _open_missing(where / "missing.db", processes, result)
            took_s += _open_older(where / "older.db", processes, result)
            _open_newer(where / "newer.db", processes, result)
    result.measured = {"s, median": quantile(took_s, 0.5), "s, longest": max(took_s, default=0.0)}
    result.notes.append(f"older store: schema {(older.kept_versions() or [0])[-1]}")
    result.took_s = course.took_s
    return result


def _open_missing(path: Path, processes: int, result: Result) -> list[float]:
    return _open_and_look(path, processes, 0, result)


def _open_older(path: Path, processes: int, result: Result) -> list[float]:
    there = answer_of(partial(older.make_older, path))
    return _open_and_look(path, processes, there, result)


def _open_newer(path: Path, processes: int, result: Result) -> None:
    """Let all try to open a newer store; none may, or touch it."""
    answer_of(partial(older.make_newer, path))
    before = files(path)
    for answer in _at_once(path, processes):
        result.trials += 1
        if answer != StoreTooNew.__name__:
            result.fail(TAKEN, str(answer))
    if files(path) != before:
        result.fail(TOUCHED, f"{sorted(before)} became {sorted(files(path))}")


def _open_and_look(path: Path, processes: int, there: int, result: Result) -> list[float]:
    """Let all open a store that has so many memories; return how long each took, in seconds."""
    took_s = []
    for answer in _at_once(path, processes):
        result.trials += 1
        if not isinstance(answer, float):
            result.fail(FAILED, f"{path.name}: {answer}")
        else:
            took_s.append(answer)
            if answer > LONGEST_S:
                result.fail(SLOW, f"{path.name}: {answer:.1f} s")
    try:
        scopes = answer_of(partial(told, path))
        texts = [m["summary"] for scope in scopes.values() for m in scope.memories.values()]
        if len(set(texts)) != there + processes or len(texts) != there + processes:
            result.fail(LOST, f"{path.name}: {len(texts)} of {there + processes}")
        for fault in answer_of(partial(faults, path)):
            result.fail(UNSOUND, fault)
        if schema_version(path) != len(migrations()):
            result.fail(SCHEMA, f"{path.name}: {schema_version(path)}")
    except WorkerFailed as exc:
        result.fail(UNSOUND, f"{path.name}: {exc}")
    return took_s


def _at_once(path: Path, processes: int) -> list[float | str]:
    """Return, for each of so many processes, the seconds it took or the name of its error."""
    barrier, lift = os.pipe()
    with ExitStack() as stack:
        workers = [
            stack.enter_context(Worker(partial(_open, path, number, (barrier, lift))))
            for number in range(processes)
        ]
        os.close(barrier)
        for worker in workers:
            worker.receive()
        os.close(lift)
        return [worker.receive() for worker in workers]


def _open(path: Path, number: int, barrier: tuple[int, int], pipe: Connection) -> None:
    """Wait for the barrier, open, remember, close; send how long it took, or what it raised."""
    os.close(barrier[1])
    pipe.send("ready")
    os.read(barrier[0], 1)
    started = time.monotonic()
    try:
        with Database(path) as db:
            AgenticMemory(db, scope=f"s{number % 3}").remember(f"fact of process {number}")
    except Exception as exc:  # noqa: BLE001 - its name is the answer
        name = type(exc).__name__
        pipe.send(name if isinstance(exc, StoreTooNew) else f"{name}: {exc}")
    else:
        pipe.send(time.monotonic() - started)
