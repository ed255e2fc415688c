"""What the records say of each memory that the columns do not: read once it is asked for."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from sys import getsizeof
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem.conditions import METADATA, written
from ebbmem.records.base import MemoryRow, TurnRow

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

MISSING: Final = -1
MOST_FACETS: Final = 16
"""Of one scope; the one that was made first goes for another."""
_AT_ONCE: Final = 1_000
"""Rows read in one go: what they take while they are looked at is of no account."""
_CELL_BYTES: Final = 110
"""What a distinct value takes beside its text: its number, and its place in a dict."""
_NO_FLOATS: Final[F64] = np.empty(0)
_NO_WIDE: Final[Mapping[int, int]] = MappingProxyType({})
WIDEST: Final = 1 << 53
"""Up to there a float64 holds every integer."""


class Coded(NamedTuple):
    """Values by slot: ``codes`` has the number of each in ``numbers``, or `MISSING`.

    The numbers go from 0, in the order of the mapping.  ``floats`` has by number what is a number
    in JSON, and NaN for what is none or in ``wide``: integers that no float64 is sure to hold.
    """

    codes: NDArray[np.integer[Any]]
    numbers: Mapping[str, int]
    floats: F64 = _NO_FLOATS
    wide: Mapping[int, int] = _NO_WIDE


class Facet:
    """One field of every memory, or one name of their metadata: distinct values, numbered."""

    def __init__(self, field: str, name: str) -> None:
        self._field = field
        self._name = name
        self._numbers: dict[str, int] = {}
        self._codes: I32 = np.empty(0, np.int32)
        self._floats = _NO_FLOATS
        self._wide: dict[int, int] = {}
        self._text_bytes = 0

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def bytes(self) -> int:
        """Return the memory that it takes."""
        arrays = self._codes.nbytes + self._floats.nbytes
        return arrays + self._text_bytes + _CELL_BYTES * (len(self._numbers) + len(self._wide))

    @property
    def coded(self) -> Coded:
        """Return the values."""
        return Coded(self._codes, self._numbers, self._floats, self._wide)

    def append(self, rows: Iterable[MemoryRow | TurnRow | None]) -> None:
        """Append memories, or turns; None for what is gone."""
        values = [None if row is None else cell(row, self._field, self._name) for row in rows]
        codes = np.array([self._number(value) for value in values], dtype=np.int32)
        if self._field == METADATA:
            new = islice(self._numbers, len(self._floats), None)
            floats = [self._float(code, value) for code, value in enumerate(new, len(self._floats))]
            self._floats = np.concatenate([self._floats, floats])
        self._codes = np.concatenate([self._codes, codes])

    def _float(self, code: int, value: str) -> float:
        """Return a number in JSON, or NaN."""
        number = json.loads(value)
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            return math.nan
        if isinstance(number, int) and abs(number) > WIDEST:
            self._wide[code] = number
            return math.nan
        return float(number)

    def _number(self, value: str | None) -> int:
        if value is None:
            return MISSING
        if value not in self._numbers:
            self._text_bytes += getsizeof(value)
        return self._numbers.setdefault(value, len(self._numbers))


class Facets:
    """The facets of one scope, by slot.  Its owner holds a lock around every call."""

    def __init__(self) -> None:
        self._facets: dict[tuple[str, str], Facet] = {}

    @property
    def bytes(self) -> int:
        """Return the memory they take."""
        return sum(facet.bytes for facet in list(self._facets.values()))

    def forget(self) -> None:
        """Let every facet be made anew: some of what they say is erased."""
        self._facets.clear()

    def get(
        self,
        field: str,
        name: str,
        rows: I64,
        read: Callable[[Sequence[int]], Mapping[int, MemoryRow]],
    ) -> Coded:
        """Return the values of a field, of all memories.

        Parameters
        ----------
        field, name : str
            As a condition has them.
        rows : (n,) int64
            The row id of each slot.
        read : callable
            Reads memories by row id.

        Raises
        ------
        CorruptStore
            If a memory does not match its checksum; what was read before stays.
        """
        facet = self._facets.get((field, name)) or self._made(field, name)
        for first in range(len(facet), len(rows), _AT_ONCE):
            some = rows[first : first + _AT_ONCE].tolist()
            found = read(some)
            facet.append(found.get(row) for row in some)
        return facet.coded

    def _made(self, field: str, name: str) -> Facet:
        while len(self._facets) >= MOST_FACETS:
            del self._facets[next(iter(self._facets))]
        facet = self._facets[field, name] = Facet(field, name)
        return facet


def cell(row: MemoryRow | TurnRow, field: str, name: str) -> str | None:
    """Return a field of a memory as a facet has it; None where there is none.

    A flag is ``"0"`` or ``"1"``, a value of metadata is as JSON has it.
    """
    if field == METADATA:
        told = getattr(row, METADATA)
        held = {} if told is None else json.loads(told)
        return written(held[name]) if name in held else None
    value = getattr(row, field)
    if field == "keywords":
        return value or None
    return None if value is None else str(value)
