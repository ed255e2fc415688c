"""Moments in and out: aware datetimes or epoch seconds, never naive, always microseconds."""

from __future__ import annotations

import math
import os
import time
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import ManualClock, SystemClock
from ebbmem.clock import to_datetime, to_us
from ebbmem.errors import InvalidArgument, InvalidType, NaiveDatetime

UTC = timezone.utc
LAST = datetime.max.replace(tzinfo=UTC)
FIRST = datetime.min.replace(tzinfo=UTC)
moments = st.datetimes(timezones=st.just(UTC))
HUGE = 10**309  # too large for a float


@settings(max_examples=200)
@given(moments)
def test_a_datetime_survives_the_round_trip(moment):
    assert to_datetime(to_us(moment, "now")) == moment


@settings(max_examples=200)
@given(moments, st.timedeltas(-timedelta(hours=23), timedelta(hours=23)))
def test_a_moment_is_the_same_in_every_zone(moment, offset):
    if not FIRST + timedelta(days=2) < moment < LAST - timedelta(days=2):
        return
    elsewhere = moment.astimezone(timezone(offset))
    assert to_us(elsewhere, "now") == to_us(moment, "now")


@settings(max_examples=100)
@given(st.integers(-62_135_596_800, 253_402_300_799))
def test_seconds_are_seconds(seconds):
    assert to_us(seconds, "now") == seconds * 1_000_000
    assert to_us(float(seconds), "now") == seconds * 1_000_000


def test_the_hour_that_comes_twice_is_two_moments():
    first = datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    second = first.replace(fold=1)
    assert to_us(second, "now") - to_us(first, "now") == 3_600 * 1_000_000


@pytest.mark.parametrize(
    ("moment", "us"),
    [
        (0, 0),
        (1.5, 1_500_000),
        (-0.25, -250_000),
        (1e-7, 0),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1),
        (np.float64(2.5), 2_500_000),
        (LAST, 253_402_300_799_999_999),
    ],
)
def test_microseconds(moment, us):
    assert to_us(moment, "now") == us


@pytest.mark.parametrize("moment", [FIRST, LAST])
@pytest.mark.parametrize("hours", [-14, 14])
def test_ends_of_the_calendar_stay_on_it(moment, hours):
    shifted = moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    assert FIRST <= to_datetime(to_us(shifted, "now")) <= LAST


@pytest.mark.parametrize("moment", [253_402_300_799.9999999, 253_402_300_800 - 1e-4])
def test_the_last_second_rounds_down_not_off_the_calendar(moment):
    assert to_datetime(to_us(moment, "now")).year == 9999


def test_naive_datetimes_are_refused_by_name():
    with pytest.raises(NaiveDatetime, match=r"valid_from: expected an aware datetime"):
        to_us(datetime(2024, 1, 1), "valid_from")


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, 1e300, HUGE, -HUGE, 253_402_300_801]
)
def test_moments_off_the_calendar_are_refused(value):
    with pytest.raises(InvalidArgument, match="now"):
        to_us(value, "now")


@pytest.mark.parametrize(
    "value", ["2024-01-01", None, True, timedelta(1), datetime(2024, 1, 1).date(), [0], 1j]
)
def test_other_types_are_refused(value):
    with pytest.raises(InvalidType, match="now"):
        to_us(value, "now")


def test_datetimes_that_come_back_are_aware_utc():
    assert to_datetime(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert to_datetime(0).tzinfo is UTC


def test_the_zone_of_the_process_has_no_influence(monkeypatch):
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    time.tzset()
    try:
        assert to_us(datetime(2024, 1, 1, tzinfo=UTC), "now") == 1_704_067_200_000_000
        assert abs(SystemClock().now_us() - time.time_ns() // 1_000) < 60_000_000
    finally:
        monkeypatch.undo()
        os.environ.setdefault("TZ", "")
        time.tzset()


def test_a_manual_clock_moves_only_when_told():
    clock = ManualClock(100)
    assert [clock.now_us(), clock.now_us()] == [100_000_000, 100_000_000]
    clock.advance(days=1, hours=1, minutes=1, seconds=1.5)
    assert clock.now_us() == 100_000_000 + 90_061_500_000
    clock.advance(seconds=-2)
    assert clock.now_us() == 100_000_000 + 90_059_500_000
    clock.set(datetime(1970, 1, 1, tzinfo=UTC))
    assert clock.now_us() == 0


@pytest.mark.parametrize("name", ["days", "hours", "minutes", "seconds"])
@pytest.mark.parametrize("value", ["1", None, math.nan, math.inf, HUGE, True])
def test_a_manual_clock_refuses_what_is_no_time(name, value):
    clock = ManualClock(100)
    with pytest.raises((InvalidArgument, InvalidType), match=name):
        clock.advance(**{name: value})
    assert clock.now_us() == 100_000_000


def test_a_manual_clock_stays_on_the_calendar():
    clock = ManualClock(LAST)
    with pytest.raises(InvalidArgument, match="advance"):
        clock.advance(days=1)
    assert to_datetime(clock.now_us()) == LAST
