"""Deleting memories with every row that names them, and remembering that they were erased."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, cast

from ebbmem.clock import Clock
from ebbmem.errors import InvalidArgument, StoreError, UnknownMemory
from ebbmem.records import memory_rows
from ebbmem.records import rows as seals
from ebbmem.records import statements as sql
from ebbmem.records.base import EventRow, number_of
from ebbmem.records.connection import Connection
from ebbmem.records.corruption import corrupt
from ebbmem.records.counters import Counters
from ebbmem.records.ended import Ended
from ebbmem.records.erasable import Remains
from ebbmem.records.following import SqliteFollower
from ebbmem.records.reading import require_rows_of, rows_of, singles
from ebbmem.records.touching import Touched

P = ParamSpec("P")
R = TypeVar("R")
Eraser = TypeVar("Eraser", bound="SqliteEraser")

ID_BYTES: Final = 16
DIGEST_BYTES: Final = 32
ERASING_KEY: Final = "erasing"
"""The meta key that marks a store whose write-ahead log may hold what was erased."""


def delete(connection: Connection, rows: Iterable[int]) -> list[int]:
    """Delete memories and all that names them; return the checksums of those that were there."""
    bindings = singles(rows)
    checksums = [value for (value,) in connection.rows_of_each(sql.SELECT_CHECKSUM, bindings)]
    if not all(isinstance(value, int) for value in checksums):
        raise corrupt(connection, "the checksum of a memory to erase is no integer")
    for statement in sql.DELETE_MEMORY:
        connection.run_for_each(statement, bindings)
    return checksums


def delete_turns(connection: Connection, rows: Iterable[int]) -> None:
    """Delete turns, and what names them as a source."""
    bindings = singles(rows)
    for statement in sql.DELETE_TURN:
        connection.run_for_each(statement, bindings)


def delete_scope(connection: Connection, scope_id: int) -> str:
    """Delete every row of a scope but those of what was erased; return what it is named now."""
    for statement in sql.DELETE_ROWS_OF_SCOPE:
        connection.run(statement, rows_of(scope_id))
    for statement in sql.DELETE_OF_SCOPE:
        connection.run(statement, (scope_id,))
    name = f"{sql.TOMBSTONE}{scope_id}"
    connection.run(sql.RENAME_SCOPE, (name, scope_id))
    return name


def remains(connection: Connection, scope_id: int) -> Remains:
    """Return what the rows of a scope say as they stand; only pages that cannot be read raise."""
    memories = connection.rows(sql.REMAINING_MEMORIES, rows_of(scope_id))
    turns = connection.rows(sql.REMAINING_TURNS, rows_of(scope_id))
    intentions = connection.rows(sql.REMAINING_INTENTIONS, (scope_id,))
    return Remains(
        [(_blob(one, ID_BYTES), _blob(digest, DIGEST_BYTES)) for one, digest, _ in memories],
        [_text(one) for *_, one in (*memories, *turns)],
        len(turns),
        [(_text(action), trigger and _text(trigger)) for action, trigger in intentions],
    )


def _blob(value: object, size: int) -> bytes | None:
    return value if isinstance(value, bytes) and len(value) == size else None


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def remember(connection: Connection, row: Sequence[Any]) -> None:
    """Insert or replace (scope_id, id, digest or None, at, seq) of an erased memory."""
    connection.run(sql.PUT_ERASED, (*row, seals.erased_checksum(row)))


def remembered(connection: Connection, scope_id: int, digest: bytes) -> list[Any]:
    """Return the rows of ``erased``, checksum last, with a keyed digest."""
    return connection.rows(sql.SELECT_ERASED, (scope_id, digest))


def whole(
    method: Callable[Concatenate[Eraser, P], R],
) -> Callable[Concatenate[Eraser, P], R]:
    """Let a change that fails half-way end the whole transaction, even if the error is caught."""

    @wraps(method)
    def change(writer: Eraser, /, *args: P.args, **kwargs: P.kwargs) -> R:
        writer.require_whole()
        try:
            return method(writer, *args, **kwargs)
        except BaseException:
            writer.failed = True
            raise

    return change


class SqliteEraser(SqliteFollower):
    """The part of a write transaction that takes away; see ``records.erasable.ErasureWriter``.

    ``done_mark`` is the mark of an erasure that has served: the log was emptied since.
    """

    def __init__(
        self,
        connection: Connection,
        counters: Counters,
        clock: Clock,
        done_mark: str | None = None,
    ) -> None:
        super().__init__(connection)
        self._clock = clock
        self._touched = Touched()
        self._done_mark = done_mark
        self._counters = counters
        self.failed = False
        self.committed = False
        """Whether the transaction has ended, and what it wrote is in the store."""
        self.erased_text = False
        """Whether deleted text may still lie in the write-ahead log."""
        self.mark: str | None = None
        """What the store is marked with until the log was emptied of it."""

    def remains(self, scope_id: int) -> Remains:
        """Return what the rows of a scope say, without comparing them with their checksums."""
        return remains(self._connection, scope_id)

    def end(self) -> None:
        """Let every later call raise StoreError: the transaction is over."""
        if self.committed and not self.erased_text:
            self._counters.keep()
        else:
            self._counters.forget()
        super().end()
        self._counters = cast(Counters, Ended())

    def require_whole(self) -> None:
        """Raise StoreError once a change of this transaction has failed."""
        if self.failed:
            raise StoreError("a change of this transaction failed; it can only be rolled back")

    @whole
    def erase_memories(self, scope_id: int, rows: Sequence[int]) -> None:
        """Delete memories with all that names them in any table, their turns included."""
        require_rows_of(scope_id, rows)
        going = set(rows)
        for row in self.superseded(rows):
            if row not in going:
                self._rewrite(scope_id, row, {"superseded_by": None, "superseded_at": None})
        checksums = delete(self._connection, rows)
        if checksums:
            self._counters.take(scope_id, len(checksums))
            self._counters.scope(scope_id).count_out(checksums)
            self._touched.take(scope_id, rows)
            self.erased_text = True

    @whole
    def erase_turns(self, scope_id: int, rows: Sequence[int]) -> None:
        """Delete turns with all that names them."""
        require_rows_of(scope_id, rows)
        if rows:
            delete_turns(self._connection, rows)
            self._counters.take(scope_id)
            self.erased_text = True

    @whole
    def erase_intentions(self, scope_id: int, ids: Sequence[bytes]) -> None:
        """Delete intentions, open or completed."""
        if ids:
            values = [(one, scope_id) for one in ids]
            self._connection.run_for_each(sql.DELETE_INTENTION, values)
            self._counters.take(scope_id)
            self.erased_text = True

    @whole
    def erase_scope(self, scope_id: int) -> None:
        """Delete a scope with all that is in it, its name too; what was erased stays erased."""
        self._counters.take(scope_id)
        scope = self._counters.scope(scope_id)
        scope.name = delete_scope(self._connection, scope_id)
        scope.memory_count = scope.checksum_xor = 0
        self._touched.told(scope_id)
        self.erased_text = True

    @whole
    def insert_erased(
        self, scope_id: int, entries: Iterable[tuple[bytes, bytes]], now: int
    ) -> None:
        """Keep (memory id, keyed digest) of what was erased."""
        self._counters.note_erased(scope_id)
        entries = list(entries)
        seqs = self._counters.take(scope_id, len(entries))
        rows = [(scope_id, *one, now, seq) for one, seq in zip(entries, seqs, strict=True)]
        values = [(*row, seals.erased_checksum(row)) for row in rows]
        self._connection.run_for_each(sql.PUT_ERASED, values)

    @whole
    def lift_erased(self, scope_id: int, digests: Sequence[bytes]) -> None:
        """Forget that texts were erased: they are remembered again on purpose."""
        if self._counters.nothing_erased(scope_id):
            return
        for digest in digests:
            found = remembered(self._connection, scope_id, digest)
            for row in found:
                self._checked(row, seals.erased_checksum, "erased")
                erased_from, memory_id, _, at, _, _ = row
                # It may be a scope of that name which was erased whole.
                (seq,) = self._counters.take(erased_from)
                remember(self._connection, (erased_from, memory_id, None, at, seq))

    @whole
    def rewrite_event(self, scope_id: int, seq: int, payload: bytes) -> None:
        """Replace the payload of an event, when what it names is erased; delete an empty one."""
        row = self._connection.row(sql.SELECT_EVENT, (scope_id, seq))
        if row is None:
            raise InvalidArgument.of("seq", f"an event of scope {scope_id}", seq)
        old = EventRow._make(self._checked(row, seals.event_checksum, "events"))
        if payload:
            checksum = seals.event_checksum(old._replace(payload=payload))
            self._connection.run(sql.REWRITE_EVENT, (payload, checksum, scope_id, seq))
        else:
            self._connection.run(sql.DELETE_EVENT, (scope_id, seq))
        self._counters.take(scope_id)
        self.erased_text = True

    @whole
    def erase_summary(self, scope_id: int, run_id: str) -> None:
        """Delete the rolling summary of a run."""
        self._connection.run(sql.DELETE_SUMMARY, (scope_id, run_id))
        self._counters.take(scope_id)
        self.erased_text = True

    def _rewrite(self, scope_id: int, row: int, changes: dict[str, Any]) -> None:
        """Write columns of a memory's state, with a new seq and checksum."""
        found = self._connection.row(sql.SELECT_MEMORY, (row,))
        if found is None:
            raise UnknownMemory(f"scope {scope_id} has no memory #{number_of(row)}")
        (seq,) = self._counters.take(scope_id)
        memory = self.checked_memory(found)._replace(seq=seq, **changes)
        checksum = memory_rows.sealed(memory)[-1]
        state = (memory.tier, memory.memory_type, memory.superseded_by, memory.superseded_at)
        self._connection.run(sql.UPDATE_STATE, (*state, memory.due_at, seq, checksum, row))
        self._counters.scope(scope_id).change([found[-1], checksum])
        self._touched.add(scope_id, row)
