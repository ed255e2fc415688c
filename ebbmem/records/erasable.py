"""What erasing asks of a record store: a part of its reader's and its writer's protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol


class Wanted(NamedTuple):
    """Conditions on memories, all of which must hold; None for no condition."""

    run_id: str | None = None
    memory_type: str | None = None
    source: str | None = None
    created_before: int | None = None
    """Made before that moment."""
    tier: int | None = None
    idle_since: int | None = None
    """Last accessed at that moment or before."""
    unpinned: bool = False
    """Whether pinned memories are left out."""


class Remains(NamedTuple):
    """What the rows of a scope say as they stand, whole or not: to be erased, never to be shown."""

    memories: list[tuple[bytes | None, bytes | None]]
    """Id and digest; None for what can be neither."""
    texts: list[str]
    """Of its memories and turns; what is not UTF-8 in them is replaced."""
    turns: int
    intentions: list[tuple[str, str | None]]
    """Action and trigger."""


class ErasureReader(Protocol):
    """Questions about what is to be erased, and what was."""

    def matching(self, scope_id: int, wanted: Wanted) -> list[int]:
        """Return the memories that meet conditions, by row id."""

    def superseded(self, rows: Sequence[int]) -> list[int]:
        """Return the memories that some memories replaced."""

    def payloads(self, scope_id: int, part: bytes | None) -> list[tuple[int, str, bytes]]:
        """Return (seq, kind, payload) of events; with ``part``, of those that hold these bytes."""

    def erased(self, scope_id: int, digest: bytes) -> bool:
        """Return whether a text of that keyed digest was erased from this scope.

        Digests are keyed with the scope's name, so one of that name that was erased counts too.
        """

    def orphans(self, rows: Sequence[int], turns: Sequence[int] = ()) -> list[int]:
        """Return the memories left without any source once memories and turns are erased.

        A turn counts as erased with its memory; what only orphans were the source of is included.
        """


class ErasureWriter(Protocol):
    """Changes that take away for good."""

    def remains(self, scope_id: int) -> Remains:
        """Return what the rows of a scope say, without comparing them with their checksums."""

    def erase_memories(self, scope_id: int, rows: Sequence[int]) -> None:
        """Delete memories with all that names them in any table, their turns included."""

    def erase_turns(self, scope_id: int, rows: Sequence[int]) -> None:
        """Delete turns with all that names them."""

    def erase_intentions(self, scope_id: int, ids: Sequence[bytes]) -> None:
        """Delete intentions, open or completed."""

    def erase_scope(self, scope_id: int) -> None:
        """Delete a scope with all that is in it, its name too; what was erased stays erased."""

    def insert_erased(
        self, scope_id: int, entries: Iterable[tuple[bytes, bytes]], now: int
    ) -> None:
        """Keep (memory id, keyed digest) of what was erased."""

    def lift_erased(self, scope_id: int, digests: Sequence[bytes]) -> None:
        """Forget that texts were erased: they are remembered again on purpose."""

    def rewrite_event(self, scope_id: int, seq: int, payload: bytes) -> None:
        """Replace the payload of an event, when what it names is erased; its seq stays.

        An event that is left with an empty one is deleted.
        """

    def erase_summary(self, scope_id: int, run_id: str) -> None:
        """Delete the rolling summary of a run."""
