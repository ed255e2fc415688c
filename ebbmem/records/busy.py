"""Waiting for the locks of other processes."""

from __future__ import annotations

import time
from typing import Final

_FIRST_NAP_S: Final = 0.0005
LONGEST_NAP_S: Final = 0.02


class BusyWait:
    """SQLite's busy handler: naps that grow, up to a bound, and that Ctrl-C ends.

    Parameters
    ----------
    limit_s : float
        Seconds after which the lock is given up.
    """

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self.waited_s = 0.0
        """Seconds that were waited before the wait that is next."""
        self._deadline = 0.0

    def __call__(self, calls_before: int) -> bool:
        """Nap and return whether to try again; ``calls_before`` counts from 0 for each wait."""
        now = time.monotonic()
        if calls_before == 0:
            self._deadline = now + self.limit_s - self.waited_s
        left = self._deadline - now
        if left <= 0:
            return False
        time.sleep(min(_FIRST_NAP_S * (calls_before + 1), LONGEST_NAP_S, left))
        return True
