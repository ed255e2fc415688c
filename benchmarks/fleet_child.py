"""What has to be measured in a process of its own; prints one JSON object.

python fleet_child.py visit STORE BUDGET SCOPES WARM_EACH WARM     # recall in every scope
python fleet_child.py open ebbmem|chromadb STORE                   # to the first answer
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import data
from fleet_stores import CUES, name

from ebbmem import Fleet

Took = list[tuple[float, float]]
SAMPLED = 25
"""Scopes visited between two looks at the resident set."""
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def resident_bytes() -> int:
    """Return the resident set of this process, the shared memory of the store's log included."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE_BYTES


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Return wall and CPU seconds of one call."""
    wall, cpu = time.perf_counter(), time.thread_time()
    call()
    return time.perf_counter() - wall, time.thread_time() - cpu


def told(took: Took) -> dict[str, float]:
    """Return medians, and the wall time that 99 % of the calls did not exceed."""
    wall = sorted(one for one, _ in took)
    return {
        "wall_s": median(wall),
        "cpu_s": median(cpu for _, cpu in took),
        "p99_s": wall[min(len(wall) * 99 // 100, len(wall) - 1)],
    }


def visit(
    store: str, budget_bytes: int, scopes: int, warm_each: int, warm_calls: int
) -> dict[str, Any]:
    """Recall in every scope, in random order: once, and ``warm_each`` times more.

    Where all of them stay in RAM, what is timed as warm are ``warm_calls`` in scopes at random.
    """
    cues, chance = data.cues(CUES), random.Random(1)
    warm_up()
    before = resident_bytes()
    cold: Took = []
    warm: Took = []
    most = 0
    with Fleet(store, index_budget=budget_bytes) as fleet:
        order = list(range(scopes))
        chance.shuffle(order)
        for visited, number in enumerate(order):
            memory = fleet[name(number)]
            cold.append(timed(lambda m=memory: m.recall(chance.choice(cues))))
            for _ in range(warm_each):
                warm.append(timed(lambda m=memory: m.recall(chance.choice(cues))))
            if visited % SAMPLED == 0:
                most = max(most, resident_bytes() - before)
        if warm_calls and not fleet.metrics().evictions:
            memories = [fleet[name(number)] for number in chance.choices(order, k=warm_calls)]
            warm = [timed(lambda m=memory: m.recall(chance.choice(cues))) for memory in memories]
        grown = resident_bytes() - before
        use = fleet.metrics()
    return {
        "cold": told(cold),
        "warm": told(warm) if warm else {},
        "most_bytes": max(most, grown),
        "grown_bytes": grown,
        "index_bytes": use.index_bytes,
        "loaded": use.loaded_scopes,
        "evictions": use.evictions,
    }


def warm_up() -> None:
    """Do once all that is measured, in an empty store: its code and tables are in RAM then."""
    with tempfile.TemporaryDirectory() as folder, Fleet(Path(folder) / "empty.db") as fleet:
        fleet["a"].remember_many(["rex the dog", "tom the cat"])
        assert len(fleet["a"].recall("rex")) == 1
    gc.collect()


def open_ebbmem(store: str, cue: str) -> Callable[[], list[str]]:
    """Return what opens ebbmem's store and asks it."""

    def ask() -> list[str]:
        fleet = Fleet(store)
        return [hit.summary for hit in fleet[name(0)].recall(cue)]

    return ask


def open_chromadb(store: str, cue: str) -> Callable[[], list[str]]:
    """Return what opens chromadb's store and asks it, with the same embedder."""
    import peers  # noqa: PLC0415 - not loaded where ebbmem is measured

    from ebbmem import HashingEmbedder  # noqa: PLC0415

    peers.load("chromadb")
    embedder = HashingEmbedder()
    return lambda: peers.Chroma(Path(store), embedder.embed_many).recall(cue, 10)


OPENED = {"ebbmem": open_ebbmem, "chromadb": open_chromadb}


def open_to_answer(who: str, store: str) -> dict[str, Any]:
    """Open a store and ask one question; imports are not counted, all threads are."""
    ask = OPENED[who](store, data.cues(1)[0])
    before = resource.getrusage(resource.RUSAGE_SELF)
    wall = time.perf_counter()
    found = ask()
    wall_s = time.perf_counter() - wall
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return {"wall_s": wall_s, "cpu_s": cpu_s, "found": found}


def main(asked: list[str]) -> None:
    """Measure what was asked for."""
    if asked[0] == "visit":
        found = visit(asked[1], *(int(number) for number in asked[2:]))
    else:
        found = open_to_answer(asked[1], asked[2])
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)  # threads of others would have to be waited for
