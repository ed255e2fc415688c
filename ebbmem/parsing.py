"""Reading the lines of the exchange format, one by one, with every field checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeVar

from ebbmem import arguments
from ebbmem.clock import to_us
from ebbmem.drafts import draft
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.graph import LINK_KINDS
from ebbmem.lines import (
    HEADER,
    ChatLine,
    Header,
    IntentionLine,
    Line,
    LinkLine,
    MemoryLine,
    RunSummaryLine,
    ToldLine,
    TurnLine,
)
from ebbmem.models import Tier
from ebbmem.records.identity import id_text, parse_id

T = TypeVar("T")

_REQUIRED: Final = object()
_GREATEST_COUNT: Final = 2**53


def parsed(raw: str | bytes, now_us: int) -> Line:
    """Return what a line says, with every field checked.

    Parameters
    ----------
    raw : str or bytes
        The line, with or without its end.
    now_us : int
        The moment of what names none, in UTC microseconds.

    Raises
    ------
    InvalidArgument, InvalidType
        If it is not UTF-8, not a JSON object, or a field is missing, unknown or not allowed.
    """
    fields = _Fields(_object(raw))
    record = fields.take("record", arguments.text, None)
    if record is not None:
        build = _RECORDS.get(record)
        if build is None:
            raise InvalidArgument.of("record", f"one of {', '.join(_RECORDS)}", record)
    elif HEADER in fields:
        return _header(fields)
    elif "role" in fields or "content" in fields:
        build = _chat
    elif "summary" in fields:
        build = _told
    else:
        raise InvalidArgument.of(
            "line", "a message (role, content) or a memory (summary)", fields.names
        )
    line = build(fields, now_us)
    fields.end()
    return line


class _Fields:
    """The fields of a line, each taken once."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values
        self._came = sorted(name for name, value in values.items() if value is not None)
        """What the line has, also after it was taken: told where a field is missing."""

    def __contains__(self, name: str) -> bool:
        return name in self._values

    @property
    def names(self) -> list[str]:
        return sorted(self._values)

    def take(self, name: str, check: Callable[[Any, str], T], default: Any = _REQUIRED) -> T:
        """Take a field; null counts as not there."""
        value = self._values.pop(name, None)
        if value is not None:
            return check(value, name)
        if default is _REQUIRED:
            raise InvalidArgument.of("line", f"a field {name!r}", self._came)
        checked: T = default
        return checked

    def end(self) -> None:
        """Refuse what nothing has taken."""
        if self._values:
            raise InvalidArgument.of("line", "no other fields", self.names)


def _object(raw: str | bytes) -> dict[str, Any]:
    """Return the JSON object of a line."""
    try:
        text = raw.decode("utf-8-sig") if isinstance(raw, bytes) else raw
        value = json.loads(text)
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"line: not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise InvalidArgument(f"line: not JSON, {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"line: not JSON that can be read ({error})") from error
    if not isinstance(value, dict):
        raise InvalidType.of("line", "a JSON object", value)
    return value


def _header(fields: _Fields) -> Header:
    """Return a header; what later versions add to it is passed over."""
    return Header(fields.take(HEADER, arguments.count))


def _chat(fields: _Fields, now_us: int) -> ChatLine:  # noqa: ARG001
    """Return a chat message."""
    return ChatLine(
        scope=fields.take("scope", arguments.name, None),
        role=fields.take("role", arguments.name),
        content=fields.take("content", arguments.text),
        name=fields.take("name", arguments.name, None),
        run_id=fields.take("run_id", arguments.name, None),
        created_us=fields.take("created_at", _moment_us, None),
        id=fields.take("id", _label, None),
    )


def _told(fields: _Fields, now_us: int) -> ToldLine:
    """Return a memory as ``remember`` takes it; an ``id`` without ``key`` is its key."""
    scope = fields.take("scope", arguments.name, None)
    created_us = fields.take("created_at", _moment_us, now_us)
    label = fields.take("id", _label, None)
    key = fields.take("key", arguments.name, label)
    summary = fields.take("summary", arguments.text)
    return ToldLine(scope, draft(summary, now_us=created_us, key=key, **_given(fields, _TOLD)))


def _memory(fields: _Fields, now_us: int) -> MemoryLine:
    """Return an exported memory."""
    created_us = fields.take("created_at", _moment_us)
    # Of no use to another store, which gives numbers of its own.
    fields.take("number", arguments.count, None)
    author = draft(
        fields.take("summary", arguments.text), now_us=created_us, **_given(fields, _EXPORTED)
    )
    return MemoryLine(
        scope=fields.take("scope", arguments.name, None),
        draft=author._replace(expires_us=fields.take("expires_at", _moment_us, None)),
        id=fields.take("id", _id),
        storage_strength=fields.take("storage_strength", _share),
        retrievability=fields.take("retrievability", _share),
        anchored_us=fields.take("anchored_at", _moment_us),
        access_count=fields.take("access_count", _from_zero),
        recorded_us=fields.take("recorded_at", _moment_us, now_us),
        tier=fields.take("tier", _tier),
        superseded_by=fields.take("superseded_by", _id, None),
        superseded_us=fields.take("superseded_at", _moment_us, None),
    )


def _link(fields: _Fields, now_us: int) -> LinkLine:
    """Return a link."""
    return LinkLine(
        scope=fields.take("scope", arguments.name, None),
        source=fields.take("source", _id),
        target=fields.take("target", _id),
        kind=fields.take("kind", _kind),
        weight=fields.take("weight", _share),
        created_us=fields.take("created_at", _moment_us, now_us),
    )


def _intention(fields: _Fields, now_us: int) -> IntentionLine:
    """Return an intention."""
    return IntentionLine(
        scope=fields.take("scope", arguments.name, None),
        id=fields.take("id", _id),
        action=fields.take("action", arguments.name),
        trigger=fields.take("trigger", arguments.text, None),
        due_us=fields.take("due_at", _moment_us, None),
        created_us=fields.take("created_at", _moment_us, now_us),
        expires_us=fields.take("expires_at", _moment_us, None),
        completed_us=fields.take("completed_at", _moment_us, None),
    )


def _turn(fields: _Fields, now_us: int) -> TurnLine:  # noqa: ARG001
    """Return an exported turn."""
    return TurnLine(
        scope=fields.take("scope", arguments.name, None),
        run_id=fields.take("run_id", arguments.name),
        role=fields.take("role", arguments.name),
        content=fields.take("content", arguments.text),
        created_us=fields.take("created_at", _moment_us),
        memory_id=fields.take("memory_id", _id, None),
        folded=fields.take("folded", arguments.flag, default=False),
    )


def _run_summary(fields: _Fields, now_us: int) -> RunSummaryLine:
    """Return the summary of a run."""
    return RunSummaryLine(
        scope=fields.take("scope", arguments.name, None),
        run_id=fields.take("run_id", arguments.name),
        text=fields.take("text", arguments.text),
        updated_us=fields.take("updated_at", _moment_us, now_us),
    )


_RECORDS: Final[dict[str, Callable[[_Fields, int], Line]]] = {
    "memory": _memory,
    "link": _link,
    "intention": _intention,
    "turn": _turn,
    "run_summary": _run_summary,
}

_MOMENTS: Final = ("valid_from", "valid_to")
_EXPORTED: Final = (
    "detail",
    "keywords",
    "related_to",
    "memory_type",
    "emotional_valence",
    "emotional_intensity",
    "importance",
    "metadata",
    *_MOMENTS,
    "pinned",
    "verified",
    "key",
    "source",
    "run_id",
)
_TOLD: Final = (
    *(name for name in _EXPORTED if name not in ("verified", "key")),
    "expires_in",
    "dedupe",
)


def _given(fields: _Fields, names: tuple[str, ...]) -> dict[str, Any]:
    """Take the arguments of a draft that are there; the draft checks all but the moments."""
    taken = {
        name: fields.take(name, _moment if name in _MOMENTS else _anything, None) for name in names
    }
    return {name: value for name, value in taken.items() if value is not None}


def _anything(value: Any, argument: str) -> Any:  # noqa: ARG001
    return value


def _moment(value: object, argument: str) -> datetime | int | float:
    """Return a moment given as ISO 8601 or epoch seconds."""
    if isinstance(value, str):
        # Python 3.10 does not read the Z.
        text = value[:-1] + "+00:00" if value[-1:] in ("Z", "z") else value
        try:
            return datetime.fromisoformat(text)
        except ValueError as error:
            raise InvalidArgument.of(argument, "ISO 8601 or epoch seconds", value) from error
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidType.of(argument, "ISO 8601 or epoch seconds", value)
    return value


def _moment_us(value: object, argument: str) -> int:
    return to_us(_moment(value, argument), argument)


def _label(value: object, argument: str) -> str:
    """Return a message's id, which other programs also write as a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return arguments.name(value, argument)


def _id(value: object, argument: str) -> str:
    try:
        return id_text(parse_id(arguments.text(value, argument)))
    except InvalidArgument as error:
        raise InvalidArgument.of(argument, "an id of 32 hexadecimal digits", value) from error


def _share(value: object, argument: str) -> float:
    return arguments.number(value, argument, 0.0, 1.0)


def _from_zero(value: object, argument: str) -> int:
    count = arguments.count(value, argument, least=0)
    if count > _GREATEST_COUNT:
        raise InvalidArgument.of(argument, f"an integer up to {_GREATEST_COUNT}", value)
    return count


def _tier(value: object, argument: str) -> Tier:
    names = {tier.name.lower(): tier for tier in Tier}
    found = names.get(arguments.text(value, argument))
    if found is None:
        raise InvalidArgument.of(argument, f"one of {', '.join(names)}", value)
    return found


def _kind(value: object, argument: str) -> str:
    kind = arguments.text(value, argument)
    if kind not in LINK_KINDS:
        raise InvalidArgument.of(argument, f"one of {', '.join(LINK_KINDS)}", value)
    return kind
