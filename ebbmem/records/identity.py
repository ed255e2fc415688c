"""Public ids: UUIDs of version 7 (RFC 9562), which sort by the time they were made."""

from __future__ import annotations

import os
import re
import struct
import threading
from collections.abc import Iterator
from typing import Final

from ebbmem.errors import InvalidArgument, InvalidType

_VERSION: Final = 0x7 << 76
_VARIANT: Final = 0b10 << 62
_RANDOM_BITS: Final = 62
_DRAWN: Final = struct.Struct(">128Q")
_MAX_MS: Final = (1 << 48) - 1
_MAX_FIELDS: Final = (1 << 122) - 1
_PATTERN: Final = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}")


class _Sequence:
    """The newest id of this process: 122 bits of time, fraction and randomness."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._random: Iterator[int] = iter(())

    def next(self, now_us: int) -> int:
        ms, us = divmod(max(now_us, 0), 1000)
        fraction = us * 4096 // 1000
        with self._lock:
            random = next(self._random, None)
            if random is None:
                random = self._drawn()
            fields = (min(ms, _MAX_MS) << 12 | fraction) << _RANDOM_BITS | random
            # The clock stood still or went back: count on from the newest id by a random step.
            if fields <= self._last:
                fields = min(self._last + 1 + (random >> 30), _MAX_FIELDS)
            self._last = fields
        return fields

    def _drawn(self) -> int:
        """Return 62 random bits, and keep more for later: asking the system costs a call."""
        first, *more = (int(bits) >> 2 for bits in _DRAWN.unpack(os.urandom(_DRAWN.size)))
        self._random = iter(more)
        return first


_sequence: Final = _Sequence()
renew: Final = _sequence.renew
"""Makes other ids than the parent from now on, in a forked child."""
if hasattr(os, "register_at_fork"):
    # Another thread of the parent may have held the lock.
    os.register_at_fork(after_in_child=renew)


def new_id(now_us: int) -> bytes:
    """Return a new UUIDv7, greater than every other that this process made.

    Parameters
    ----------
    now_us : int
        UTC microseconds since 1970; moments before 1970 count as 1970.

    Returns
    -------
    bytes
        16 bytes: milliseconds (48 bits), version, fraction of the millisecond (12 bits),
        variant, randomness (62 bits).
    """
    fields = _sequence.next(now_us)
    ms, fraction = fields >> 74, fields >> _RANDOM_BITS & 0xFFF
    random = fields & ((1 << _RANDOM_BITS) - 1)
    return (ms << 80 | _VERSION | fraction << 64 | _VARIANT | random).to_bytes(16, "big")


def id_text(value: bytes) -> str:
    """Return an id as text, in lower-case groups of 8-4-4-4-12 digits."""
    text = value.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def parse_id(text: str) -> bytes:
    """Return the 16 bytes of an id given as text, with or without hyphens, in either case.

    Raises
    ------
    InvalidType
        If it is not a str.
    InvalidArgument
        If it is not 32 hexadecimal digits in the usual groups.
    """
    if not isinstance(text, str):
        raise InvalidType.of("id", "a str", text)
    lowered = text.lower()
    if not _PATTERN.fullmatch(lowered):
        raise InvalidArgument.of("id", "32 hexadecimal digits, such as from Remembered.id", text)
    return bytes.fromhex(lowered.replace("-", ""))
