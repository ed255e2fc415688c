"""What success and failure do to S and R, whatever they were."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import Reinforcement
from ebbmem.errors import InvalidType
from ebbmem.reinforcement import Strength, failure, success

unit = st.floats(0, 1)
states = st.builds(Strength, unit, unit)
rules = st.builds(Reinforcement, st.floats(0.1, 0.3), st.floats(0.2, 0.4))
many = settings(max_examples=200)


@many
@given(rules, states)
def test_success_is_the_formula(rule, before):
    r, s = oracles.recalled(before.retrievability, before.storage, rule.beta)
    assert rule.succeed(before) == pytest.approx((s, r), rel=1e-15)


@many
@given(rules, states)
def test_failure_is_the_formula(rule, before):
    r, s = oracles.failed(before.retrievability, before.storage, rule.gamma)
    assert rule.fail(before) == pytest.approx((s, r), rel=1e-15)


@many
@given(rules, st.lists(states, max_size=40))
def test_each_of_many_is_the_one_bit_for_bit(rule, before):
    storage, r = (np.array([one[part] for one in before]) for part in (0, 1))
    for one_by_one, each, much in (
        (rule.succeed, success, rule.beta),
        (rule.fail, failure, rule.gamma),
    ):
        after = list(zip(*(column.tolist() for column in each(storage, r, much)), strict=True))
        assert after == [one_by_one(one) for one in before]


@many
@given(rules, states)
def test_both_stay_between_zero_and_one(rule, before):
    for after in (rule.succeed(before), rule.fail(before)):
        assert 0 <= after.storage <= 1
        assert 0 <= after.retrievability <= 1


@many
@given(rules, states)
def test_success_never_weakens_and_failure_never_strengthens(rule, before):
    assert rule.succeed(before).storage >= before.storage
    assert rule.fail(before).storage <= before.storage
    assert rule.fail(before).retrievability <= before.retrievability


@many
@given(rules, unit, unit, unit)
def test_the_more_forgotten_the_more_it_gains(rule, storage, one, other):
    faded, fresh = sorted((one, other))
    gained = rule.succeed(Strength(storage, faded)).storage
    assert gained >= rule.succeed(Strength(storage, fresh)).storage


@many
@given(rules, unit, unit, unit)
def test_the_more_expected_the_more_a_failure_costs(rule, storage, one, other):
    faded, fresh = sorted((one, other))
    left = rule.fail(Strength(storage, fresh)).storage
    assert left <= rule.fail(Strength(storage, faded)).storage


def test_restored_retrievability_is_at_least_a_half():
    assert Reinforcement().succeed(Strength(0.0, 0.0)).retrievability == 0.5 + 0.05


def test_strength_approaches_one_and_never_passes_it():
    state = Strength(0.0, 0.0)
    for _ in range(10_000):
        state = Reinforcement(beta=0.3).succeed(Strength(state.storage, 0.0))
    assert 0.99 < state.storage <= 1


@pytest.mark.parametrize("name", ["beta", "gamma"])
@pytest.mark.parametrize("value", ["0.2", None, True, [0.2]])
def test_coefficients_must_be_numbers(name, value):
    with pytest.raises(InvalidType, match=name):
        Reinforcement(**{name: value})
