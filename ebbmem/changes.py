"""What writes change: one scope's share of a transaction, and what indexes learn of its commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ebbmem.index import Indexed
from ebbmem.records.base import LinkRow, ScopeRow, StrengthRow, Writer


@dataclass(slots=True)
class Change:
    """One write to a scope, and what the index has to take over after its commit."""

    writer: Writer
    scope: ScopeRow
    memories: list[Indexed] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    strengths: list[StrengthRow] = field(default_factory=list)
    superseded: list[tuple[int, int]] = field(default_factory=list)
    """Old and new row id."""
    tiers: list[tuple[int, int]] = field(default_factory=list)
    """Row id and tier."""
    dropped: list[int] = field(default_factory=list)
    erased: bool = False
    """Whether the scope itself is erased."""
    rebuild: bool = False
    """Whether the index takes the change over from the records, when it is next used."""


class Post(NamedTuple):
    """What one commit changed in a scope whose newest change was ``before`` and is ``after``."""

    before: int
    after: int
    changes: Sequence[Change]
    rebuild: bool

    @property
    def harmless(self) -> bool:
        """Return whether every memory that was there has the strengths it had."""
        return not self.rebuild and not any(one.strengths for one in self.changes)


class OpenTransaction:
    """A write transaction of the engine's, in which several changes are made."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.finished = False
        """Whether it was committed, and the indexes were told."""
        self._changes: dict[str, list[Change]] = {}

    def change(self, scope: str, now_us: int) -> Change:
        """Return a change of a scope, which is made where it is new."""
        one = Change(self.writer, self.writer.open_scope(scope, now_us))
        self._changes.setdefault(scope, []).append(one)
        return one

    def posts(self, earlier: dict[str, Post]) -> dict[str, Post]:
        """Return what each scope's index is to learn once this is committed.

        Parameters
        ----------
        earlier : dict of str to Post
            Of what was written before the first change.
        """
        posts = dict(earlier)
        for scope, changes in self._changes.items():
            first = changes[0].scope
            before, rebuild = first.last_seq, any(one.rebuild for one in changes)
            if scope in earlier:
                before, rebuild = earlier[scope].before, rebuild or earlier[scope].rebuild
            after = self.writer.last_seq(first.scope_id)
            posts[scope] = Post(before, after, changes, rebuild)
        return posts
