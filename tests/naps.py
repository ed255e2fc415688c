"""Time that passes only where somebody naps: waits can be measured, and take none."""

from __future__ import annotations

import threading


class Naps:
    """Stands for the module ``time`` where locks are waited for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now_s = 0.0
        self.taken = 0
        """How many naps were taken."""

    def monotonic(self) -> float:
        """Return how long was napped in all, in seconds."""
        return self._now_s

    def sleep(self, seconds: float) -> None:
        """Nap for so long, at once."""
        with self._lock:
            self._now_s += seconds
            self.taken += 1
