"""The language of filters: what a memory must have, checked, as a tree of conditions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple, cast

from ebbmem import arguments
from ebbmem.clock import Moment, to_us
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.models import Tier

METADATA: Final = "metadata"
EXISTS: Final = "*"
AND, OR, NOT = "AND", "OR", "NOT"
_DEEPEST: Final = 32
_ONE_WORD: Final = f"one keyword (for several, such filters under {OR} or {AND})"

_EQUAL: Final = ("eq", "ne", "in", "nin")
_ORDER: Final = ("gt", "gte", "lt", "lte")
_PARTS: Final = ("contains", "icontains")
_MANY: Final = ("in", "nin")
OPERATORS: Final = (*_EQUAL, *_ORDER, *_PARTS)


class Kind(Enum):
    """What values a field has."""

    NUMBER = "number"
    MOMENT = "moment"
    FLAG = "flag"
    TIER = "tier"
    TEXT = "text"
    WORDS = "words"
    """Several texts, of which one is looked for."""
    JSON = "json"


_ALLOWED: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.NUMBER: (*_EQUAL, *_ORDER),
    Kind.MOMENT: (*_EQUAL, *_ORDER),
    Kind.FLAG: ("eq", "ne"),
    Kind.TIER: _EQUAL,
    Kind.TEXT: (*_EQUAL, *_PARTS),
    Kind.WORDS: ("contains",),
    Kind.JSON: OPERATORS,
}


class Field(NamedTuple):
    """A field that filters may ask for: what values it has, and how one is checked."""

    kind: Kind
    check: Callable[[Any, str], Any]


def tier(value: object, argument: str) -> Tier:
    """Return a tier by its name."""
    names = [one.name.lower() for one in Tier]
    if not isinstance(value, str):
        raise InvalidType.of(argument, "a str", value)
    if value not in names:
        raise InvalidArgument.of(argument, f"one of {', '.join(names)}", value)
    return Tier(names.index(value))


_NUMBER: Final = Field(Kind.NUMBER, arguments.finite)
_MOMENT: Final = Field(Kind.MOMENT, lambda value, name: to_us(cast("Moment", value), name))
_FLAG: Final = Field(Kind.FLAG, arguments.flag)
_NAME: Final = Field(Kind.TEXT, arguments.name)

FIELDS: Final[dict[str, Field]] = {
    "importance": _NUMBER,
    "emotional_valence": _NUMBER,
    "emotional_intensity": _NUMBER,
    "access_count": _NUMBER,
    "created_at": _MOMENT,
    "valid_from": _MOMENT,
    "valid_to": _MOMENT,
    "expires_at": _MOMENT,
    "pinned": _FLAG,
    "verified": _FLAG,
    "tier": Field(Kind.TIER, tier),
    "memory_type": _NAME,
    "run_id": _NAME,
    "key": _NAME,
    "source": Field(Kind.TEXT, arguments.text),
    "keywords": Field(Kind.WORDS, arguments.keyword),
}
"""What a filter may ask of a memory, beside its metadata."""


class Condition(NamedTuple):
    """One thing that must hold: ``field op value``; ``name`` of metadata, else empty.

    Moments are microseconds, values of metadata what JSON gives, several a tuple.
    """

    field: str
    name: str
    kind: Kind
    op: str
    value: Any


@dataclass(frozen=True, slots=True)
class Every:
    """All of the parts hold."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of the parts holds."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Neither:
    """None of the parts holds."""

    parts: tuple[Tree, ...]


Tree = Condition | Every | Either | Neither
_JOINED: Final[dict[str, Callable[[tuple[Tree, ...]], Tree]]] = {
    AND: Every,
    OR: Either,
    NOT: Neither,
}


def conditions(filters: object) -> Every:
    """Return what a filter says, or refuse what is none.

    Parameters
    ----------
    filters : mapping
        Fields by name, each with a value that it must be equal to, ``"*"`` for any at all, or a
        mapping of operators, all of which must hold: ``eq ne in nin gt gte lt lte contains
        icontains``, also written ``$eq`` and so on.  Under ``metadata`` the same by its names.
        ``created_before`` is ``created_at`` with ``lt``.  ``AND`` and ``OR`` have a list of
        filters, ``NOT`` one or a list of which none may hold.  An empty list of keywords is none
        at all, and so is null in metadata; other values count also where they are empty.

    Raises
    ------
    InvalidType
        If a part of it is of another type.
    InvalidArgument
        If it is empty, or names a field or an operator that is none: nothing is passed over.
    """
    return Every(_parts(filters, 0))


def leaves(tree: Tree) -> Iterator[Condition]:
    """Return every condition in a tree."""
    if isinstance(tree, Condition):
        yield tree
    else:
        for part in tree.parts:
            yield from leaves(part)


def written(value: object) -> str:
    """Return a value as JSON, keys sorted: 1, 1.0 and true are three different values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _parts(filters: object, depth: int) -> tuple[Tree, ...]:
    """Return what must hold of one filter."""
    if not isinstance(filters, Mapping):
        raise InvalidType.of("filters", "a mapping", filters)
    if not filters:
        raise InvalidArgument.of("filters", "at least one condition", filters)
    if depth > _DEEPEST:
        raise InvalidArgument(f"filters: expected at most {_DEEPEST} levels")
    found: list[Tree] = []
    for name, value in filters.items():
        joined = _JOINED.get(_plain(name).upper()) if _plain(name) else None
        if joined is not None:
            found.append(joined(_filters(name, value, depth)))
        elif name == METADATA:
            found += _metadata(value)
        else:
            found += _of_field(name, value)
    return tuple(found)


def _filters(name: str, value: object, depth: int) -> tuple[Tree, ...]:
    """Return the filters that are joined; each by itself is a conjunction."""
    one = _plain(name).upper() == NOT and isinstance(value, Mapping)
    several = [value] if one else value
    if isinstance(several, (str, bytes)) or not isinstance(several, Sequence):
        raise InvalidType.of(name, "a list of filters", value)
    if not several:
        raise InvalidArgument.of(name, "at least one filter", value)
    return tuple(Every(_parts(each, depth + 1)) for each in several)


def _of_field(name: object, value: object) -> list[Tree]:
    """Return the conditions on one field."""
    if name == "created_before":
        moment_us = _MOMENT.check(value, "created_before")
        return [Condition("created_at", "", Kind.MOMENT, "lt", moment_us)]
    field = FIELDS.get(name) if isinstance(name, str) else None
    if field is None:
        known = ", ".join([*FIELDS, "created_before", METADATA, AND, OR, NOT])
        raise InvalidArgument.of("filters", f"names out of {known}", name)
    return _asked(str(name), "", field, value)


def _metadata(value: object) -> list[Tree]:
    """Return the conditions on metadata."""
    if not isinstance(value, Mapping):
        raise InvalidType.of(METADATA, "a mapping", value)
    if not value:
        raise InvalidArgument.of(METADATA, "at least one name", value)
    found: list[Tree] = []
    for name, each in value.items():
        found += _asked(METADATA, arguments.text(name, METADATA), _JSON, each)
    return found


def _asked(field: str, name: str, one: Field, value: object) -> list[Tree]:
    """Return the conditions on a field, or on a value of metadata."""
    argument = f"{field}.{name}" if name else field
    if not isinstance(value, Mapping):
        if isinstance(value, str) and value == EXISTS:
            return [Condition(field, name, one.kind, EXISTS, None)]
        value = {"contains" if one.kind is Kind.WORDS else "eq": value}
    if not value:
        raise InvalidArgument.of(argument, "a value, or operators", value)
    allowed = _ALLOWED[one.kind]
    unknown = [op for op in value if _plain(op) not in allowed]
    if unknown:
        expected = f"operators out of {', '.join(allowed)}"
        if one.kind is Kind.WORDS:
            expected = f'"contains" with {_ONE_WORD}'
        raise InvalidArgument.of(argument, expected, unknown)
    return [
        Condition(field, name, one.kind, op, _wanted(op, asked, one, argument))
        for op, asked in ((_plain(op), asked) for op, asked in value.items())
    ]


def _plain(name: object) -> str:
    """Return an operator without its ``$``; empty for what is no text."""
    return name.removeprefix("$") if isinstance(name, str) else ""


def _wanted(op: str, value: object, field: Field, argument: str) -> Any:
    """Return what a condition compares with, checked."""
    if op in _MANY:
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
            raise InvalidType.of(argument, f"a list, for {op}", value)
        return tuple(field.check(one, argument) for one in value)
    if field.kind is Kind.JSON and op in _ORDER and not _ordered(value):
        raise InvalidType.of(argument, f"a number or a str, for {op}", value)
    if field.kind is Kind.WORDS and not isinstance(value, str):
        raise InvalidType.of(argument, _ONE_WORD, value)
    if op == "icontains":
        return arguments.text(value, argument).casefold()
    return field.check(value, argument)


def _ordered(value: object) -> bool:
    return isinstance(value, (int, float, str)) and not isinstance(value, bool)


def _json(value: object, argument: str) -> Any:
    """Return a value as JSON gives it back."""
    text = arguments.metadata({argument: value})
    return json.loads(cast(str, text))[argument]


_JSON: Final = Field(Kind.JSON, _json)
