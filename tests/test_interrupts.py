"""An interrupt at any line of a call leaves no scope locked, and nothing half done."""

from __future__ import annotations

import inspect
import sys
import time
from _thread import RLock
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ebbmem import Fleet, recipes
from ebbmem.commits import Last
from ebbmem.desks import SOON_BYTES

WATCHED = "ebbmem/batches.py"
TAKING = "enter_context"
SIGNALLED = tuple(f"ebbmem/{name}.py" for name in ("commits", "remembering", "writes", "desks"))
SIGNALLED += ("ebbmem/records/sqlite.py", "ebbmem/records/writing.py", "contextlib.py")
NOW = 1_700_000_000
RECALLS = ("batches", "engine", "found", "pending", "reconsolidation", "retrieval", "straight")
RECALLING = tuple(f"ebbmem/{name}.py" for name in RECALLS)


class Interrupting:
    """Traces a thread and raises KeyboardInterrupt at the n-th line of the watched files."""

    def __init__(self, nth: int) -> None:
        self.left = nth

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        file, name = frame.f_code.co_filename.replace("\\", "/"), frame.f_code.co_name
        # The end of a `with` counts as a line, but no signal is looked for there.
        if name == "_holding" or not (file.endswith(WATCHED) or name == TAKING):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self


def interrupted(fleet: Fleet, nth: int) -> bool:
    """Recall from two scopes; return whether the interrupt came before the end."""
    before = sys.gettrace()
    sys.settrace(Interrupting(nth))
    try:
        fleet.recall_many([("ann", "tea"), ("bob", "tea")])
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def free(fleet: Fleet, scope: str) -> bool:
    lock = fleet.database.engine.alone(scope)
    if not lock.acquire(timeout=1.0):
        return False
    lock.release()
    return True


def test_an_interrupted_batch_of_recalls_locks_no_scope() -> None:
    with Fleet(":memory:", pending_recalls=0) as fleet, ThreadPoolExecutor(1) as pool:
        fleet.remember_many([("ann", "likes tea"), ("bob", "hates tea")])
        for nth in count(1):
            if not interrupted(fleet, nth):
                break
            for scope in ("ann", "bob"):
                assert pool.submit(free, fleet, scope).result(), nth
    assert nth > 20


class Signalled:
    """Profiles a thread and raises KeyboardInterrupt where the interpreter looks for signals.

    That is where a function begins, and where a call into C has returned; unlike lines, these are
    the only moments in which an interrupt comes.
    """

    def __init__(self, nth: int, files: tuple[str, ...]) -> None:
        self.left = nth
        self.files = files

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename.replace("\\", "/")
        if event not in ("call", "c_return") or not file.endswith(self.files):
            return
        if event == "call" and frame.f_code.co_flags & inspect.CO_GENERATOR:
            return  # one that is gone on with: what is raised here would pass by its handlers
        self.left -= 1
        if self.left == 0:
            sys.setprofile(None)
            raise KeyboardInterrupt


def signalled(call: Callable[[], object], nth: int, files: tuple[str, ...] = SIGNALLED) -> bool:
    """Call; return whether the interrupt came before the end."""
    before = sys.getprofile()
    sys.setprofile(Signalled(nth, files))
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(before)
    return False


def can_be_taken(lock: RLock) -> bool:
    """Return whether this thread can take a lock."""
    if not lock.acquire(timeout=1.0):
        return False
    lock.release()
    return True


def test_an_interrupted_flush_keeps_nobody_from_writing() -> None:
    with Fleet(":memory:") as fleet, ThreadPoolExecutor(1) as pool:
        memory = fleet["ann"]
        memory.remember("likes tea")
        writes = fleet.database.engine._writes
        for nth in count(1):
            memory.recall("tea")
            assert writes._pending
            if not signalled(writes.flush_if_free, nth):
                break
            assert pool.submit(can_be_taken, writes.lock).result(), nth
            pool.submit(memory.remember, f"tea {nth}").result(5.0)
        assert not writes._pending
    assert nth > 20


def test_an_interrupted_look_at_a_desk_locks_no_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    with Fleet(":memory:") as fleet, ThreadPoolExecutor(1) as pool:
        memory = fleet["ann"]
        memory.remember("likes tea")
        desks = fleet.database.engine._desks
        for nth in count(1):
            found = memory.recall("tea", reinforce=False, top_k=10_000)
            with monkeypatch.context() as patched:
                patched.setattr(desks, "tidy", lambda _: None)
                memory.remember("tea" + " leaf" * SOON_BYTES)
            if not signalled(lambda: desks.tidy("ann"), nth):
                break
            assert pool.submit(can_be_taken, desks.lock("ann")).result(), nth
        assert len(found) == nth
    assert nth > 5


def test_an_interrupted_caller_leaves_nothing_that_waits() -> None:
    with Fleet(":memory:") as fleet, ThreadPoolExecutor(1) as pool:
        memory = fleet["ann"]
        writes = fleet.database.engine._writes
        for nth in count(1):
            # So that it first waits for another.
            writes.commits.last = Last(2, time.monotonic() + 0.002)
            if not signalled(lambda nth=nth: memory.remember(f"a {nth}", key=f"a {nth}"), nth):
                break
            assert writes.commits._waiting == []
            assert pool.submit(can_be_taken, writes.lock).result(), nth
            pool.submit(memory.remember, f"b {nth}", key=f"b {nth}").result(5.0)
            assert memory.remember(f"a {nth}", key=f"a {nth}").number <= 2 * nth
        assert memory.stats().memories == 2 * nth - 1
    assert nth > 50


@pytest.mark.parametrize(
    ("recipe", "ask"),
    [
        (recipes.EBBINGHAUS, lambda memory, now: memory.recall("tea", now=now)),
        (recipes.EBBINGHAUS, lambda memory, now: memory.recall_many(["tea"], now=now)),
        (recipes.DEFAULT, lambda memory, now: memory.recall("tea", now=now)),
    ],
    ids=["straight", "batch", "stages"],
)
def test_an_interrupted_recall_strengthens_in_ram_what_it_does_in_the_records(recipe, ask) -> None:
    """One that came when the index had learnt of it, and what waits had not, was in RAM alone."""
    with Fleet(":memory:", recipe=recipe) as fleet:
        memory = fleet["ann"]
        memory.remember_many(["likes tea", "hates tea"], now=NOW)
        ask(memory, NOW)  # what it needs is in RAM from now on
        for nth in count(1):
            ended = not signalled(lambda nth=nth: ask(memory, NOW + nth * 3600), nth, RECALLING)
            assert in_ram(fleet, "ann") == in_records(fleet, "ann"), nth
            if ended:
                break
    assert nth > 20


class ClosedLate:
    """A cursor at which one interrupt comes while it is asked, and one when it was closed."""

    def __init__(self, cursor: Any) -> None:
        self.cursor = cursor
        self.closed = False

    def execute(self, sql: str) -> Any:
        if self.closed:
            return self.cursor.execute(sql)
        raise KeyboardInterrupt

    def close(self, force: bool) -> None:
        self.closed = True
        self.cursor.close(force)
        raise KeyboardInterrupt


def test_a_second_interrupt_leaves_a_cursor_to_ask_by(tmp_path: Path) -> None:
    """The closed one stayed: from then on every recall said that the store was closed."""
    with Fleet(tmp_path / "m.db") as fleet:
        fleet["ann"].remember("likes tea")
        fleet["ann"].recall("tea")
        connection = fleet.database.engine.records._readers._looking.connection
        connection._asking = ClosedLate(connection._asking)
        with pytest.raises(KeyboardInterrupt):
            connection._asked_version()
        assert connection._asked_version() > 0
        assert fleet["ann"].recall("tea").memories


def in_ram(fleet: Fleet, scope: str) -> list[tuple[float, float, int]]:
    with fleet.database.engine.use(scope) as index:
        columns = (index.columns.strength, index.columns.anchor, index.columns.access_count)
        return list(zip(*(column.tolist() for column in columns), strict=True))


def in_records(fleet: Fleet, scope: str) -> list[tuple[float, float, int]]:
    with fleet.database.engine.read(scope) as reader:
        rows = reader.index_rows(reader.scope(scope).scope_id)
        return [(one.storage_strength, one.r_anchor, one.access_count) for one in rows]
