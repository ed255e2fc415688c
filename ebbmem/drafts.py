"""Memories about to be made: what is told of them, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ebbmem import arguments
from ebbmem.clock import Moment, to_us
from ebbmem.durations import Duration, end_us
from ebbmem.errors import InvalidArgument, InvalidType

Extractor = Callable[[str], Iterable[str]]
"""Finds names in a text: persons, places, things."""


class Draft(NamedTuple):
    """A memory about to be made; every field checked.  Times in UTC microseconds."""

    summary: str
    now_us: int
    detail: str | None = None
    keywords: tuple[str, ...] = ()
    related_to: tuple[str, ...] = ()
    memory_type: str = "episodic"
    emotional_valence: float = 0.0
    emotional_intensity: float = 0.0
    importance: float = 5.0
    metadata: str | None = None
    valid_from_us: int | None = None
    valid_to_us: int | None = None
    expires_us: int | None = None
    pinned: bool = False
    verified: bool = True
    key: str | None = None
    dedupe: bool = False
    source: str | None = None
    run_id: str | None = None
    supersedes: tuple[str, ...] = ()
    after: int | None = None
    """Row id of the memory of the turn before this one in its run."""
    conflicts: tuple[tuple[int, float], ...] = ()
    """Row ids of what it is in conflict with, and how surely."""


def draft(  # one keyword per field of a memory
    summary: str,
    *,
    now_us: int,
    detail: str | None = None,
    keywords: Iterable[str] = (),
    related_to: Iterable[str] = (),
    memory_type: str = "episodic",
    emotional_valence: float = 0.0,
    emotional_intensity: float = 0.0,
    importance: float = 5.0,
    metadata: Mapping[str, Any] | None = None,
    valid_from: Moment | None = None,
    valid_to: Moment | None = None,
    expires_in: Duration | None = None,
    pinned: bool = False,
    verified: bool = True,
    key: str | None = None,
    dedupe: bool = False,
    source: str | None = None,
    run_id: str | None = None,
    supersedes: str | Iterable[str] = (),
) -> Draft:
    """Check the arguments of ``remember`` and return a draft."""
    valid_from_us = None if valid_from is None else to_us(valid_from, "valid_from")
    valid_to_us = None if valid_to is None else to_us(valid_to, "valid_to")
    if valid_from_us is not None and valid_to_us is not None and valid_to_us <= valid_from_us:
        raise InvalidArgument.of("valid_to", "a moment after valid_from", valid_to)
    return Draft(
        summary=arguments.text(summary, "summary"),
        now_us=now_us,
        detail=arguments.optional_text(detail, "detail"),
        keywords=arguments.names(keywords, "keywords"),
        related_to=arguments.names(related_to, "related_to"),
        memory_type=arguments.name(memory_type, "memory_type"),
        emotional_valence=arguments.number(emotional_valence, "emotional_valence", -1, 1),
        emotional_intensity=arguments.number(emotional_intensity, "emotional_intensity", 0, 1),
        importance=arguments.number(
            importance,
            "importance",
            arguments.LEAST_IMPORTANCE,
            arguments.GREATEST_IMPORTANCE,
        ),
        metadata=arguments.metadata(metadata),
        valid_from_us=valid_from_us,
        valid_to_us=valid_to_us,
        expires_us=None if expires_in is None else end_us(now_us, expires_in, "expires_in"),
        pinned=arguments.flag(pinned, "pinned"),
        verified=arguments.flag(verified, "verified"),
        key=None if key is None else arguments.name(key, "key"),
        dedupe=arguments.flag(dedupe, "dedupe"),
        source=arguments.optional_text(source, "source"),
        run_id=None if run_id is None else arguments.name(run_id, "run_id"),
        supersedes=arguments.ids(supersedes, "supersedes"),
    )


def extracted(made: Sequence[Draft], extract: Extractor | None) -> list[Draft]:
    """Return drafts with what an extractor finds in their summaries among their keywords."""
    if extract is None:
        return list(made)
    found = [arguments.names(extract(one.summary), "extract") for one in made]
    return [
        one._replace(keywords=tuple(dict.fromkeys((*one.keywords, *more))))
        for one, more in zip(made, found, strict=True)
    ]


def drafts_of(memories: Iterable[str | Mapping[str, Any]], now_us: int) -> list[Draft]:
    """Check several memories, each a text or the arguments of ``remember`` by name."""
    if isinstance(memories, (str, bytes, Mapping)) or not isinstance(memories, Iterable):
        raise InvalidType.of("memories", "an iterable of str or mappings", memories)
    return [_draft_of(one, now_us) for one in memories]


def _draft_of(one: object, now_us: int) -> Draft:
    """Check one memory of several."""
    if isinstance(one, str):
        # What is not given is right as it is.
        return Draft(arguments.text(one, "summary"), now_us)
    if not isinstance(one, Mapping):
        raise InvalidType.of("memories", "texts or mappings", one)
    fields = dict(one)
    if "summary" not in fields:
        raise InvalidArgument.of("memories", "a summary in every mapping", one)
    unknown = sorted(str(name) for name in fields if name not in _FIELDS)
    if unknown:
        raise InvalidArgument.of("memories", f"fields out of {', '.join(_FIELDS)}", unknown)
    moment = fields.pop("now", None)
    return draft(**fields, now_us=now_us if moment is None else to_us(moment, "now"))


_FIELDS = ("summary", "now", *(n for n in draft.__kwdefaults__ or {} if n != "verified"))
