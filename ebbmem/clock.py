"""The one place that asks what time it is.

Inside ebbmem a moment is an integer: UTC microseconds since 1970.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from typing import Protocol

from ebbmem.errors import InvalidArgument, InvalidType, NaiveDatetime

US_PER_S = 1_000_000
US_PER_H = 3_600 * US_PER_S
US_PER_DAY = 24 * US_PER_H
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# Year 1 to year 9999: what a datetime can show.
_EARLIEST_S = -62_135_596_800
_LATEST_S = 253_402_300_799
_EARLIEST_US = _EARLIEST_S * US_PER_S
LATEST_US = (_LATEST_S + 1) * US_PER_S - 1

Moment = datetime | int | float
"""An aware datetime, or seconds since 1970 (UTC)."""


class Clock(Protocol):
    """Where the default of every ``now=`` comes from."""

    def now_us(self) -> int:
        """Return the current moment in UTC microseconds since 1970."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_us(self) -> int:
        """Return the current moment in UTC microseconds since 1970."""
        return time.time_ns() // 1_000


class ManualClock:
    """A clock that moves only when told to.

    Parameters
    ----------
    start : datetime or int or float
        Its first moment: an aware datetime or seconds since 1970.
    """

    def __init__(self, start: Moment = 1_700_000_000) -> None:
        self._now_us = to_us(start, "start")

    def now_us(self) -> int:
        """Return the current moment in UTC microseconds since 1970."""
        return self._now_us

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> None:
        """Move the clock; negative amounts move it back.

        Raises
        ------
        InvalidType, InvalidArgument
            If an amount is no finite number, or leads out of the years 1 to 9999.
        """
        amounts = {"days": days, "hours": hours, "minutes": minutes, "seconds": seconds}
        for name, amount in amounts.items():
            if isinstance(amount, bool) or not isinstance(amount, (int, float)):
                raise InvalidType.of(name, "a number", amount)
            if not abs(amount) <= LATEST_US:  # also refuses NaN
                raise InvalidArgument.of(name, "a finite number", amount)
        step_s = 86_400 * days + 3_600 * hours + 60 * minutes + seconds
        moment_us = self._now_us + round(step_s * US_PER_S)
        if not _EARLIEST_US <= moment_us <= LATEST_US:
            raise InvalidArgument.of("advance", "a moment in the years 1 to 9999", moment_us)
        self._now_us = moment_us

    def set(self, moment: Moment) -> None:
        """Put the clock at a moment."""
        self._now_us = to_us(moment, "moment")


def to_us(moment: Moment, argument: str) -> int:
    """Return a moment in UTC microseconds since 1970.

    Parameters
    ----------
    moment : datetime or int or float
        An aware datetime, or seconds since 1970.
    argument : str
        The caller's name for it, for the error message.

    Raises
    ------
    NaiveDatetime
        If a datetime has no time zone.
    InvalidType
        If it is neither a datetime nor a number.
    InvalidArgument
        If it is NaN, infinite or outside the years 1 to 9999.
    """
    if type(moment) is int and _EARLIEST_S <= moment <= _LATEST_S:
        return moment * US_PER_S
    if isinstance(moment, datetime):
        if moment.tzinfo is None or moment.utcoffset() is None:
            raise NaiveDatetime.of(argument, "an aware datetime", moment)
        moment_us = (moment - _EPOCH) // timedelta(microseconds=1)
    elif isinstance(moment, (int, float)) and not isinstance(moment, bool):
        if not _EARLIEST_S <= moment <= LATEST_US / US_PER_S:  # also refuses NaN
            raise InvalidArgument.of(argument, "seconds in the years 1 to 9999", moment)
        moment_us = round(moment * US_PER_S)
    else:
        raise InvalidType.of(argument, "an aware datetime or seconds since 1970", moment)
    return min(max(moment_us, _EARLIEST_US), LATEST_US)


def to_datetime(moment_us: int) -> datetime:
    """Return UTC microseconds since 1970 as an aware UTC datetime."""
    return _EPOCH + timedelta(microseconds=moment_us)


def checked_clock(clock: Clock) -> Clock:
    """Return a clock, or refuse what is none."""
    if not callable(getattr(clock, "now_us", None)):
        raise InvalidType.of("clock", "a Clock (now_us)", clock)
    return clock
