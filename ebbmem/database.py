"""The store's file: opening it, and the operations that concern it as a whole."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType

from ebbmem import arguments, reading
from ebbmem.analysis import Analyzer
from ebbmem.clock import Clock, Moment, SystemClock, to_us
from ebbmem.consolidation import SleepPolicy, checked_policy, consolidate
from ebbmem.embedders.base import Embedder, checked_embedder
from ebbmem.embedders.hashing import HashingEmbedder
from ebbmem.engine import Engine
from ebbmem.errors import InvalidArgument, InvalidType, StoreClosed
from ebbmem.models import ConsolidationReport, ImportReport, StoreStats
from ebbmem.records.sqlite import SqliteRecords

DEFAULT_INDEX_BUDGET = 1 << 30
MEMORY = ":memory:"


@dataclass(slots=True)
class _Shared:
    """An engine and how many open databases hold it."""

    engine: Engine
    options: tuple[object, ...]
    holders: int


_shared: dict[tuple[int, str], _Shared] = {}
_shared_lock = threading.Lock()


def _renew_lock() -> None:
    """Give a forked child a lock of its own: a thread that is not there may hold the old one."""
    global _shared_lock  # noqa: PLW0603
    _shared_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class Database:
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
        Of the Snowball stemmer; None for no stemming and no stop words.
    busy_wait_s : float
        Longest wait for another process's write, in seconds.
    clock : Clock, optional
        Where the default of every ``now=`` comes from.

    Raises
    ------
    NotAStore, StoreTooNew
        If the file is something else, or of a newer ebbmem; it is left as it was.
    StorageFailed
        If the operating system refuses.

    Notes
    -----
    The standard library's ``sqlite3`` must not open the file while this process has it open:
    two copies of SQLite in one process break each other's file locks.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durability: str = "process",
        index_budget: int | str = DEFAULT_INDEX_BUDGET,
        language: str | None = "english",
        busy_wait_s: float = 5.0,
        clock: Clock | None = None,
    ) -> None:
        self.path = _checked_path(path)
        self.clock: Clock = SystemClock() if clock is None else _checked_clock(clock)
        budget = byte_size(index_budget, "index_budget")
        arguments.not_negative(busy_wait_s, "busy_wait_s")
        options = (durability, budget, language, busy_wait_s)
        # By process: what was opened before a fork belongs to the parent.
        self._key = (os.getpid(), self.path if self.path == MEMORY else os.path.realpath(self.path))
        self._closed = False
        with _shared_lock:
            shared = _shared.get(self._key)
            if shared is None:
                engine = _open(self.path, durability, budget, language, busy_wait_s)
                shared = _Shared(engine, options, 0)
                if self.path != MEMORY:
                    _shared[self._key] = shared
            elif shared.options != options:
                raise InvalidArgument.of(
                    "durability, index_budget, language, busy_wait_s",
                    f"those this process opened {self.path} with, {shared.options}",
                    options,
                )
            shared.holders += 1
            self._engine = shared

    @property
    def engine(self) -> Engine:
        """Return the engine, or raise StoreClosed."""
        if self._closed:
            raise StoreClosed(f"{self.path}: the database was closed")
        return self._engine.engine

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
        """Return the counts of every scope, oldest first."""
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
        target = _checked_path(path)
        _refuse_store(target)
        part = f"{target}.part"
        try:
            with open(part, "w", encoding="utf-8", newline="\n") as file:
                count = 0
                for line in self.export_lines(scopes=scopes):
                    file.write(line)
                    count += 1
            os.replace(part, target)
        except BaseException:
            # A half-written copy of somebody's memories is not left lying about.
            if os.path.exists(part):
                os.unlink(part)
            raise
        return count

    def export_lines(self, *, scopes: Sequence[str] | None = None) -> Iterator[str]:
        """Yield the lines that `export` writes, each with its end.

        All are of one moment.  Iterate at once and in one thread: until the last line other
        threads wait for the store, and this one cannot write to it.
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
            Whether a chat message also becomes a memory of type ``"turn"``, marked unverified.
        embedder : Embedder, optional
            Makes the vectors that are stored; by default the store keeps none.
        now : datetime or int or float, optional
            The moment of what names none.

        Returns
        -------
        ImportReport
            What was imported, what was there already, and the bad lines with their reasons.

        Raises
        ------
        InvalidArgument
            If the lines are an export of a later version than this one reads.
        OSError
            If the file cannot be read.

        Notes
        -----
        Lines are written in order, some hundreds to a transaction.  Importing twice makes
        nothing twice where lines say what they are: exported lines always do; a memory by its
        ``key`` or ``id``; a message by its ``id`` (unique within its run) with ``as_memories``,
        else by role, content and ``created_at``.  A turn that is there already is left as it is.
        What was erased from a scope does not come back, nor does a message that says the same.
        """
        from ebbmem.importing import Options, imported  # noqa: PLC0415 - as in `export_lines`

        maker = HashingEmbedder() if embedder is None else checked_embedder(embedder)
        options = Options(
            scope=None if scope is None else arguments.name(scope, "scope"),
            as_memories=arguments.flag(as_memories, "as_memories"),
            now_us=self.now_us(now),
        )
        if embedder is not None:
            # Without one, vectors wait until a handle with the store's embedder opens.
            self.engine.require_embedder(maker)
        if not isinstance(source, (str, os.PathLike)):
            return imported(self.engine, maker, source, options)
        with open(_checked_path(source), "rb") as file:
            return imported(self.engine, maker, file, options)

    def now_us(self, now: Moment | None) -> int:
        """Return ``now`` in UTC microseconds, by default the clock's."""
        return self.clock.now_us() if now is None else to_us(now, "now")

    def close(self) -> None:
        """Close; later calls raise StoreClosed.  Idempotent."""
        with _shared_lock:
            if self._closed:
                return
            self._closed = True
            self._engine.holders -= 1
            if self._engine.holders > 0:
                return
            _shared.pop(self._key, None)
            self._engine.engine.close()

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


_SQLITE_HEADER = b"SQLite format 3\0"
_SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def byte_size(value: int | str, argument: str) -> int:
    """Return a size in bytes, given as a number or like ``"2GiB"``."""
    if isinstance(value, str):
        for unit, factor in sorted(_SIZES.items(), key=lambda item: -len(item[0])):
            written = value.strip()
            if written.endswith(unit) and written[: -len(unit)].strip().isdecimal():
                return arguments.count(int(written[: -len(unit)]) * factor, argument)
        raise InvalidArgument.of(argument, f"a number and one of {', '.join(_SIZES)}", value)
    return arguments.count(value, argument)


def _checked_path(path: object) -> str:
    """Return a path as a string."""
    if not isinstance(path, (str, os.PathLike)):
        raise InvalidType.of("path", "a str or os.PathLike", path)
    written = os.fspath(path)
    if not isinstance(written, str) or not written or "\0" in written:
        raise InvalidArgument.of("path", "a file name, not empty and without NUL", written)
    return arguments.text(written, "path")


def _refuse_store(target: str) -> None:
    """Refuse to write over an SQLite file, such as this store, or beside one as its log."""
    for name in (target, target.removesuffix("-wal"), target.removesuffix("-shm")):
        if os.path.isfile(name):
            with open(name, "rb") as file:
                if file.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER:
                    raise InvalidArgument.of("path", "another file than a store's", target)


def _checked_clock(clock: Clock) -> Clock:
    """Return a clock, or refuse what is none."""
    if not callable(getattr(clock, "now_us", None)):
        raise InvalidType.of("clock", "a Clock (now_us)", clock)
    return clock


def _open(
    path: str, durability: str, budget: int, language: str | None, busy_wait_s: float
) -> Engine:
    """Open the records, bring them up to date, and return an engine on them."""
    analyzer = Analyzer(language)
    records = SqliteRecords(path, durability=durability, busy_wait_s=busy_wait_s)
    try:
        records.migrate()
        return Engine(records, index_budget=budget, analyzer=analyzer)
    except BaseException:
        records.close()
        raise
