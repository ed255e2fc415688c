"""Callers that wait behind one who writes, so that they are written together."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

NOW = 1_700_000_000


class Gate:
    """Holds whoever leads inside its transaction until the others wait."""

    def __init__(self, engine):
        self.engine = engine
        self.open = threading.Event()
        self.inside = threading.Event()
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._hold)

    def _hold(self):
        def work(change):
            self.inside.set()
            assert self.open.wait(30)
            if self.error is not None:
                error, self.error = self.error, None
                raise error

        try:
            self.engine.commit("gate", NOW, work)
        except BaseException as exc:  # noqa: BLE001
            self.raised = exc

    def __enter__(self):
        self._thread.start()
        assert self.inside.wait(30)
        return self

    def wait_for(self, count):
        """Wait until so many callers wait."""
        deadline = time.monotonic() + 30
        while len(self.engine._writes.commits._waiting) < count:
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def __exit__(self, *_):
        self.open.set()
        self._thread.join(30)


def behind(gate, works):
    """Let calls wait behind a gate, in order; return their futures once it is open."""
    with ThreadPoolExecutor(len(works)) as pool:
        futures = []
        with gate:
            for n, work in enumerate(works):
                futures.append(pool.submit(work))
                gate.wait_for(n + 1)
        return futures
