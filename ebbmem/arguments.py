"""Checks at the border: each returns the value in the form the inside assumes, or refuses it."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from ebbmem.errors import InvalidArgument, InvalidType

LEAST_IMPORTANCE = 1.0
GREATEST_IMPORTANCE = 10.0


def text(value: object, argument: str) -> str:
    """Return a string that UTF-8 can hold; lone surrogates are refused, NUL is not."""
    if not isinstance(value, str):
        raise InvalidType.of(argument, "a str", value)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        expected = f"text without lone surrogates (one stands at position {error.start})"
        raise InvalidArgument.of(argument, expected, value) from error
    return value


def optional_text(value: object, argument: str) -> str | None:
    """Return a string that UTF-8 can hold, or None."""
    return None if value is None else text(value, argument)


def name(value: object, argument: str) -> str:
    """Return a name in NFC: a string that is not blank."""
    checked = unicodedata.normalize("NFC", text(value, argument))
    if not checked.strip():
        raise InvalidArgument.of(argument, "a name that is not blank", value)
    return checked


def names(values: object, argument: str) -> tuple[str, ...]:
    """Return distinct case-folded names in NFC, in the order given."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidType.of(argument, "a sequence of str", values)
    folded = [keyword(value, argument) for value in values]
    return tuple(dict.fromkeys(folded))


def keyword(value: object, argument: str) -> str:
    """Return a keyword as it is compared: NFC, case-folded, on one line."""
    folded = unicodedata.normalize("NFC", name(value, argument).casefold())
    return " ".join(folded.split())


def number(value: object, argument: str, low: float, high: float) -> float:
    """Return a finite number within [low, high]."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidType.of(argument, "a number", value)
    if not low <= value <= high:  # also refuses NaN
        raise InvalidArgument.of(argument, f"a number in [{low:g}, {high:g}]", value)
    return float(value)


def finite(value: object, argument: str) -> float:
    """Return a finite number."""
    checked = number(value, argument, -math.inf, math.inf)
    if math.isinf(checked):
        raise InvalidArgument.of(argument, "a finite number", value)
    return checked


def count(value: object, argument: str, least: int = 1) -> int:
    """Return an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidType.of(argument, "an integer", value)
    if value < least:
        raise InvalidArgument.of(argument, f"an integer of at least {least}", value)
    return value


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
    for key in value:
        text(key, "metadata key")
    try:
        written = json.dumps(dict(value), ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidArgument.of("metadata", f"what JSON can hold ({error})", value) from error
    return text(written, "metadata")
