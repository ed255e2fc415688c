"""What a filter is true of, one memory at a time: slow and obvious, without ebbmem."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

WORDS = {"keywords"}
ORDERED = {
    "gt": lambda a, b: a > b,
    "gte": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "lte": lambda a, b: a <= b,
}
GONE = object()


def met(filters: Mapping[str, Any], memory: Mapping[str, Any]) -> bool:
    """Return whether a memory, given by its fields, has all that is asked."""
    return all(_one(name, value, memory) for name, value in filters.items())


def _one(name: str, value: Any, memory: Mapping[str, Any]) -> bool:
    joined = name.removeprefix("$").upper()
    if joined == "AND":
        return all(met(each, memory) for each in value)
    if joined == "OR":
        return any(met(each, memory) for each in value)
    if joined == "NOT":
        several = [value] if isinstance(value, Mapping) else value
        return not any(met(each, memory) for each in several)
    if name == "metadata":
        held = memory["metadata"]
        return all(
            _field(asked, held.get(key, GONE), json_like=True) for key, asked in value.items()
        )
    if name == "created_before":
        name, value = "created_at", {"lt": value}
    own = memory[name]
    if name in WORDS and not isinstance(value, Mapping) and value != "*":
        value = {"contains": value}
    return _field(value, GONE if own is None or own == () else own, json_like=False)


def _field(asked: Any, own: Any, *, json_like: bool) -> bool:
    if isinstance(asked, str) and asked == "*":
        return own is not GONE and own is not None
    if not isinstance(asked, Mapping):
        asked = {"eq": asked}
    return all(_holds(op.removeprefix("$"), value, own, json_like) for op, value in asked.items())


def _holds(op: str, value: Any, own: Any, json_like: bool) -> bool:
    if op == "ne":
        return not _holds("eq", value, own, json_like)
    if op == "nin":
        return not _holds("in", value, own, json_like)
    if op == "in":
        return any(_holds("eq", each, own, json_like) for each in value)
    if own is GONE:
        return False
    if op == "eq":
        return _same(value, own, json_like)
    if op in ORDERED:
        if isinstance(own, datetime) or not json_like:
            return ORDERED[op](_seconds(own), _seconds(value))
        texts = isinstance(own, str) and isinstance(value, str)
        numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (own, value))
        return (texts or numbers) and ORDERED[op](own, value)
    if isinstance(own, (list, tuple)):
        if op == "icontains":
            return any(isinstance(x, str) and x.casefold() == value.casefold() for x in own)
        return any(_same(value, each, json_like) for each in own)
    if not (isinstance(own, str) and isinstance(value, str)):
        return False
    return value.casefold() in own.casefold() if op == "icontains" else value in own


def _same(value: Any, own: Any, json_like: bool) -> bool:
    if json_like:
        return json.dumps(value, sort_keys=True) == json.dumps(own, sort_keys=True)
    return _seconds(own) == _seconds(value)


def _seconds(value: Any) -> Any:
    return value.timestamp() if isinstance(value, datetime) else value
