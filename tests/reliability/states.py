"""R2: a process is killed inside an operation; the store is as before it, or as after it.

Each operation runs on a copy of a store that was made once; its two states are taken down.  Then it
is killed on a new copy each time: at a random moment of the time it takes, or, every second time,
just before a random one of its statements.  What is done in several transactions (an import, a
sleep pass) may also have been done in part: then every record must be as before or as after.  Doing
it again must lead to the state after it.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import apsw

from reliability.operations import (
    LINES,
    OPERATIONS,
    Begun,
    Operation,
    State,
    lines_of_another,
    state,
)
from reliability.processes import Worker, WorkerFailed, answer_of, folder
from reliability.results import Course, Result
from reliability.stored import faults

BETWEEN, NOT_OPENED, UNSOUND, NOT_ENDED, WRONG_FILE, RAISED = (
    "neither before nor after",
    "did not reopen",
    "file unsound",
    "did not lead to the state after when done again",
    "half of a file written",
    "operation failed",
)


def measure(rounds: int, seed: int, seconds: float) -> Result:
    """Kill so many operations, of every kind in turn."""
    kinds = (BETWEEN, NOT_OPENED, UNSOUND, NOT_ENDED, WRONG_FILE, RAISED)
    result = Result.looking_for("R2", "kills", seed, *kinds)
    course, chosen = Course(rounds, seconds), random.Random(seed)
    result.measured = {"killed before the end": 0}
    LINES[:] = answer_of(lines_of_another)
    with folder() as where:
        starts = _Starts(where / "starts")
        scenes = [
            Scene(one, starts.of(one.prepared), where / name, partial(_told, name, result))
            for name, one in OPERATIONS.items()
        ]
        for number in course:
            inside = scenes[number % len(scenes)].kill(chosen, number // len(scenes))
            result.trials += 1
            result.measured["killed before the end"] += inside
    result.notes.append(f"operations: {', '.join(OPERATIONS)}")
    result.took_s = course.took_s
    return result


def _told(name: str, result: Result, kind: str, example: str) -> None:
    """Count what went wrong with one operation."""
    result.fail(kind, f"{name}: {example}")


class _Starts:
    """Stores that operations start from, each made once."""

    def __init__(self, folder_: Path) -> None:
        self._folder = folder_
        self._made: dict[Callable[[Path], Any], Path] = {}

    def of(self, prepared: Callable[[Path], Any]) -> Path:
        """Return the folder of the one that a function makes."""
        if prepared not in self._made:
            place = self._folder / prepared.__name__
            place.mkdir(parents=True)
            answer_of(partial(prepared, place / "store.db"))
            self._made[prepared] = place
        return self._made[prepared]


class Scene:
    """One operation: the store it starts from, its two states, and how long it takes."""

    def __init__(
        self, one: Operation, start: Path, now: Path, fail: Callable[[str, str], None]
    ) -> None:
        self._one, self._start, self._now, self._fail = one, start, now, fail
        self._copy()
        # Opening migrates, so the state before is taken from a copy.
        self._before, self._unsound = answer_of(partial(_seen, one, self._path))
        self._copy()
        with Worker(partial(_do, one.work, self._path, 0)) as worker:
            worker.receive()
            started = time.monotonic()
            self._statements: int = worker.receive()
            self._usual_s = time.monotonic() - started
        self._after = answer_of(partial(one.told, self._path))
        self._file = self._made() if one.made else None

    @property
    def _path(self) -> Path:
        return self._now / "store.db"

    def kill(self, chosen: random.Random, number: int) -> bool:
        """Begin the operation on a new copy, kill it, and look at what is there.

        Returns
        -------
        bool
            Whether it was killed before its end.
        """
        self._copy()
        last = chosen.randint(1, self._statements) if number % 2 else 0
        with Worker(partial(_do, self._one.work, self._path, last)) as worker:
            try:
                worker.receive()
                ended = self._ended(worker, chosen, last)
            except WorkerFailed as exc:
                self._fail(RAISED, str(exc))
                return False
        try:
            self._judge()
        except WorkerFailed as exc:
            self._fail(NOT_OPENED, str(exc))
        return not ended

    def _ended(self, worker: Worker, chosen: random.Random, last: int) -> bool:
        """Wait for the moment of the kill; return whether the operation had ended before."""
        if last:
            return worker.wait() != -signal.SIGKILL
        began = time.monotonic()
        if not worker.pipe.poll(chosen.uniform(0, 1.1 * self._usual_s)):
            return False
        worker.receive()
        self._usual_s = min(self._usual_s, time.monotonic() - began)
        return True

    def _judge(self) -> None:
        """Compare what a fresh process sees with the two states."""
        found, unsound = answer_of(partial(_seen, self._one, self._path))
        for fault in unsound:
            # What starts from a damaged file may leave it as it was.
            if found != self._before or fault not in self._unsound:
                self._fail(UNSOUND, fault)
        if self._one.made and self._made() not in (None, self._file):
            self._fail(WRONG_FILE, str(self._one.made))
        if found not in (self._before, self._after) and not self._in_part(found):
            odd = sorted(found - self._before - self._after)
            self._fail(BETWEEN, f"{len(odd)} lines, as {odd[:1]}")
        elif found != self._after and self._one.again:
            again = answer_of(partial(_again, self._one, self._path))
            if again != self._after:
                odd = sorted(again ^ self._after)
                self._fail(NOT_ENDED, f"{len(odd)} lines, as {odd[:2]}")

    def _in_part(self, found: State) -> bool:
        """Return whether every record is as before or as after, where that may be."""
        return self._one.in_parts and _records(found) <= _records(self._before | self._after)

    def _made(self) -> Any:
        """Return what the file that the operation makes holds; None where there is none."""
        path = self._now / str(self._one.made)
        if not path.exists():
            return None
        if path.suffix == ".db":
            return answer_of(partial(state, path))
        return path.read_text("utf-8")

    def _copy(self) -> None:
        """Let the store be as it was at the start."""
        shutil.rmtree(self._now, ignore_errors=True)
        shutil.copytree(self._start, self._now)


def _seen(one: Operation, path: Path) -> tuple[State, list[str]]:
    """Return what a store holds, and what is wrong with its file."""
    return one.told(path), faults(path)


def _again(one: Operation, path: Path) -> State:
    """Do it once more; return what the store holds then."""
    one.work(path, lambda: None)
    return one.told(path)


def _records(lines: Iterable[str]) -> State:
    """Return the lines of an export, without the counts beside them."""
    return frozenset(line for line in lines if line.startswith("{"))


def _do(work: Callable[[Path, Begun], None], path: Path, last: int, pipe: Connection) -> None:
    """Do the work; say when it begins, and how many statements it had when it has ended.

    ``last`` is the number of the statement at which the process ends; 0: it goes on to its end.
    """
    run: list[None] = []
    told = False

    def step(_: Any) -> None:
        run.append(None)
        if told and len(run) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    def begun() -> None:
        nonlocal told
        run.clear()
        told = True
        pipe.send("begins")

    apsw.connection_hooks.append(lambda one: one.trace_v2(apsw.SQLITE_TRACE_STMT, step))
    work(path, begun)
    pipe.send(len(run))
