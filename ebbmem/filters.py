"""Filters of memories: which fields must be equal to what."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from ebbmem import arguments
from ebbmem.clock import Moment, to_us
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.records.base import Reader
from ebbmem.records.erasable import Wanted

METADATA: Final = "metadata"


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on memories, all of which must hold.

    ``metadata`` maps names to the JSON that their values must be equal to.
    """

    wanted: Wanted
    metadata: Mapping[str, str]

    def rows(self, reader: Reader, scope_id: int) -> list[int]:
        """Return the memories of a scope that meet every condition, by row id."""
        found = reader.matching(scope_id, self.wanted)
        return [row for row, text in found if not self.metadata or self._has(text)]

    @property
    def of_turns(self) -> bool:
        """Return whether it says only what turns have too: a run, a moment."""
        rest = self.wanted._replace(run_id=None, created_before=None)
        return rest == Wanted()

    def _has(self, text: str | None) -> bool:
        """Return whether metadata has what is asked for."""
        held = {} if text is None else json.loads(text)
        return all(
            name in held and _written(held[name]) == value for name, value in self.metadata.items()
        )


_FIELDS: Final[dict[str, tuple[str, Callable[[Any, str], Any]]]] = {
    "run_id": ("run_id", arguments.name),
    "memory_type": ("memory_type", arguments.name),
    "source": ("source", arguments.text),
    "created_before": ("created_before", lambda value, name: to_us(cast("Moment", value), name)),
}
"""Names that a filter may use: the column each is compared with, and how it is checked."""


def checked_filter(filters: object) -> Filter:
    """Return a filter, or refuse what is none.

    Raises
    ------
    InvalidType
        If it is not a mapping.
    InvalidArgument
        If it is empty, or names what cannot be asked for: nothing of it is passed over.
    """
    if not isinstance(filters, Mapping):
        raise InvalidType.of("filters", "a mapping", filters)
    if not filters:
        raise InvalidArgument.of("filters", "at least one condition", filters)
    unknown = [name for name in filters if name not in _FIELDS and name != METADATA]
    if unknown:
        raise InvalidArgument.of(
            "filters", f"names out of {', '.join([*_FIELDS, METADATA])}", unknown
        )
    conditions = {
        _FIELDS[name][0]: _FIELDS[name][1](value, name)
        for name, value in filters.items()
        if name != METADATA
    }
    metadata = _metadata(filters[METADATA]) if METADATA in filters else {}
    return Filter(Wanted(**conditions, with_metadata=bool(metadata)), metadata)


def _metadata(value: object) -> dict[str, str]:
    """Return the conditions on metadata: the JSON of each value, by name."""
    if isinstance(value, Mapping) and not value:
        raise InvalidArgument.of(METADATA, "at least one name", value)
    held = json.loads(arguments.metadata(cast("Mapping[str, Any]", value)) or "null")
    if held is None:
        raise InvalidType.of(METADATA, "a mapping", value)
    return {name: _written(one) for name, one in held.items()}


def _written(value: object) -> str:
    """Return a value as JSON, keys sorted: 1, 1.0 and true are three different values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
