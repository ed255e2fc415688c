"""R1: processes that write to one store are killed at random moments; what was acknowledged stays.

Four writers remember, correct, erase and recall in scopes that they share.  Each tells what it is
about to write before a call, and what the call returned after it.  In every round some of them are
killed with SIGKILL, a fresh process reads the store and compares, and others take their place.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple

from ebbmem import EpisodicMemoryStore
from reliability.ledger import KINDS, Ledger, compare
from reliability.processes import Worker, WorkerFailed, folder
from reliability.results import Course, Result
from reliability.stored import Held, faults, held, opened
from reliability.writers import PENDING, Recalls, Writer

WRITERS = 4
ROUNDS_PER_STORE = 12
LONGEST_LIFE_S = 0.4
MOST_LOOKED_FOR = 40
NOT_FIRST, NOT_OPENED, UNSOUND, TRACES, RAISED = (
    "not first for its own text",
    "did not reopen",
    "file unsound",
    "traces beyond the bound",
    "exceptions",
)


class Seen(NamedTuple):
    """What a fresh process saw."""

    scopes: dict[str, Held]
    faults: list[str]
    not_first: list[tuple[str, str]]
    """(scope, text) of what a recall of the text did not bring first."""


@dataclass
class Scene:
    """One store, its writers, and all they said."""

    path: Path
    random: random.Random
    result: Result
    ledger: Ledger = field(default_factory=Ledger)
    recalls: dict[str, Recalls] = field(default_factory=dict)
    writers: dict[str, Worker] = field(default_factory=dict)
    started: int = 0

    def fill(self, count: int) -> None:
        """Start writers until there are so many."""
        while len(self.writers) < count:
            self.started += 1
            name = f"w{self.started}s{self.random.randrange(10**6)}"
            self.writers[name] = Worker(partial(_write, self.path, name))

    def listen(self, seconds: float) -> None:
        """Take down what writers say for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            pipes = {worker.pipe: name for name, worker in self.writers.items()}
            for pipe in wait(list(pipes), left):
                self.drain(pipes[pipe])

    def drain(self, name: str) -> None:
        """Take down what one writer has said."""
        try:
            for writer, number, said in self.writers[name].waiting():
                if isinstance(said, Recalls):
                    self.recalls[writer] = said
                else:
                    self.ledger.note(writer, number, said)
        except WorkerFailed as exc:
            self.result.fail(RAISED, str(exc))
            self.writers[name].silent = True
        if self.writers[name].silent:
            self.end(name)

    def end(self, name: str) -> None:
        """Kill a writer."""
        self.writers.pop(name).__exit__()

    def kill_some(self) -> list[str]:
        """Kill from one to all of the writers at one moment; take down their last words."""
        names = self.random.sample(sorted(self.writers), self.random.randint(1, len(self.writers)))
        for name in names:
            self.writers[name].kill()
        for name in names:
            self.drain(name)
            if name in self.writers:
                self.end(name)
        return names

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self.writers):
            self.end(name)


def measure(rounds: int, seed: int, seconds: float, writers: int = WRITERS) -> Result:
    """Kill writers in so many rounds; count what was lost, half there, twice, or unreadable."""
    kinds = (*KINDS, NOT_FIRST, NOT_OPENED, UNSOUND, TRACES, RAISED)
    result = Result.looking_for("R1", "kills", seed, *kinds)
    course, chosen = Course(rounds, seconds), random.Random(seed)
    done = iter(course)
    while (first := next(done, None)) is not None:
        with folder() as where, Scene(where / "store.db", chosen, result) as scene:
            _round(scene, writers)
            for _ in range(ROUNDS_PER_STORE - 1):
                if next(done, None) is not None:
                    _round(scene, writers)
        del first
    result.took_s = course.took_s
    return result


def _round(scene: Scene, writers: int) -> None:
    """Let writers write, kill some, and look at what is there."""
    scene.fill(writers)
    scene.listen(scene.random.uniform(0.005, LONGEST_LIFE_S))
    if not scene.writers:
        return  # each raised, and was counted
    killed = scene.kill_some()
    scene.result.trials += len(killed)
    for name in list(scene.writers):
        scene.drain(name)
    before = scene.ledger.copy()
    with Worker(partial(_look, scene.path, _wanted(before, scene.random)), planted=False) as reader:
        while not reader.pipe.poll():
            # So that those that live do not wait to be heard.
            scene.listen(0.002) if scene.writers else reader.pipe.poll(0.1)
        try:
            seen: Seen = reader.receive()
        except WorkerFailed as exc:
            scene.result.fail(NOT_OPENED, str(exc))
            return
    for name in list(scene.writers):
        scene.drain(name)
    _judge(scene, before, seen, killed)


def _judge(scene: Scene, before: Ledger, seen: Seen, killed: list[str]) -> None:
    """Count what is not as it was told."""
    result = scene.result
    compare(before, seen.scopes, scene.ledger, result)
    for fault in seen.faults:
        result.fail(UNSOUND, fault)
    leaving = {(told.scope, told.target) for told in scene.ledger.calls.values()}
    for scope, text in seen.not_first:
        if (scope, text) not in leaving:
            result.fail(NOT_FIRST, f"{scope}: {text}")
    for name in killed:
        recalls = scene.recalls.get(name)
        if recalls is not None:
            held = seen.scopes[recalls.scope]
            (probe,) = held.by_text().get(recalls.probe, [None])
            there = held.memories[probe]["access_count"] - 1 if probe else 0
            if there < recalls.returned - PENDING:
                result.fail(TRACES, f"{there} of {recalls.returned} recalls left a trace")


def _wanted(before: Ledger, chosen: random.Random) -> list[tuple[str, str]]:
    """Return (scope, text) of some memories that must be first for their own text."""
    told = [
        (one.scope, text)
        for one in before.calls.values()
        if one.ids is not None and one.kind not in ("keyed", "erase")
        for text in one.texts
    ]
    newest, older = told[-MOST_LOOKED_FOR // 2 :], told[: -MOST_LOOKED_FOR // 2]
    return newest + chosen.sample(older, min(len(older), MOST_LOOKED_FOR // 2))


def _write(path: Path, name: str, pipe: Connection) -> None:
    Writer(path, name, pipe).write_for_ever()


def _look(path: Path, wanted: list[tuple[str, str]], pipe: Connection) -> None:
    """Read a store and send what was seen."""
    with opened(path) as db:
        scopes = held(db.export_lines())
        not_first = []
        for scope, text in wanted:
            found = EpisodicMemoryStore(db, scope=scope).recall(text, top_k=1, reinforce=False)
            if [hit.summary for hit in found] != [text]:
                not_first.append((scope, text))
    pipe.send(Seen(scopes, faults(path), not_first))
