"""An interrupt at any line of a call leaves no scope locked."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from types import FrameType
from typing import Any

from ebbmem import Fleet

WATCHED = "ebbmem/batches.py"
TAKING = "enter_context"


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
