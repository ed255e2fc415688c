"""The scores of a product ranking as they are shown: the formula, every step rounded once."""

from __future__ import annotations

import math

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

S = 1_000_000
moments = st.integers(-(10**15), 10**15) | st.sampled_from([-(2**63), 2**63 - 1, 0])
rows = st.lists(st.tuples(st.floats(-1, 1), st.floats(1, 10), moments), min_size=1, max_size=30)


def product_scores(found, slots, now=0, *, unit=S, rate=0.05):
    cosines, importance, since = (np.array(c) for c in zip(*found, strict=True))
    chosen = np.array(slots, dtype=np.int64)
    return _core.product_scores(chosen, cosines[chosen], importance, since, now, unit, rate)


@settings(max_examples=200)
@given(rows, st.data())
def test_it_is_the_formula(found, data):
    slots = data.draw(st.lists(st.sampled_from(range(len(found)))))
    now, rate = data.draw(moments), data.draw(st.floats(0, 1))
    columns = product_scores(found, slots, now, rate=rate)
    for slot, near, weight, retained, score in zip(slots, *columns, strict=True):
        cos, importance, since = found[slot]
        age_s = max(now - since, 0) / S
        assert (near, weight) == ((cos + 1) / 2, importance)
        assert retained == pytest.approx(math.exp(-(rate * age_s)), rel=4.5e-16, abs=1e-323)
        assert score == near * weight * retained  # from what it gave: bit for bit
        wanted = oracles.ebbinghaus_score(cos, importance, age_s, rate)
        assert score == pytest.approx(wanted, rel=1e-15, abs=1e-322)


def test_by_hand():
    # 20 s at 0.05/s: e^-1 = 0.36787944; (0.5 + 1) / 2 * 8 * 0.36787944 = 2.2072766
    columns = product_scores([(-1.0, 2.0, 0), (0.5, 8.0, 0)], [1, 0], 20 * S)
    assert [c.tolist() for c in columns[:2]] == [[0.75, 0.0], [8.0, 2.0]]
    assert columns[2] == pytest.approx([0.36787944] * 2, abs=1e-8)
    assert columns[3] == pytest.approx([2.2072766, 0.0], abs=1e-7)


def test_what_has_not_begun_to_fade_has_faded_not_at_all():
    assert product_scores([(1.0, 3.0, 10 * S)], [0])[3].tolist() == [3.0]


@pytest.mark.parametrize("slot", [-1, 1, 2**62])
def test_a_slot_that_is_not_there_is_refused(slot):
    with pytest.raises(InvalidArgument, match="slots"):
        _core.product_scores(
            np.array([slot]), np.ones(1), np.ones(1), np.zeros(1, np.int64), 0, S, 0.05
        )


def test_what_cannot_be_is_refused():
    for rate in (-0.1, math.nan, math.inf):
        with pytest.raises(InvalidArgument, match="rate"):
            product_scores([(1.0, 3.0, 0)], [0], rate=rate)
    good = [np.zeros(1, np.int64), np.ones(1), np.ones(1), np.zeros(1, np.int64)]
    for at, name in enumerate(("slots", "cosines", "importance", "since_us")):
        wrong = list(good)
        wrong[at] = good[at].astype(np.float32)
        with pytest.raises(InvalidType, match=name):
            _core.product_scores(*wrong, 0, S, 0.05)
    with pytest.raises(ShapeMismatch, match="cosines"):
        _core.product_scores(good[0], np.ones(2), *good[2:], 0, S, 0.05)
    with pytest.raises(ShapeMismatch, match="since_us"):
        _core.product_scores(*good[:3], np.zeros(2, np.int64), 0, S, 0.05)
