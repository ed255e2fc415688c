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


def test_no_calls():
    told = Meter().told(None, 0)

    assert (told.recall.calls, told.recall.p50_us, told.recall.p99_us) == (0, 0.0, 0.0)
    assert (told.remember.calls, told.abstained, told.index_bytes) == (0, 0, 0)


def test_by_scope_and_in_all():
    meter = Meter()
    meter.recalled("a", 100_000, abstained=False)
    meter.recalled("b", 900_000, abstained=True)
    meter.remembered("b", 50_000)

    assert meter.scopes() == ["a", "b"]
    assert meter.told("a", 7).recall.calls == 1
    assert meter.told("a", 7).index_bytes == 7
    assert meter.told("b", 0).abstained == 1
    assert meter.told("b", 0).remember.p50_us == pytest.approx(50, rel=1 / 15)
    assert meter.told(None, 0).recall.calls == 2
    assert meter.told(None, 0).recall.p99_us == pytest.approx(900, rel=1 / 15)
    assert meter.told("never called", 0).recall.calls == 0


def test_keeps_the_scopes_called_last_and_every_call_in_all():
    meter = Meter()
    for number in range(MOST_SCOPES + 5):
        meter.remembered(f"s{number}", 1_000)
    meter.remembered("s5", 1_000)

    scopes = meter.scopes()

    assert len(scopes) == MOST_SCOPES
    assert scopes[-1] == "s5"
    assert "s4" not in scopes
    assert meter.told("s5", 0).remember.calls == 2
    assert meter.told(None, 0).remember.calls == MOST_SCOPES + 6


def test_forgets_a_scope():
    meter = Meter()
    meter.remembered("secret", 1_000)
    meter.forget("secret")

    assert meter.scopes() == []
    assert meter.told(None, 0).remember.calls == 1


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

    assert meter.told("a", 0).recall.calls == meter.told(None, 0).abstained == 8_000
