"""R16: writes and erasures without end, beside processes that sit idle; nothing grows with them.

First the store is filled to what it then goes on holding; from there every batch that is written
lets as much be erased.  Meanwhile other processes have the store open and do nothing, one of them
with an export of which it took a few lines and forgot the rest.
"""

from __future__ import annotations

import gc
import os
import random
import threading
import time
from contextlib import ExitStack
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from ebbmem import AgenticMemory, Database
from ebbmem.errors import StoreError
from reliability.processes import Worker, folder
from reliability.results import Result
from reliability.stored import opened

READERS = 10
LIVE = 2_000
BATCH = 100
CYCLES_OF_WRITES = 50
"""One opening and closing for so many writes."""
SCOPES_OF_WRITES = 100
"""One scope that is used once for so many writes."""
MOST_LOG_BYTES = 64 << 20
MOST_MEMORY_GROWTH = 0.05
MOST_FILE_GROWTH = 2.0
MORE_DESCRIPTORS = 2
SETTLED = 0.2
"""Share of the writes after which memory is looked at."""
GROWTH = "growth of resident memory over the last 80 %"
LOG, MEMORY, DESCRIPTORS, THREADS, FILE, HELD = (
    "log beyond its bound",
    "memory grew beyond its bound",
    "descriptors left open",
    "threads left over",
    "file larger than twice what lives",
    "a forgotten export held the store",
)


def measure(
    rounds: int,
    seed: int,
    seconds: float,
    readers: int = READERS,
    log_bytes: int = MOST_LOG_BYTES,
    growth: float = MOST_MEMORY_GROWTH,
) -> Result:
    """Write so many memories, erase as many but those that live; then open and close.

    ``log_bytes`` and ``growth`` (of resident memory, as a share) are what a run may reach: a short
    one keeps a smaller log, and has not settled as far.
    """
    result = Result.looking_for(
        "R16", "writes", seed, LOG, MEMORY, DESCRIPTORS, THREADS, FILE, HELD
    )
    started = time.monotonic()
    with folder() as where, ExitStack() as stack:
        path = where / "store.db"
        stack.enter_context(Worker(partial(_forget_an_export, path))).receive()
        for _ in range(readers):
            stack.enter_context(Worker(partial(_sit, path))).receive()
        writer = stack.enter_context(Worker(partial(_write, path, (rounds, seed, seconds))))
        largest_log = 0
        while not writer.pipe.poll(0.05):
            log = path.with_name(f"{path.name}-wal")
            largest_log = max(largest_log, log.stat().st_size if log.exists() else 0)
        measured, failures = writer.receive()
        result.trials = int(measured.pop("writes"))
        result.measured = measured | {"MiB, largest log": largest_log / (1 << 20)}
        for kind, example in failures:
            result.fail(kind, example)
        if measured[GROWTH] > growth:
            result.fail(MEMORY, f"{measured[GROWTH]:.1%}")
        if largest_log > log_bytes:
            result.fail(LOG, f"{largest_log / (1 << 20):.1f} MiB")
    result.took_s = time.monotonic() - started
    return result


def _sit(path: Path, pipe: Connection) -> None:
    """Have the store open, recall once, and do nothing."""
    with opened(path) as db:
        AgenticMemory(db).recall("kettle")
        pipe.send("sits")
        pipe.recv()


def _forget_an_export(path: Path, pipe: Connection) -> None:
    """Take some lines of an export, let go of the rest, and do nothing."""
    with opened(path) as db:
        memory = AgenticMemory(db)
        memory.remember_many([f"kettle {n}" for n in range(50)])
        lines = db.export_lines()
        for _ in range(5):
            next(lines)
        del lines
        gc.collect()
        pipe.send("forgotten")
        pipe.recv()


def _write(path: Path, size: tuple[int, int, float], pipe: Connection) -> None:
    """Write and erase; send what grew."""
    writes, seed, seconds = size
    before, failures = _open_now(), []
    with opened(path) as db:
        writer = Writer(db, random.Random(seed))
        writer.run(writes, time.monotonic() + 0.8 * seconds)
        measured = writer.measured()
        lines = db.export_lines()
        next(lines)
        del lines
        gc.collect()
        try:
            writer.write(1)
        except StoreError as exc:
            failures.append((HELD, str(exc)))
    measured["MiB, file"] = path.stat().st_size / (1 << 20)
    measured["times what lives, file"] = path.stat().st_size / _bytes_of_copy(path)
    if measured["times what lives, file"] > MOST_FILE_GROWTH:
        failures.append((FILE, f"{measured['times what lives, file']:.2f}"))
    cycles = max(int(measured["writes"]) // CYCLES_OF_WRITES, 10)
    for number in range(cycles):
        with opened(path) as db:
            if number % 10 == 0:
                AgenticMemory(db, scope=f"cycle{number}").recall("kettle", reinforce=False)
    measured["openings"] = cycles
    after = _open_now()
    for kind, was, now in zip((DESCRIPTORS, THREADS), before, after, strict=True):
        if now > was + (MORE_DESCRIPTORS if kind == DESCRIPTORS else 0):
            failures.append((kind, f"{was} before, {now} after"))
    pipe.send((measured, failures))


def _bytes_of_copy(path: Path) -> int:
    """Return how large a file is that holds the same and nothing else."""
    copy = path.with_name("copy.jsonl")
    with opened(path) as db:
        if hasattr(db, "backup"):
            copy = path.with_name("copy.db")
            db.backup(copy)
        else:
            db.export(copy)
    return copy.stat().st_size


def _open_now() -> tuple[int, int]:
    """Return how many descriptors and threads this process has."""
    gc.collect()
    return len(os.listdir("/proc/self/fd")), threading.active_count()


def _resident_bytes() -> int:
    """Return the resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Writer:
    """Writes batches, and erases the oldest beyond what lives."""

    def __init__(self, db: Database, chosen: random.Random) -> None:
        self._db, self._random = db, chosen
        self._memory = AgenticMemory(db)
        self._ids: list[str] = []
        self._written = self._erased = 0
        self._memory_bytes: list[tuple[int, int]] = []
        """(writes, resident bytes)."""

    def run(self, writes: int, end: float) -> None:
        """Write so many, or as many as there is time for."""
        while self._written < writes and time.monotonic() < end:
            self.write(BATCH)
            if len(self._ids) > LIVE:
                gone, self._ids = self._ids[: -LIVE + BATCH], self._ids[-LIVE + BATCH :]
                self._memory.erase(gone)
                self._erased += len(gone)
            self._memory.recall(f"kettle number{self._written - 1}", top_k=5)
            if self._written % SCOPES_OF_WRITES == 0:
                other = AgenticMemory(self._db, scope=f"s{self._written % (20 * SCOPES_OF_WRITES)}")
                other.recall("kettle", reinforce=False)
            self._memory_bytes.append((self._written, _resident_bytes()))

    def write(self, count: int) -> None:
        """Write one batch."""
        drafts = [
            {
                "summary": f"kettle number{self._written + n} of {self._random.randrange(1000)}",
                "keywords": [f"k{self._random.randrange(500)}"],
            }
            for n in range(count)
        ]
        self._ids += [one.id for one in self._memory.remember_many(drafts)]
        self._written += count

    def growth(self) -> float:
        """Return by how much of itself memory grew from the time it had settled to the end."""
        settled = [size for at, size in self._memory_bytes if at >= SETTLED * self._written]
        tenth = max(len(settled) // 10, 1)
        first, last = settled[:tenth], settled[-tenth:]
        return sum(last) / len(last) / (sum(first) / len(first)) - 1

    def measured(self) -> dict[str, float]:
        """Return what was written, and what memory it took."""
        return {
            "writes": self._written,
            "erasures": self._erased,
            "MiB, resident": self._memory_bytes[-1][1] / (1 << 20),
            GROWTH: self.growth(),
        }
