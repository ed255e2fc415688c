"""A bounded ranking of what words match: the formula, every step rounded once, the best first."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

H = 3_600_000_000
few = st.sampled_from
rows = st.lists(
    st.tuples(
        few([1.0, 5.0, 10.0]),  # importance
        few([0.0, 0.1, 1.0]),  # strength
        few([0.0, 0.5]),  # intensity
        few([0, H, -(10**15), 10**17, -(10**17)]),  # last access
        few([0, 1, -(2**63)]),  # newness
    ),
    min_size=1,
    max_size=40,
)


def columns_of(found):
    types = (np.float64, np.float64, np.float64, np.int64, np.int64)
    return [np.array(c, t) for c, t in zip(zip(*found, strict=True), types, strict=True)]


def top(slots, bm25, columns, **changed):
    rule = {
        "now_us": 0, "unit_us": H, "stability": 720.0, "exponent": 0.1542, "lexical": 1.0,
        "idf": 7.0, "floor": 0.8, "k": 3,
    } | changed  # fmt: skip
    return _core.top_bounded(np.array(slots, np.int64), np.array(bm25, float), *columns, **rule)


def expected(matched, columns, rule):
    """Return the ranking by plain Python, from R as the law's own column gives it."""
    importance, strength, intensity, since, newness = (column.tolist() for column in columns)
    law = (rule["now_us"], H, 720.0, 0.1542)
    r = _core.power_of_strength(*columns[:4], *law).tolist()
    scored = []
    for slot, bm25 in matched:
        familiar = rule["lexical"] * bm25 / rule["idf"] / rule["lexical"]
        retention = rule["floor"] + (1.0 - rule["floor"]) * r[slot]
        score = (1.0 - (1.0 - familiar)) * retention
        if score > 0:
            scored.append((slot, score, familiar, r[slot], retention))
        stability = 720.0 * (1 + 2 * strength[slot]) * (1 + 2 * intensity[slot])
        stability *= 1 + 2 * (importance[slot] - 1) / 9
        wanted = oracles.power_retention((law[0] - since[slot]) / H, stability)
        assert r[slot] == pytest.approx(wanted, rel=1e-9)
    scored.sort(key=lambda one: (-one[1], -newness[one[0]], one[0]))
    return [list(part) for part in zip(*scored[: rule["k"]], strict=True)] or [[]] * 5


@settings(max_examples=150, deadline=None)
@given(rows, st.data())
def test_it_is_the_formula(found, data):
    columns = columns_of(found)
    slots = data.draw(st.lists(st.sampled_from(range(len(found))), unique=True))
    bm25 = [data.draw(few([0.0, 1e-300, 0.5, 1.0, 6.999]) | st.floats(0, 7)) for _ in slots]
    rule = {
        "now_us": data.draw(few([0, 10**15, 10**17, -(10**17)])),
        "lexical": data.draw(few([1.0, 0.3, 7.0])),
        "idf": data.draw(few([7.0, 9.1])),
        "floor": data.draw(few([0.0, 0.8, 1.0])),
        "k": data.draw(few([1, 3, 100])),
    }
    before = _core.isa()
    for isa in _core.isas():
        _core.choose_isa(isa)
        got = [part.tolist() for part in top(slots, bm25, columns, **rule)]
        _core.choose_isa(before)
        assert got == expected(list(zip(slots, bm25, strict=True)), columns, rule)


def test_by_hand():
    # Slot 0 was just accessed: R = 1, so 3.5 / 7 = 0.5 counts in full.  Slot 1 was accessed its
    # stability ago (720 h, importance 1): R = 0.9, retention 0.8 + 0.2 * 0.9 = 0.98, and of
    # 5.25 / 7 = 0.75 that leaves 0.735.  Slot 2 matches with 0 and is no match.
    columns = columns_of(
        [(1.0, 0.0, 0.0, 0, 5), (1.0, 0.0, 0.0, -720 * H, 4), (1.0, 0.0, 0.0, 0, 3)]
    )
    slots, scores, familiarity, r, retention = top([0, 2, 1], [3.5, 0.0, 5.25], columns)
    assert slots.tolist() == [1, 0]
    assert scores.tolist() == pytest.approx([0.735, 0.5], abs=1e-12)
    assert familiarity.tolist() == [0.75, 0.5]
    assert r.tolist() == pytest.approx([0.9, 1.0], abs=1e-12)
    assert retention.tolist() == pytest.approx([0.98, 1.0], abs=1e-12)


def test_equal_scores_are_newer_first_then_lower_slot_first():
    columns = columns_of([(1.0, 0.0, 0.0, 0, newness) for newness in (1, 2, 1, 2)])
    assert top([3, 2, 1, 0], [1.0] * 4, columns, k=4)[0].tolist() == [1, 3, 0, 2]
    assert top([3, 2, 1, 0], [1.0] * 4, columns, k=2)[0].tolist() == [1, 3]


def test_nothing_matches_nothing():
    columns = columns_of([(1.0, 0.0, 0.0, 0, 0)])
    assert [len(part) for part in top([], [], columns)] == [0] * 5


@pytest.mark.parametrize("slot", [-1, 1, 2**62])
def test_a_slot_that_is_not_there_is_refused(slot):
    with pytest.raises(InvalidArgument, match="slots"):
        top([slot], [1.0], columns_of([(1.0, 0.0, 0.0, 0, 0)]))


@pytest.mark.parametrize(
    ("name", "wrong", "error"),
    [
        ("k", 0, InvalidArgument),
        ("k", 1.0, InvalidType),
        ("exponent", 0.0, InvalidArgument),
        ("stability", 0.0, InvalidArgument),
        ("idf", "1", InvalidType),
        ("floor", None, InvalidType),
        ("unit_us", 0, InvalidArgument),
        ("now_us", 2**63, InvalidArgument),
    ],
)
def test_what_is_no_rule_is_refused(name, wrong, error):
    with pytest.raises(error, match=name):
        top([0], [1.0], columns_of([(1.0, 0.0, 0.0, 0, 0)]), **{name: wrong})


def test_columns_have_one_length():
    columns = columns_of([(1.0, 0.0, 0.0, 0, 0)] * 2)
    for at, name in enumerate(["strength", "intensity", "since_us", "newness"], 1):
        short = [c[:1] if n == at else c for n, c in enumerate(columns)]
        with pytest.raises(ShapeMismatch, match=name):
            top([0], [1.0], short)
    with pytest.raises(ShapeMismatch, match="bm25"):
        top([0, 1], [1.0], columns)
