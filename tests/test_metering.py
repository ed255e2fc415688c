"""Counts of calls: how many, how long, how many abstained; by scope and in all."""

from __future__ import annotations

import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbmem.metering import MOST_SCOPES, Durations, Meter


def nearest_rank(values: list[int], share: float) -> int:
    """Return the smallest value that at least ``share`` of the values do not exceed."""
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


@given(st.lists(st.integers(0, 10**11), min_size=1, max_size=60), st.sampled_from([0.5, 0.99]))
def test_quantile_is_near_the_exact_one(took_ns, share):
    durations = Durations()
    for one in took_ns:
        durations.add(one)

    exact_us = nearest_rank(took_ns, share) / 1_000

    assert durations.quantile_us(share) == pytest.approx(exact_us, rel=1 / 15, abs=0.0)


def of_all(meter):
    return meter.told({})[0]


def by_scope(meter):
    return meter.told({})[1]


def test_no_calls():
    told = of_all(Meter())

    assert (told.recall.calls, told.recall.p50_us, told.recall.p99_us) == (0, 0.0, 0.0)
    assert (told.remember.calls, told.abstained, told.index_bytes) == (0, 0, 0)


def test_by_scope_and_in_all():
    meter = Meter()
    meter.recalled("a", 100_000, abstained=False)
    meter.recalled("b", 900_000, abstained=True)
    meter.remembered(["b"], 50_000)

    total, scopes = meter.told({"a": 7, "never called": 5})

    assert list(scopes) == ["a", "b"]
    assert scopes["a"].recall.calls == 1
    assert (scopes["a"].index_bytes, scopes["b"].index_bytes, total.index_bytes) == (7, 0, 12)
    assert scopes["b"].abstained == 1
    assert scopes["b"].remember.p50_us == pytest.approx(50, rel=1 / 15)
    assert total.recall.calls == 2
    assert total.recall.p99_us == pytest.approx(900, rel=1 / 15)


def test_a_call_of_several_scopes_is_one_in_each_and_in_all():
    meter = Meter()
    meter.remembered(["a", "b"], 1_000)

    assert of_all(meter).remember.calls == 1
    assert [one.remember.calls for one in by_scope(meter).values()] == [1, 1]


def test_keeps_the_scopes_called_last_and_every_call_in_all():
    meter = Meter()
    for number in range(MOST_SCOPES + 5):
        meter.remembered([f"s{number}"], 1_000)
    meter.remembered(["s5"], 1_000)

    scopes = by_scope(meter)

    assert len(scopes) == MOST_SCOPES
    assert list(scopes)[-1] == "s5"
    assert "s4" not in scopes
    assert scopes["s5"].remember.calls == 2
    assert of_all(meter).remember.calls == MOST_SCOPES + 6


def test_forgets_a_scope():
    meter = Meter()
    meter.remembered(["secret"], 1_000)
    meter.forget("secret")

    assert by_scope(meter) == {}
    assert of_all(meter).remember.calls == 1


def test_counts_no_call_twice_and_loses_none_between_threads():
    meter = Meter()

    def call():
        for _ in range(2_000):
            meter.recalled("a", 5_000, abstained=True)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert by_scope(meter)["a"].recall.calls == of_all(meter).abstained == 8_000
