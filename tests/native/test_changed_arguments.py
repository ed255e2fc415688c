"""What others, or a collection of garbage, change during a call does no harm."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType

COUNT = 50_000
FAR = (1 << 61) + (1 << 40)  # of slots and of moments


def arena() -> _core.Arena:
    made = _core.Arena(4)
    made.append(np.ones((COUNT, 4), np.float32))
    return made


def fading() -> _core.Fading:
    made = _core.Fading()
    made.append(np.ones(COUNT), np.zeros(COUNT, np.int64))
    return made


def append_moments(moments: np.ndarray) -> None:
    lines = _core.Fading()
    lines.append(np.ones(COUNT), moments)
    # Those from beyond would not have begun to fade.
    assert lines.log_weights(np.arange(COUNT), 1 << 61, 1.0).max() < 0.0


def postings() -> _core.Postings:
    made = _core.Postings()
    made.append(np.ones(COUNT, np.uint64), np.arange(1, COUNT + 1))
    return made


def words() -> _core.WordVectors:
    made = _core.WordVectors(8)
    made.append(np.ones(COUNT, np.uint32), np.ones(COUNT, np.int32), np.arange(1, COUNT + 1))
    return made


def strengths() -> _core.Strengths:
    numbers, shares = [np.zeros(COUNT, np.int64) for _ in range(3)], np.full((3, COUNT), 0.5)
    return _core.Strengths(numbers[0], *shares, *numbers[1:], 1.0, 0.1)


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
    rows, lines, texts, vectors, columns = arena(), fading(), postings(), words(), strengths()
    values, moments = np.ones(COUNT), np.zeros(COUNT, np.int64)
    return {
        "arena.tombstone": rows.tombstone,
        "arena.copy_rows": rows.copy_rows,
        "dots": lambda slots: _core.dots(rows, QUERY, slots),
        "fading.append": append_moments,
        "fading.tombstone": lines.tombstone,
        "fading.log_weights": lambda slots: lines.log_weights(slots, 0, 0.1),
        "product_scores": lambda slots: _core.product_scores(
            slots, values, values, moments, 0, 1, 0.1
        ),
        "strengths.succeed": lambda slots: columns.succeed(slots, values, COUNT, 0, 0.5),
        "postings.tombstone": texts.tombstone,
        "postings.bm25": lambda slots: texts.bm25(TERM, 1.2, 0.75, slots),
        "Bounded": bounded(texts),
        "words.tombstone": vectors.tombstone,
        "cosines": lambda slots: vectors.cosines(BUCKET, ONCE, slots),
    }


# Mostly near, for what is checked, and then far for a moment.
CHANGES = f"""
import sys
import numpy as np
half = np.memmap(sys.argv[1], np.int64)[{COUNT // 2}:]
while True:
    half[:] = {FAR}
    for _ in range(40):
        half[:] = 1
"""


def call_with(path: str) -> None:
    """Call with slots, or moments, in a file that another process changes."""
    slots = np.memmap(path, np.int64)
    for call in calls().values():
        until = time.thread_time() + 0.2  # a busy machine runs both at once seldom
        while time.thread_time() < until:
            with contextlib.suppress(InvalidArgument):
                call(slots)


def test_what_is_changed_meanwhile_is_read_once(tmp_path: Path) -> None:
    """What was checked is what is used: slots far away were written to otherwise, for one."""
    file = tmp_path / "slots"
    np.arange(COUNT).tofile(file)
    # Another process waits for no lock of this interpreter, nor does numpy for large arrays.
    changes = subprocess.Popen([sys.executable, "-c", CHANGES, file])
    code = "import sys; from native.test_changed_arguments import *; call_with(sys.argv[1])"
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        ran = subprocess.run([sys.executable, "-c", code, file], env=path, check=False, timeout=200)
    finally:
        changes.kill()
        changes.wait()
    assert ran.returncode == 0


class Clears:
    """Clears a list when it is collected, as part of a cycle."""

    def __init__(self, rows: list[object]) -> None:
        self.rows, self.itself = rows, self

    def __del__(self) -> None:
        self.rows.clear()


def with_a_collection(
    rows: list[object], call: Callable[[], object], threshold: int = 30
) -> object:
    """Return what a call finds while garbage is collected that clears its list."""
    before = gc.get_threshold()
    gc.collect()
    Clears(rows)
    gc.set_threshold(threshold)  # so many tuples, or the like, further on
    try:
        return call()
    finally:
        gc.set_threshold(*before)


class ClearsWhenShown:
    """Clears a list when somebody wants to see it."""

    def __init__(self, rows: list[object]) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        self.rows.clear()
        return "shown"


READERS = (
    lambda rows: _core.MemoryRows().take(rows),
    lambda rows: _core.LinkRows().take(rows),
    _core.agreeing_memories,
    lambda rows: _core.sealed_strengths(rows, {}, 1),
    lambda rows: _core.sealed_births(rows, 1, 1, None),
    lambda rows: _core.sealed_events(1, 1, "kind", rows),
)


@pytest.mark.parametrize("read", READERS)
def test_a_refused_row_lives_until_it_was_shown(read: Callable[[list[object]], object]) -> None:
    rows: list[object] = []
    rows += [[ClearsWhenShown(rows)] * 9 for _ in range(3)]
    with pytest.raises(InvalidType, match=r"rows|events"):
        read(rows)


@pytest.mark.parametrize(("width", "read"), [(22, READERS[0]), (7, READERS[1]), (32, READERS[2])])
def test_a_row_lives_until_it_was_read(width: int, read: Callable[[list[object]], object]) -> None:
    """A text that is none makes an exception, and with it perhaps a collection of garbage."""
    for threshold in range(1, 30):
        rows: list[object] = [tuple(["\ud800" + "x" * threshold] * width)]
        assert with_a_collection(rows, lambda rows=rows: read(rows), threshold) == 0


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
