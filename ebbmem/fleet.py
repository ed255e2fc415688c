"""Many agents on one store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any

from ebbmem import arguments, batches, drafts, remembering
from ebbmem.agentic import AgenticMemory
from ebbmem.clock import Clock, Moment
from ebbmem.conflicts import ConflictRule
from ebbmem.database import (
    DEFAULT_BUSY_WAIT_S,
    DEFAULT_INDEX_BUDGET,
    DEFAULT_PENDING_RECALLS,
    DEFAULT_PENDING_S,
    Database,
)
from ebbmem.drafts import Extractor
from ebbmem.embedders.base import Embedder
from ebbmem.embedders.hashing import HashingEmbedder
from ebbmem.errors import InvalidType
from ebbmem.handle import checked_recipe
from ebbmem.languages import KEPT
from ebbmem.models import FleetMetrics, RecallResult, Remembered
from ebbmem.options import Reinforce, checked_options
from ebbmem.recipes import DEFAULT, Recipe


class Fleet:
    """One store, many scopes: ``fleet["researcher-7"]`` is that agent's memory.

    Parameters
    ----------
    path : str or os.PathLike
        The store's file.
    index_budget : int or str
        Bytes that scope indexes may take in RAM, as a number or like ``"2GiB"``.
    embedder, recipe, conflicts, extract
        Of every handle; as for `EpisodicMemoryStore`.
    durability, language, busy_wait_s, pending_recalls, pending_s
        As for `Database`.
    clock : Clock, optional
        Where the default of every ``now=`` comes from.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        index_budget: int | str = DEFAULT_INDEX_BUDGET,
        embedder: Embedder | None = None,
        recipe: Recipe = DEFAULT,
        conflicts: ConflictRule | None = None,
        extract: Extractor | None = None,
        durability: str = "process",
        language: str | None = KEPT,
        busy_wait_s: float = DEFAULT_BUSY_WAIT_S,
        pending_recalls: int = DEFAULT_PENDING_RECALLS,
        pending_s: float = DEFAULT_PENDING_S,
        clock: Clock | None = None,
    ) -> None:
        self._database = Database(
            path,
            index_budget=index_budget,
            durability=durability,
            language=language,
            busy_wait_s=busy_wait_s,
            pending_recalls=pending_recalls,
            pending_s=pending_s,
            clock=clock,
        )
        self._embedder: Embedder = HashingEmbedder() if embedder is None else embedder
        self._recipe = recipe
        self._conflicts = conflicts
        self._extract = extract
        try:
            self["default"]  # refuses a wrong embedder or recipe now, not at the first use
            self._recipe = checked_recipe(recipe, self._embedder)
        except BaseException:
            self._database.close()
            raise

    @property
    def database(self) -> Database:
        """Return the store."""
        return self._database

    def __getitem__(self, scope: str) -> AgenticMemory:
        """Return a handle on one scope; it is made by its first write."""
        return AgenticMemory(
            self._database,
            embedder=self._embedder,
            recipe=self._recipe,
            conflicts=self._conflicts,
            extract=self._extract,
            scope=arguments.name(scope, "scope"),
        )

    def __contains__(self, scope: object) -> bool:
        """Return whether something was ever written to a scope."""
        return scope in self._database.scopes()

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the scopes that were written to, oldest first."""
        return iter(self._database.scopes())

    def __len__(self) -> int:
        """Return how many scopes were written to."""
        return len(self._database.scopes())

    def __bool__(self) -> bool:
        """Return True: a fleet without scopes is still one."""
        return True

    def __repr__(self) -> str:
        return f"Fleet({self._database.path!r})"

    def remember_many(
        self,
        memories: Iterable[tuple[str, str | Mapping[str, Any]]],
        *,
        threads: int = 1,
        now: Moment | None = None,
    ) -> list[Remembered]:
        """Remember (scope, memory) pairs in one transaction: all of them or none.

        Parameters
        ----------
        memories : iterable of (str, str or mapping)
            Each scope's name, and what is remembered there: a text, or the arguments of
            `EpisodicMemoryStore.remember` by name.
        threads : int
            Accepted as `recall_many` has it; the results do not depend on it, and nor does the
            time.  Five sixths of it go to rows, which SQLite writes one by one, and to objects
            made under Python's lock; only the rest, the words and the index, could be split.
        now : datetime or int or float, optional
            The moment of those that name none themselves.

        Returns
        -------
        list of Remembered
            In the order given.
        """
        arguments.count(threads, "threads")
        pairs = _pairs(memories, "memories")
        now_us = self._database.now_us(now)
        places = _by_scope(pairs)
        # Every share is checked before the first is written.
        shares = {
            scope: drafts.extracted(
                drafts.drafts_of([pairs[at][1] for at in share], now_us), self._extract
            )
            for scope, share in places.items()
        }
        made = remembering.remember_in_scopes(
            self._database.engine, self._embedder, shares, self._conflicts
        )
        done: dict[int, Remembered] = {}
        for scope, share in places.items():
            done.update(zip(share, made[scope], strict=True))
        return [done[at] for at in range(len(pairs))]

    def recall_many(
        self,
        cues: Iterable[tuple[str, str]],
        *,
        top_k: int = 10,
        token_budget: int | None = None,
        min_score: float | None = None,
        recipe: Recipe | None = None,
        run_id: str | None = None,
        as_of: Moment | None = None,
        include_archive: bool = False,
        also: Iterable[str] = (),
        filters: Mapping[str, Any] | None = None,
        reinforce: Reinforce = "recall",
        threads: int = 1,
        now: Moment | None = None,
    ) -> list[RecallResult]:
        """Answer (scope, cue) pairs, each in its own scope, as `recall` would one after the other.

        Parameters
        ----------
        cues : iterable of (str, str)
            Each scope's name, and the cue; it may strengthen what the scope's next one finds.
        threads : int
            Threads to look up with, the caller's among them; no more of the store's pool help it
            than there are processors, or 32.  The results do not depend on it.
        top_k, token_budget, min_score, recipe, run_id, as_of, include_archive, also, filters,
        reinforce, now
            As for `EpisodicMemoryStore.recall`, for every cue.

        Returns
        -------
        list of RecallResult
            In the order given.

        Raises
        ------
        EmbedderFailed
            As `EpisodicMemoryStore.recall_many`.
        PartlyAnswered
            If a scope, or a memory that a cue calls up, does not match its checksum: once the
            other cues were answered, as far as they can be, and with their answers.
        LockTimeout
            As `EpisodicMemoryStore.recall`; the cues answered before strengthened what they hit.
        """
        pairs = [(scope, arguments.text(cue, "cue")) for scope, cue in _pairs(cues, "cues")]
        options = checked_options(
            self._recipe if recipe is None else checked_recipe(recipe, self._embedder),
            self._database.now_us(now),
            top_k=top_k,
            token_budget=token_budget,
            min_score=min_score,
            run_id=run_id,
            as_of=as_of,
            include_archive=include_archive,
            also=also,
            filters=filters,
            reinforce=reinforce,
        )
        most = arguments.count(threads, "threads")
        return batches.recall_many(self._database.engine, self._embedder, pairs, options, most)

    def metrics(self) -> FleetMetrics:
        """Return how busy this process is with the store, and how much of it is in RAM.

        Nothing is loaded or written for it.
        """
        engine = self._database.engine
        use = engine.index_use()
        total, by_scope = engine.meter.told(use.bytes_by_scope)
        return FleetMetrics(
            scopes=len(self._database.scopes()),
            loaded_scopes=len(use.bytes_by_scope),
            index_bytes=total.index_bytes,
            index_budget=use.budget_bytes,
            hits=use.hits,
            misses=use.misses,
            evictions=use.evictions,
            total=total,
            by_scope=by_scope,
        )

    def flush(self) -> None:
        """Commit the recalls that wait; see `Database`."""
        self._database.flush()

    def close(self) -> None:
        """Close the store; handles raise StoreClosed from then on.  Idempotent."""
        self._database.close()

    def __enter__(self) -> Fleet:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _pairs(values: Iterable[tuple[str, Any]], argument: str) -> list[tuple[str, Any]]:
    """Return pairs of a scope's name and something else."""
    expected = "(scope, ...) pairs"
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise InvalidType.of(argument, expected, values)
    pairs = list(values)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InvalidType.of(argument, expected, pair)
    return [(arguments.name(scope, "scope"), other) for scope, other in pairs]


def _by_scope(pairs: list[tuple[str, Any]]) -> dict[str, list[int]]:
    """Return the places of each scope's pairs, scopes in order of first occurrence."""
    places: dict[str, list[int]] = {}
    for at, (scope, _) in enumerate(pairs):
        places.setdefault(scope, []).append(at)
    return places
