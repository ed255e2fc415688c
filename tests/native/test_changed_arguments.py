"""What another thread, or a collection of garbage, changes during a call does no harm."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

from ebbmem import _core
from ebbmem.errors import InvalidArgument

COUNT = 50_000
FAR = 1 << 40


def arena() -> _core.Arena:
    made = _core.Arena(4)
    made.append(np.ones((COUNT, 4), np.float32))
    return made


def fading() -> _core.Fading:
    made = _core.Fading()
    made.append(np.ones(COUNT), np.zeros(COUNT, np.int64))
    return made


def postings() -> _core.Postings:
    made = _core.Postings()
    made.append(np.ones(COUNT, np.uint64), np.arange(1, COUNT + 1))
    return made


def words() -> _core.WordVectors:
    made = _core.WordVectors(8)
    made.append(np.ones(COUNT, np.uint32), np.ones(COUNT, np.int32), np.arange(1, COUNT + 1))
    return made


QUERY = np.ones(4, np.float32)
TERM = np.ones(1, np.uint64)
BUCKET, ONCE = np.ones(1, np.uint32), np.ones(1, np.int32)
Call = Callable[[np.ndarray], object]


def bounded(texts: _core.Postings) -> Call:
    """Return a ranking that is told what links reached."""
    none, values, mask = np.empty(0, np.int64), np.ones(COUNT), np.ones(COUNT, bool)
    moments = np.zeros(COUNT, np.int64)
    matched = (np.zeros(1, np.int64), np.ones(1), none.astype(np.uint64), mask)
    rule = (0, 1, 1.0, 0.5, 1.0, 1.0, 1.0, 0.5, 0.0, 0, 0, 1.0, False, 5)
    columns = (values, values, values, moments, moments)
    return lambda slots: _core.Bounded(
        texts, TERM, 1.2, 0.75, *matched, slots, values, *columns, *rule
    ).best()


def calls() -> dict[str, Call]:
    rows, lines, texts, vectors = arena(), fading(), postings(), words()
    return {
        "arena.tombstone": rows.tombstone,
        "arena.copy_rows": rows.copy_rows,
        "dots": lambda slots: _core.dots(rows, QUERY, slots),
        "fading.tombstone": lines.tombstone,
        "fading.log_weights": lambda slots: lines.log_weights(slots, 0, 0.1),
        "postings.tombstone": texts.tombstone,
        "postings.bm25": lambda slots: texts.bm25(TERM, 1.2, 0.75, slots),
        "Bounded": bounded(texts),
        "words.tombstone": vectors.tombstone,
        "cosines": lambda slots: vectors.cosines(BUCKET, ONCE, slots),
    }


def change_slots_during_calls() -> None:
    """Call while another thread lets slots be far away, and near again."""
    slots, done = np.arange(COUNT), threading.Event()

    def change() -> None:
        while not done.is_set():
            slots[COUNT // 2 :: 1000] = FAR
            slots[COUNT // 2 :: 1000] = 1

    threading.Thread(target=change, daemon=True).start()
    for call in calls().values():
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            with contextlib.suppress(InvalidArgument):
                call(slots)
    done.set()


def test_slots_that_another_thread_changes_are_read_once() -> None:
    """What was checked is what is used: slots far away were written to otherwise."""
    code = "from native.test_changed_arguments import *; change_slots_during_calls()"
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", code], env=path, check=False, timeout=60)
    assert ran.returncode == 0


class Clears:
    """Clears a list when it is collected, as part of a cycle."""

    def __init__(self, rows: list[object]) -> None:
        self.rows, self.itself = rows, self

    def __del__(self) -> None:
        self.rows.clear()


def with_a_collection(rows: list[object], call: Callable[[], object]) -> object:
    """Return what a call finds while garbage is collected that clears its list."""
    before = gc.get_threshold()
    gc.collect()
    Clears(rows)
    gc.set_threshold(30)  # some dozen tuples further on
    try:
        return call()
    finally:
        gc.set_threshold(*before)


def test_a_list_that_a_collection_clears_is_sealed_whole() -> None:
    """Python up to 3.11 may collect garbage whenever a tuple is made."""
    texts = (b"id", "fact", "summary", None, "", 5.0, 0.0, 0.0, 0.1, 0.55)
    row = (0, 0, *texts, 1, 1, 1, 1, *[None] * 4, 0, 1, 0, None, None, None, b"", *[None] * 3)
    births, events = [row] * 90, [(1, b"payload")] * 90
    wanted = _core.sealed_births(births, 1, 1, None), _core.sealed_events(1, 1, "kind", events)
    found = (
        with_a_collection(births, lambda: _core.sealed_births(births, 1, 1, None)),
        with_a_collection(events, lambda: _core.sealed_events(1, 1, "kind", events)),
    )
    assert found == wanted
