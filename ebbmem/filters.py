"""Filters of memories, tried on many at once: of an index, or as the records have them."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ebbmem.columns import ALWAYS_US, NEVER_US
from ebbmem.conditions import (
    EXISTS,
    Condition,
    Every,
    Kind,
    Neither,
    Tree,
    conditions,
    leaves,
    written,
)
from ebbmem.facets import WIDEST, Coded, Facet
from ebbmem.index import ScopeIndex
from ebbmem.records.base import MemoryRow, TurnRow
from ebbmem.records.erasable import Wanted

BoolRows = NDArray[np.bool_]

_COLUMNS: Final = {
    "importance": "importance",
    "emotional_valence": "valence",
    "emotional_intensity": "intensity",
    "access_count": "access_count",
    "created_at": "created_us",
    "valid_from": "valid_from_us",
    "valid_to": "valid_to_us",
    "expires_at": "expires_us",
    "pinned": "pinned",
    "tier": "tier",
}
"""Fields that the index has as numbers, and the column of each."""
_NONE_US: Final = {"valid_from": ALWAYS_US, "valid_to": NEVER_US, "expires_at": NEVER_US}
"""What stands for no moment."""
_FLOATS: Final = {"importance", "emotional_valence", "emotional_intensity"}
_ASKED: Final = {"run_id", "memory_type", "source"}
_OF_TURNS: Final = {"run_id", "created_at"}
_COMPARED: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "eq": operator.eq,
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
_OTHERWISE: Final = {"ne": "eq", "nin": "in"}
_TOLD: Final[dict[Kind, Callable[[Any], str]]] = {
    Kind.TEXT: str,
    Kind.FLAG: lambda value: str(int(value)),
    Kind.JSON: written,
}
"""How a value reads as what it is compared with."""


class Source(Protocol):
    """Memories that a filter is tried on, in some order."""

    def __len__(self) -> int: ...

    def numbers(self, field: str) -> NDArray[Any]:
        """Return a field that is a number, a moment in microseconds, a flag or a tier."""

    def coded(self, field: str, name: str) -> Coded:
        """Return a field that is text, or a value of metadata as JSON."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What a memory must have."""

    tree: Tree

    @property
    def of_turns(self) -> bool:
        """Return whether it asks only for what turns have too: a run, a moment."""
        return all(one.field in _OF_TURNS for one in leaves(self.tree))

    @property
    def narrowed(self) -> Wanted:
        """Return what records can be asked of it at once: no memory is left out by that."""
        parts = self.tree.parts if isinstance(self.tree, Every) else ()
        plain = [part for part in parts if isinstance(part, Condition)]
        equal = {one.field: one.value for one in plain if one.op == "eq" and one.field in _ASKED}
        before = [one.value for one in plain if (one.field, one.op) == ("created_at", "lt")]
        return Wanted(**equal, created_before=min(before, default=None))

    def chosen(self, source: Source) -> BoolRows:
        """Return which memories it is true of."""
        return _chosen(self.tree, source)


def checked_filter(filters: object) -> Filter:
    """Return a filter; see `conditions.conditions` for what it may say and what it raises."""
    return Filter(conditions(filters))


def _chosen(tree: Tree, source: Source) -> BoolRows:
    if isinstance(tree, Condition):
        return _held(tree, source)
    parts = [_chosen(part, source) for part in tree.parts]
    if isinstance(tree, Every):
        return reduce(operator.and_, parts)
    either = reduce(operator.or_, parts)
    return ~either if isinstance(tree, Neither) else either


def _held(one: Condition, source: Source) -> BoolRows:
    """Return where a condition holds; `ne` and `nin` wherever `eq` and `in` do not."""
    if one.op in _OTHERWISE:
        return ~_held(one._replace(op=_OTHERWISE[one.op]), source)
    if one.field in _COLUMNS:
        return _number_held(one, source.numbers(one.field))
    coded = source.coded(one.field, one.name)
    if one.op in ("eq", "in"):
        wanted = one.value if one.op == "in" else (one.value,)
        told = [_TOLD[one.kind](value) for value in wanted]
        equal = [coded.numbers[value] for value in told if value in coded.numbers]
        return np.isin(coded.codes, np.array(equal, dtype=np.int64))
    if one.op in _COMPARED and not isinstance(one.value, str):
        holds = _ordered(one, coded)
    else:
        holds = np.array([_holds(one, value) for value in coded.numbers], np.bool_)
    # The last place is that of MISSING.
    held: BoolRows = np.append(holds, False)[coded.codes]
    return held


def _ordered(one: Condition, coded: Coded) -> BoolRows:
    """Return, by number, which values of metadata an order holds of; NaN is in none."""
    compare = _COMPARED[one.op]
    if isinstance(one.value, int) and abs(one.value) > WIDEST:
        return np.array([_holds(one, value) for value in coded.numbers], np.bool_)
    holds: BoolRows = compare(coded.floats, float(one.value))
    for number, wide in coded.wide.items():
        holds[number] = compare(wide, one.value)
    return holds


def _number_held(one: Condition, column: NDArray[Any]) -> BoolRows:
    there = np.ones(len(column), np.bool_)
    if one.field in _NONE_US:
        there = column != _NONE_US[one.field]
    if one.op == EXISTS:
        return there
    if one.op == "in":
        # Not as the column has them: 2.5 is no count.
        return there & np.isin(column, np.array(one.value))
    held: BoolRows = there & _COMPARED[one.op](column, one.value)
    return held


def _holds(one: Condition, told: str) -> bool:
    """Return whether a condition holds of a value that is there."""
    if one.kind is Kind.JSON:
        return _json_holds(one, json.loads(told))
    if one.kind is Kind.WORDS and one.op != EXISTS:
        return one.value in told.split("\n")
    return one.op == EXISTS or _text_holds(one, told)


def _text_holds(one: Condition, text: str) -> bool:
    return one.value in (text.casefold() if one.op == "icontains" else text)


def _json_holds(one: Condition, value: Any) -> bool:
    """Return whether a condition holds of a value of metadata."""
    if one.op == EXISTS:
        return value is not None
    if one.op in _COMPARED:
        return _alike(value, one.value) and bool(_COMPARED[one.op](value, one.value))
    if not isinstance(value, list):
        return isinstance(value, str) and isinstance(one.value, str) and _text_holds(one, value)
    if one.op == "icontains":
        return any(isinstance(each, str) and each.casefold() == one.value for each in value)
    return written(one.value) in map(written, value)


def _alike(value: object, other: object) -> bool:
    """Return whether two values have an order: two numbers, or two texts."""
    numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (value, other))
    return numbers or (isinstance(value, str) and isinstance(other, str))


class Indexed:
    """The memories of an index, by slot.

    Parameters
    ----------
    index : ScopeIndex
        Its owner holds a lock meanwhile.
    read : callable
        Reads memories by row id, where the records alone say what is asked.
    """

    def __init__(
        self, index: ScopeIndex, read: Callable[[Sequence[int]], dict[int, MemoryRow]]
    ) -> None:
        self._index = index
        self._read = read

    def __len__(self) -> int:
        return len(self._index)

    def numbers(self, field: str) -> NDArray[Any]:
        """Return a column."""
        column: NDArray[Any] = getattr(self._index.columns, _COLUMNS[field])
        return column

    def coded(self, field: str, name: str) -> Coded:
        """Return types and runs as the index has them, the rest as the records do."""
        columns = self._index.columns
        if field in ("memory_type", "run_id"):
            column = columns.kind if field == "memory_type" else columns.run
            return Coded(column, columns.names)
        return self._index.facet(field, name, self._read)


class Recorded:
    """Memories, or turns, as the records have them."""

    def __init__(self, rows: Sequence[MemoryRow] | Sequence[TurnRow]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def numbers(self, field: str) -> NDArray[Any]:
        """Return a field of each."""
        values = [getattr(row, field) for row in self._rows]
        missing = _NONE_US.get(field, 0)
        kept = [missing if value is None else value for value in values]
        return np.array(kept, dtype=np.float64 if field in _FLOATS else np.int64)

    def coded(self, field: str, name: str) -> Coded:
        """Return a field of each."""
        facet = Facet(field, name)
        facet.append(self._rows)
        return facet.coded
