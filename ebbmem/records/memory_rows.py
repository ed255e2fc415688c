"""Checksums of the two tables with the most rows, ``memories`` and ``links``.

Their form is that of ``rows.checksum``, written out column by column because it is computed for
every row that is written or loaded; of new memories, and of a scope that is loaded, in the core.

A memory's checksum has two halves: the upper 31 bits are of the columns that the index keeps in
RAM, so that they can be checked, and changed by recall, without touching a text; the lower 32
bits are of all others.  The texts that are searched have a checksum of their own,
``text_checksum``, which stands for them in the lower half.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import reduce
from operator import itemgetter, xor
from typing import Any, Final, NamedTuple
from zlib import crc32

from ebbmem import _core
from ebbmem.errors import InvalidArgument
from ebbmem.records.base import NUMBER_BITS, IndexRow, MemoryRow, StrengthRow
from ebbmem.records.rows import NULL, NULL_TEXT, Row, Rows, event_checksum

INDEX_COLUMNS: Final = (*IndexRow._fields, "seq")
MEMORY_COLUMNS: Final = (*MemoryRow._fields, "text_checksum")

_RECORDED_AT: Final = MEMORY_COLUMNS.index("recorded_at")

_row_of: Final = tuple.__new__
_index_part: Final = itemgetter(*map(MemoryRow._fields.index, INDEX_COLUMNS))

_HIGH: Final = 0x7FFF_FFFF
_REFUSALS: Final = (UnicodeEncodeError, struct.error, TypeError, AttributeError)

_pack_index: Final = struct.Struct("<11q5d2q").pack
_pack_text: Final = struct.Struct("<3q").pack
_pack_content: Final = struct.Struct("<12q").pack
_pack_edge: Final = struct.Struct("<4q").pack
_pack_weight: Final = struct.Struct("<3qdq").pack
_INDEX: Final = crc32(b"memories.index")
_TEXT: Final = crc32(b"memories.text")
_CONTENT: Final = crc32(b"memories.content")
_EDGE: Final = crc32(b"links.edge")
_WEIGHT: Final = crc32(b"links.weight")


class Births(NamedTuple):
    """Rows of new memories and of their events, checksums last; and the XOR of the memories'."""

    memories: Rows
    events: Rows
    checksum_xor: int


def sealed(row: MemoryRow) -> tuple[Any, ...]:
    """Return a memory's row followed by its text_checksum and checksum.

    Raises
    ------
    InvalidArgument
        If a value is one that its column cannot hold, such as a lone surrogate.
    """
    try:
        text = text_checksum((row.row_id, row.summary, row.keywords))
        index = index_checksum(_index_part(row))
        content = _content_crc(row, text)
    except _REFUSALS as exc:
        raise InvalidArgument.of("memory", "values that SQLite can hold", exc) from exc
    return (*row, text, index << 32 | content)


def agreeing(rows: list[tuple[Any, ...]]) -> list[MemoryRow]:
    """Return memories as they are in their table, up to one that is not as it was written."""
    count = _core.agreeing_memories(rows)
    # Past a check of the core's: every row has as many values.
    return [_row_of(MemoryRow, row[:-2]) for row in rows[:count]]


def births(rows: list[MemoryRow], row_id: int, seq: int, kind: str | None) -> Births:
    """Return new memories of one scope as their table has them, and the events that say so.

    Parameters
    ----------
    rows : list of MemoryRow
        Their own ``row_id`` and ``seq`` do not count.
    row_id, seq : int
        Those of the first memory; the others' follow.  The events' seq follow the memories'.
    kind : str or None
        What the events are called; None: there are none.

    Raises
    ------
    InvalidArgument
        If a value is one that its column cannot hold, such as a lone surrogate.
    """
    made = _core.sealed_births(rows, row_id, seq, kind)
    return Births(*made) if made is not None else births_one_by_one(rows, row_id, seq, kind)


def births_one_by_one(rows: list[MemoryRow], row_id: int, seq: int, kind: str | None) -> Births:
    """Return what `births` does; row by row it says which value is refused."""
    memories = [sealed(MemoryRow(row_id + at, seq + at, *row[2:])) for at, row in enumerate(rows)]
    events = [
        (seq + len(rows) + at, row[0] >> NUMBER_BITS, kind, row[_RECORDED_AT], row[0], None)
        for at, row in enumerate(memories if kind is not None else ())
    ]
    told = [(*event, event_checksum(event)) for event in events]
    return Births(memories, told, reduce(xor, (row[-1] for row in memories), 0))


def strengthened(
    rows: list[tuple[Any, ...]], strengths: dict[int, StrengthRow], seq: int
) -> tuple[Rows, int] | None:
    """Return what to write of memories whose strengths changed, and the XOR of their checksums.

    Parameters
    ----------
    rows : list of tuple
        INDEX_COLUMNS and checksum of each.
    strengths : dict of int to StrengthRow
        What is now, by row.
    seq : int
        That of the first row; the others' follow.

    Returns
    -------
    rows, checksum_xor
        Four strengths, seq, checksum and row of each, and the XOR of all checksums, old and new;
        None where a row does not agree with its checksum, or a strength, or a seq, fits no column.
    """
    return _core.sealed_strengths(rows, strengths, seq)


def index_half(memory: int) -> int:
    """Return the upper half of a memory's checksum."""
    return memory >> 32


def text_checksum(row: tuple[int, str, str]) -> int:
    """Return the checksum of (row_id, summary, keywords)."""
    summary, keywords = row[1].encode(), row[2].encode()
    numbers = _pack_text(row[0], len(summary), len(keywords))
    return crc32(keywords, crc32(summary, crc32(numbers, _TEXT)))


def index_checksum(row: Sequence[Any]) -> int:
    """Return the upper half of a memory's checksum from a row of INDEX_COLUMNS."""
    (
        row_id, memory_type, importance, emotional_valence, emotional_intensity, storage_strength,
        r_anchor, anchored_at, access_count, created_at, valid_from, valid_to, expires_at, pinned,
        tier, superseded_by, run_id, seq,
    ) = row  # fmt: skip
    kind = memory_type.encode()
    run = NULL_TEXT if run_id is None else run_id.encode()
    numbers = _pack_index(
        row_id,
        anchored_at,
        access_count,
        created_at,
        pinned,
        tier,
        seq,
        NULL if valid_from is None else valid_from,
        NULL if valid_to is None else valid_to,
        NULL if expires_at is None else expires_at,
        NULL if superseded_by is None else superseded_by,
        # SQLite stores -0.0 as 0.0.
        importance + 0.0,
        emotional_valence + 0.0,
        emotional_intensity + 0.0,
        storage_strength + 0.0,
        r_anchor + 0.0,
        len(kind),
        len(run),
    )
    return crc32(kind + run, crc32(numbers, _INDEX)) & _HIGH


def link_checksum(row: Row) -> int:
    """Return the checksum of (source, target, kind, weight, created_at, seq).

    The upper half is of what stays when a greater weight comes, the lower of what changes.
    """
    source, target, kind, weight, created_at, seq = row
    try:
        name = kind.encode()
        edge = crc32(name, crc32(_pack_edge(source, target, created_at, len(name)), _EDGE))
        numbers = _pack_weight(source, target, seq, weight + 0.0, len(name))
        return (edge & _HIGH) << 32 | crc32(name, crc32(numbers, _WEIGHT))
    except _REFUSALS as exc:
        raise InvalidArgument.of("link", "values that SQLite can hold", exc) from exc


def _content_crc(row: MemoryRow, text: int) -> int:
    """Return the lower half of a memory's checksum."""
    detail = NULL_TEXT if row.detail is None else row.detail.encode()
    key = NULL_TEXT if row.key is None else row.key.encode()
    source = NULL_TEXT if row.source is None else row.source.encode()
    metadata = NULL_TEXT if row.metadata is None else row.metadata.encode()
    numbers = _pack_content(
        row.row_id,
        row.recorded_at,
        row.verified,
        text,
        NULL if row.due_at is None else row.due_at,
        NULL if row.superseded_at is None else row.superseded_at,
        len(row.id),
        len(detail),
        len(key),
        len(row.digest),
        len(source),
        len(metadata),
    )
    blobs = b"".join((row.id, detail, key, row.digest, source, metadata))
    return crc32(blobs, crc32(numbers, _CONTENT))
