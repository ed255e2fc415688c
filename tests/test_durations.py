"""Lengths of time as people write them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem.durations import to_duration_us
from ebbmem.errors import InvalidArgument, InvalidType

S = 1_000_000
UNITS = {
    "ms": 1_000, "s": S, "m": 60 * S, "h": 3_600 * S, "d": 86_400 * S, "w": 7 * 86_400 * S,
    "y": 365 * 86_400 * S,
}  # fmt: skip


@pytest.mark.parametrize(("unit", "us"), UNITS.items())
@pytest.mark.parametrize("written", ["{}{}", " {} {} ", "{}.0{}"])
def test_a_number_and_a_unit(unit, us, written):
    assert to_duration_us(written.format(3, unit), "expires_in") == 3 * us


@settings(max_examples=100)
@given(st.timedeltas(timedelta(microseconds=1), timedelta(days=365 * 10_000)))
def test_a_timedelta_keeps_its_microseconds(duration):
    assert timedelta(microseconds=to_duration_us(duration, "expires_in")) == duration


@pytest.mark.parametrize(("written", "us"), [("1.5h", 5_400 * S), ("0.5ms", 500), ("90s", 90 * S)])
def test_parts_of_a_unit(written, us):
    assert to_duration_us(written, "expires_in") == us


@pytest.mark.parametrize(
    "written",
    [
        "", " ", "d", "30", "30 days", "-1d", "+1d", "1e3s", "1d2h", "1 d 2 h", "nan d", "inf d",
        "0d", "0.0s", "1D", ".5h", "1.h", "٣d", "1d\0", "1_000s", "10001y",
        "9" * 400 + "d", "0.0001ms",
    ],
)  # fmt: skip
def test_what_cannot_be_read_or_is_not_positive_is_refused(written):
    with pytest.raises(InvalidArgument, match="expires_in"):
        to_duration_us(written, "expires_in")


@pytest.mark.parametrize(
    "duration", [timedelta(0), timedelta(seconds=-1), timedelta.max, timedelta.min]
)
def test_timedeltas_out_of_range_are_refused(duration):
    with pytest.raises(InvalidArgument, match="expires_in"):
        to_duration_us(duration, "expires_in")


@pytest.mark.parametrize("duration", [30, 30.0, None, True, b"30d", ["30d"], {"days": 30}])
def test_a_bare_number_has_no_unit(duration):
    with pytest.raises(InvalidType, match="expires_in"):
        to_duration_us(duration, "expires_in")
