"""What the harnesses share: how long they may take, and what they tell of a worker that hangs."""

from __future__ import annotations

import pytest

from reliability.processes import python
from reliability.scorecard import FIGURES, SHORT_S

SILENT = """
import threading, time
from reliability.processes import Worker

def stand_still(pipe):
    threading.Thread(target=hang_beside).start()
    hang_here()

def hang_beside():
    time.sleep(60)

def hang_here():
    time.sleep(60)

with Worker(stand_still) as worker:
    worker.{wait}(0.5)
"""


def test_the_short_forms_take_three_minutes_at_most() -> None:
    assert sum(one.short["seconds"] for one in FIGURES.values()) <= SHORT_S


@pytest.mark.parametrize("wait", ["receive", "wait"])
def test_a_worker_that_hangs_is_told_with_the_stack_of_each_thread(wait: str) -> None:
    process = python("-c", SILENT.format(wait=wait), stderr=-1)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 1
    assert all(word in told for word in ("WorkerFailed", "in hang_beside", "in hang_here"))
