"""What is done with a store's file as a whole: checking it, mending it, copying it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import chain, islice

from ebbmem import arguments, verifying
from ebbmem.analysis import Analyzer
from ebbmem.clock import Clock, SystemClock
from ebbmem.embedders.base import Embedder, checked_embedder
from ebbmem.engine import Engine
from ebbmem.errors import CorruptStore, InvalidArgument, StoreClosed
from ebbmem.languages import KEPT, OF_NEW, checked_language, language_of
from ebbmem.records.base import Checked
from ebbmem.records.checks import FILE, MOST_FINDINGS, check
from ebbmem.records.following import SqliteFollower
from ebbmem.records.header import belongs_to_database
from ebbmem.records.looking import looked_at
from ebbmem.records.repairing import repaired
from ebbmem.reembedding import reembed
from ebbmem.reports import Finding, ReembedReport, RepairReport, VerifyReport
from ebbmem.sharing import MEMORY, Hold

BUSY_WAIT_S = 5.0


class Maintained:
    """The operations on a store as a whole that `Database` has."""

    path: str
    clock: Clock
    _hold: Hold

    @property
    def engine(self) -> Engine:
        """Return the engine, or raise StoreClosed."""
        if self._hold.released:
            raise StoreClosed(f"{self.path}: the database was closed")
        return self._hold.engine

    def verify(self) -> VerifyReport:
        """Check every row, what rows name, the counters, the pages, and every scope's index.

        Nothing is changed, and other calls and processes go on; recalls of a scope wait while its
        index is compared.  For a store that does not open there is `ebbmem.verify`.

        Returns
        -------
        VerifyReport
            All that is wrong, not only the first.

        Raises
        ------
        LockTimeout
            If recalls wait and another process keeps them from being written.

        Notes
        -----
        The index of a scope, the one in RAM where there is one, is compared with one that takes
        in the records memory by memory: all columns and links, and the answers of every lane to
        the texts of some memories.  That is left out for a scope with damaged records.  The
        indexes of two scopes at most are made at a time.
        """
        engine = self.engine
        engine.flush()
        checked = engine.records.check()
        found = (verifying.of_engine(engine, scope) for scope in checked.sound)
        return _report(self.path, checked, chain.from_iterable(found))

    def repair(self) -> RepairReport:
        """Mend the store as `ebbmem.repair` does; it must be open in this process only.

        Returns
        -------
        RepairReport
            What was wrong, and everything that was done.

        Raises
        ------
        InvalidArgument
            If the store is in RAM.
        LockTimeout
            If another process has it open, or recalls wait and cannot be written.
        CorruptStore
            If not even its schema can be read.
        StorageFailed
            If the disk is full or refuses; the store is as it was.

        Notes
        -----
        It is closed and opened anew for every handle of this process; calls that other threads
        make meanwhile raise StoreClosed.
        """
        if self.path == MEMORY:
            raise InvalidArgument.of("path", "a store in a file", self.path)
        name = os.path.realpath(self.path)
        now_us = self.clock.now_us()
        self.engine.records.require_own()
        return self._hold.apart(lambda: repaired(name, now_us=now_us, busy_wait_s=BUSY_WAIT_S))

    def backup(self, path: str | os.PathLike[str]) -> int:
        """Copy the store to another file while it is in use, and return the bytes of the copy.

        Parameters
        ----------
        path : str or os.PathLike
            The file.  An older backup is replaced, once the new one is whole and on disk.

        Raises
        ------
        InvalidArgument
            If there is something else than a store, or a store that is open, such as this one.
        CorruptStore
            If pages of the store are damaged, or a row of the copy does not match its checksum;
            an older backup is left as it was.  See `verify` and `repair`.
        LockTimeout
            If another call is making the same copy, or recalls wait and another process keeps
            them from being written.
        StorageFailed
            If the copy cannot be written; what was there before stays.

        Notes
        -----
        The copy is of one moment and compact: it has no free pages, so nothing of what was
        erased.  Every row of it is compared with its checksum before it takes its place.
        Writers go on meanwhile; recalls that wait are written first.
        """
        target = os.path.realpath(arguments.file_name(path))
        self.engine.flush()
        return self.engine.records.back_up(target)

    def reembed(self, embedder: Embedder) -> ReembedReport:
        """Change the embedder of the store, with a new vector for every memory.

        Parameters
        ----------
        embedder : Embedder
            The new one.  With a `HashingEmbedder` no vectors are stored any more.

        Returns
        -------
        ReembedReport
            How many memories have new vectors.  Nothing is done where the store has that embedder
            already, by name and dimension.

        Raises
        ------
        EmbedderFailed
            If the new one raises or returns unusable vectors: the store stays as it was, and the
            next call goes on where this one stopped.
        StoreError
            If another call began to change to a third embedder meanwhile.
        LockTimeout, StorageFailed
            If a batch cannot be written; likewise.

        Notes
        -----
        It takes as long as embedding every text does, and may run in a thread: others go on to
        recall and remember with the old embedder, and wait for no call of the new one.  New
        vectors are staged in the store, 256 to a transaction, so a process that is killed loses
        one batch.  When every memory has one, what was remembered meanwhile included, a single
        transaction lets them take the place of the old ones: no recall sees both.  Handles with
        the old embedder, of any process, raise EmbedderMismatch from their next recall on.
        """
        return reembed(self.engine, checked_embedder(embedder))


def verify(path: str | os.PathLike[str], *, language: str | None = KEPT) -> VerifyReport:
    """Check a store's file as `Database.verify` does, also one that does not open.

    Parameters
    ----------
    path : str or os.PathLike
        The file.  Not a byte of it is changed.
    language : str or None
        Of the store's stemmer, by default the one that the store keeps.

    Raises
    ------
    NotAStore, StoreTooNew
        If the file is something else, has 0 bytes, or is of a newer ebbmem.
    StorageFailed
        If it is not there or cannot be read.
    LockTimeout
        If another process keeps it locked.
    """
    name = os.path.realpath(arguments.file_name(path))
    checked_language(language)
    try:
        with looked_at(name, BUSY_WAIT_S) as connection:
            checked = check(connection)
            reader = SqliteFollower(connection)
            analyzer = Analyzer(_language(reader, language))
            rows = [row for row in map(reader.scope, checked.sound) if row is not None]
            found = (verifying.of_reader(reader, row, analyzer, None) for row in rows)
            return _report(name, checked, chain.from_iterable(found))
    except CorruptStore as exc:
        problem = str(exc).removeprefix(f"{name}: ")
        return VerifyReport(name, {}, 0, 1, (Finding(FILE, None, "", problem),))


def repair(path: str | os.PathLike[str]) -> RepairReport:
    """Mend a damaged store, also one that does not open; what is sound is kept.

    Parameters
    ----------
    path : str or os.PathLike
        The file; nobody may have it open.

    Returns
    -------
    RepairReport
        What was wrong, and everything that was done.  A store in which nothing is wrong is left
        byte for byte.

    Raises
    ------
    NotAStore, StoreTooNew
        If the file is something else, has 0 bytes, or is of a newer ebbmem; it is left as it was.
    LockTimeout
        If it is open elsewhere: in this process, too.
    CorruptStore
        If not even its schema can be read; it is left as it was.
    StorageFailed
        If the disk is full or refuses; the store is as it was.

    Notes
    -----
    A row that does not match its checksum, cannot be read, or names a memory that is gone goes to
    a file beside the store, ``NAME.quarantine-TIME.jsonl``, and not into a table: the store would
    otherwise keep text that `erase` does not reach.  The file as it was stays beside it too, as
    ``NAME.damaged-TIME``.  Remove both when they are of no more use.  Turns stay without a memory
    that is gone, and what it had replaced is current again.  Counters, keywords and, with the
    next use of their embedder, vectors are made anew.  No number is given twice.  A scope
    whose name cannot be read is named ``recovered-N`` by its number in the store.

    The store is locked from the first look to the end, and the mended content comes in one
    transaction: a process that is killed leaves it as it was, or mended.  Up to three times the
    size of the store is needed meanwhile.
    """
    name = os.path.realpath(arguments.file_name(path))
    return repaired(name, now_us=SystemClock().now_us(), busy_wait_s=BUSY_WAIT_S)


def refuse_store(path: str, argument: str) -> None:
    """Refuse an SQLite file, such as this store, or one beside it, such as its log."""
    if belongs_to_database(path):
        raise InvalidArgument.of(argument, "another file than a store's", path)


def _language(reader: SqliteFollower, named: str | None) -> str | None:
    """Return the language to check with; English where the one that is kept is damaged."""
    try:
        return language_of(reader, named)
    except CorruptStore:
        return OF_NEW  # the row is among what is wrong already


def _report(path: str, checked: Checked, more: Iterable[Finding]) -> VerifyReport:
    """Return what was found in the records, and in the indexes after them."""
    left = MOST_FINDINGS - len(checked.findings)
    found = iter(more)
    kept = [*checked.findings, *islice(found, left)]
    problems = checked.problems + len(kept) - len(checked.findings) + sum(1 for _ in found)
    return VerifyReport(path, checked.rows, checked.scopes, problems, tuple(kept))
