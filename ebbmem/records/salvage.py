"""Putting what is sound in a damaged store into a new one, and the rest into quarantine."""

# ruff: noqa: S608 - names of tables and columns come from `tables`, and no value does.
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ebbmem.errors import CorruptStore, InvalidArgument
from ebbmem.records.base import EMBEDDER_DIM, EMBEDDER_NAME, HAS, NUMBER_BITS, number_of
from ebbmem.records.connection import Connection
from ebbmem.records.counters import MAX_SCOPE, SEQ_KEY, put_meta
from ebbmem.records.digests import STORE_KEY, keyed_digest
from ebbmem.records.identity import id_text
from ebbmem.records.mending import holds, insert, mend_successions, there, write_own_keywords
from ebbmem.records.proofs import proves_key, proves_name
from ebbmem.records.quarantine import Quarantine
from ebbmem.records.rows import scope_checksum
from ebbmem.records.scanning import Unreadable, known_ids, only_indexed, scanned
from ebbmem.records.statements import TOMBSTONE, UPDATE_SCOPE
from ebbmem.records.tables import TABLES, Row, Table, named
from ebbmem.reports import Finding

_BY_NAME: Final = {table.name: table for table in TABLES}
_MEMORIES: Final = _BY_NAME["memories"]
_SCOPES: Final = _BY_NAME["scopes"]
_NOT_WHOLE: Final = "does not match its checksum"
_APART: Final = ("meta", "scopes", "staged")
"""Read before the others; or left to be made again."""
_EMBEDDER: Final = (EMBEDDER_NAME, EMBEDDER_DIM)


@dataclass(slots=True)
class _Scope:
    """What a scope's new row will say."""

    name: str
    created_at: int
    whole: bool
    """Whether its old row agreed with its checksum."""
    count: int = 0
    """How many memories the old row counted."""
    renamed: bool = False
    next_number: int = 1
    next_turn: int = 1
    seen: int = 0
    """Memories that were read or put into quarantine."""


@dataclass(slots=True)
class Salvage:
    """One repair on its way, from a damaged store to an empty one.

    Parameters
    ----------
    source, target : Connection
        The damaged store, in a transaction; a new one with all its tables, in a transaction.
    quarantine : Quarantine
        Where rows go that are not sound.
    """

    source: Connection
    target: Connection
    quarantine: Quarantine
    _meta: dict[str, str] = field(default_factory=dict)
    _scopes: dict[int, _Scope] = field(default_factory=dict)
    _seq: int = 0
    _new_key: bool = False

    def run(self, tables: set[str]) -> None:
        """Copy the tables of those names; all others stay empty."""
        rules: dict[str, Callable[[Table, Row], Row | str]] = {
            "memories": self._memory,
            "vectors": self._vector,
            "keywords": self._keyword,
            "turns": self._turn,
            "erased": self._erased,
        }
        self._read_meta()
        self._read_scopes()
        for table in TABLES:
            if table.name in tables and table.name not in _APART:
                self._copy(table, rules.get(table.name, self._plain))
                if table.name == "memories":
                    self._rescue()
                    mend_successions(self.target, self.quarantine, self._name)
        write_own_keywords(self.target)
        self._tell_of_lost()
        self._finish()

    # --- the store as a whole -----------------------------------------------------------

    def _read_meta(self) -> None:
        """Keep what is sound of ``meta``, and the store's key also where memories prove it."""
        table = _BY_NAME["meta"]
        for row in self._rows(table):
            key, value = row[0], row[1]
            whole = table.whole(row)
            if key == SEQ_KEY and str(value).isdecimal() and whole:
                self._seq = int(value)
            elif whole or (key == STORE_KEY and proves_key(self.source, value)):
                self._meta[key] = value
            elif key != SEQ_KEY:
                self._put(table, row, _NOT_WHOLE)
        if STORE_KEY not in self._meta:
            self._new_key = True
            self._meta[STORE_KEY] = os.urandom(32).hex()
            lost = "is lost, a new one was made: what was erased is not recognised any more"
            self.quarantine.note("meta", None, f"{STORE_KEY!r}", lost)
        if not all(key in self._meta for key in _EMBEDDER):
            for key in _EMBEDDER:
                self._meta.pop(key, None)

    def _read_scopes(self) -> None:
        """Keep every scope; a name that nothing proves is not trusted with memories."""
        for row in self._rows(_SCOPES):
            scope_id, name, last_seq, next_number, next_turn, count, _, created_at, _ = row
            whole = _SCOPES.whole(row)
            if not whole and not (0 < scope_id <= MAX_SCOPE and isinstance(created_at, int)):
                self._put(_SCOPES, row, _NOT_WHOLE)
                continue
            scope = _Scope(name, created_at, whole)
            if whole:
                scope.count, scope.next_number, scope.next_turn = count, next_number, next_turn
                self._seq = max(self._seq, last_seq)
            elif not self._proved(scope_id, name):
                self._put(_SCOPES, row, _NOT_WHOLE)
                scope = self._nameless(scope_id)
            self._scopes[scope_id] = scope
            self._insert_scope(scope_id, scope)

    def _proved(self, scope_id: int, name: Any) -> bool:
        """Return whether a scope has a name for sure."""
        if name == f"{TOMBSTONE}{scope_id}":
            return True  # of one that was erased
        return isinstance(name, str) and proves_name(self.source, self._key(), scope_id, name)

    def _nameless(self, scope_id: int) -> _Scope:
        """Return a scope whose name is lost, under a name that no other has."""
        name = f"recovered-{scope_id}"
        while self.target.row("SELECT 1 FROM scopes WHERE name = ?", (name,)):
            name += "-again"
        self.quarantine.note("scopes", name, f"scope_id {scope_id}", "its name is lost")
        return _Scope(name, 0, whole=False, renamed=True)

    def _require_scope(self, scope_id: int) -> None:
        """Make a scope for rows that are sound, where it is lost."""
        if scope_id not in self._scopes:
            self._scopes[scope_id] = self._nameless(scope_id)
            self._insert_scope(scope_id, self._scopes[scope_id])

    def _insert_scope(self, scope_id: int, scope: _Scope) -> None:
        row = (scope_id, scope.name, 0, 1, 1, 0, 0, scope.created_at)
        insert(self.target, _SCOPES, (*row, scope_checksum(row)))

    def _finish(self) -> None:
        """Write ``meta``, and the counters of every scope as its rows make them."""
        self._seq += 1
        for scope_id, scope in self._scopes.items():
            first, last = scope_id << NUMBER_BITS, (scope_id + 1 << NUMBER_BITS) - 1
            count = xor = 0
            sums = "SELECT checksum FROM memories WHERE row_id BETWEEN ? AND ?"
            for (checksum,) in self.target.each(sums, (first, last)):
                count, xor = count + 1, xor ^ checksum
            counters = (self._seq, scope.next_number, scope.next_turn, count, xor)
            row = (scope_id, scope.name, *counters, scope.created_at)
            self.target.run(UPDATE_SCOPE, (*counters, scope_checksum(row), scope_id))
            if scope.count > scope.seen:
                lost = f"{scope.count - scope.seen} memories could not be read at all"
                self.quarantine.note("memories", scope.name, "", lost)
        for key, value in self._meta.items():
            put_meta(self.target, key, value)
        put_meta(self.target, SEQ_KEY, str(self._seq))

    # --- rows ---------------------------------------------------------------------------

    def _copy(self, table: Table, rule: Callable[[Table, Row], Row | str]) -> None:
        """Copy the rows of a table that a rule returns; a text is why a row is not sound."""
        for row in self._rows(table):
            kept = rule(table, row)
            self._note_numbers(table, row)  # after the rule, which may have made the scope anew
            if isinstance(kept, str):
                self._put(table, row, kept)
            elif kept and not insert(self.target, table, kept):
                self._put(table, row, "another row has its id or key")

    def _plain(self, table: Table, row: Row) -> Row | str:
        """Keep a row that is whole and names only what is there."""
        if not table.whole(row):
            return _NOT_WHOLE
        scope_id = table.scope(row)
        if scope_id not in self._scopes:
            return "belongs to no scope"
        values = dict(zip(table.columns, row, strict=True))
        memories = [values[name] for name in ("source", "target", "memory") if name in values]
        if table.name == "sources" and values["kind"] == "turn":
            memories = [values["memory"]]
            turn = self.target.row("SELECT 1 FROM turns WHERE row_id = ?", (values["source"],))
            if turn is None:
                return "its source is not there"
        for memory in memories:
            if memory is not None and not there(self.target, memory, scope_id):
                return f"names memory {named(memory)}, which is not there"
        return row

    def _memory(self, table: Table, row: Row) -> Row | str:
        scope_id, whole = row[0] >> NUMBER_BITS, table.whole(row)
        if whole:
            self._require_scope(scope_id)
        if scope_id in self._scopes:
            self._scopes[scope_id].seen += 1
        if not whole:
            return _NOT_WHOLE
        scope = self._scopes[scope_id]
        if not (scope.renamed or self._new_key):
            return row
        values = list(row[: len(table.fields)])
        text = row[table.place("summary")]
        values[table.place("digest")] = keyed_digest(self._key(), scope.name, text)
        return table.seal(values)

    def _vector(self, table: Table, row: Row) -> Row | str:
        kept = self._plain(table, row)
        if isinstance(kept, str):
            return kept
        if not there(self.target, row[0], row[0] >> NUMBER_BITS):
            return f"is of memory {named(row[0])}, which is not there"
        dim = self._meta.get(EMBEDDER_DIM)
        if dim is None:
            return "is of an embedder that is not known any more; it will be made anew"
        if len(row[1]) != 4 * int(dim):
            return f"has {len(row[1])} bytes, expected {4 * int(dim)}; it will be made anew"
        return kept

    def _keyword(self, table: Table, row: Row) -> Row | str:
        """Keep what memories wait for; what they have is taken from them."""
        if row[1] == HAS:
            return ()
        kept = self._plain(table, row)
        if isinstance(kept, str) or there(self.target, row[2], row[2] >> NUMBER_BITS):
            return kept
        return f"is of memory {named(row[2])}, which is not there"

    def _turn(self, table: Table, row: Row) -> Row | str:
        memory = row[table.place("memory")]
        if not table.whole(row):
            return _NOT_WHOLE
        scope_id = row[0] >> NUMBER_BITS
        self._require_scope(scope_id)
        if memory is None or there(self.target, memory, scope_id):
            return row
        values = list(row[: len(table.fields)])
        values[table.place("memory")] = None
        name, gone = self._scopes[scope_id].name, f"memory {named(memory)} of it is not there"
        self.quarantine.note("turns", name, table.label(row), f"was kept without it: {gone}")
        return table.seal(values)

    def _erased(self, table: Table, row: Row) -> Row | str:
        """Keep also one that is not whole: at worst it keeps away what nobody wrote."""
        if table.whole(row) or row[0] not in self._scopes:
            return self._plain(table, row)
        if not (isinstance(row[1], bytes) and isinstance(row[2], (bytes, type(None)))):
            return _NOT_WHOLE
        name = self._scopes[row[0]].name
        self.quarantine.note(
            "erased", name, table.label(row), f"was kept, although it {_NOT_WHOLE}"
        )
        return table.seal(row[: len(table.fields)])

    def _rescue(self) -> None:
        """Look for memories that only an index still names, one by one."""
        columns = ", ".join(f'"{column}"' for column in _MEMORIES.columns)
        statement = f"SELECT {columns} FROM memories WHERE row_id = ?"
        for row_id, memory_id in known_ids(self.source):
            if there(self.target, row_id, row_id >> NUMBER_BITS):
                continue
            try:
                row = self.source.row(statement, (row_id,))
            except CorruptStore:
                row = None
            if row is not None and _MEMORIES.whole(row):
                self._copy_one(row)
            elif row is None:
                what = f"{_id(memory_id)} (#{number_of(row_id)})"
                scope = self._name(row_id >> NUMBER_BITS)
                self.quarantine.note("memories", scope, what, "cannot be read")
            self._note_numbers(_MEMORIES, (row_id,))

    def _copy_one(self, row: Row) -> None:
        kept = self._memory(_MEMORIES, row)
        if not isinstance(kept, str):
            insert(self.target, _MEMORIES, kept)

    def _tell_of_lost(self) -> None:
        """Tell of rows that only an index still names; what was erased stays so by its digest."""
        try:
            for table, row in only_indexed(self.source):
                if holds(self.target, table, row):
                    continue  # read where no search leads
                done = "was made anew from its index" if self._renewed(table, row) else "is lost"
                scope = self._name(table.scope(row))
                self.quarantine.note(table.name, scope, table.label(row), done)
        except CorruptStore:
            return  # told where the tables were read

    def _renewed(self, table: Table, row: Row) -> bool:
        """Make anew that a text was erased, from what an index says; return whether it could be."""
        if table.name != "erased" or row[0] not in self._scopes:
            return False
        try:
            return insert(self.target, table, table.seal((*row[:3], 0, self._seq)))
        except InvalidArgument:
            return False  # the index is damaged, too

    # --- small steps --------------------------------------------------------------------

    def _rows(self, table: Table) -> Iterator[Row]:
        """Yield the rows that can be read; what is left of others goes into quarantine."""
        for row in scanned(self.source, table):
            if not isinstance(row, Unreadable):
                yield row
                continue
            problem = f"cannot be read: {row.reason}"
            if not row.row:
                self.quarantine.note(table.name, None, "", f"some rows: {problem}")
                continue
            name = " ".join(str(row.row[column]) for column in table.key)
            if table.name == "memories":
                scope_id = row.row["row_id"] >> NUMBER_BITS
                name = f"{_id(row.row.get('id'))} (#{number_of(row.row['row_id'])})"
                self._note_numbers(table, (row.row["row_id"],))
                if scope_id in self._scopes:
                    self._scopes[scope_id].seen += 1
            self.quarantine.put(Finding(table.name, None, name, problem), row.row)

    def _put(self, table: Table, row: Row, problem: str) -> None:
        scope = self._name(table.scope(row))
        values = dict(zip(table.columns, row, strict=True))
        self.quarantine.put(Finding(table.name, scope, table.label(row), problem), values)

    def _note_numbers(self, table: Table, row: Row) -> None:
        """See to it that no number or seq that was in use is given again."""
        if "seq" in table.fields and len(row) > 1:
            seq = row[table.place("seq")]
            if isinstance(seq, int) and table.whole(row):
                self._seq = max(self._seq, seq)
        scope = self._scopes.get(row[0] >> NUMBER_BITS) if isinstance(row[0], int) else None
        if scope is not None and table.name == "memories":
            scope.next_number = max(scope.next_number, number_of(row[0]) + 1)
        elif scope is not None and table.name == "turns":
            scope.next_turn = max(scope.next_turn, number_of(row[0]) + 1)

    def _name(self, scope_id: int | None) -> str | None:
        scope = None if scope_id is None else self._scopes.get(scope_id)
        return None if scope is None else scope.name

    def _key(self) -> bytes:
        return bytes.fromhex(self._meta[STORE_KEY])


def _id(value: Any) -> str:
    return id_text(value) if isinstance(value, bytes) and len(value) == 16 else "of an unknown id"
