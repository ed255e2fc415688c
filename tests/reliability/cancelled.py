"""A process whose calls are interrupted; run by ``cancellations``."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from ebbmem import AgenticMemory
from reliability.stored import opened

BATCH = 40
MONTHS_LATER_S = 40 * 86_400
SIGNALLED = (
    "remember",
    "remember_many",
    "add_turn",
    "correct",
    "erase",
    "recall",
    "recall_many",
    "consolidate",
    "import_",
    "flush",
    "waiting",
)
AWAITED = ("timeout", "cancel")
KINDS = (*SIGNALLED, *AWAITED)


class Outcome(NamedTuple):
    """What became of a call: done, interrupted, or the error it raised."""

    what: str
    took_s: float


class Interrupted:
    """Makes calls of every kind, each in a scope of its own, and takes SIGINT while it does."""

    def __init__(self, path: Path, pipe: Connection) -> None:
        self._pipe = pipe
        self._db = opened(path)
        self._armed = False
        self._random = random.Random(str(path))
        self._executor = ThreadPoolExecutor(2)
        signal.signal(signal.SIGINT, self._on_signal)

    def serve(self) -> None:
        """Make the calls that are asked for, until None is."""
        while (asked := self._pipe.recv()) is not None:
            kind, scope, limit_s = asked
            memory = AgenticMemory(self._db, scope=scope)
            call = self._prepared(kind, memory)
            self._pipe.send("ready")
            if kind in AWAITED:
                outcome = self._awaited(kind, call, limit_s)
            else:
                outcome = self._interruptible(call)
            self._pipe.send(outcome)
        self._executor.shutdown()
        self._db.close()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, as Python does, but only inside a call."""
        if self._armed:
            raise KeyboardInterrupt

    def _interruptible(self, call: Callable[[], Any]) -> Outcome:
        """Make a call that a signal may end."""
        started = time.monotonic()
        what = "done"
        try:
            self._armed = True
            call()
            self._armed = False
        except KeyboardInterrupt:
            what = "interrupted"
        except Exception as exc:  # noqa: BLE001 - told
            what = f"{type(exc).__name__}: {exc}"
        finally:
            self._armed = False
        return Outcome(what, time.monotonic() - started)

    def _awaited(self, kind: str, call: Callable[[], Any], limit_s: float) -> Outcome:
        """Make a call in a thread, and stop waiting for it."""

        async def wait() -> None:
            made = asyncio.get_running_loop().run_in_executor(self._executor, call)
            if kind == "timeout":
                await asyncio.wait_for(made, limit_s)
            else:
                task = asyncio.ensure_future(made)
                await asyncio.sleep(limit_s)
                task.cancel()
                await task

        started = time.monotonic()
        what = "done"
        try:
            asyncio.run(wait())
        except (asyncio.TimeoutError, asyncio.CancelledError):
            what = "interrupted"
        except Exception as exc:  # noqa: BLE001 - told
            what = f"{type(exc).__name__}: {exc}"
        return Outcome(what, time.monotonic() - started)

    def _prepared(self, kind: str, memory: AgenticMemory) -> Callable[[], Any]:
        """Return a call of a kind, all that it needs done before."""
        texts = [f"{memory.scope} number{n} kettle river" for n in range(BATCH)]
        drafts = [{"summary": text, "keywords": [f"k{n % 4}"]} for n, text in enumerate(texts)]
        if kind in ("remember_many", *AWAITED):
            return lambda: memory.remember_many(drafts)
        if kind in ("remember", "waiting"):
            return lambda: memory.remember(texts[0], keywords=["a", "b"], related_to=["c"])
        if kind == "add_turn":
            return lambda: memory.add_turn("user", texts[0])
        if kind == "import_":
            lines = [json.dumps({"role": "user", "content": text}) for text in texts]
            return lambda: self._db.import_(lines, scope=memory.scope, as_memories=True)
        made = memory.remember_many(drafts)
        calls: dict[str, Callable[[], Any]] = {
            "correct": lambda: memory.correct(made[0].id, f"{memory.scope} other"),
            "erase": lambda: memory.erase([one.id for one in made]),
            "recall": lambda: memory.recall("kettle", top_k=BATCH),
            "recall_many": lambda: memory.recall_many([f"number{n}" for n in range(8)]),
            "consolidate": lambda: memory.consolidate(now=time.time() + MONTHS_LATER_S),
            "flush": self._db.flush,
        }
        if kind == "flush":
            memory.recall("kettle", top_k=BATCH)
        return calls[kind]


def interrupted(path: Path, pipe: Connection) -> None:
    """Run in a process of its own."""
    Interrupted(path, pipe).serve()


def hold_lock(path: Path, pipe: Connection) -> None:
    """Hold the write lock for as long as is asked for, whenever it is."""
    import apsw  # noqa: PLC0415 - the library takes the lock nowhere but in its own calls

    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(60_000)
    with suppress(EOFError):
        while True:
            hold_s = pipe.recv()
            connection.execute("BEGIN IMMEDIATE")
            pipe.send("held")
            time.sleep(hold_s)
            connection.execute("ROLLBACK")
            pipe.send("free")
