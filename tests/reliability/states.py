"""R2: a process is killed inside an operation; the store is as before it, or as after it.

Each operation runs on a copy of a store that was made once.  It is timed, and its two states are
taken down; then it is killed at a random moment of that time, on a new copy each time.  What is
done in several transactions (an import, a sleep pass) may also have been done in part: then every
record must be as before or as after, and doing it again must lead to the state after it.
"""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ebbmem import AgenticMemory, Database, ManualClock, run_consolidation
from reliability import older
from reliability.processes import Worker, WorkerFailed, answer_of, folder
from reliability.results import Course, Result
from reliability.stored import PATIENT_S, faults

NOW = 1_700_000_000
LATER = NOW + 60 * 86_400
SCOPES = ("ann", "bob", "team")
EACH = 130
BETWEEN, NOT_OPENED, UNSOUND, NOT_ENDED, WRONG_FILE, RAISED = (
    "neither before nor after",
    "did not reopen",
    "file unsound",
    "did not lead to the state after when done again",
    "half of a file written",
    "operation failed",
)
State = frozenset[str]
Begun = Callable[[], None]


@dataclass(frozen=True)
class Operation:
    """Something that takes long enough to be killed inside it.

    ``work(path, begun)`` does it and calls ``begun`` once all is ready; ``in_parts`` says that it
    is several transactions; ``made`` names the file it writes beside the store, which must not be
    there or be whole.
    """

    work: Callable[[Path, Begun], None]
    in_parts: bool = False
    made: str | None = None
    prepared: Callable[[Path], Any] | None = None
    """Makes the store it starts from; None for the one that most start from."""


def opened(path: Path) -> Database:
    """Open a store at a fixed moment."""
    return Database(path, busy_wait_s=PATIENT_S, clock=ManualClock(LATER))


def prepare(path: Path) -> None:
    """Make the store that most operations start from."""
    with Database(path, clock=ManualClock(NOW)) as db:
        for scope in SCOPES:
            memory = AgenticMemory(db, scope=scope)
            drafts = [
                {"summary": f"{scope} fact{n} kettle", "keywords": [f"k{n % 9}"], "detail": "x" * n}
                for n in range(EACH)
            ]
            made = memory.remember_many(drafts)
            for n in range(24):
                memory.add_turn("user", f"{scope} said{n}")
            for one in made[:10]:
                memory.correct(one.id, f"{scope} correction of {one.number}")
            memory.recall("kettle", top_k=EACH)


def state(path: Path) -> State:
    """Return every line of a store's export, and its counts."""
    with opened(path) as db:
        lines = [line for line in db.export_lines() if '"ebbmem_export"' not in line]
        return frozenset([*lines, *(repr(one) for one in db.stats())])


def nothing(path: Path) -> None:
    """Start from no file at all."""


def open_first(path: Path, begun: Begun) -> None:
    """Make a store."""
    begun()
    with opened(path):
        pass


def migrate(path: Path, begun: Begun) -> None:
    """Open a store of an earlier schema."""
    begun()
    with opened(path) as db:
        db.run_migrations()


def erase(path: Path, begun: Begun) -> None:
    """Erase many memories, corrected ones and turns among them."""
    with opened(path) as db:
        memory = AgenticMemory(db, scope="ann")
        ids = [
            fields["id"]
            for fields in map(json.loads, db.export_lines(scopes=["ann"]))
            if fields.get("record") == "memory" and fields["number"] % 2
        ]
        begun()
        memory.erase(ids)


def consolidate(path: Path, begun: Begun) -> None:
    """Run the sleep pass over all scopes."""
    with opened(path) as db:
        begun()
        run_consolidation(db)


def export(path: Path, begun: Begun) -> None:
    """Write everything to a file."""
    with opened(path) as db:
        begun()
        db.export(path.with_name("export.jsonl"))


def import_(path: Path, begun: Begun) -> None:
    """Take in what an export of another store holds."""
    with opened(path) as db:
        begun()
        db.import_(_exported())


def backup(path: Path, begun: Begun) -> None:
    """Copy the store while it is open."""
    with opened(path) as db:
        begun()
        db.backup(path.with_name("backup.db"))


def repair(path: Path, begun: Begun) -> None:
    """Mend a store in which nothing is broken."""
    with opened(path) as db:
        begun()
        db.repair()


def erase_scope(path: Path, begun: Begun) -> None:
    """Erase a scope with all it holds."""
    with opened(path) as db:
        begun()
        db.erase_scope("bob")


OPERATIONS: dict[str, Operation] = {
    "open": Operation(open_first, prepared=nothing),
    "migrate": Operation(migrate, prepared=older.make_older),
    "erase": Operation(erase),
    "consolidate": Operation(consolidate, in_parts=True),
    "export": Operation(export, made="export.jsonl"),
    "import": Operation(import_, in_parts=True),
    "backup": Operation(backup, made="backup.db"),
    "erase_scope": Operation(erase_scope),
    "repair": Operation(repair),
}


def _exported() -> list[str]:
    """Return lines that bring new scopes: the same ones whenever they are made."""
    return list(_LINES)


_LINES: list[str] = []


def measure(rounds: int, seed: int, seconds: float) -> Result:
    """Kill so many operations, of every kind in turn."""
    kinds = (BETWEEN, NOT_OPENED, UNSOUND, NOT_ENDED, WRONG_FILE, RAISED)
    result = Result.looking_for("R2", "kills", seed, *kinds)
    course, chosen = Course(rounds, seconds), random.Random(seed)
    result.measured = {"killed before the end": 0}
    with folder() as where:
        _LINES[:] = answer_of(partial(_lines_of_another, where / "another.db"))
        scenes = [Scene(name, one, where / name, result) for name, one in OPERATIONS.items()]
        for number in course:
            scenes[number % len(scenes)].kill(chosen)
    result.notes.append(f"operations: {', '.join(OPERATIONS)}")
    result.took_s = course.took_s
    return result


def _lines_of_another(path: Path) -> list[str]:
    """Return an export of a store with other scopes."""
    with Database(path, clock=ManualClock(NOW)) as db:
        for scope in ("carl", "dora"):
            memory = AgenticMemory(db, scope=scope)
            memory.remember_many(
                [{"summary": f"{scope} fact{n}", "keywords": [f"k{n % 5}"]} for n in range(100)]
            )
            for n in range(24):
                memory.add_turn("user", f"{scope} said{n}")
        return list(db.export_lines())


class Scene:
    """One operation: the store it starts from, its two states, and how long it takes."""

    def __init__(self, name: str, one: Operation, folder_: Path, result: Result) -> None:
        self._name, self._one, self._result = name, one, result
        self._start, self._now = folder_ / "start", folder_ / "now"
        self._start.mkdir(parents=True)
        answer_of(partial(one.prepared or prepare, self._start / "store.db"))
        self._copy()
        # Opening migrates, so the state before is taken from a copy.
        self._before = answer_of(partial(state, self._path))
        self._copy()
        with Worker(partial(_do, one.work, self._path)) as worker:
            worker.receive()
            started = time.monotonic()
            worker.receive()
            self._usual_s = time.monotonic() - started
        self._after = answer_of(partial(state, self._path))
        self._file = self._made() if one.made else None

    @property
    def _path(self) -> Path:
        return self._now / "store.db"

    def kill(self, chosen: random.Random) -> None:
        """Begin the operation on a new copy, kill it, and look at what is there."""
        self._copy()
        self._result.trials += 1
        with Worker(partial(_do, self._one.work, self._path)) as worker:
            try:
                worker.receive()
            except WorkerFailed as exc:
                self._result.fail(RAISED, f"{self._name}: {exc}")
                return
            ended = worker.pipe.poll(chosen.uniform(0, 1.1 * self._usual_s))
        self._result.measured["killed before the end"] += not ended
        try:
            self._judge()
        except WorkerFailed as exc:
            self._result.fail(NOT_OPENED, f"{self._name}: {exc}")

    def _judge(self) -> None:
        """Compare what a fresh process sees with the two states."""
        found = answer_of(partial(state, self._path))
        for fault in answer_of(partial(faults, self._path)):
            self._result.fail(UNSOUND, f"{self._name}: {fault}")
        if self._one.made and self._made() not in (None, self._file):
            self._result.fail(WRONG_FILE, self._name)
        if found in (self._before, self._after):
            return
        if not self._one.in_parts or not _records(found) <= _records(self._before | self._after):
            odd = sorted(found - self._before - self._after)
            self._result.fail(BETWEEN, f"{self._name}: {len(odd)} lines, as {odd[:1]}")
            return
        answer_of(partial(self._one.work, self._path, _nobody))
        again = answer_of(partial(state, self._path))
        if again != self._after:
            odd = sorted(again ^ self._after)
            self._result.fail(NOT_ENDED, f"{self._name}: {len(odd)} lines, as {odd[:2]}")

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


def _nobody() -> None:
    """Tell nobody that the work has begun."""


def _records(lines: Iterable[str]) -> State:
    """Return the lines of an export, without the counts beside them."""
    return frozenset(line for line in lines if line.startswith("{"))


def _do(work: Callable[[Path, Begun], None], path: Path, pipe: Connection) -> None:
    """Do the work; say when it begins, and when it has ended."""
    work(path, lambda: pipe.send("begins"))
    pipe.send("ended")
