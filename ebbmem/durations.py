"""Lengths of time as people write them."""

from __future__ import annotations

import re
from datetime import timedelta

from ebbmem.clock import LATEST_US, US_PER_DAY, US_PER_H, US_PER_S
from ebbmem.errors import InvalidArgument, InvalidType

Duration = timedelta | str
"""A timedelta, or a number with a unit: ``"90s" "15m" "12h" "30d" "2w" "1y"``."""

_UNITS_US = {
    "ms": 1_000,
    "s": US_PER_S,
    "m": 60 * US_PER_S,
    "h": US_PER_H,
    "d": US_PER_DAY,
    "w": 7 * US_PER_DAY,
    "y": 365 * US_PER_DAY,
}
_WRITTEN = re.compile(r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*(ms|s|m|h|d|w|y)\s*", re.ASCII)
_LONGEST_US = 10_000 * 365 * US_PER_DAY


def to_duration_us(duration: Duration, argument: str) -> int:
    """Return a duration in microseconds.

    Parameters
    ----------
    duration : timedelta or str
        A timedelta, or a number and a unit out of ``ms s m h d w y`` (a year is 365 days).
    argument : str
        The caller's name for it, for the error message.

    Raises
    ------
    InvalidType
        If it is neither a timedelta nor a string (a bare number has no unit).
    InvalidArgument
        If it cannot be read, is not positive, or is longer than 10,000 years.
    """
    if isinstance(duration, timedelta):
        duration_us = duration // timedelta(microseconds=1)
    elif isinstance(duration, str):
        written = _WRITTEN.fullmatch(duration)
        if written is None:
            raise InvalidArgument.of(argument, "a duration such as '30d' or '12h'", duration)
        duration_us = round(float(written[1]) * _UNITS_US[written[2]])
    else:
        raise InvalidType.of(argument, "a timedelta or a string such as '30d'", duration)
    if not 0 < duration_us <= _LONGEST_US:
        raise InvalidArgument.of(argument, "a positive duration up to 10,000 years", duration)
    return duration_us


def end_us(start_us: int, duration: Duration, argument: str) -> int:
    """Return the moment a duration after another one, at the latest the last of year 9999."""
    return min(start_us + to_duration_us(duration, argument), LATEST_US)
