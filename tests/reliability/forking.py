"""A process that forks while it is idle, recalls, writes or embeds; run by ``forks``.

It has an interpreter of its own, so that its children can end as any Python process does.  It
writes a line to its output for every fact that was acknowledged, and for every fork.
"""

from __future__ import annotations

import faulthandler
import itertools
import json
import multiprocessing
import os
import random
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ebbmem import AgenticMemory, CallableEmbedder, Database
from ebbmem.errors import ForkedStore
from reliability import plants
from reliability.processes import Worker, end_with_parent
from reliability.stored import PATIENT_S

LONGEST_S = 5.0
STATES = ("idle", "recalling", "writing", "recalling and writing", "embedding")
ACTIONS = ("recall", "remember", "reopen", "exit", "_exit", "pool")
WORKED, FORKED, HUNG = "worked", ForkedStore.__name__, "hung"


class Forker:
    """A store, threads that use it, and children."""

    def __init__(self, path: str, seed: int) -> None:
        self._path = path
        self._random = random.Random(seed)
        self._facts = 0
        self._fork_in_embedder = False
        self._child_of_embedder = False
        self._lock = threading.Lock()
        # Forked before anything is open: as any other process on the machine.
        self._stranger = Worker(partial(_visit, path), planted=False)
        self._embedder = CallableEmbedder(self._embed, 4, "lengths")
        self._db = Database(path, busy_wait_s=PATIENT_S)
        self.memory = AgenticMemory(self._db, embedder=self._embedder)
        self.fact()

    def fact(self) -> None:
        """Remember one thing and say so once it was acknowledged."""
        with self._lock:
            self._facts += 1
            text = f"fact{self._facts} of {os.getpid()}"
        self.memory.remember(text)
        say(fact=text)

    def _fact_and_pause(self) -> None:
        """Remember one thing, and let other processes have the lock."""
        self.fact()
        time.sleep(0.001)

    def fork(self, state: str, action: str) -> None:
        """Fork once and say what became of the child, and how long it took."""
        with self._busy(state):
            started = time.monotonic()
            outcome = self._pooled() if action == "pool" else self._forked(state, action)
            say(fork=f"{state}: {action}", outcome=outcome, took_s=time.monotonic() - started)
        self.fact()
        self._stranger.pipe.send("open, remember, close")
        say(fact=self._stranger.receive())
        self.fact()

    def close(self) -> None:
        """Close the store, while a child goes on that opened it for itself; let it be killed."""
        mine, theirs = multiprocessing.Pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            with Database(self._path, busy_wait_s=PATIENT_S) as db:
                memory = AgenticMemory(db, embedder=self._embedder)
                for number in range(4):
                    memory.remember(f"child{os.getpid()} outlives {number}")
                    say(fact=f"child{os.getpid()} outlives {number}")
                    theirs.send("remembered")
                    theirs.recv()
        mine.recv()
        self._db.close()
        self._stranger.pipe.send("open, remember, close")
        say(fact=self._stranger.receive())
        for _ in range(3):
            mine.send("go on")
            mine.recv()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        self._stranger.kill()

    @contextmanager
    def _busy(self, state: str) -> Iterator[None]:
        """Let threads recall or write meanwhile."""
        calls = []
        if "recalling" in state:
            calls += [lambda: self.memory.recall("fact1", top_k=3)] * 2
        if "writing" in state:
            calls += [self._fact_and_pause] * 2
        stop, failed = threading.Event(), []

        def loop(call: Any) -> None:
            try:
                while not stop.is_set():
                    call()
            except BaseException as exc:  # noqa: BLE001 - told below
                failed.append(f"{type(exc).__name__}: {exc}")

        threads = [threading.Thread(target=loop, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        time.sleep(self._random.uniform(0, 0.02))
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        for failure in failed:
            say(failure=failure)

    def _forked(self, state: str, action: str) -> str:
        """Fork, let the child act, and return what it said within the time it has."""
        sys.stdout.flush()
        read, write = os.pipe()
        if state == "embedding":
            # In the middle of a call: the child is asked to go on with it.
            self._fork_in_embedder = True
            self._child = 0
            outcome = outcome_of(self.fact)
            if self._child_of_embedder:
                _end(write, outcome, action)
            child = self._child
        else:
            child = os.fork()
            if child == 0:
                faulthandler.dump_traceback_later(LONGEST_S - 1)
                signal.alarm(30)
                _end(write, outcome_of(lambda: self._act(action)), action)
        os.close(write)
        return _watched(child, read)

    def _embed(self, texts: list[str]) -> list[list[float]]:
        """Return vectors; fork before that where it was asked for."""
        if self._fork_in_embedder:
            self._fork_in_embedder = False
            self._child = os.fork()
            if self._child == 0:
                self._child_of_embedder = True
                signal.alarm(30)
        return vectors(texts)

    def _act(self, action: str) -> None:
        """Do in the child what it is for."""
        if action == "recall":
            found = self.memory.recall("fact1", top_k=3)
            assert "fact1 of" in "".join(hit.summary for hit in found)
        elif action == "remember":
            text = f"child{os.getpid()} went on"
            self.memory.remember(text)
            say(fact=text)
        elif action == "reopen":
            text = f"child{os.getpid()} opened anew"
            with Database(self._path, busy_wait_s=PATIENT_S) as db:
                AgenticMemory(db, embedder=self._embedder).remember(text)
            say(fact=text)

    def _pooled(self) -> str:
        """Use the inherited store in a pool of forked processes."""
        global _inherited  # noqa: PLW0603 - what a pool's processes inherit
        _inherited = self.memory
        with multiprocessing.get_context("fork").Pool(2) as pool:
            try:
                outcomes = pool.map_async(_in_pool, range(4)).get(LONGEST_S)
            except multiprocessing.TimeoutError:
                return HUNG
        return WORKED if set(outcomes) <= {WORKED} else sorted(set(outcomes) - {WORKED})[0]


_inherited: AgenticMemory


def _visit(path: str, pipe: Connection) -> None:
    """Open the store, remember one thing and close it, whenever asked to."""
    for number in itertools.count():
        pipe.recv()
        text = f"stranger {number}"
        with Database(path, busy_wait_s=PATIENT_S) as db:
            AgenticMemory(db, embedder=CallableEmbedder(vectors, 4, "lengths")).remember(text)
        pipe.send(text)


def vectors(texts: list[str]) -> list[list[float]]:
    """Return a vector per text."""
    return [[1.0, float(len(text)), float(text.count("1")), 0.5] for text in texts]


def _in_pool(number: int) -> str:
    """Recall or remember with what was inherited."""
    call = _inherited.stats if number % 2 else lambda: _inherited.recall("fact1")
    return outcome_of(call)


def outcome_of(call: Any) -> str:
    """Return ``worked``, or the name of what a call raises."""
    try:
        call()
    except BaseException as exc:  # noqa: BLE001 - its name is the answer
        name = type(exc).__name__
        return name if isinstance(exc, ForkedStore) else f"{name}: {exc}"
    return WORKED


def say(**told: object) -> None:
    """Write one line."""
    os.write(1, f"{json.dumps(told)}\n".encode())


def _end(write: int, outcome: str, action: str) -> None:
    """Tell what happened in a child, and end it: as a process ends, or at once."""
    os.write(write, outcome.encode())
    os.close(write)
    if action == "_exit":
        os._exit(0)
    sys.exit(0)


def _watched(child: int, read: int) -> str:
    """Return what a child said, once it has ended; kill it when its time is over."""
    deadline = time.monotonic() + LONGEST_S
    said = b""
    while time.monotonic() < deadline:
        if select.select([read], [], [], 0.001)[0]:
            said += os.read(read, 4096)
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            said += os.read(read, 4096)
            os.close(read)
            code = os.waitstatus_to_exitcode(status)
            return said.decode() if code == 0 else f"ended with {code}: {said.decode()}"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(read)
    return HUNG


def run(path: str, seed: int, forks: int, first: int, close: bool) -> None:
    """Fork so often, in every state and for every action in turn; then close, or be killed."""
    end_with_parent()
    plants.plant_chosen()
    forker = Forker(path, seed)
    for number in range(first, first + forks):
        # Five states and six actions: every pair comes up once in thirty.
        state, action = STATES[number % len(STATES)], ACTIONS[number % len(ACTIONS)]
        if state == "embedding" and action not in ("exit", "_exit"):
            # The child has a call to end, and nothing else to do.
            action = "exit" if number % 2 else "_exit"
        forker.fork(state, action)
    if close:
        forker.close()
    say(ended=Path(path).name)
    if not close:
        os.kill(os.getpid(), signal.SIGKILL)
