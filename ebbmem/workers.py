"""The threads of one store that help its callers: few, shared, and gone with the store.

They run native code alone, which holds no lock of Python's and calls nothing of it.  A caller does
its own work and is helped by those that are free, so it waits for nothing but parts that are under
way; where it is interrupted, nothing goes on that nobody waits for.
"""

from __future__ import annotations

import atexit
import os
import weakref
from typing import Final

from ebbmem import _core

MOST_THREADS: Final = 32
"""How many one store may have, on however many processors."""

_pools: Final[weakref.WeakSet[_core.Workers]] = weakref.WeakSet()


def pool() -> _core.Workers:
    """Return workers, as many as this process has processors, which start when first wanted."""
    made = _core.Workers(min(_processors(), MOST_THREADS))
    _pools.add(made)
    return made


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@atexit.register
def _close() -> None:
    """End the threads of stores that nobody closed."""
    for one in list(_pools):
        one.close()


def _forget_inherited() -> None:
    """Leave, in a forked child, what belongs to the parent's threads."""
    for one in list(_pools):
        one.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_inherited)
