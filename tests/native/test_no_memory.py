"""Where there is no memory for an object, that is what is said, wherever it was missing."""

from __future__ import annotations

import struct
import sys

import pytest
from records.samples import memory

from ebbmem import _core
from ebbmem.records import memory_rows
from ebbmem.records.base import StrengthRow

testcapi = pytest.importorskip("_testcapi")
LARGE = 1 << 40
"""A number that Python makes anew."""
MORE = 200
"""Objects than any of the calls makes."""
TRACE = struct.pack("=q3d2q2dq", LARGE, 0.1, 0.55, 0.0, LARGE, LARGE, 0.5, 0.5, 1)


def without_the(nth, call):
    """Call without the n-th object that it makes; return the error, None where there was none."""
    testcapi.set_nomemory(nth, nth + 1)
    try:
        call()
    except (MemoryError, RuntimeError) as exc:
        return exc
    finally:
        testcapi.remove_mem_hooks()
    return None


@pytest.fixture(autouse=True)
def alone():
    """Let no other thread have its turn, and find no memory."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(60.0)
    yield
    sys.setswitchinterval(before)


def strengths():
    row = memory()
    columns = [getattr(row, name) for name in memory_rows.INDEX_COLUMNS]
    told = {row.row_id: StrengthRow(row.row_id, 0.5, 0.75, LARGE, LARGE)}
    return [(*columns, memory_rows.sealed(row)[-1])], told, LARGE


RECALLS = ((TRACE * 3, LARGE, 0.1),) * 2
STRENGTHS = strengths()
EVENTS = [(LARGE, b"told")]
BIRTHS = [memory()] * 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: _core.retold(RECALLS),
        lambda: _core.sealed_strengths(*STRENGTHS),
        lambda: _core.sealed_events(7, LARGE, "recalled", EVENTS),
        lambda: _core.sealed_births(BIRTHS, LARGE, LARGE, "kept"),
    ],
    ids=["retold", "strengths", "events", "births"],
)
def test_no_memory_is_told_as_that(call):
    """It was a RuntimeError where pybind11 noticed it first."""
    call()
    failures = [without_the(nth, call) for nth in range(MORE)]
    assert failures[-1] is None
    assert {type(one) for one in failures} == {MemoryError, type(None)}
