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
NAMES = (
    "row", "strength", "anchor", "intensity", "accessed", "accesses", "r", "similarity", "succeeded"
)  # fmt: skip
KINDS = ("i8", "f8", "f8", "f8", "i8", "i8", "f8", "f8", "i8")
TRACE = np.dtype(list(zip(NAMES, KINDS, strict=True)))
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


def strengths(found, unit=HOUR, rate=0.01):
    return _core.Strengths(np.arange(len(found[0])) + FIRST_ROW, *found, unit, rate)


def succeed(found, slots, similarity=None, hits=None, now=0, *, gain=0.1, guard=(), **law):
    slots = np.array(slots, dtype=np.int64)
    near = np.zeros(len(slots)) if similarity is None else np.array(similarity)
    hits = len(slots) if hits is None else hits
    return np.frombuffer(
        strengths(found, **law).succeed(slots, near, hits, now, gain, *guard), TRACE
    )


@settings(max_examples=200)
@given(memories, st.data())
def test_it_is_the_formula_and_touches_nothing_else(rows, data):
    slots = data.draw(st.lists(st.sampled_from(range(len(rows))), unique=True))
    near = data.draw(st.lists(unit, min_size=len(slots), max_size=len(slots)))
    hits = data.draw(st.integers(0, len(slots)))
    guard = data.draw(st.just(()) | st.tuples(unit, st.integers(0, 10**15)))
    now, rate, gain = data.draw(moments), data.draw(st.floats(0, 1)), data.draw(st.floats(0.1, 0.3))
    found = columns(rows)
    told = succeed(found, slots, near, hits, now, gain=gain, guard=guard, rate=rate)
    wanted = [list(row) for row in rows]
    for i, slot in enumerate(slots):
        s, anchor, intensity, accessed, accesses = rows[slot]
        idle_h = max(now - accessed, 0) / HOUR
        r = anchor * math.exp(-(rate * ((1 - 0.75 * s) * (1 - 0.8 * intensity))) * idle_h)
        assert told["r"][i] == pytest.approx(r, rel=4e-16, abs=5e-324)
        lets = not guard or (near[i] >= guard[0] and max(now - accessed, 0) >= guard[1])
        if i < hits and lets:
            got = told["r"][i]
            after = s + gain * (1 - got) * (1 - s)  # from the R it gave: bit for bit
            wanted[slot] = [after, 0.5 + 0.5 * after, intensity, max(accessed, now), accesses + 1]
        assert told["succeeded"][i] == (i < hits and lets)
    assert [list(row) for row in zip(*(c.tolist() for c in found), strict=True)] == wanted


@settings(max_examples=100)
@given(memories, st.data())
def test_it_tells_what_each_was_like_before(rows, data):
    slots = data.draw(st.lists(st.sampled_from(range(len(rows))), unique=True))
    near = data.draw(st.lists(unit, min_size=len(slots), max_size=len(slots)))
    told = succeed(columns(rows), slots, near)
    before = [(FIRST_ROW + slot, *rows[slot]) for slot in slots]
    assert [t[:6] for t in told.tolist()] == before
    assert told["similarity"].tolist() == near


def test_by_hand():
    found = columns([(0.1, 0.55, 0.0, 0, 1)])
    # 480 h: R = 0.55 e^(-0.01 * 0.925 * 480) = 0.55 e^-4.44 = 0.0064878
    (r,) = succeed(found, [0], now=480 * HOUR)["r"]
    assert r == pytest.approx(0.0064878, abs=1e-7)
    assert [c[0] for c in found] == pytest.approx([0.18941610, 0.59470805, 0, 480 * HOUR, 2])


def test_a_slot_that_comes_twice_succeeds_twice():
    twice, by_one = (columns([(0.1, 0.55, 0.3, 0, 1)]) for _ in range(2))
    got = succeed(twice, [0, 0], now=HOUR)
    wanted = [succeed(by_one, [0], now=HOUR)[0] for _ in range(2)]
    assert got.tolist() == [one.item() for one in wanted]
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
    with pytest.raises(ShapeMismatch, match="similarity"):
        succeed(found, [0, 1], [1.0])
    with pytest.raises(InvalidArgument, match="hits"):
        succeed(found, [0], hits=-1)
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
    (r,) = succeed(found, [0], now=2**63 - 1)["r"]
    assert r == 0.0
    assert found[3].tolist() == [2**63 - 1]


def test_what_is_accessed_later_than_now_does_not_rest():
    ahead = columns([(0.5, 0.75, 0.0, 11, 1)])
    (told,) = succeed(ahead, [0], [1.0], now=10, guard=(0.0, 1))
    assert told["succeeded"] == 0
    assert ahead[4].tolist() == [1]


def test_a_guard_by_hand():
    found = columns([(0.5, 0.75, 0.0, at, 1) for at in (0, 0, 41, 40)])
    told = succeed(found, range(4), [0.29, 0.3, 1.0, 1.0], now=100, guard=(0.3, 60))
    assert told["succeeded"].tolist() == [0, 1, 0, 1]
    assert found[4].tolist() == [1, 2, 1, 2]


def test_accesses_stop_at_the_largest_number():
    found = columns([(0.5, 1.0, 0.0, 0, 2**63 - 1)])
    succeed(found, [0, 0])
    assert found[4].tolist() == [2**63 - 1]


recalls = st.lists(st.tuples(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=8),
                             moments, unit), max_size=6)  # fmt: skip


@settings(max_examples=200)
@given(st.lists(memories.map(lambda rows: rows[0]), min_size=6, max_size=6), recalls)
def test_the_last_success_of_each_is_what_is_kept(rows, recalls):
    found = columns(rows)
    told = []
    for chosen, now, gain in recalls:
        # Of each slot once: those of a recall that succeed come first.
        once = dict(chosen)
        slots = sorted(once, key=lambda slot: not once[slot])
        hits = sum(once.values())
        traces = succeed(found, slots, None, hits, now, gain=gain)
        told.append((traces.tobytes(), now, gain))
    touched = {slot for chosen, *_ in recalls for slot, hit in dict(chosen).items() if hit}
    wanted = [
        (FIRST_ROW + slot, found[0][slot], found[1][slot], found[3][slot], found[4][slot])
        for slot in sorted(touched)
    ]
    rows, events = _core.retold(tuple(told))
    assert rows == wanted
    assert [now for now, _ in events] == [now for _, now, _ in told]


def test_what_was_before_goes_into_the_history():
    found = columns([(0.1, 0.5, 0.0, 0, 1), (0.2, 0.6, 0.0, 0, 2)])
    traces = succeed(found, [1, 0], None, 1).tobytes()
    rows, ((now, past),) = _core.retold(((traces, 7, 0.0),))
    assert ([row for row, *_ in rows], now) == ([FIRST_ROW + 1], 7)
    packed = np.frombuffer(past, "<i8,<f8,<f8").tolist()
    assert packed == [(FIRST_ROW + 1, 0.2, 0.6), (FIRST_ROW, 0.1, 0.5)]
    # The row, S = 0.2 and R = 0.6, the lowest byte first.
    first = f"{FIRST_ROW + 1:016x}", "3fc999999999999a", "3fe3333333333333"
    assert past[:24] == b"".join(bytes.fromhex(x)[::-1] for x in first)
    assert _core.retold(((b"", 7, 0.0),)) == ([], [(7, b"")])


def test_traces_that_are_none_are_refused():
    with pytest.raises(InvalidArgument, match="traces: expected whole traces of 72 bytes"):
        _core.retold(((b"x" * 71, 0, 0.1),))
    with pytest.raises(InvalidArgument, match="traces"):
        _core.retold(((b"x" * 73, 0, 0.1),))
    for wrong in (((b"", 0),), ((b"", 0, 0.1, 2),)):
        with pytest.raises(ShapeMismatch, match="recalls"):
            _core.retold(wrong)
    for wrong in (((None, 0, 0.1),), ([],), (5,), [(b"", 0, 0.1)]):
        with pytest.raises((TypeError, ShapeMismatch)):
            _core.retold(wrong)
    with pytest.raises(InvalidType, match="now"):
        _core.retold(((b"", 0.5, 0.1),))
    with pytest.raises(InvalidType, match="gain"):
        _core.retold(((b"", 0, "much"),))
    assert _core.retold(()) == ([], [])
