"""What runs statements and transactions on an open SQLite database: the only place that does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw

from ebbmem.errors import EbbmemError, StorageFailed
from ebbmem.records.busy import BusyWait
from ebbmem.records.failures import REFUSALS, errno_behind, lost_a_sync, translated
from ebbmem.records.forks import let_forks_go_first
from ebbmem.records.handles import let_frames_wait

Values = Sequence[Any]


class Transactions:
    """The statements and transactions of one connection, whose errors are ebbmem's.

    Who inherits it opens the connection.

    Parameters
    ----------
    path : str
        Absolute path, or ``":memory:"``.
    busy_wait_s : float
        Seconds to wait for a lock of another connection before LockTimeout.
    """

    _apsw: apsw.Connection

    def __init__(self, path: str, busy_wait_s: float) -> None:
        self.path = path
        self._busy = BusyWait(busy_wait_s)
        self._gathering = False
        self._waiting: dict[str, list[Values]] = {}
        """Rows to be inserted, by statement."""
        self._walked: list[apsw.Cursor] = []
        """Queries whose rows are being taken."""
        self.lost: str | None = None
        """Why no write can succeed any more."""

    def rows(self, sql: str, values: Values = ()) -> list[Any]:
        """Return every row of a query."""
        if self._gathering:
            self._insert_gathered()
        try:
            return self._apsw.execute(sql, values).fetchall()
        except REFUSALS as exc:
            raise self._failure(exc, reading=True) from exc

    def each(self, sql: str, values: Values = ()) -> Iterator[Any]:
        """Yield the rows of a query that may have very many."""
        if self._gathering:
            self._insert_gathered()
        try:
            cursor = self._apsw.execute(sql, values)
            self._walked.append(cursor)
            try:
                yield from cursor
            finally:
                self._leave(cursor)
        except REFUSALS as exc:
            raise self._failure(exc, reading=True) from exc

    def _leave(self, cursor: apsw.Cursor) -> None:
        """End a query whose rows nobody wants any more."""
        if cursor in self._walked:
            self._walked.remove(cursor)
            cursor.close(True)

    def _leave_all(self) -> None:
        """End every query: one left half-way would hold its view for ever, and the log with it."""
        for cursor in list(self._walked):
            self._leave(cursor)

    def row(self, sql: str, values: Values = ()) -> Any | None:
        """Return the first row of a query that has at most one, or None."""
        if self._gathering:
            self._insert_gathered()
        try:
            return self._apsw.execute(sql, values).fetchone()
        except REFUSALS as exc:
            raise self._failure(exc, reading=True) from exc

    def rows_of_each(self, sql: str, values: Iterable[Values]) -> list[Any]:
        """Return the rows of a query for each of several bindings, in their order."""
        if self._gathering:
            self._insert_gathered()
        try:
            return self._apsw.executemany(sql, values).fetchall()
        except REFUSALS as exc:
            raise self._failure(exc, reading=True) from exc

    def run(self, sql: str, values: Values = ()) -> int:
        """Run one statement; return how many rows it changed."""
        if self._gathering:
            self._insert_gathered()
        try:
            self._apsw.execute(sql, values).fetchall()
            return self._apsw.changes()
        except REFUSALS as exc:
            raise self._failure(exc, reading=sql.startswith("DELETE")) from exc

    def gather(self, order: Iterable[str]) -> None:
        """Let inserts of this transaction wait until another statement is run.

        Parameters
        ----------
        order : iterable of str
            The statements of `insert`, in an order that leaves no row naming one that is not
            there yet.
        """
        if not self._gathering:
            self._gathering = True
            self._waiting = {sql: [] for sql in order}

    def insert(self, sql: str, values: Iterable[Values]) -> None:
        """Insert rows with one statement, at once or when they have to be there."""
        if self._gathering:
            self._waiting[sql].extend(values)
        else:
            self.run_for_each(sql, values)

    def _insert_gathered(self) -> None:
        """Insert the rows that wait; where one is refused, so will the commit be."""
        self._gathering = False
        for sql, values in self._waiting.items():
            if values:
                self.run_for_each(sql, values)
                values.clear()
        self._gathering = True

    def _stop_gathering(self) -> None:
        self._gathering = False
        self._waiting = {}

    def run_for_each(self, sql: str, values: Iterable[Values]) -> None:
        """Run one statement for each of several bindings."""
        if self._gathering:
            self._insert_gathered()
        try:
            self._apsw.executemany(sql, values)
        except REFUSALS as exc:
            raise self._failure(exc, reading=sql.startswith("DELETE")) from exc

    @property
    def in_transaction(self) -> bool:
        """Return whether a transaction is open."""
        return bool(self._apsw.in_transaction)

    def begin(self, mode: str, waited_s: float = 0.0) -> None:
        """Begin a transaction; a rest of one that an interrupt left behind is rolled back.

        Parameters
        ----------
        mode : str
            SQLite's word for which lock is taken at once.
        waited_s : float
            Seconds of the busy wait that are over already.
        """
        if self.lost is not None:
            raise StorageFailed(self.lost)
        let_forks_go_first()
        self._stop_gathering()
        if self._apsw.in_transaction:
            self.run("ROLLBACK")
        self._busy.waited_s = waited_s
        try:
            self.run(f"BEGIN {mode}")
        finally:
            self._busy.waited_s = 0.0

    def commit(self) -> None:
        """Commit the open transaction."""
        if self._gathering:
            self._insert_gathered()
            self._stop_gathering()
        if not self._apsw.in_transaction:
            raise StorageFailed(f"{self.path}: SQLite rolled the transaction back")
        try:
            let_frames_wait(self._apsw, may_wait=True)
            self.run("COMMIT")
        finally:
            let_frames_wait(self._apsw, may_wait=False)

    def end(self) -> None:
        """End a transaction that wrote nothing, or was committed."""
        self._leave_all()
        if self._apsw.in_transaction:
            self.run("COMMIT")

    def rollback(self) -> None:
        """Roll back the open transaction, if there is one."""
        self._leave_all()
        self._stop_gathering()
        # Should an interrupt have come before the end of `commit`.
        let_frames_wait(self._apsw, may_wait=False)
        if self._apsw.in_transaction:
            self.run("ROLLBACK")

    def _failure(self, exc: Exception, *, reading: bool = False) -> EbbmemError:
        error = translated(exc, self.path, errno=errno_behind(exc, self._apsw), reading=reading)
        if lost_a_sync(exc):
            self.lost = f"{self.path}: a sync to disk failed; close the store and open it again"
        return error
