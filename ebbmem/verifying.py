"""Whether the index of a scope is the one that its records make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbmem.analysis import Analyzer
from ebbmem.embedders.base import stores_vectors
from ebbmem.engine import Engine
from ebbmem.errors import CorruptStore
from ebbmem.index import Indexed, ScopeIndex
from ebbmem.records.base import IndexRow, Reader, ScopeRow, number_of
from ebbmem.reports import Finding
from ebbmem.spaces import Lane, Query, empty_lane, queries

I64 = NDArray[np.int64]

PAGE: Final = 500
SAMPLES: Final = 16
"""How many memories' texts every lane is asked with."""
_K1: Final = 1.2
_B: Final = 0.75
_COLUMNS: Final = (
    "row",
    "created_us",
    "anchored_us",
    "valid_from_us",
    "valid_to_us",
    "expires_us",
    "successor",
    "access_count",
    "importance",
    "intensity",
    "valence",
    "strength",
    "anchor",
    "tier",
    "pinned",
)


def of_engine(engine: Engine, scope: str) -> Iterator[Finding]:
    """Yield how the index of a scope differs from its records: the one in RAM, or one loaded."""
    with engine.alone(scope), engine.read(scope) as reader:
        row = reader.scope(scope)
        if row is None:
            return
        kept = engine.loaded(scope)
        # One that is behind is brought up to date, or loaded anew, before it answers.
        current = kept if kept is not None and kept.seq == row.last_seq else None
        yield from of_reader(reader, row, engine.analyzer, current)


def of_reader(
    reader: Reader, scope: ScopeRow, analyzer: Analyzer, kept: ScopeIndex | None
) -> Iterator[Finding]:
    """Yield how an index differs from one built memory by memory.

    Parameters
    ----------
    reader : Reader
        The records.
    scope : ScopeRow
        The scope as they have it.
    analyzer : Analyzer
        The one of the index.
    kept : ScopeIndex or None
        The index; None for one that is loaded here.
    """
    try:
        records = _Records(reader, scope, analyzer)
        index = ScopeIndex.load(reader, scope, analyzer) if kept is None else kept
    except CorruptStore as exc:
        yield Finding("index", scope.name, "", f"cannot be built: {exc}")
        return
    for problem in _differences(index, records):
        yield Finding("index", scope.name, "", problem)


class _Records:
    """What the records hold of one scope, and an index that took it in bit by bit."""

    def __init__(self, reader: Reader, scope: ScopeRow, analyzer: Analyzer) -> None:
        self.reader = reader
        self.scope_id = scope.scope_id
        self.analyzer = analyzer
        self.rows: list[IndexRow] = reader.index_rows(scope.scope_id)
        self.index = ScopeIndex(scope, analyzer)
        rows = iter(self.rows)
        while page := list(islice(rows, PAGE)):
            self.index.append(self._indexed(page))
        self.index.add_links(reader.links(scope.scope_id))
        picked = np.linspace(0, len(self.rows) - 1, min(SAMPLES, len(self.rows)))
        self.samples: list[int] = np.unique(picked.astype(np.int64)).tolist()

    def _indexed(self, page: Sequence[IndexRow]) -> list[Indexed]:
        texts = self.reader.texts([row.row_id for row in page], self.scope_id)
        return [
            Indexed(row, summary, keywords, None, None)
            for row, (_, summary, keywords) in zip(page, texts, strict=True)
        ]

    def texts(self, slots: Sequence[int]) -> list[tuple[str, str]]:
        """Return summary and keywords by slot."""
        found = self.reader.texts([self.rows[slot].row_id for slot in slots], self.scope_id)
        return [(summary, keywords) for _, summary, keywords in found]


def _differences(index: ScopeIndex, records: _Records) -> Iterator[str]:
    """Yield what an index has other than the records; slots may differ, rows may not."""
    slots = np.flatnonzero(index.columns.alive).astype(np.int64)
    if not np.array_equal(index.columns.row[slots], records.index.columns.row):
        yield f"has {len(slots)} memories that are not the {len(records.rows)} of the records"
        return
    yield from _columns(index, records, slots)
    yield from _links(index, records, slots)
    if len(slots):
        yield from _postings(index, records, slots)
        for lane in index.lanes():
            yield from _lane(lane, records, slots)


def _columns(index: ScopeIndex, records: _Records, slots: I64) -> Iterator[str]:
    pairs = {
        name: (getattr(index.columns, name)[slots], getattr(records.index.columns, name))
        for name in _COLUMNS
    }
    # Every index numbers the names it meets by itself.
    for name, names in (
        ("kind", [row.memory_type for row in records.rows]),
        ("run", [row.run_id for row in records.rows]),
    ):
        codes = np.array([index.columns.code(one) for one in names], dtype=np.int64)
        pairs[name] = (getattr(index.columns, name)[slots], codes)
    for name, (ours, theirs) in pairs.items():
        differ = np.flatnonzero(ours != theirs)
        if len(differ):
            first = number_of(records.rows[differ[0]].row_id)
            yield f"has another {name} of {len(differ)} memories, #{first} the first"


def _links(index: ScopeIndex, records: _Records, slots: I64) -> Iterator[str]:
    place = dict(zip(slots.tolist(), range(len(slots)), strict=True))
    for slot, at in place.items():
        ours = [(place.get(t, -1), kind, weight) for t, kind, weight in index.links.neighbors(slot)]
        if sorted(ours) != sorted(records.index.links.neighbors(at)):
            yield f"has other links of #{number_of(records.rows[at].row_id)} than the records"


def _postings(index: ScopeIndex, records: _Records, slots: I64) -> Iterator[str]:
    every = np.arange(len(slots), dtype=np.int64)
    for at, (summary, keywords) in zip(
        records.samples, records.texts(records.samples), strict=True
    ):
        terms, _ = records.analyzer.terms([f"{summary}\n{keywords}"])
        asked = np.unique(terms)
        ours = index.postings.bm25(asked, _K1, _B, slots)
        theirs = records.index.postings.bm25(asked, _K1, _B, every)
        if not np.array_equal(ours, theirs):
            yield f"has other words than the records, by the text of {_number(records, at)}"


def _lane(lane: Lane, records: _Records, slots: I64) -> Iterator[str]:
    rebuilt = empty_lane(lane.embedder)
    asked: Sequence[Query]
    if stores_vectors(lane.embedder):
        blobs = dict(records.reader.vectors(records.scope_id))
        rows = [row.row_id for row in records.rows]
        if blobs.keys() != set(rows):
            return  # some wait for their vectors: the lane is built anew before it answers
        vectors = np.stack([np.frombuffer(blobs[row], dtype=np.float32) for row in rows])
        rebuilt.append([""] * len(rows), vectors)
        asked = [vectors[at] for at in records.samples]
    else:
        for start in range(0, len(records.rows), PAGE):
            page = range(start, min(start + PAGE, len(records.rows)))
            rebuilt.append([summary for summary, _ in records.texts(page)], None)
        asked = queries(lane.embedder, [text for text, _ in records.texts(records.samples)])
    every = np.arange(len(slots), dtype=np.int64)
    for at, query in zip(records.samples, asked, strict=True):
        ours, theirs = lane.asked(query).cosines(slots), rebuilt.asked(query).cosines(every)
        if not np.array_equal(ours, theirs):
            yield f"has other vectors of {lane.embedder.name!r}, by that of {_number(records, at)}"


def _number(records: _Records, at: int) -> str:
    return f"#{number_of(records.rows[at].row_id)}"
