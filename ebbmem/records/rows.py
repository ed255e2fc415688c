"""Checksums of rows: one canonical form of a row's columns, and its CRC-32.

The form is explicit, so that it is the same on every machine and in every version: 64-bit
little-endian integers (NULL is the least one), then float64, then the lengths of the texts and
blobs, then their bytes (UTF-8; NULL has six bytes that are not UTF-8).  Which column is of which
kind is fixed by the table, and the table's name starts the CRC.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final
from zlib import crc32

from ebbmem import _core
from ebbmem.errors import InvalidArgument

Row = Sequence[Any]
Rows = list[tuple[Any, ...]]
Checksum = Callable[[Row], int]

INT: Final = "int"
MAYBE: Final = "int or NULL"
REAL: Final = "real"
TEXT: Final = "text"
BLOB: Final = "blob"
"""Sealed as a text is; NULL is allowed in both."""

UNFIT: Final = (AttributeError, TypeError, ValueError, OverflowError, struct.error)
"""What computing a checksum raises for values that are not of their column's type."""

NULL: Final = -(1 << 63)
# Not UTF-8, so no text is equal to it.
NULL_TEXT: Final = b"\xff\xfeNULL"
_PLACES: Final = {INT: 0, MAYBE: 1, REAL: 2, TEXT: 3, BLOB: 3}
"""Texts and blobs lie together, in the order of the table."""
_pack_keyword: Final = struct.Struct("<3q").pack
_KEYWORDS: Final = crc32(b"keywords")
_pack_event: Final = struct.Struct("<6q").pack
_EVENTS: Final = crc32(b"events")
# -0.0 becomes 0.0, as SQLite stores it.
_stored: Final = (0.0).__add__


def checksum(table: str, kinds: Mapping[str, str], fields: Iterable[str] | None = None) -> Checksum:
    """Return the function that computes the checksum of a row.

    Parameters
    ----------
    table : str
        Name of the table; equal rows of different tables differ.
    kinds : mapping of str to str
        INT, MAYBE, REAL, TEXT or BLOB by column; their order is part of the form.
    fields : iterable of str, optional
        Columns of the rows it will be given, in their order; ``kinds`` when not given.

    Returns
    -------
    callable
        From a row to an integer of 32 bits.  It raises InvalidArgument for a value that no
        column can hold, such as a lone surrogate.
    """
    place = {name: i for i, name in enumerate(kinds if fields is None else fields)}
    ints, maybes, reals, texts = (
        _picker([place[name] for name, kind in kinds.items() if _PLACES[kind] == wanted])
        for wanted in range(4)
    )
    order = sorted(kinds.values(), key=_PLACES.__getitem__)
    # One flipped bit makes a blob of a text, with the same bytes: each must be of its own type.
    are_texts = [kind == TEXT for kind in order if _PLACES[kind] == _PLACES[TEXT]]
    pack = struct.Struct("<" + "".join("d" if kind == REAL else "q" for kind in order)).pack
    start = crc32(table.encode())

    def checksum_of(row: Row) -> int:
        try:
            blobs = [
                NULL_TEXT if v is None else str.encode(v) if is_text else v
                for v, is_text in zip(texts(row), are_texts, strict=True)
            ]
            numbers = pack(
                *ints(row),
                *[NULL if v is None else v for v in maybes(row)],
                *map(_stored, reals(row)),
                *map(len, blobs),
            )
            return crc32(b"".join(blobs), crc32(numbers, start))
        except (UnicodeEncodeError, struct.error, TypeError) as exc:
            raise InvalidArgument.of(table, "values that SQLite can hold", exc) from exc

    return checksum_of


def agrees(checksum_of: Callable[[Any], int], row: Row) -> bool:
    """Return whether a row agrees with its checksum, its last column, whatever damage made of it.

    Damage can change the type of a value, so that no checksum can be computed of the row.
    """
    try:
        return bool(checksum_of(row[:-1]) == row[-1])
    except UNFIT:
        return False


def _picker(places: list[int]) -> Callable[[Row], Row]:
    """Return a function from a row to the values at some places."""
    if len(places) > 1:
        return itemgetter(*places)
    if not places:
        return lambda _row: ()
    place = places[0]
    return lambda row: (row[place],)


meta_checksum: Final = checksum("meta", {"key": TEXT, "value": TEXT})
scope_checksum: Final = checksum(
    "scopes",
    {
        "scope_id": INT,
        "name": TEXT,
        "last_seq": INT,
        "next_number": INT,
        "next_turn": INT,
        "memory_count": INT,
        "checksum_xor": INT,
        "created_at": INT,
    },
)
vector_checksum: Final = checksum("vectors", {"row_id": INT, "vector": BLOB, "seq": INT})


def keyword_checksum(row: Row) -> int:
    """Return the checksum of (keyword, role, row_id).

    The form is that of `checksum`, written out: a memory with keywords reads many such rows.
    """
    keyword, role, row_id = row
    try:
        named, part = keyword.encode(), role.encode()
        numbers = _pack_keyword(row_id, len(named), len(part))
        return crc32(named + part, crc32(numbers, _KEYWORDS))
    except (UnicodeEncodeError, struct.error, TypeError, AttributeError) as exc:
        raise InvalidArgument.of("keywords", "values that SQLite can hold", exc) from exc


intention_checksum: Final = checksum(
    "intentions",
    {
        "id": BLOB,
        "scope_id": INT,
        "action": TEXT,
        "trigger": TEXT,
        "due_at": MAYBE,
        "created_at": INT,
        "expires_at": MAYBE,
        "completed_at": MAYBE,
        "seq": INT,
    },
)
turn_checksum: Final = checksum(
    "turns",
    {
        "row_id": INT,
        "run_id": TEXT,
        "role": TEXT,
        "content": TEXT,
        "created_at": INT,
        "memory": MAYBE,
        "seq": INT,
    },
)
summary_checksum: Final = checksum(
    "summaries",
    {
        "scope_id": INT,
        "run_id": TEXT,
        "text": TEXT,
        "through": INT,
        "updated_at": INT,
        "seq": INT,
    },
)


def event_checksum(row: Row) -> int:
    """Return the checksum of (seq, scope_id, kind, at, memory, payload).

    The form is that of `checksum`, written out: every memory has such a row.
    """
    seq, scope_id, kind, at, memory, payload = row
    try:
        named = kind.encode()
        told = NULL_TEXT if payload is None else payload
        numbers = _pack_event(
            seq, scope_id, at, NULL if memory is None else memory, len(named), len(told)
        )
        return crc32(named + told, crc32(numbers, _EVENTS))
    except (UnicodeEncodeError, struct.error, TypeError, AttributeError) as exc:
        raise InvalidArgument.of("events", "values that SQLite can hold", exc) from exc


def sealed_events(
    scope_id: int, seq: int, kind: str, events: Sequence[tuple[int, bytes]]
) -> list[tuple[Any, ...]]:
    """Return rows of events, each (at, payload), of no one memory; the first has ``seq``.

    Raises
    ------
    InvalidArgument
        If a value is one that its column cannot hold.
    """
    sealed = _core.sealed_events(scope_id, seq, kind, list(events))
    if sealed is not None:
        return sealed
    return sealed_one_by_one(scope_id, seq, kind, events)


def sealed_one_by_one(
    scope_id: int, seq: int, kind: str, events: Sequence[tuple[int, bytes]]
) -> list[tuple[Any, ...]]:
    """Return what `sealed_events` does; row by row it says which value is refused."""
    rows = [(seq + i, scope_id, kind, at, None, told) for i, (at, told) in enumerate(events)]
    return [(*row, event_checksum(row)) for row in rows]


checkpoint_checksum: Final = checksum(
    "checkpoints",
    {
        "memory": INT,
        "seq": INT,
        "at": INT,
        "storage_strength": REAL,
        "r_anchor": REAL,
        "anchored_at": INT,
        "access_count": INT,
    },
)
source_checksum: Final = checksum("sources", {"memory": INT, "kind": TEXT, "source": INT})
erased_checksum: Final = checksum(
    "erased", {"scope_id": INT, "id": BLOB, "digest": BLOB, "at": INT, "seq": INT}
)
