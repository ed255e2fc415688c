"""Success in place: the update of the strengths of some slots, as its formula says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

HOUR = 3_600_000_000
FIRST_ROW = 2**40
NAMES = ("row", "strength", "anchor", "intensity", "accessed", "accesses", "r")
TRACE = np.dtype(list(zip(NAMES, ("i8", "f8", "f8", "f8", "i8", "i8", "f8"), strict=True)))
unit = st.floats(0, 1)
moments = st.integers(-(10**15), 10**15)
memories = st.lists(
    st.tuples(unit, unit, unit, moments, st.integers(0, 10**6)), min_size=1, max_size=40
)


def columns(rows):
    kinds = (np.float64, np.float64, np.float64, np.int64, np.int64)
    return [
        np.array(column, kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)
    ]


def succeed(found, slots, counted=None, now=0, *, unit=HOUR, rate=0.01, gain=0.1):
    slots = np.array(slots, dtype=np.int64)
    mask = None if counted is None else np.array(counted, dtype=np.bool_)
    rows = np.arange(len(found[0])) + FIRST_ROW
    told = np.frombuffer(_core.succeed(slots, mask, rows, *found, now, unit, rate, gain), TRACE)
    return told["r"]


@settings(max_examples=200, deadline=None)
@given(memories, st.data())
def test_it_is_the_formula_and_touches_nothing_else(rows, data):
    slots = data.draw(st.lists(st.sampled_from(range(len(rows))), unique=True))
    counted = data.draw(
        st.none() | st.lists(st.booleans(), min_size=len(slots), max_size=len(slots))
    )
    now, rate, gain = data.draw(moments), data.draw(st.floats(0, 1)), data.draw(st.floats(0.1, 0.3))
    found = columns(rows)
    got = succeed(found, slots, counted, now, rate=rate, gain=gain)
    wanted = [list(row) for row in rows]
    for i, slot in enumerate(slots):
        s, anchor, intensity, accessed, accesses = rows[slot]
        idle_h = max(now - accessed, 0) / HOUR
        r = anchor * math.exp(-(rate * ((1 - 0.75 * s) * (1 - 0.8 * intensity))) * idle_h)
        assert got[i] == pytest.approx(r, rel=4e-16, abs=5e-324)
        if counted is None or counted[i]:
            after = s + gain * (1 - got[i]) * (1 - s)  # from the R it gave: bit for bit
            wanted[slot] = [after, 0.5 + 0.5 * after, intensity, max(accessed, now), accesses + 1]
    assert [list(row) for row in zip(*(c.tolist() for c in found), strict=True)] == wanted


@settings(max_examples=100, deadline=None)
@given(memories, st.data())
def test_it_tells_what_each_was_like_before(rows, data):
    slots = data.draw(st.lists(st.sampled_from(range(len(rows))), unique=True))
    asked = [np.array(slots, np.int64), None, np.arange(len(rows)) + FIRST_ROW, *columns(rows)]
    told = np.frombuffer(_core.succeed(*asked, 0, HOUR, 0.01, 0.1), TRACE)
    assert [t[:-1] for t in told.tolist()] == [(FIRST_ROW + slot, *rows[slot]) for slot in slots]


def test_by_hand():
    found = columns([(0.1, 0.55, 0.0, 0, 1)])
    # 480 h: R = 0.55 e^(-0.01 * 0.925 * 480) = 0.55 e^-4.44 = 0.0064878
    (r,) = succeed(found, [0], now=480 * HOUR)
    assert r == pytest.approx(0.0064878, abs=1e-7)
    assert [c[0] for c in found] == pytest.approx([0.18941610, 0.59470805, 0, 480 * HOUR, 2])


def test_a_slot_that_comes_twice_succeeds_twice():
    twice, by_one = (columns([(0.1, 0.55, 0.3, 0, 1)]) for _ in range(2))
    got = succeed(twice, [0, 0], now=HOUR)
    wanted = [succeed(by_one, [0], now=HOUR)[0] for _ in range(2)]
    assert got.tolist() == wanted
    assert [c.tolist() for c in twice] == [c.tolist() for c in by_one]


@pytest.mark.parametrize("slot", [-1, 3, 2**62])
def test_a_slot_that_is_not_there_changes_nothing(slot):
    found = columns([(0.1, 0.55, 0.0, 0, 1)] * 3)
    before = [c.copy() for c in found]
    with pytest.raises(InvalidArgument, match="slots"):
        succeed(found, [0, slot])
    assert all((a == b).all() for a, b in zip(found, before, strict=True))


def test_what_is_no_column_is_refused_and_nothing_changes():
    found = columns([(0.1, 0.55, 0.0, 0, 1)] * 3)
    names = ("strength", "anchor", "intensity", "accessed", "accesses")
    for at, name in enumerate(names):
        short, wrong, frozen = (list(found) for _ in range(3))
        short[at] = found[at][:2].copy()
        wrong[at] = found[at].astype(np.float32)
        frozen[at] = found[at].copy()
        frozen[at].flags.writeable = False
        with pytest.raises(ShapeMismatch):
            succeed(short, [0])
        with pytest.raises(InvalidType, match=name):
            succeed(wrong, [0])
        if name != "intensity":
            with pytest.raises(InvalidType, match=name):
                succeed(frozen, [0])
    with pytest.raises(ShapeMismatch, match="counted"):
        succeed(found, [0, 1], [True])
    for rate in (-1.0, math.nan, math.inf):
        with pytest.raises(InvalidArgument, match="rate"):
            succeed(found, [0], rate=rate)
    for unit_us in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InvalidArgument, match="unit: expected"):
            succeed(found, [0], unit=unit_us)
    for gain in (-0.1, 1.1, math.nan):
        with pytest.raises(InvalidArgument, match="gain: expected"):
            succeed(found, [0], gain=gain)
    assert [c[0] for c in found] == [0.1, 0.55, 0.0, 0, 1]


def test_moments_at_both_ends_of_the_range_are_as_far_apart_as_they_are():
    # 2^64 us of idle time, 5.1e9 h: nothing is left of R.
    found = columns([(0.5, 1.0, 0.0, -(2**63), 3)])
    (r,) = succeed(found, [0], now=2**63 - 1)
    assert r == 0.0
    assert found[3].tolist() == [2**63 - 1]


def test_accesses_stop_at_the_largest_number():
    found = columns([(0.5, 1.0, 0.0, 0, 2**63 - 1)])
    succeed(found, [0, 0])
    assert found[4].tolist() == [2**63 - 1]
