"""R11: processes and threads that recall and remember in one store, four recalls for each write.

A fact is told to the next process through a pipe once ``remember`` has returned; that process's
next recall must find it.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from ebbmem import AgenticMemory, Database
from ebbmem.errors import LockTimeout
from reliability.processes import STARTS_S, Worker, WorkerFailed, answer_of, folder
from reliability.results import Result, quantile
from reliability.stored import faults, told

PROCESSES, THREADS = 4, 2
SCOPES = ("team", "ann", "bob")
RECALLS_OF_TEN = 8
RECORD_BYTES = 64
"""Of a fact on its way to the next process: within what a pipe takes as a whole."""
KEYS = 10
WORDS = ("kettle", "garden", "violin", "river", "copper", "lantern")
LOST, TWICE, LOCKED, RAISED, UNSEEN, OWN_UNSEEN, UNSOUND = (
    "lost",
    "twice",
    "locked",
    "exceptions",
    "another process's fact not found",
    "own fact not found",
    "file unsound",
)


@dataclass
class Report:
    """What the threads of one process did."""

    facts: list[tuple[str, str]] = field(default_factory=list)
    """(scope, text) of all that was acknowledged."""
    keyed: list[tuple[str, str, str]] = field(default_factory=list)
    """(scope, key, id) as returned."""
    remember_s: list[float] = field(default_factory=list)
    recall_s: list[float] = field(default_factory=list)
    foreign: int = 0
    """Facts of the process before that were looked for."""
    failures: list[tuple[str, str]] = field(default_factory=list)


def measure(
    rounds: int, seed: int, seconds: float, processes: int = PROCESSES, threads: int = THREADS
) -> Result:
    """Let every thread make so many calls, within so many seconds."""
    kinds = (LOST, TWICE, LOCKED, RAISED, UNSEEN, OWN_UNSEEN, UNSOUND)
    result = Result.looking_for("R11", f"calls of {processes} x {threads} threads", seed, *kinds)
    started = time.monotonic()
    with folder() as where:
        path = where / "store.db"
        answer_of(partial(told, path))  # made before, so that opening is not what is counted
        reports = _reports(path, rounds, seed, seconds, (processes, threads))
        lasted_s = time.monotonic() - started
        _judge(path, reports, result)
    remember_s = [one for report in reports for one in report.remember_s]
    recall_s = [one for report in reports for one in report.recall_s]
    result.measured = {
        "calls a second": result.trials / lasted_s,
        "ms, p50 of remember": 1e3 * quantile(remember_s, 0.5),
        "ms, p99 of remember": 1e3 * quantile(remember_s, 0.99),
        "ms, longest remember": 1e3 * max(remember_s, default=0.0),
        "ms, p99 of recall": 1e3 * quantile(recall_s, 0.99),
        "facts of another process looked for": sum(report.foreign for report in reports),
    }
    result.took_s = time.monotonic() - started
    return result


def _reports(
    path: Path, rounds: int, seed: int, seconds: float, size: tuple[int, int]
) -> list[Report]:
    """Run the processes and return what each did."""
    processes, threads = size
    rings = [os.pipe() for _ in range(processes)]
    for ring in rings:
        for end in ring:
            os.set_blocking(end, False)
    with ExitStack() as stack:
        workers = []
        for number in range(processes):
            ends = (rings[number][0], rings[(number + 1) % processes][1])
            agent = partial(_work, path, f"p{number}s{seed}", ends, (rounds, seconds, threads))
            workers.append(stack.enter_context(Worker(agent)))
        for ring in rings:
            for end in ring:
                os.close(end)
        for worker in workers:
            worker.receive()
        for worker in workers:
            worker.pipe.send("go")
        return [worker.receive(seconds + STARTS_S) for worker in workers]


def _work(
    path: Path, name: str, ends: tuple[int, int], size: tuple[int, float, int], pipe: Connection
) -> None:
    """Run the threads of one process and send what they did."""
    rounds, seconds, threads = size
    with Database(path) as db:
        pipe.send("ready")
        pipe.recv()
        end = time.monotonic() + seconds
        agents = [Agent(db, f"{name}t{number}", ends) for number in range(threads)]
        running = [
            threading.Thread(target=agent.work, args=(rounds, end, 1 + index))
            for index, agent in enumerate(agents)
        ]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        whole = Report()
        for agent in agents:
            for field_name in ("facts", "keyed", "remember_s", "recall_s", "failures"):
                getattr(whole, field_name).extend(getattr(agent.report, field_name))
            whole.foreign += agent.report.foreign
        pipe.send(whole)


class Agent:
    """One thread's calls."""

    def __init__(self, db: Database, name: str, ends: tuple[int, int]) -> None:
        self._name = name
        self._read, self._write = ends
        self._random = random.Random(name)
        self._handles = {scope: AgenticMemory(db, scope=scope) for scope in SCOPES}
        self._count = 0
        self.report = Report()

    def work(self, rounds: int, end: float, first: int) -> None:
        """Make so many calls, or as many as there is time for."""
        for _ in range(first, rounds + first):
            if time.monotonic() >= end:
                return
            call = self._recall if self._random.randrange(10) < RECALLS_OF_TEN else self._remember
            try:
                call()
            except LockTimeout as exc:
                self.report.failures.append((LOCKED, str(exc)))
            except Exception as exc:  # noqa: BLE001 - counted
                kind = LOCKED if "locked" in str(exc) else RAISED
                self.report.failures.append((kind, f"{type(exc).__name__}: {exc}"))

    def _remember(self) -> None:
        """Remember one thing; tell the next process of it."""
        self._count += 1
        scope = self._random.choice(SCOPES)
        text = f"{self._name}n{self._count} {' '.join(self._random.sample(WORDS, 2))}"
        key = f"key{self._random.randrange(KEYS)}" if self._count % 10 == 0 else None
        started = time.perf_counter()
        made = self._handles[scope].remember(text, key=key)
        self.report.remember_s.append(time.perf_counter() - started)
        if key is not None:
            self.report.keyed.append((scope, key, made.id))
            return
        self.report.facts.append((scope, text))
        # A full pipe: that process has enough to look for.
        with suppress(BlockingIOError):
            os.write(self._write, f"{scope} {text}".encode().ljust(RECORD_BYTES))

    def _recall(self) -> None:
        """Look for a fact of the process before, or for one of its own."""
        try:
            told = os.read(self._read, RECORD_BYTES).decode().strip()
        except BlockingIOError:
            told = ""
        if told:
            scope, _, text = told.partition(" ")
            self.report.foreign += 1
            self._look_for(scope, text, UNSEEN)
        elif self.report.facts:
            self._look_for(*self._random.choice(self.report.facts), OWN_UNSEEN)
        else:
            self._handles["team"].recall("kettle")

    def _look_for(self, scope: str, text: str, kind: str) -> None:
        """Recall a text, which must be first."""
        started = time.perf_counter()
        found = self._handles[scope].recall(text, top_k=5)
        self.report.recall_s.append(time.perf_counter() - started)
        if [hit.summary for hit in found][:1] != [text]:
            self.report.failures.append((kind, f"{scope}: {text}"))


def _judge(path: Path, reports: list[Report], result: Result) -> None:
    """Count what failed, what is not there, and what is twice."""
    for report in reports:
        result.trials += len(report.remember_s) + len(report.recall_s)
        for kind, example in report.failures:
            result.fail(kind, example)
    try:
        scopes = answer_of(partial(told, path))
    except WorkerFailed as exc:
        result.fail(UNSOUND, str(exc))
        return
    there = Counter(
        (scope, memory["summary"])
        for scope, held in scopes.items()
        for memory in held.memories.values()
    )
    for report in reports:
        for fact in report.facts:
            if not there[fact]:
                result.fail(LOST, str(fact))
        for scope, key, memory_id in report.keyed:
            if scopes[scope].memories.get(memory_id, {}).get("key") != key:
                result.fail(LOST, f"{scope}: {key}")
    keys = Counter(
        (scope, memory["key"])
        for scope, held in scopes.items()
        for memory in held.memories.values()
        if memory["key"] is not None
    )
    for counted in (there, keys):
        for one, count in counted.items():
            if count > 1:
                result.fail(TWICE, str(one), count - 1)
    for fault in answer_of(partial(faults, path)):
        result.fail(UNSOUND, fault)
