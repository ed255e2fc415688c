"""Checks at the border: each returns the value in the form the inside assumes, or refuses it."""

from __future__ import annotations

import json
import math
import os
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, cast

from ebbmem.errors import InvalidArgument, InvalidType

LEAST_IMPORTANCE = 1.0
GREATEST_IMPORTANCE = 10.0
DEEPEST_METADATA = 64
_GREATEST = sys.float_info.max
_LEAST = math.ulp(0.0)
_SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def text(value: object, argument: str) -> str:
    """Return a string that UTF-8 can hold; lone surrogates are refused, NUL is not."""
    if type(value) is str and value.isascii():
        return value
    if not isinstance(value, str):
        raise InvalidType.of(argument, "a str", value)
    try:
        # Not by a subclass's own methods, which may say something else of it.
        str.encode(value, "utf-8")
    except UnicodeEncodeError as error:
        expected = f"text without lone surrogates (one stands at position {error.start})"
        raise InvalidArgument.of(argument, expected, value) from error
    return str.__str__(value)


def optional_text(value: object, argument: str) -> str | None:
    """Return a string that UTF-8 can hold, or None."""
    return None if value is None else text(value, argument)


def name(value: object, argument: str) -> str:
    """Return a name in NFC: a string that is not blank."""
    checked = text(value, argument)
    if not checked.isascii():
        checked = unicodedata.normalize("NFC", checked)
    if not checked.strip():
        raise InvalidArgument.of(argument, "a name that is not blank", value)
    return checked


def names(values: object, argument: str) -> tuple[str, ...]:
    """Return distinct case-folded names in NFC, in the order given."""
    if type(values) is tuple and not values:  # what it is nearly always
        return values
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidType.of(argument, "a sequence of str", values)
    folded = [keyword(value, argument) for value in values]
    return tuple(dict.fromkeys(folded))


def ids(values: object, argument: str) -> tuple[str, ...]:
    """Return distinct ids in the order given; one alone may be a str."""
    if type(values) is tuple and not values:
        return values
    if isinstance(values, str):
        return (text(values, argument),)
    if isinstance(values, bytes) or not isinstance(values, Iterable):
        raise InvalidType.of(argument, "an id, or a sequence of ids", values)
    return tuple(dict.fromkeys(text(value, argument) for value in values))


def keyword(value: object, argument: str) -> str:
    """Return a keyword as it is compared: NFC, case-folded, on one line."""
    folded = unicodedata.normalize("NFC", name(value, argument).casefold())
    return " ".join(folded.split())


def number(value: object, argument: str, low: float, high: float) -> float:
    """Return a finite number within [low, high]."""
    return _within(value, argument, low, high, f"a number in [{low:g}, {high:g}]")


def finite(value: object, argument: str) -> float:
    """Return a finite number."""
    return _within(value, argument, -_GREATEST, _GREATEST, "a finite number")


def not_negative(value: object, argument: str) -> float:
    """Return a finite number of at least 0."""
    return _within(value, argument, 0.0, _GREATEST, "a finite number of at least 0")


def positive(value: object, argument: str) -> float:
    """Return a finite number above 0."""
    return _within(value, argument, _LEAST, _GREATEST, "a finite number above 0")


def count(value: object, argument: str, least: int = 1) -> int:
    """Return an integer of at least ``least``."""
    if type(value) is int and value >= least:  # what it is nearly always: asking an ABC is slow
        return value
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidType.of(argument, "an integer", value)
    if value < least:
        raise InvalidArgument.of(argument, f"an integer of at least {least}", value)
    return int(value)


def flag(value: object, argument: str) -> bool:
    """Return a bool."""
    if not isinstance(value, bool):
        raise InvalidType.of(argument, "a bool", value)
    return value


def metadata(value: Mapping[str, Any] | None) -> str | None:
    """Return metadata as a JSON object, keys sorted; None for none."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InvalidType.of("metadata", "a mapping", value)
    _require_plain(value, 0)
    try:
        written = json.dumps(dict(value), ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidArgument.of("metadata", f"what JSON can hold ({error})", value) from error
    return text(written, "metadata")


def byte_size(value: int | str, argument: str) -> int:
    """Return a size in bytes, given as a number or like ``"2GiB"``."""
    if isinstance(value, str):
        for unit, factor in sorted(_SIZES.items(), key=lambda item: -len(item[0])):
            written = value.strip()
            if written.endswith(unit) and written[: -len(unit)].strip().isdecimal():
                return count(int(written[: -len(unit)]) * factor, argument)
        raise InvalidArgument.of(argument, f"a number and one of {', '.join(_SIZES)}", value)
    return count(value, argument)


def file_name(path: object) -> str:
    """Return a path as a string."""
    if not isinstance(path, (str, os.PathLike)):
        raise InvalidType.of("path", "a str or os.PathLike", path)
    written = os.fspath(path)
    if not isinstance(written, str) or not written or "\0" in written:
        raise InvalidArgument.of("path", "a file name, not empty and without NUL", written)
    return text(written, "path")


def _within(value: object, argument: str, low: float, high: float, expected: str) -> float:
    """Return a number within [low, high] as a float."""
    if type(value) is float and low <= value <= high:
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidType.of(argument, "a number", value)
    if not low <= cast(float, value) <= high:  # also refuses NaN
        raise InvalidArgument.of(argument, expected, value)
    return float(value)


def _require_plain(value: object, depth: int) -> None:
    """Refuse keys that JSON would turn into text, and nesting that no reader could follow."""
    if not isinstance(value, (Mapping, list, tuple)):
        return
    if depth > DEEPEST_METADATA:
        raise InvalidArgument.of("metadata", f"at most {DEEPEST_METADATA} levels", value)
    if isinstance(value, Mapping):
        for key in value:
            text(key, "metadata key")
        value = tuple(value.values())
    for one in value:
        _require_plain(one, depth + 1)
