"""The values that cross ebbmem's border: frozen, without behaviour beyond reading them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Any

STRONG = 0.3
"""The similarity from which on a hit is strong evidence."""

# Past the guard of a frozen class: only for a value that nobody has seen yet.
_new = object.__new__
_set = object.__setattr__


class Tier(IntEnum):
    """How near a memory is kept; the archive is not searched unless asked."""

    WARM = 0
    COLD = 1
    ARCHIVE = 2


class _Deferred:
    """Base of values some of whose fields are made when they are first read.

    ``_source`` is a function from ``_key`` and a field's name to its value; it must give the same
    value whenever it is asked.
    """

    __slots__ = ("_key", "_source")
    _key: Any
    _source: Callable[[Any, str], Any]

    if not TYPE_CHECKING:  # to a type checker every field is simply there

        def __getattr__(self, name: str) -> Any:
            """Make a field: reached only where it is not there yet."""
            if name not in type(self).__dataclass_fields__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = self._source(self._key, name)
            object.__setattr__(self, name, value)
            return value


@dataclass(frozen=True, slots=True)
class Memory(_Deferred):
    """One remembered thing, as stored.

    ``retrievability`` is its value at ``anchored_at`` (the last access), not now; times are
    aware UTC datetimes; ``number`` is short and unique within the scope, for prompts (``#6``).
    """

    id: str
    number: int
    scope: str
    summary: str
    memory_type: str
    importance: float
    emotional_valence: float
    emotional_intensity: float
    storage_strength: float
    retrievability: float
    anchored_at: datetime
    access_count: int
    created_at: datetime
    tier: Tier
    verified: bool
    pinned: bool
    detail: str | None = None
    keywords: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    superseded_by: str | None = None
    key: str | None = None
    source: str | None = None
    run_id: str | None = None


def deferred_memory(make: Callable[[Any, str], Any], key: Any, summary: str) -> Memory:
    """Return a memory whose other fields ``make(key, name)`` gives when they are read."""
    made = _new(Memory)
    _set(made, "_source", make)
    _set(made, "_key", key)
    _set(made, "summary", summary)
    return made


@dataclass(frozen=True, slots=True)
class Remembered:
    """What ``remember`` did: the id, and whether a new memory was made.

    ``summary`` is what the memory says: with ``key`` not always what was to be remembered.
    """

    id: str
    number: int
    created: bool
    summary: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Every term of a hit's score.

    ``terms`` maps a term's name to what it added (sums) or multiplied by (products; under
    `DEFAULT` ``retention`` is 0.8 + 0.2 R, where `Recalled.retrievability` is R itself);
    ``ranks`` maps a lane to the hit's place in it, from 1; ``path`` lists the numbers of the
    memories through which activation came, from the cue's match to this one.  Where ``note`` says
    that a hit is ahead of another or behind it, its score is that of the place it came to.
    """

    recipe: str
    terms: Mapping[str, float]
    ranks: Mapping[str, int]
    path: tuple[int, ...]
    note: str = ""


class _Texted(_Deferred):
    """Base of a hit, which knows its memory's text before it has made the memory."""

    __slots__ = {"summary": "The memory's text."}
    summary: str

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Make a field; a hit that was made by its fields has its text from the memory."""
            return self.memory.summary if name == "summary" else super().__getattr__(name)


@dataclass(frozen=True, slots=True)
class Recalled(_Texted):
    """One hit: a memory, and why it came.

    ``score`` is on the recipe's scale; ``similarity`` is familiarity with the cue (0 to 1 for
    the default recipe, a cosine for the others); ``cascade_score`` is activation that arrived
    through links; ``retrievability`` is strength of access at the moment of recall.
    """

    memory: Memory
    score: float
    similarity: float
    cascade_score: float
    retrievability: float
    explanation: Explanation

    @property
    def id(self) -> str:
        """Return the memory's id."""
        return self.memory.id

    @property
    def number(self) -> int:
        """Return the memory's number within its scope."""
        return self.memory.number

    @property
    def scope(self) -> str:
        """Return the scope the memory belongs to."""
        return self.memory.scope

    @property
    def final_score(self) -> float:
        """Return ``score``, under the name the associative seed gives it."""
        return self.score


@dataclass(frozen=True, slots=True)
class RecallResult(_Deferred):
    """What a recall brought back, best first.

    ``id`` names the recall for ``feedback``; ``abstained`` is true when nothing reached the
    recipe's ``min_score``; ``skipped`` holds what was looked at and fell below it, best first;
    ``degraded`` is true when less than the recipe asks for was done: a limit cut the work short,
    or the embedder failed and words alone answered.
    """

    id: str
    cue: str
    memories: tuple[Recalled, ...]
    skipped: tuple[Recalled, ...]
    abstained: bool
    degraded: bool
    took_us: int

    def __iter__(self) -> Iterator[Recalled]:
        return iter(self.memories)

    def __len__(self) -> int:
        return len(self.memories)

    @property
    def evidence(self) -> str:
        """Return ``"strong"``, ``"weak"`` or, without hits, ``"none"``.

        Strong is a hit whose similarity to the cue is at least `STRONG`.
        """
        if not self.memories:
            return "none"
        best = max(hit.similarity for hit in self.memories)
        return "strong" if best >= STRONG else "weak"

    @property
    def nearest(self) -> Recalled | None:
        """Return the best of what was skipped, or None."""
        return self.skipped[0] if self.skipped else None

    def trace(self) -> str:
        """Return one line per memory looked at: ``[INJECT]`` or ``[skip]``, number, score, text."""
        lines = [f"[INJECT] #{hit.number} ({hit.score:.3f}) {hit.summary}" for hit in self.memories]
        lines += [f"[skip]   #{hit.number} ({hit.score:.3f}) {hit.summary}" for hit in self.skipped]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Explained:
    """Why one memory came back for a cue, or did not.

    ``place`` is where it comes among all that the cue calls up, from 1, without any limit on how
    many; None where nothing leads to it, or it was not looked at.  ``hit`` is what recall has of
    it then.  ``reasons`` say what kept it from coming back; there are none where it did.
    ``degraded`` is as in `RecallResult`.
    """

    returned: bool
    place: int | None
    hit: Recalled | None
    reasons: tuple[str, ...]
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A typed, weighted, directed edge between two memories of one scope."""

    source: str
    target: str
    kind: str
    weight: float


@dataclass(frozen=True, slots=True)
class Intention:
    """Something to do later; kept apart from facts."""

    id: str
    scope: str
    action: str
    trigger: str | None
    due_at: datetime | None
    created_at: datetime
    expires_at: datetime | None
    completed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    run_id: str
    role: str
    content: str
    created_at: datetime
    memory_id: str | None


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Counts of one scope.

    ``memories`` are all that were not erased: archived and expired ones count until they are.
    """

    scope: str
    memories: int
    by_type: Mapping[str, int]
    by_tier: Mapping[str, int]
    superseded: int
    links: int
    intentions: int
    turns: int
    index_bytes: int


@dataclass(frozen=True, slots=True)
class CallMetrics:
    """Calls of one kind by this process, and their durations: median and 99th percentile.

    Durations are counted in classes an eighth of a doubling wide; these are the middles of
    theirs, so within 7 % of the exact ones.
    """

    calls: int
    p50_us: float
    p99_us: float


@dataclass(frozen=True, slots=True)
class ScopeMetrics:
    """What this process did in one scope, or in all, since it opened the store.

    ``recall`` counts cues, ``remember`` calls; ``abstained`` are the recalls that found nothing
    good enough, ``degraded`` those that did less than their recipe asks for, as the embedder
    failed; ``index_bytes`` is what is in RAM now.
    """

    recall: CallMetrics
    remember: CallMetrics
    abstained: int
    index_bytes: int
    degraded: int


@dataclass(frozen=True, slots=True)
class FleetMetrics:
    """How busy a fleet is, and how much of it is in RAM.

    ``total`` is of every call; ``by_scope`` has the scopes called last.  A look at the index of a
    scope (one per recall, per scope of a batch, and per scope named by ``also=``) is a hit where it
    is in RAM and current, and a miss where it has to be loaded, or to take over what another
    process wrote; a scope without memories counts as neither.  Evictions made room for others.
    """

    scopes: int
    loaded_scopes: int
    index_bytes: int
    index_budget: int
    hits: int
    misses: int
    evictions: int
    total: ScopeMetrics
    by_scope: Mapping[str, ScopeMetrics]


@dataclass(frozen=True, slots=True)
class ConsolidationReport:
    """What a sleep pass changed, summed over its scopes."""

    scopes: int
    visited: int
    matured: int
    cooled: int
    archived: int
    expired: int
    dry_run: bool


@dataclass(frozen=True, slots=True)
class ErasureReceipt:
    """What an erasure took away for good.

    ``ids`` are the memories that were asked for, ``derived`` those that had no other source and
    went with them; ``turns`` and ``intentions`` count the turns and intentions that went.
    """

    ids: tuple[str, ...]
    derived: tuple[str, ...]
    turns: int
    intentions: int
    _holds: Callable[[], bool] = field(repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process cannot look: there it is pending for good, or not.
        holds = partial(bool, self.pending)
        return type(self), (self.ids, self.derived, self.turns, self.intentions, holds)

    @property
    def count(self) -> int:
        """Return how many memories were erased."""
        return len(self.ids) + len(self.derived)

    @property
    def pending(self) -> bool:
        """Return whether a file may still hold something of it, as of now.

        Nobody can recall it any more, but the write-ahead log keeps older pages while somebody who
        began before still reads them (another process, an export).  The next write of any kind
        takes them away once that reader has ended; so do ``flush()`` and the next opening.
        """
        return self._holds()
