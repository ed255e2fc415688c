"""Erasing for good: memories and all that tells of them, whole scopes, old archives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ebbmem import buffer, reconsolidation
from ebbmem.changes import Change
from ebbmem.engine import Engine
from ebbmem.errors import CorruptStore
from ebbmem.filters import Filter, Recorded
from ebbmem.models import ErasureReceipt, Tier
from ebbmem.prospective import intention_text
from ebbmem.reading import row_of
from ebbmem.records.base import (
    IntentionRow,
    LinkRow,
    MemoryRow,
    Reader,
    ScopeRow,
    TurnRow,
    Writer,
)
from ebbmem.records.erasable import Remains, Wanted
from ebbmem.records.identity import id_text, new_id, parse_id
from ebbmem.superseding import SUPERSEDES_WEIGHT

FEW = 2
"""For how many memories each is looked for by itself in the history."""
AT_ONCE = 1_000
"""How many memories are read at a time."""
SHARE = 8
"""An index is made anew where at least an 8th of it goes: its room is given back as well."""

Find = Callable[[Reader, int], "tuple[list[int], list[TurnRow]]"]
"""Finds the memories and the turns of a scope that are to be erased."""


def erase(engine: Engine, scope: str, memory_ids: Sequence[str], now_us: int) -> ErasureReceipt:
    """Erase memories for good, with those that had no other source.

    Gone are the rows, everything that names them in any table, and their places in packed
    events; a keyed digest stays, so that nothing but an explicit ``remember`` brings them back.
    """
    if not memory_ids:
        return _nothing(engine)
    with engine.records.read() as reader:
        _told_apart(reader, reader.scope(scope), memory_ids)
    with engine.change(scope, now_us) as change:
        rows, intentions = _told_apart(change.writer, change.scope, memory_ids)
        going = _Going(change, rows, [])
        going.erase(engine, now_us)
        texts = [intention_text(one.action, one.trigger) for one in intentions]
        _keep_digests(engine, change, (), texts, now_us)
        change.writer.erase_intentions(change.scope.scope_id, [one.id for one in intentions])
    return replace(going.receipt(engine), intentions=len(intentions))


def erase_matching(engine: Engine, scope: str, chosen: Filter, now_us: int) -> ErasureReceipt:
    """Erase every memory that meets a filter, in one transaction.

    Turns of which no memory was made go too where the filter says only what turns have.
    """
    return _erase_found(engine, scope, partial(_matching, chosen), now_us)


def purge(
    engine: Engine, scope: str, tier: Tier, idle_since_us: int, now_us: int
) -> ErasureReceipt:
    """Erase the memories of a tier that were not accessed since a moment; never pinned ones."""
    wanted = Wanted(tier=int(tier), idle_since=idle_since_us, unpinned=True)
    return _erase_found(engine, scope, partial(_idle, wanted), now_us)


def _erase_found(engine: Engine, scope: str, find: Find, now_us: int) -> ErasureReceipt:
    """Erase what is found in a scope, in one transaction."""
    with engine.records.read() as reader:
        found = reader.scope(scope)
        if found is None or not any(find(reader, found.scope_id)):
            return _nothing(engine)
    with engine.change(scope, now_us) as change:
        going = _Going(change, *find(change.writer, change.scope.scope_id))
        going.erase(engine, now_us)
    return going.receipt(engine)


def erase_scope(engine: Engine, scope: str, now_us: int) -> ErasureReceipt:
    """Erase a scope with all that is in it; digests stay, so that no import brings it back."""
    with engine.records.read() as reader:
        if reader.scope(scope) is None:
            return _nothing(engine)
    with engine.change(scope, now_us) as change:
        held = _all_held(change.writer, change.scope.scope_id)
        entries = [
            (one or new_id(now_us), digest) for one, digest in held.memories if digest is not None
        ]
        texts = {*held.texts, *(intention_text(*one) for one in held.intentions)}
        _keep_digests(engine, change, entries, texts, now_us)
        change.writer.erase_scope(change.scope.scope_id)
        change.erased = change.rebuild = True
    engine.meter.forget(scope)
    ids = tuple(id_text(one) for one, _ in held.memories if one is not None)
    receipt = (held.turns, len(held.intentions), engine.records.erasure())
    return ErasureReceipt(ids, (), *receipt)


def _all_held(writer: Writer, scope_id: int) -> Remains:
    """Return what a scope holds that has to be known to erase it, damaged or not."""
    try:
        rows = writer.matching(scope_id, Wanted())
        gone = writer.memories(rows).values()
        turns = [*writer.turns_of(rows), *writer.loose_turns(scope_id, None, None)]
        intentions = writer.all_intentions(scope_id)
    except CorruptStore:
        # Whoever has to erase cannot wait for a repair, which would keep a copy of it.
        return writer.remains(scope_id)
    return Remains(
        [(one.id, one.digest) for one in gone],
        [one.content for one in turns],
        len(turns),
        [(one.action, one.trigger) for one in intentions],
    )


def _told_apart(
    reader: Reader, scope: ScopeRow | None, ids: Sequence[str]
) -> tuple[list[int], list[IntentionRow]]:
    """Return which memories and which intentions of a scope some ids name.

    Raises
    ------
    UnknownMemory
        If one names neither.
    """
    known: dict[bytes, IntentionRow] = {}
    rows, intentions = [], []
    for one in ids:
        own = parse_id(one)
        if scope is not None and reader.intention_scope(own) == scope.scope_id:
            known = known or {row.id: row for row in reader.all_intentions(scope.scope_id)}
            intentions.append(known[own])
        else:
            rows.append(row_of(reader, scope, one))
    return rows, intentions


class _Going:
    """What is about to be erased from a scope."""

    def __init__(self, change: Change, rows: Sequence[int], loose: Sequence[TurnRow]) -> None:
        writer = change.writer
        self._change = change
        self._chosen = list(dict.fromkeys(rows))
        self._derived = writer.orphans(rows, [turn.row_id for turn in loose])
        self._rows = sorted({*rows, *self._derived})
        self._memories = writer.memories(self._rows)
        self._loose = [turn.row_id for turn in loose]
        self._turns = [*writer.turns_of(self._rows), *loose]

    def erase(self, engine: Engine, now_us: int) -> None:
        """Erase it, and let the index follow."""
        change, memories = self._change, self._memories.values()
        writer, scope_id = change.writer, change.scope.scope_id
        _rewrite_events(change, self._rows)
        _close_chains(change, self._memories, now_us)
        writer.erase_memories(scope_id, self._rows)
        writer.erase_turns(scope_id, self._loose)
        entries = [(one.id, one.digest) for one in memories]
        _keep_digests(engine, change, entries, {turn.content for turn in self._turns}, now_us)
        runs = {one.run_id for one in memories} | {turn.run_id for turn in self._turns}
        for run_id in sorted(run for run in runs if run is not None):
            buffer.refold(change, run_id, now_us)
        change.dropped.extend(self._rows)
        change.rebuild = len(self._rows) * SHARE >= change.scope.memory_count

    def receipt(self, engine: Engine) -> ErasureReceipt:
        """Return what is told of it once it is committed."""
        ids = {row: id_text(one.id) for row, one in self._memories.items()}
        return ErasureReceipt(
            tuple(ids[row] for row in self._chosen),
            tuple(ids[row] for row in self._derived),
            len(self._turns),
            0,
            engine.records.erasure(),
        )


def _nothing(engine: Engine) -> ErasureReceipt:
    """Return the receipt of an erasure that found nothing."""
    engine.records.require_own()
    return ErasureReceipt((), (), 0, 0, _never)


def _never() -> bool:
    return False


def _idle(wanted: Wanted, reader: Reader, scope_id: int) -> tuple[list[int], list[TurnRow]]:
    """Return the memories that meet conditions, and no turns."""
    return reader.matching(scope_id, wanted), []


def _matching(chosen: Filter, reader: Reader, scope_id: int) -> tuple[list[int], list[TurnRow]]:
    """Return the memories that meet a filter, and the turns without a memory that do.

    What is chosen by its own words must be what was written, so it is read with its checksum.
    """
    narrowed = chosen.narrowed
    perhaps = reader.matching(scope_id, narrowed)
    rows = []
    for first in range(0, len(perhaps), AT_ONCE):
        memories = list(reader.memories(perhaps[first : first + AT_ONCE]).values())
        met = np.flatnonzero(chosen.chosen(Recorded(memories)))
        rows += [memories[at].row_id for at in met.tolist()]
    if not chosen.of_turns:
        return rows, []
    turns = reader.loose_turns(scope_id, narrowed.run_id, narrowed.created_before)
    met = np.flatnonzero(chosen.chosen(Recorded(turns)))
    return rows, [turns[at] for at in met.tolist()]


def _keep_digests(
    engine: Engine,
    change: Change,
    entries: Sequence[tuple[bytes, bytes]],
    texts: Iterable[str],
    now_us: int,
) -> None:
    """Keep (id, keyed digest) of memories, and digests of other texts that tell the same."""
    scope = change.scope
    known = {digest for _, digest in entries}
    others = sorted({engine.digest(scope.name, text) for text in texts} - known)
    more = [(new_id(now_us), digest) for digest in others]
    change.writer.insert_erased(scope.scope_id, [*entries, *more], now_us)


def _close_chains(change: Change, gone: Mapping[int, MemoryRow], now_us: int) -> None:
    """Let what replaced erased memories stand for what those had replaced.

    What was replaced by the end of a chain is live again once that is erased.
    """
    writer, scope_id = change.writer, change.scope.scope_id
    left = [row for row in writer.superseded(list(gone)) if row not in gone]
    for old, memory in writer.memories(left).items():
        end = memory.superseded_by
        while end is not None and end in gone:
            end = gone[end].superseded_by
        change.superseded.append((old, end or 0))
        if end is None:
            continue  # written by erase_memories
        writer.update_state(scope_id, old, superseded_by=end)
        link = LinkRow(end, old, "supersedes", SUPERSEDES_WEIGHT, now_us)
        there = {(one.target, one.kind) for one in writer.links_from(end)}
        writer.insert_links(scope_id, [link])
        if (old, link.kind) not in there:
            change.links.append(link)


def _rewrite_events(change: Change, rows: Sequence[int]) -> None:
    """Take erased memories out of the events that pack several."""
    writer, scope_id = change.writer, change.scope.scope_id
    gone = set(rows)
    parts = [reconsolidation.named(row) for row in rows] if len(rows) <= FEW else [None]
    found = {
        seq: payload
        for part in parts
        for seq, kind, payload in writer.payloads(scope_id, part)
        if kind in reconsolidation.PACKED_KINDS
    }
    for seq, left in reconsolidation.without(found, gone).items():
        writer.rewrite_event(scope_id, seq, left)
