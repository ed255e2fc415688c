"""A handle on one scope: opening and closing it, and what it does with memories that exist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote

from ebbmem import arguments, conditions, erasure, prospective, reading, revision
from ebbmem.clock import Clock, Moment, to_us
from ebbmem.conflicts import ConflictRule
from ebbmem.consolidation import SleepPolicy, checked_policy, consolidate
from ebbmem.database import Database
from ebbmem.drafts import Extractor
from ebbmem.durations import Duration, end_us, to_duration_us
from ebbmem.embedders.base import Embedder, checked_embedder, stores_vectors
from ebbmem.embedders.hashing import HashingEmbedder
from ebbmem.engine import Engine
from ebbmem.errors import InvalidArgument, InvalidType, StoreClosed
from ebbmem.filters import checked_filter
from ebbmem.models import (
    ConsolidationReport,
    ErasureReceipt,
    Intention,
    Link,
    StoreStats,
)
from ebbmem.recipes import DEFAULT, Recipe, weighed
from ebbmem.vectorstores.native import InMemoryVectorStore

Self = TypeVar("Self", bound="ScopeHandle")

DEFAULT_SCOPE = "default"


class ScopeHandle:
    """What every handle on a scope has: outcomes, corrections to links, intentions, upkeep."""

    def __init__(
        self,
        db: Database,
        vector_store: InMemoryVectorStore | None = None,
        embedder: Embedder | None = None,
        *,
        scope: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        recipe: Recipe = DEFAULT,
        conflicts: ConflictRule | None = None,
        extract: Extractor | None = None,
    ) -> None:
        if not isinstance(db, Database):
            raise InvalidType.of("db", "a Database", db)
        if vector_store is not None and not isinstance(vector_store, InMemoryVectorStore):
            raise InvalidType.of("vector_store", "an InMemoryVectorStore or None", vector_store)
        self._db = db
        self._embedder: Embedder = (
            HashingEmbedder() if embedder is None else checked_embedder(embedder)
        )
        self._recipe = checked_recipe(recipe, self._embedder)
        if conflicts is not None and not isinstance(conflicts, ConflictRule):
            raise InvalidType.of("conflicts", "a ConflictRule or None", conflicts)
        self._conflicts = conflicts
        if extract is not None and not callable(extract):
            raise InvalidType.of("extract", "a callable or None", extract)
        self._extract = extract
        self._scope = scope_name(scope, user_id, agent_id)
        self._closed = False
        db.engine.binding.require(self._embedder)

    @property
    def scope(self) -> str:
        """Return the name of the scope this handle acts in."""
        return self._scope

    @property
    def clock(self) -> Clock:
        """Return the clock that gives the default of every ``now=``."""
        return self._db.clock

    # --- outcomes and changes -----------------------------------------------------------

    def feedback(
        self,
        *,
        recall_id: str | None = None,
        used: Sequence[str] = (),
        failed: Sequence[str] = (),
        now: Moment | None = None,
    ) -> None:
        """Tell which recalled memories were of use, and which failed.

        Parameters
        ----------
        recall_id : str, optional
            ``RecallResult.id``, for your own records.
        used, failed : sequence of str
            Ids of memories: a success strengthens, a failure weakens.  Those used together, up to
            the first eight, are linked with each other as ``co_recall``; of such links the 64
            heaviest of each memory stay, of these the newest.
        now : datetime or int or float, optional
            The moment of the outcome.
        """
        arguments.optional_text(recall_id, "recall_id")
        revision.judge(
            self._engine,
            self._scope,
            _ids(used, "used"),
            _ids(failed, "failed"),
            self._recipe.reinforcement,
            self._now(now),
        )

    def fail(self, id: str, *, now: Moment | None = None) -> None:
        """Tell that a memory failed: the same as ``feedback(failed=[id])``."""
        self.feedback(failed=[id], now=now)

    def archive(self, id: str, *, now: Moment | None = None) -> None:
        """Move a memory to the archive, where recall looks only when asked to."""
        revision.archive(self._engine, self._scope, id, self._now(now))

    def erase(
        self,
        ids: str | Sequence[str] | None = None,
        *,
        filters: Mapping[str, Any] | None = None,
        now: Moment | None = None,
    ) -> ErasureReceipt:
        """Erase memories for good, in one transaction: all of them or none.

        Parameters
        ----------
        ids : str or sequence of str, optional
            Which memories, or intentions.
        filters : mapping, optional
            Instead of ``ids``, what they must have; see `ebbmem.conditions`.  Never empty; what
            it does not know is refused.
        now : datetime or int or float, optional
            The moment of the erasure.

        Returns
        -------
        ErasureReceipt
            What was erased, and whether a file may still hold something of it.

        Raises
        ------
        UnknownMemory
            If the scope has no memory or intention with one of the ids; nothing is erased.

        Notes
        -----
        Unlike `archive` this cannot be undone.  A turn goes with the memory made of it; where
        ``filters`` says only what turns have too (``run_id``, ``created_at``), turns of which
        no memory was made go as well, and a summary of turns is made anew without them.  A memory
        all of whose sources are erased goes too.  In a chain of corrections the one after an
        erased memory takes its place; erasing the newest makes the one before it current again.

        A keyed digest of each text stays, so that no import and no sleep pass brings it back;
        `remember` and `add_turn` do, as they are told to.
        """
        if (ids is None) == (filters is None):
            raise InvalidArgument.of("filters", "either ids or filters", filters)
        if filters is not None:
            chosen = checked_filter(filters)
            return erasure.erase_matching(self._engine, self._scope, chosen, self._now(now))
        named = [ids] if isinstance(ids, str) else ids
        return erasure.erase(self._engine, self._scope, _ids(named, "ids"), self._now(now))

    def purge(
        self,
        *,
        older_than: Duration,
        tier: str = "archive",
        now: Moment | None = None,
    ) -> ErasureReceipt:
        """Erase the memories of a tier that nothing has accessed for long; never pinned ones.

        Nothing else deletes memories because of their age: the sleep pass moves them to the
        archive, where they stay until this is called.

        Parameters
        ----------
        older_than : timedelta or str
            How long ago the last access was at least, such as ``"365d"``.
        tier : str
            ``"archive"``, ``"cold"`` or ``"warm"``.
        now : datetime or int or float, optional
            The moment from which it is counted.
        """
        now_us = self._now(now)
        since_us = now_us - to_duration_us(older_than, "older_than")
        return erasure.purge(
            self._engine, self._scope, conditions.tier(tier, "tier"), since_us, now_us
        )

    def link(
        self,
        source: str,
        target: str,
        *,
        kind: str = "related",
        weight: float = 1.0,
        now: Moment | None = None,
    ) -> None:
        """Link two memories, from source to target.

        Parameters
        ----------
        source, target : str
            Ids of two memories of this scope.
        kind : str
            ``related keyword next_turn co_recall causes source`` carry activation,
            ``supersedes conflicts`` do not.
        weight : float
            In (0, 1]; where the link exists, the greater weight stays.
        now : datetime or int or float, optional
            The moment the link is made.
        """
        checked = arguments.number(weight, "weight", 0.0, 1.0)
        if checked == 0.0:
            raise InvalidArgument.of("weight", "a number in (0, 1]", weight)
        revision.link(self._engine, self._scope, source, target, kind, checked, self._now(now))

    def neighbors(self, id: str) -> list[Link]:
        """Return the links that leave a memory, heaviest first."""
        return revision.neighbors(self._engine, self._scope, id)

    # --- intentions ---------------------------------------------------------------------

    def remember_intention(
        self,
        action: str,
        *,
        trigger: str | None = None,
        due_at: Moment | None = None,
        expires_in: Duration | None = None,
        now: Moment | None = None,
    ) -> Intention:
        """Keep something to do later, apart from facts.

        Parameters
        ----------
        action : str
            What to do.
        trigger : str, optional
            When to do it, in words.
        due_at : datetime or int or float, optional
            When to do it, as a moment.
        expires_in : timedelta or str, optional
            After which it is no longer due, such as ``"30d"``.
        now : datetime or int or float, optional
            The moment it is made.
        """
        now_us = self._now(now)
        return prospective.intend(
            self._engine,
            self._scope,
            arguments.name(action, "action"),
            trigger=arguments.optional_text(trigger, "trigger"),
            due_us=None if due_at is None else to_us(due_at, "due_at"),
            expires_us=None if expires_in is None else end_us(now_us, expires_in, "expires_in"),
            now_us=now_us,
        )

    def due(self, *, now: Moment | None = None) -> list[Intention]:
        """Return open intentions: due by now, or waiting for their trigger; never expired ones."""
        return prospective.due(self._engine, self._scope, self._now(now))

    def complete_intention(self, id: str, *, now: Moment | None = None) -> bool:
        """Mark an intention as done; return whether it was open."""
        return prospective.complete(self._engine, self._scope, id, self._now(now))

    # --- the scope as a whole -----------------------------------------------------------

    def consolidate(
        self,
        *,
        policy: SleepPolicy | None = None,
        dry_run: bool = False,
        now: Moment | None = None,
    ) -> ConsolidationReport:
        """Run the sleep pass over this scope; see `ebbmem.run_consolidation`."""
        chosen = checked_policy(policy)
        arguments.flag(dry_run, "dry_run")
        return consolidate(self._engine, [self._scope], chosen, self._now(now), dry_run=dry_run)

    def stats(self) -> StoreStats:
        """Return the counts of this scope.

        Raises
        ------
        LockTimeout
            If recalls wait and another process keeps them from being written.
        """
        return reading.stats(self._engine, self._scope)

    def flush(self) -> None:
        """Commit the recalls that wait; see `Database`."""
        self._engine.flush(self._scope)
        self._engine.records.scrub()

    def close(self) -> None:
        """Close the handle; later calls raise StoreClosed.  Idempotent."""
        self._closed = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._db.path!r}, scope={self._scope!r})"

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _engine(self) -> Engine:
        """Return the engine, or raise StoreClosed."""
        if self._closed:
            raise StoreClosed(f"scope {self._scope!r}: the store was closed")
        return self._db.engine

    def _now(self, now: Moment | None) -> int:
        """Return the moment of a call."""
        return self._db.now_us(now)


def scope_name(scope: str | None, user_id: str | None, agent_id: str | None) -> str:
    """Return the name of a scope: the one given, or the one that user and agent make."""
    named = {"user": user_id, "agent": agent_id}
    parts = [
        f"{role}={quote(arguments.name(value, f'{role}_id'), safe='')}"
        for role, value in named.items()
        if value is not None
    ]
    if scope is not None and parts:
        raise InvalidArgument.of("scope", "None where user_id or agent_id is given", scope)
    if scope is not None:
        return arguments.name(scope, "scope")
    return ";".join(parts) or DEFAULT_SCOPE


def checked_recipe(recipe: object, embedder: Embedder) -> Recipe:
    """Return a recipe as an embedder needs it, or refuse what is none."""
    if not isinstance(recipe, Recipe):
        raise InvalidType.of("recipe", "a Recipe", recipe)
    return weighed(recipe, semantic=stores_vectors(embedder))


def _ids(values: Iterable[str] | None, argument: str) -> list[str]:
    """Return distinct ids, in order."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidType.of(argument, "a sequence of ids", values)
    return list(dict.fromkeys(arguments.text(value, argument) for value in values))
