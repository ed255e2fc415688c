"""R14: calls are ended by SIGINT, by a timeout or by cancelling their task, at random moments.

After each one a second process must be able to write within a second, the process itself must go
on, and no call may have left a part of what it does.
"""

from __future__ import annotations

import random
import signal
import time
from contextlib import ExitStack
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ebbmem import AgenticMemory, Database
from ebbmem.errors import LockTimeout
from reliability.cancelled import AWAITED, BATCH, KINDS, Outcome, hold_lock, interrupted
from reliability.processes import Worker, WorkerFailed, answer_of, folder
from reliability.results import Course, Result, quantile
from reliability.stored import Held, faults, told

LONGEST_LOCK_S = 1.0
LONGEST_END_S = 3.0
"""After a signal; no more than the machine's other work should stretch it to."""
ROUNDS_PER_STORE = 65
LOCK_HELD_S = 0.5
WEDGED, OWN_WEDGED, PART, STUCK, RAISED, UNSOUND = (
    "second process could not write within 1 s",
    "own process could not go on",
    "part of a call",
    "did not end after the signal",
    "exceptions",
    "file unsound",
)


def measure(rounds: int, seed: int, seconds: float) -> Result:
    """End so many calls at random moments; count what they left behind."""
    kinds = (WEDGED, OWN_WEDGED, PART, STUCK, RAISED, UNSOUND)
    result = Result.looking_for("R14", "calls", seed, *kinds)
    result.measured = {"ended before they were done": 0}
    course, chosen, ends_s = Course(rounds, seconds), random.Random(seed), []
    numbers = iter(course)
    while (number := next(numbers, None)) is not None:
        with folder() as where, Scene(where / "store.db", chosen, result) as scene:
            going = scene.round(number)
            while going and scene.rounds < ROUNDS_PER_STORE:
                number = next(numbers, None)
                going = number is not None and scene.round(number)
            ends_s += scene.ends_s
            scene.close()
    result.measured["s, longest from signal to end"] = max(ends_s, default=0.0)
    result.measured["s, median"] = quantile(ends_s, 0.5)
    result.took_s = course.took_s
    return result


class Scene(ExitStack):
    """A store, a process whose calls are ended, one that writes after that, and one that waits."""

    def __init__(self, path: Path, chosen: random.Random, result: Result) -> None:
        super().__init__()
        self._path = path
        self._random = chosen
        self._result = result
        self._scopes: dict[str, str] = {}
        """The kind of call of each scope."""
        self._usual_s: dict[str, float] = {}
        self.ends_s: list[float] = []
        self.rounds = 0
        self._going = True
        answer_of(partial(told, path))
        self._agent = self.enter_context(Worker(partial(interrupted, path)))
        self._second = self.enter_context(Worker(partial(_write_when_asked, path), planted=False))
        self._holder = self.enter_context(Worker(partial(hold_lock, path), planted=False))

    def round(self, number: int) -> bool:
        """End one call; return whether the processes can go on."""
        kind = KINDS[number % len(KINDS)]
        try:
            alike = "remember_many" if kind in AWAITED else kind
            if alike not in self._usual_s:
                self._usual_s[alike] = self._call(alike, f"usual-{alike}", None).took_s
            outcome = self._call(kind, f"{kind}-{number}", self._usual_s[alike])
        except WorkerFailed as exc:
            self._result.fail(STUCK, f"{kind}: {exc}")
            self._going = False
            return False
        self._result.trials += 1
        self.rounds += 1
        self._result.measured["ended before they were done"] += outcome.what == "interrupted"
        if outcome.what not in ("done", "interrupted"):
            self._result.fail(RAISED, f"{kind}: {outcome.what}")
        return self._others_go_on(kind, number)

    def close(self) -> None:
        """Let all end, and look for parts of calls."""
        if self._going:
            self._agent.pipe.send(None)
            self._agent.wait()
        try:
            scopes = answer_of(partial(told, self._path))
        except WorkerFailed as exc:
            self._result.fail(UNSOUND, str(exc))
            return
        for scope, kind in self._scopes.items():
            there = scopes.get(scope)
            if there is not None and not _is_whole(kind, there):
                self._result.fail(PART, f"{kind}: {len(there.memories)} of {BATCH} memories")
        for fault in answer_of(partial(faults, self._path)):
            self._result.fail(UNSOUND, fault)

    def _call(self, kind: str, scope: str, usual_s: float | None) -> Outcome:
        """Let a call be made, and end it at a random moment of the time it usually takes."""
        self._scopes[scope] = kind
        waiting = kind == "waiting" and usual_s is not None
        if kind == "waiting":
            usual_s = LOCK_HELD_S / 2 if waiting else None
        until_s = 60.0 if usual_s is None else self._random.uniform(0, 1.1 * usual_s)
        self._agent.pipe.send((kind, scope, until_s))
        self._agent.receive()
        if waiting:
            self._holder.pipe.send(LOCK_HELD_S)
            self._holder.receive()
        if usual_s is not None and kind not in AWAITED:
            self._agent.pipe.poll(until_s)
            self._agent.signal(signal.SIGINT)
        started = time.monotonic()
        outcome: Outcome = self._agent.receive(60.0)
        end_s = time.monotonic() - started
        if outcome.what == "interrupted":
            self.ends_s.append(end_s)
            if end_s > LONGEST_END_S:
                self._result.fail(STUCK, f"{kind}: {end_s:.2f} s")
        if waiting:
            self._holder.receive()
        return outcome

    def _others_go_on(self, kind: str, number: int) -> bool:
        """Let a second process write, then the one whose call was ended."""
        self._second.pipe.send(f"after {kind} {number}")
        try:
            answer = self._second.receive(60.0)
            if answer != "written":
                self._result.fail(WEDGED, f"{kind}: {answer}")
            self._scopes[f"after-{number}"] = "remember"
            self._agent.pipe.send(("remember", f"after-{number}", 0.0))
            self._agent.receive()
            outcome = self._agent.receive(60.0)
        except WorkerFailed as exc:
            self._result.fail(OWN_WEDGED, f"{kind}: {exc}")
            self._going = False
            return False
        if outcome.what != "done":
            self._result.fail(OWN_WEDGED, f"{kind}: {outcome.what}")
        return True


def _is_whole(kind: str, there: Held) -> bool:
    """Return whether a scope holds what a call leaves, or what was there before it."""
    count = len(there.memories)
    cold = sum(memory["tier"] != "warm" for memory in there.memories.values())
    superseded = sum(memory["superseded_by"] is not None for memory in there.memories.values())
    if kind in ("remember", "waiting", "add_turn"):
        return count <= 1 and len(there.turns) == (count if kind == "add_turn" else 0)
    if kind == "import_":
        return count in (0, BATCH) and len(there.turns) == count
    if kind == "correct":
        return (count, superseded) in ((BATCH, 0), (BATCH + 1, 1))
    if kind in ("erase", "remember_many", *AWAITED):
        return count in (0, BATCH)
    return count == BATCH and cold in (0, BATCH) and superseded == 0


def _write_when_asked(path: Path, pipe: Connection) -> None:
    """Remember what is asked for; say whether the lock was had within a second."""
    with Database(path, busy_wait_s=LONGEST_LOCK_S) as db:
        memory = AgenticMemory(db, scope="second")
        while True:
            text: Any = pipe.recv()
            try:
                memory.remember(text)
            except LockTimeout as exc:
                pipe.send(str(exc))
            else:
                pipe.send("written")
