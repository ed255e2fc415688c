"""What is wrong in a store's file: every row, what rows name, counters, pages and schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any, Final

from ebbmem.errors import CorruptStore
from ebbmem.records.base import EMBEDDER_DIM, NUMBER_BITS, Checked, number_of
from ebbmem.records.connection import Connection
from ebbmem.records.counters import SEQ_KEY
from ebbmem.records.migrate import expected_tables, require_expected_schema
from ebbmem.records.references import REFERENCES
from ebbmem.records.scanning import Unreadable, only_indexed, scanned
from ebbmem.records.statements import TOMBSTONE
from ebbmem.records.tables import TABLES, Row, Table, named
from ebbmem.reports import Finding

FILE: Final = "file"
MOST_FINDINGS: Final = 10_000
_MOST_PAGES: Final = 100
"""How many damaged pages SQLite is asked to tell of."""
_OWN_KEYWORDS: Final = (
    "SELECT m.row_id, m.keywords, k.keyword FROM memories AS m"
    " LEFT JOIN keywords AS k ON k.row_id = m.row_id AND k.role = 'has' ORDER BY m.row_id"
)
_SUPERSEDED: Final = (
    "SELECT row_id, superseded_by FROM memories WHERE superseded_by IS NOT NULL ORDER BY row_id"
)


@dataclass(slots=True)
class Tally:
    """What the rows of one scope add up to."""

    memories: int = 0
    xor: int = 0
    greatest: Counter[str] = field(default_factory=Counter)
    """The greatest memory number, turn number and seq."""


@dataclass(slots=True)
class Counted:
    """The state of a check: what was counted so far."""

    rows: Counter[str] = field(default_factory=Counter)
    scopes: dict[int, Row] = field(default_factory=dict)
    tallies: dict[int, Tally] = field(default_factory=dict)
    meta: dict[str, str] = field(default_factory=dict)
    damaged: set[int | None] = field(default_factory=set)
    """The scope_ids of rows that are not as they were written; None for the store's own."""
    unreadable: set[str] = field(default_factory=set)
    """Tables of which not every row could be read."""

    def name(self, scope_id: int | None) -> str | None:
        """Return the name of a scope as far as it is known."""
        if scope_id is None:
            return None
        row = self.scopes.get(scope_id)
        return f"scope_id {scope_id}" if row is None else str(row[1])


def check(connection: Connection) -> Checked:
    """Return everything that is wrong in a store.

    Parameters
    ----------
    connection : Connection
        In a read transaction.  Nothing is written, and memory is bounded but for one entry per
        scope and per corrected memory.
    """
    state = Counted()
    found = _findings(connection, state)
    kept = list(islice(found, MOST_FINDINGS))
    problems = len(kept) + sum(1 for _ in found)
    if state.unreadable:
        state.damaged.update(state.scopes)
    # What is left of an erased scope has a name, too.
    names = {at: str(row[1]) for at, row in state.scopes.items()}
    shown = {at: name for at, name in names.items() if not name.startswith(TOMBSTONE)}
    sound = [name for at, name in shown.items() if at not in state.damaged]
    return Checked(dict(state.rows), len(shown), sound, problems, kept)


def _findings(connection: Connection, state: Counted) -> Iterator[Finding]:
    """Yield everything that is wrong, and count."""
    yield from _pages(connection)
    there = expected_tables(connection)
    for table in TABLES:
        if table.name in there:
            for row in scanned(connection, table):
                yield from _row(state, table, row)
    yield from _totals(state)
    for compared in (_references, _keywords, _successions, _lost):
        yield from _as_far_as_read(connection, compared(connection, state))
    yield from _vectors(connection, state)


def _as_far_as_read(connection: Connection, found: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings until a page cannot be read; the scan of the tables has told of it."""
    try:
        yield from found
    except CorruptStore as exc:
        yield Finding(FILE, None, "", f"not all could be compared: {_reason(connection, exc)}")


def _pages(connection: Connection) -> Iterator[Finding]:
    """Yield what SQLite says of pages and indexes, and what differs in the schema."""
    try:
        for (text,) in connection.rows(f"PRAGMA integrity_check({_MOST_PAGES})"):
            if text != "ok":
                yield Finding(FILE, None, "", text)
    except CorruptStore as exc:
        yield Finding(FILE, None, "", _reason(connection, exc))
    try:
        require_expected_schema(connection)
    except CorruptStore as exc:
        yield Finding(FILE, None, "", _reason(connection, exc))


def _row(state: Counted, table: Table, row: Row | Unreadable) -> Iterator[Finding]:
    """Count a row, and tell whether it is not as it was written."""
    if isinstance(row, Unreadable):
        state.unreadable.add(table.name)
        where = "" if row.after is None else f"behind {_key(table, row.after)}"
        if row.row:
            where = _key(table, tuple(row.row[column] for column in table.key))
        yield Finding(table.name, None, where, f"cannot be read: {row.reason}")
        return
    state.rows[table.name] += 1
    scope_id = table.scope(row)
    _count(state, table, row, scope_id)
    if not table.whole(row):
        state.damaged.add(scope_id)
        problem = "does not match its checksum"
        yield Finding(table.name, state.name(scope_id), table.label(row), problem)


def _count(state: Counted, table: Table, row: Row, scope_id: int | None) -> None:
    """Take a row into the tallies."""
    if table.name == "meta":
        state.meta[str(row[0])] = str(row[1])
    if table.name == "scopes":
        state.scopes[row[0]] = row
    if scope_id is None:
        return
    tally = state.tallies.setdefault(scope_id, Tally())
    if table.name == "memories":
        tally.memories += 1
        tally.xor ^= row[-1] if isinstance(row[-1], int) else 0
    if table.name in ("memories", "turns"):
        tally.greatest[table.name] = max(tally.greatest[table.name], number_of(row[0]))
    if "seq" in table.fields:
        seq = row[table.place("seq")]
        tally.greatest["seq"] = max(tally.greatest["seq"], seq if isinstance(seq, int) else 0)


def _totals(state: Counted) -> Iterator[Finding]:
    """Yield where the counters of scopes and of the store are not those of their rows."""
    told = state.meta.get(SEQ_KEY, "0")
    newest = int(told) if told.isdecimal() else 0
    for scope_id, tally in sorted(state.tallies.items()):
        scope = state.scopes.get(scope_id)
        if scope is None:
            yield Finding("scopes", None, f"scope_id {scope_id}", "is missing, and has rows")
            continue
        if not all(isinstance(value, int) for value in scope[2:]):
            continue  # told by the scan
        for problem in _totals_of(scope, tally):
            state.damaged.add(scope_id)
            yield Finding("scopes", str(scope[1]), "", problem)
        newest_here = max(scope[2], tally.greatest["seq"])
        if newest < newest_here:
            yield Finding("meta", None, f"'{SEQ_KEY}'", f"is {newest}, and {newest_here} is taken")


def _totals_of(scope: Row, tally: Tally) -> Iterator[str]:
    """Yield what is wrong with the counters of one scope."""
    _, _, last_seq, next_number, next_turn, count, xor, _, _ = scope
    if count != tally.memories:
        yield f"should have {count} memories, has {tally.memories}"
    elif xor != tally.xor:
        yield f"has its {count} memories with other checksums"
    if next_number <= tally.greatest["memories"]:
        yield f"would give memory number {next_number} twice"
    if next_turn <= tally.greatest["turns"]:
        yield f"would give turn number {next_turn} twice"
    if last_seq < tally.greatest["seq"]:
        yield f"its newest change is {last_seq}, and it has rows of change {tally.greatest['seq']}"


def _references(connection: Connection, state: Counted) -> Iterator[Finding]:
    """Yield the rows that name one that is not there, or one of another scope."""
    by_name = {table.name: table for table in TABLES}
    there = expected_tables(connection)
    for reference in (one for one in REFERENCES if one.table in there):
        table = by_name[reference.table]
        columns = ", ".join(f'r."{column}"' for column in table.columns)
        for row in connection.each(reference.query(columns)):
            scope = state.name(table.scope(row))
            state.damaged.add(table.scope(row))
            yield Finding(table.name, scope, table.label(row), reference.problem)


def _keywords(connection: Connection, state: Counted) -> Iterator[Finding]:
    """Yield the memories whose keywords are not those by which they are found."""
    for (row_id, text), rows in groupby(connection.each(_OWN_KEYWORDS), key=lambda row: row[:2]):
        found = {keyword for _, _, keyword in rows if keyword is not None}
        if not isinstance(text, str):
            continue  # told by the scan
        if found != set(text.split("\n") if text else ()):
            scope_id = row_id >> NUMBER_BITS
            state.damaged.add(scope_id)
            problem = "is found by other keywords than its own"
            yield Finding("keywords", state.name(scope_id), named(row_id), problem)


def _successions(connection: Connection, state: Counted) -> Iterator[Finding]:
    """Yield the memories that replaced each other in a circle."""
    successor = dict(connection.rows(_SUPERSEDED))
    ended: set[int] = set()
    for start in successor:
        chain: dict[int, None] = {}
        row: Any = start
        while row in successor and row not in ended and row not in chain:
            chain[row] = None
            row = successor[row]
        if row in chain:
            scope_id = row >> NUMBER_BITS
            yield Finding(
                "memories", state.name(scope_id), named(row), "was replaced in a circle, by itself"
            )
        ended.update(chain)


def _lost(connection: Connection, state: Counted) -> Iterator[Finding]:
    """Yield the rows that only an index still names."""
    for table, row in only_indexed(connection):
        scope_id = table.scope(row)
        state.damaged.add(scope_id)
        problem = "is lost: only an index still names it"
        yield Finding(table.name, state.name(scope_id), table.label(row), problem)


def _vectors(connection: Connection, state: Counted) -> Iterator[Finding]:
    """Yield the vectors that are not of the embedder's size, or of no embedder."""
    dim = state.meta.get(EMBEDDER_DIM)
    statement = "SELECT row_id, length(vector) FROM vectors WHERE length(vector) <> ?"
    if dim is None and state.rows["vectors"]:
        yield Finding("vectors", None, "", "are of no embedder that the store knows")
    if dim is None or not dim.isdecimal():
        return
    try:
        for row_id, size in connection.each(statement, (4 * int(dim),)):
            scope = state.name(row_id >> NUMBER_BITS)
            problem = f"has {size} bytes, expected {4 * int(dim)} of {dim} dimensions"
            yield Finding("vectors", scope, f"of {named(row_id)}", problem)
    except CorruptStore:
        return  # told by the scan


def _key(table: Table, key: tuple[Any, ...]) -> str:
    """Return the key of a row for people."""
    parts = zip(table.key, key, strict=True)
    rows = ("row_id", "source", "target", "memory")
    return " ".join(named(value) if name in rows else f"{value!r:.40}" for name, value in parts)


def _reason(connection: Connection, exc: CorruptStore) -> str:
    return str(exc).removeprefix(f"{connection.path}: ")
