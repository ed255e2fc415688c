"""The counters that write transactions move: the store's seq, and those of its scopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import attrgetter, xor
from typing import Any, Final

from ebbmem.errors import InvalidArgument
from ebbmem.records import statements as sql
from ebbmem.records.base import NUMBER_BITS
from ebbmem.records.connection import Connection
from ebbmem.records.corruption import corrupt, corrupt_row
from ebbmem.records.rows import agrees, meta_checksum, scope_checksum

SEQ_KEY: Final = "seq"
"""The meta key of the newest seq."""

_MAX_NUMBER: Final = (1 << NUMBER_BITS) - 1
MAX_SCOPE: Final = (1 << 31) - 1
MOST_KEPT: Final = 4_096
"""Scopes whose counters are kept between two transactions."""


@dataclass(slots=True)
class ScopeCounters:
    """A row of ``scopes``, in the order of its columns."""

    scope_id: int
    name: str
    last_seq: int
    next_number: int
    next_turn: int
    memory_count: int
    checksum_xor: int
    created_at: int

    def numbers(self, n: int) -> range:
        """Return the next ``n`` numbers for memories."""
        first, self.next_number = self.next_number, self.next_number + n
        return self._span(first, n)

    def turns(self, n: int) -> range:
        """Return the next ``n`` numbers for turns."""
        first, self.next_turn = self.next_turn, self.next_turn + n
        return self._span(first, n)

    def count_in(self, count: int, checksum_xor: int) -> None:
        """Count memories that came."""
        self.memory_count += count
        self.checksum_xor ^= checksum_xor

    def count_out(self, checksums: Sequence[int]) -> None:
        """Count memories that went."""
        self.memory_count -= len(checksums)
        self.change(checksums)

    def change(self, checksums: Sequence[int]) -> None:
        """Put checksums that came, or went, into the XOR."""
        self.checksum_xor = reduce(xor, checksums, self.checksum_xor)

    def _span(self, first: int, n: int) -> range:
        if first + n - 1 > _MAX_NUMBER:
            raise InvalidArgument.of(
                "scope", f"at most {_MAX_NUMBER} rows over its life", self.name
            )
        return range(first, first + n)


# dataclasses.astuple copies deeply, which would cost more than the write.
_columns: Final = attrgetter(*sql.SCOPE_COLUMNS)


class Counters:
    """Counters written once per transaction, and read once while nobody else commits.

    Between two transactions they are kept: until another connection commits they are what the
    store says.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._kept_at: int | None = None
        """The data version at which they are those of the store; None inside a transaction."""
        self._version = 0
        self.forget()

    def forget(self) -> None:
        """Keep nothing: some of it was erased, or never committed."""
        self._seq: int | None = None
        self._stored_seq: int | None = None
        self._scopes: dict[int, ScopeCounters] = {}
        self._named: dict[str, ScopeCounters] = {}
        self._changed: set[int] = set()
        self._no_erased: set[int] = set()
        """Scopes known to have nothing erased."""

    def begin(self) -> None:
        """Forget, in a transaction just begun, what may no longer be so."""
        self._version = self._connection.data_version()
        if self._kept_at != self._version or len(self._scopes) > MOST_KEPT:
            self.forget()
        # Only a commit says that they are to be kept.
        self._kept_at = None

    def keep(self) -> None:
        """Keep for the next transaction what this one has committed."""
        self._kept_at = self._version

    def take(self, scope_id: int, n: int = 1) -> range:
        """Return the next ``n`` values of seq, for changes in a scope."""
        first = self.newest() + 1
        self._seq = self.newest() + n
        if n:
            self.scope(scope_id).last_seq = self._seq
            self._changed.add(scope_id)
        return range(first, first + n)

    def scope(self, scope_id: int) -> ScopeCounters:
        """Return the counters of a scope, to be moved in place together with ``take``."""
        counters = self._scopes.get(scope_id)
        if counters is None:
            row = self._connection.row(sql.SELECT_SCOPE_BY_ID, (scope_id,))
            if row is None:
                raise InvalidArgument.of("scope_id", "a scope of this store", scope_id)
            counters = self._loaded(row)
        return counters

    def open_scope(self, name: str, now: int) -> ScopeCounters:
        """Return the counters of a scope by name, made when it is new."""
        known = self._named.get(name)
        if known is None:
            row = self._connection.row(sql.SELECT_SCOPE_BY_NAME, (name,))
            if row is None:
                known = self._made(name, now)
            else:
                known = self._scopes.get(row[0]) or self._loaded(row)
            self._named[name] = known
        return known

    def nothing_erased(self, scope_id: int) -> bool:
        """Return whether nothing is remembered as erased from a scope."""
        if scope_id not in self._no_erased:
            if self._connection.row(sql.SELECT_ANY_ERASED, (scope_id,)) is not None:
                return False
            self._no_erased.add(scope_id)
        return True

    def note_erased(self, scope_id: int) -> None:
        """Note that something is erased from a scope."""
        self._no_erased.discard(scope_id)

    def newest(self) -> int:
        """Return the newest seq of the store, those of this transaction included."""
        if self._seq is None:
            self._seq = self._stored_seq = self._read_seq()
        return self._seq

    def flush(self) -> None:
        """Write the counters that moved."""
        if self._changed:
            moved = [_columns(self._scopes[scope_id]) for scope_id in sorted(self._changed)]
            self._connection.run_for_each(
                sql.UPDATE_SCOPE, [(*row[2:7], scope_checksum(row), row[0]) for row in moved]
            )
            self._changed.clear()
        if self._seq is not None and self._seq != self._stored_seq:
            put_meta(self._connection, SEQ_KEY, str(self._seq))
            self._stored_seq = self._seq

    def _read_seq(self) -> int:
        row = self._connection.row(sql.SELECT_META, (SEQ_KEY,))
        if row is None:
            if self._connection.row(sql.SELECT_ANY_SEQ) is not None:
                raise corrupt(self._connection, "the row of meta with the newest seq is missing")
            return 0
        if not agrees(meta_checksum, row):
            raise corrupt_row(self._connection, "meta", row)
        return int(row[1])

    def _loaded(self, row: Sequence[Any]) -> ScopeCounters:
        if not agrees(scope_checksum, row):
            raise corrupt_row(self._connection, "scopes", row)
        counters = ScopeCounters(*row[:-1])
        self._scopes[counters.scope_id] = counters
        return counters

    def _made(self, name: str, now: int) -> ScopeCounters:
        scope_id = self._connection.rows(sql.SELECT_NEXT_SCOPE)[0][0]
        if scope_id > MAX_SCOPE:
            raise InvalidArgument.of("scope", f"at most {MAX_SCOPE} scopes in a store", name)
        row = (scope_id, name, 0, 1, 1, 0, 0, now)
        self._connection.run(sql.INSERT_SCOPE, (*row, scope_checksum(row)))
        counters = ScopeCounters(*row)
        self._scopes[scope_id] = counters
        return counters


def put_meta(connection: Connection, key: str, value: str) -> None:
    """Insert or replace a row of ``meta``."""
    connection.run(sql.PUT_META, (key, value, meta_checksum((key, value))))
