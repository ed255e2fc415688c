"""R3: the power fails at random moments; the store is whole, and with ``power`` nothing is lost.

A process writes in a store, on a disk that records every write and sync.  From the record, states
are made in which the disk may be after a cut, and each is opened by another process.  With
``durability="power"``, and where one process has the store alone (on a network file system), it
must hold all that was acknowledged before the cut; by default it may lack the newest, but nothing
may be there of which something older is not.
"""

from __future__ import annotations

import random
import shutil
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import apsw

from ebbmem.records import connection, logs
from reliability.disk import Disk, Recording, Said, Step
from reliability.ledger import KINDS, Ledger, Told, compare
from reliability.processes import Worker, answer_of, folder
from reliability.results import Course, Result
from reliability.stored import Held, faults, held, opened
from reliability.writers import Recalls, Writer

WAYS = ("power", "process", "alone")
CUTS = 100
"""States that are made from one record."""
CALLS = 100
SESSIONS = 2
LOG_PAGES = (8, 80)
"""After how many pages the log is moved into the database: often."""
NOT_OPENED, UNSOUND, HOLE = "did not reopen", "store unsound", "older missing, newer there"
Failures = list[tuple[str, str]]


def measure(rounds: int, seed: int, seconds: float, cuts: int = CUTS) -> Result:
    """Record so many runs, in each way in turn, and cut each so many times."""
    result = Result.looking_for("R3", "states", seed, *KINDS, NOT_OPENED, UNSOUND, HOLE)
    course, chosen = Course(rounds, seconds), random.Random(seed)
    steps_in_all = 0
    for number in course:
        way = WAYS[number % len(WAYS)]
        with folder() as where:
            steps = _recorded(where / "store.db", way, chosen.randrange(10**6))
            steps_in_all += len(steps)
            looking = partial(_look, steps, way, chosen.randrange(10**6), (where, cuts))
            for kind, example in answer_of(looking, timeout_s=seconds + 60):
                result.fail(kind, f"{way}: {example}")
        result.trials += cuts
    result.measured["writes and syncs recorded"] = steps_in_all
    result.took_s = course.took_s
    return result


def _recorded(path: Path, way: str, seed: int) -> list[Step]:
    """Return every step of a process that writes in a new store."""
    with Worker(partial(_write, path, way, seed)) as worker:
        steps: list[Step] = worker.receive()
    shutil.rmtree(path.parent)
    path.parent.mkdir()
    return steps


class _Enough(Exception):
    """Ends a writer that would write for ever."""


class _Notes:
    """Stands where a writer has its pipe: what it says is a step among those of the disk."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps
        self._calls = 0

    def send(self, message: Any) -> None:
        """Note what was said; end the writer once it has made its calls."""
        if isinstance(message[2], Recalls):
            return
        self._steps.append(Said(message))
        self._calls += message[2].ids is not None
        if self._calls == CALLS:
            raise _Enough


def _write(path: Path, way: str, seed: int, pipe: Connection) -> None:
    """Write in several sessions; send every step."""
    if way == "alone":
        warnings.simplefilter("ignore", RuntimeWarning)
        connection.remote_filesystem = lambda _path: "nfs"
    durability = "power" if way == "power" else "process"
    recording, chosen = Recording(), random.Random(seed)
    pages = chosen.randint(*LOG_PAGES)
    logs.SOON_FRAMES, logs.LONG_FRAMES, logs.MOST_FRAMES = pages, pages * 3 // 2, pages * 5 // 2
    apsw.connection_hooks.append(lambda one: one.wal_autocheckpoint(pages))
    for session in range(SESSIONS):
        notes: Any = _Notes(recording.steps)
        writer = Writer(path, f"w{session}s{seed}", notes, durability=durability)
        with suppress(_Enough):
            writer.write_for_ever()
        writer.close()
    pipe.send(recording.steps)


def _look(
    steps: Sequence[Step], way: str, seed: int, size: tuple[Path, int]
) -> list[tuple[str, str]]:
    """Cut the power at so many moments; return what was wrong."""
    where, cuts = size
    chosen, failures = random.Random(seed), list[tuple[str, str]]()
    moments = sorted(chosen.randint(0, len(steps)) for _ in range(cuts))
    disk, ledger, done = Disk(), Ledger(), 0
    for moment in moments:
        for step in steps[done:moment]:
            disk.do(step)
            if isinstance(step, Said):
                ledger.note(*step.message)
        done = moment
        place = where / "cut"
        place.mkdir()
        for name, content in disk.cut(chosen).items():
            (place / name).write_bytes(content)
        failures += [
            (kind, f"after step {moment} of {len(steps)}: {example}")
            for kind, example in _judged(place / "store.db", ledger, way)
        ]
        shutil.rmtree(place)
    return failures


def _judged(path: Path, ledger: Ledger, way: str) -> Failures:
    """Open what is there after a cut, and compare it with what was said before."""
    try:
        with opened(path) as db:
            scopes = held(db.export_lines())
            # Of the records: an index is made of them anew at every opening.
            findings = db.engine.records.check().findings
        unsound = [*map(str, findings), *faults(path)]
    except Exception as exc:  # noqa: BLE001 - whatever it is, it is the finding
        return [(NOT_OPENED, f"{type(exc).__name__}: {exc}")]
    found = Result.looking_for("R3", "states", 0, *KINDS)
    if way != "process":
        compare(ledger, scopes, ledger, found)
    else:
        # Nothing counts as acknowledged: each call was made, whole, or was not.
        told = {key: replace(one, ids=None) for key, one in ledger.calls.items()}
        compare(Ledger(told), scopes, Ledger(told), found)
    failures = [(UNSOUND, one) for one in unsound]
    failures += [(one.partition(": ")[0], one) for one in found.examples]
    return failures + [(HOLE, one) for one in _holes(ledger, scopes)]


def _holes(ledger: Ledger, scopes: dict[str, Held]) -> list[str]:
    """Return what is missing although something that was written later is there."""
    leaving = {(one.scope, one.target) for one in ledger.calls.values() if one.kind == "erase"}
    there = {(scope, text) for scope, held_ in scopes.items() for text in held_.by_text()}
    missing: Told | None = None
    for told in ledger.calls.values():
        if told.kind in ("erase", "keyed") or any((told.scope, t) in leaving for t in told.texts):
            continue
        if (told.scope, told.texts[0]) not in there:
            missing = missing or told
        elif missing is not None:
            return [f"{missing.texts[0]}, but not {told.texts[0]}"]
    return []
