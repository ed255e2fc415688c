"""The lines of the exchange format, as values: what an export holds and an import takes.

The format is JSON in UTF-8, one object a line.  The first line of an export is a header,
``{"ebbmem_export": 1, ...}``.  Every other line of an export says in ``record`` what it is:
``memory link intention turn run_summary``.  A line without ``record`` is a chat message
(``role``, ``content``) or a memory as ``remember`` takes it (``summary``).  Moments are written
as ISO 8601 in UTC, exact to the microsecond; they are also read as epoch seconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ebbmem.clock import to_datetime
from ebbmem.drafts import Draft
from ebbmem.models import Tier

HEADER: Final = "ebbmem_export"
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of an export."""

    version: int


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A message of a conversation; without ``created_us`` it is said now."""

    scope: str | None
    role: str
    content: str
    name: str | None
    run_id: str | None
    created_us: int | None
    id: str | None


@dataclass(frozen=True, slots=True)
class ToldLine:
    """A memory as ``remember`` takes it."""

    scope: str | None
    draft: Draft


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """A memory with everything that a store knows of it."""

    scope: str | None
    draft: Draft
    id: str
    storage_strength: float
    retrievability: float
    anchored_us: int
    access_count: int
    recorded_us: int
    tier: Tier
    superseded_by: str | None
    superseded_us: int | None


@dataclass(frozen=True, slots=True)
class LinkLine:
    """A link between two memories, named by their ids."""

    scope: str | None
    source: str
    target: str
    kind: str
    weight: float
    created_us: int


@dataclass(frozen=True, slots=True)
class IntentionLine:
    """An intention, open or completed."""

    scope: str | None
    id: str
    action: str
    trigger: str | None
    due_us: int | None
    created_us: int
    expires_us: int | None
    completed_us: int | None


@dataclass(frozen=True, slots=True)
class TurnLine:
    """A turn; ``folded`` says that it left the buffer for the summary of its run."""

    scope: str | None
    run_id: str
    role: str
    content: str
    created_us: int
    memory_id: str | None
    folded: bool


@dataclass(frozen=True, slots=True)
class RunSummaryLine:
    """The summary of a run's folded turns."""

    scope: str | None
    run_id: str
    text: str
    updated_us: int


Line = (
    Header | ChatLine | ToldLine | MemoryLine | LinkLine | IntentionLine | TurnLine | RunSummaryLine
)


def written(record: str, scope: str, fields: Mapping[str, Any]) -> str:
    """Return one line of an export, with its end."""
    line = {"record": record, "scope": scope, **fields}
    return json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def header(version: str, scopes: Sequence[str]) -> str:
    """Return the first line of an export, with its end."""
    return json.dumps({HEADER: VERSION, "ebbmem": version, "scopes": list(scopes)}) + "\n"


def moment(moment_us: int | None) -> str | None:
    """Return a moment as an export writes it: exact to the microsecond."""
    return None if moment_us is None else to_datetime(moment_us).isoformat()
