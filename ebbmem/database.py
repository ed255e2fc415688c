"""The store's file: opening it, and the operations that concern it as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType

from ebbmem import arguments, erasure, reading
from ebbmem.clock import Clock, Moment, SystemClock, checked_clock, to_us
from ebbmem.consolidation import SleepPolicy, checked_policy, consolidate
from ebbmem.embedders.base import Embedder, checked_embedder
from ebbmem.embedders.hashing import HashingEmbedder
from ebbmem.engine import Engine
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.languages import KEPT, analyzer_of, checked_language, require_language
from ebbmem.maintenance import Maintained, refuse_store
from ebbmem.models import ConsolidationReport, ErasureReceipt, StoreStats
from ebbmem.pending import PendingRecalls
from ebbmem.records.caches import cache_bytes
from ebbmem.records.journals import DURABILITIES
from ebbmem.records.parts import part_of
from ebbmem.records.sqlite import SqliteRecords
from ebbmem.reports import ImportReport
from ebbmem.sharing import Hold

DEFAULT_INDEX_BUDGET = 1 << 30
DEFAULT_BUSY_WAIT_S = 5.0
DEFAULT_PENDING_RECALLS = 256
DEFAULT_PENDING_S = 1.0


class Database(Maintained):
    """One store: an SQLite file, or ``":memory:"``.

    Every ``Database`` on the same file within a process shares one engine.

    Parameters
    ----------
    path : str or os.PathLike
        The file; made when it does not exist (its folder must).
    durability : {"process", "power"}
        After a write returns it survives the death of the process always; with ``"power"`` a
        power cut too, at the price of one disk flush per write.
    index_budget : int or str
        Bytes that scope indexes may take in RAM, as a number or like ``"2GiB"``.
    language : str or None
        Of the Snowball stemmer; None for no stemming and no stop words.  A store keeps the one it
        is made with, by default English; ``"kept"`` names it.
    busy_wait_s : float
        Longest wait for another process's write, in seconds.
    pending_recalls : int
        How many recalls may wait for their commit (see Notes); 0: none.
    pending_s : float
        How long, in seconds, before the next call writes them.
    clock : Clock, optional
        Where the default of every ``now=`` comes from.

    Raises
    ------
    NotAStore, StoreTooNew
        If the file is something else, or of a newer ebbmem; it is left as it was.
    LanguageMismatch
        If the store keeps another language.  To change it, export the store into a new one.
    StoreInUse
        If it is on a file system that only one process at a time may use (see Notes) and stays
        open elsewhere for ``busy_wait_s``.
    StorageFailed
        If the operating system refuses.

    Notes
    -----
    What a call changes is committed when it returns, with one exception: what `recall` did by
    itself (the strengths of its hits, and its event in the history). That counts at once in this
    process, and is committed with its next write of any kind, before anything is read that would
    show it, by `flush` and `close`, when the process ends, and by the first recall that strengthens
    after ``pending_recalls`` more recalls or ``pending_s`` seconds. A process that is killed loses
    the traces of at most ``pending_recalls`` recalls, never a memory. Other processes see them once
    they are committed. Where the commit fails, the call that tried it raises and they go on
    waiting; `close` then leaves the store open. A recall raises only where no more may wait
    (``pending_recalls``, or 65,536 hits of them all), and then strengthens nothing. Of a scope with
    a corrupt memory they are given up, and its next recall or reading raises CorruptStore.

    Where processes cannot share memory, and caches lag behind (NFS, SMB, 9p, FUSE and their like),
    a store is kept by one process: from opening to `close` it holds the kernel's exclusive lock on
    the file, with a RuntimeWarning; a second process gets StoreInUse, and the lock goes with the
    process that held it. Commits go through a rollback journal and are synced whatever the
    durability, and what reads waits for what writes. A file system that does not carry locks to
    other machines (NFS mounted with ``nolock``) keeps out the processes of this machine alone.

    The standard library's ``sqlite3`` must not open the file while this process has it open:
    two copies of SQLite in one process break each other's file locks.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durability: str = "process",
        index_budget: int | str = DEFAULT_INDEX_BUDGET,
        language: str | None = KEPT,
        busy_wait_s: float = DEFAULT_BUSY_WAIT_S,
        pending_recalls: int = DEFAULT_PENDING_RECALLS,
        pending_s: float = DEFAULT_PENDING_S,
        clock: Clock | None = None,
    ) -> None:
        self.path = arguments.file_name(path)
        self.clock: Clock = SystemClock() if clock is None else checked_clock(clock)
        budget = arguments.byte_size(index_budget, "index_budget")
        if durability not in DURABILITIES:
            raise InvalidArgument.of("durability", f"one of {DURABILITIES}", durability)
        checked_language(language)
        arguments.not_negative(busy_wait_s, "busy_wait_s")
        pending = (
            arguments.count(pending_recalls, "pending_recalls", 0),
            arguments.not_negative(pending_s, "pending_s"),
        )
        options = {
            "durability": durability,
            "index_budget": budget,
            "busy_wait_s": busy_wait_s,
            "pending_recalls": pending[0],
            "pending_s": pending[1],
        }

        def opened() -> Engine:
            records = SqliteRecords(
                self.path,
                durability=durability,
                busy_wait_s=busy_wait_s,
                cache_bytes=cache_bytes(budget),
            )
            return _engine(records, budget, language, PendingRecalls(*pending))

        self._hold = Hold(self.path, options, opened)
        try:
            require_language(self.path, self.language, language)
        except BaseException:
            self._hold.release()
            raise

    @property
    def language(self) -> str | None:
        """Return the language of the store's words."""
        return self.engine.analyzer.language

    def run_migrations(self) -> list[str]:
        """Apply the migrations that are missing and return their names.

        Opening applies them already, so this returns an empty list; it is there to be called.
        """
        return self.engine.records.migrate()

    def scopes(self) -> list[str]:
        """Return the names of all scopes, oldest first."""
        with self.engine.records.read() as reader:
            return [scope.name for scope in reader.scopes()]

    def stats(self) -> list[StoreStats]:
        """Return the counts of every scope, oldest first.

        Raises
        ------
        LockTimeout
            If recalls wait and another process keeps them from being written.
        """
        return [reading.stats(self.engine, scope) for scope in self.scopes()]

    # --- exchange -----------------------------------------------------------------------

    def export(self, path: str | os.PathLike[str], *, scopes: Sequence[str] | None = None) -> int:
        """Write memories, links, intentions and turns to a file and return its lines.

        Parameters
        ----------
        path : str or os.PathLike
            The file, replaced where it exists, and only once it is whole; a store is never
            written over.  JSON in UTF-8, one object a line; `import_` reads it.
        scopes : sequence of str, optional
            Which scopes, by default all.  One to which nothing was ever written has no lines.

        Notes
        -----
        History (events) and vectors are left out; an importing store makes vectors anew.  What
        was erased is not there to be exported.
        """
        target = arguments.file_name(path)
        refuse_store(target, "path")
        with (
            part_of(target, 0o666) as part,
            open(part, "w", encoding="utf-8", newline="\n") as file,
        ):
            count = 0
            for line in self.export_lines(scopes=scopes):
                file.write(line)
                count += 1
        return count

    def export_lines(self, *, scopes: Sequence[str] | None = None) -> Iterator[str]:
        """Yield the lines that `export` writes, each with its end.

        All are of one moment.  Others read and write meanwhile; what they write stays in the
        write-ahead log until the last line was taken, or the iterator is closed.
        """
        # Here alone: few processes exchange lines, and every one of them imports ebbmem.
        from ebbmem.exporting import exported  # noqa: PLC0415

        if isinstance(scopes, (str, bytes)):
            raise InvalidType.of("scopes", "a sequence of str or None", scopes)
        chosen = self.scopes() if scopes is None else [arguments.name(s, "scopes") for s in scopes]
        return exported(self.engine, list(dict.fromkeys(chosen)))

    def import_(
        self,
        source: str | os.PathLike[str] | Iterable[str | bytes],
        *,
        scope: str | None = None,
        as_memories: bool = False,
        embedder: Embedder | None = None,
        on_conflict: str = "skip",
        now: Moment | None = None,
    ) -> ImportReport:
        """Take in what `export` wrote, chat messages, or memories; a bad line costs only itself.

        Parameters
        ----------
        source : str or os.PathLike or iterable of str or bytes
            A file, or lines.  A line is a JSON object: one of an export; a chat message
            (``role``, ``content`` and, if wanted, ``name run_id created_at id scope``); or a
            memory as `EpisodicMemoryStore.remember` takes it (``summary`` and the rest, with
            ``created_at``, ``id`` and ``scope``).  Moments: ISO 8601 with a zone, or epoch seconds.
        scope : str, optional
            Where everything goes, by default where each line says, else ``"default"``.
        as_memories : bool
            Whether a chat message also becomes a memory of type ``"turn"``, marked unverified;
            so does one that is a turn already, from an import without this.
        embedder : Embedder, optional
            Makes the vectors that are stored; by default the store keeps none.
        on_conflict : {"skip", "error", "new"}
            What becomes of an exported memory whose id or key the scope has already, or of such
            an intention: it is left out; or told among the bad lines; or written as a new one,
            with an id of its own and no key, to which the file's links and turns then belong.
        now : datetime or int or float, optional
            The moment of what names none.

        Returns
        -------
        ImportReport
            What was imported, what was there already, and the bad lines with their reasons.

        Raises
        ------
        InvalidArgument
            If the lines are an export of a later version than this one reads, or the file is a
            store.
        OSError
            If the file cannot be read.

        Notes
        -----
        Lines are written in order, some hundreds to a transaction.  Importing twice makes
        nothing twice where lines say what they are: exported lines always do; a memory by its
        ``key`` or ``id``; a message by role, content and ``created_at``, or with ``as_memories``
        by its ``id``, unique within its run (a turn that is no memory yet: by what it says).
        What is there already is never written over: its strengths are newer.
        What was erased from a scope does not come back, nor does a message that says the same.
        """
        from ebbmem.importing import Options, imported, on_conflict_of  # noqa: PLC0415 - as above

        maker = HashingEmbedder() if embedder is None else checked_embedder(embedder)
        options = Options(
            scope=None if scope is None else arguments.name(scope, "scope"),
            as_memories=arguments.flag(as_memories, "as_memories"),
            now_us=self.now_us(now),
            on_conflict=on_conflict_of(on_conflict),
        )
        if embedder is not None:
            # Without one, vectors wait until a handle with the store's embedder opens.
            self.engine.binding.require(maker)
        if not isinstance(source, (str, os.PathLike)):
            return imported(self.engine, maker, source, options)
        name = arguments.file_name(source)
        refuse_store(name, "source")
        with open(name, "rb") as file:
            return imported(self.engine, maker, file, options)

    def now_us(self, now: Moment | None) -> int:
        """Return ``now`` in UTC microseconds, by default the clock's."""
        return self.clock.now_us() if now is None else to_us(now, "now")

    def erase_scope(self, scope: str, *, now: Moment | None = None) -> ErasureReceipt:
        """Erase a scope for good, with all that is in it: memories, turns, intentions, history.

        Parameters
        ----------
        scope : str
            Its name.  One to which nothing was ever written has nothing to erase.
        now : datetime or int or float, optional
            The moment of the erasure.

        Notes
        -----
        Its name is gone too, from `scopes` and from the file.  Keyed digests of its texts stay, so
        that an import into a scope of the same name does not bring them back.  A handle on it goes
        on to work, and makes it anew when it writes.

        Rows of it that do not match their checksums go as well: of a damaged memory the digests of
        what can still be read of it stay, and one whose id is damaged is in no receipt.  Only
        damaged pages, or a damaged row of ``scopes``, raise CorruptStore: `repair` comes first.

        It is one transaction, so a crash leaves all of the scope or nothing.  Meanwhile, for about
        2 s of CPU per 100,000 memories, no one else writes, and other processes wait as long as
        their busy wait; the log grows by as much as the scope takes in the file.
        """
        return erasure.erase_scope(self.engine, arguments.name(scope, "scope"), self.now_us(now))

    def flush(self) -> None:
        """Commit the recalls that wait (see the class's Notes); end what an erasure left pending.

        The latter is tried, and waits no more than a moment: `ErasureReceipt.pending` tells.

        Raises
        ------
        LockTimeout, StorageFailed
            If they cannot be; they go on waiting.
        """
        self.engine.flush()
        self.engine.records.scrub()

    def close(self) -> None:
        """Close; later calls raise StoreClosed.  Idempotent.

        Raises
        ------
        LockTimeout, StorageFailed
            If recalls that wait cannot be committed: the store stays open and keeps them, and
            can be closed again; after a lost sync to disk, which nothing can mend, it is closed.
        """
        self._hold.release()

    def __repr__(self) -> str:
        return f"Database({self.path!r})"

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def run_consolidation(
    db: Database,
    *,
    policy: SleepPolicy | None = None,
    dry_run: bool = False,
    now: Moment | None = None,
) -> ConsolidationReport:
    """Run the sleep pass over every scope of a store.

    Parameters
    ----------
    db : Database
        The store.
    policy : SleepPolicy, optional
        When a memory matures, cools, or is archived.
    dry_run : bool
        Report what would change, and change nothing.
    now : datetime or int or float, optional
        The moment to run at.

    Returns
    -------
    ConsolidationReport
        What changed, summed over all scopes.
    """
    if not isinstance(db, Database):
        raise InvalidType.of("db", "a Database", db)
    chosen = checked_policy(policy)
    arguments.flag(dry_run, "dry_run")
    return consolidate(db.engine, db.scopes(), chosen, db.now_us(now), dry_run=dry_run)


def _engine(
    records: SqliteRecords, budget: int, language: str | None, pending: PendingRecalls
) -> Engine:
    """Bring records up to date and return an engine on them."""
    try:
        records.migrate()
        analyzer = analyzer_of(records, language)
        return Engine(records, index_budget=budget, analyzer=analyzer, pending=pending)
    except BaseException:
        records.close()
        raise
