"""Changes to memories that exist: outcomes, corrections, links, the archive, erasure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ebbmem import buffer, reconsolidation
from ebbmem.changes import Change
from ebbmem.embedders.base import Embedder
from ebbmem.engine import Engine
from ebbmem.errors import InvalidArgument
from ebbmem.graph import LINK_KINDS
from ebbmem.models import Link, Remembered, Tier
from ebbmem.reading import row_of
from ebbmem.records.base import LinkRow, MemoryRow
from ebbmem.records.identity import id_text, parse_id
from ebbmem.reinforcement import Reinforcement
from ebbmem.remembering import Draft, vectors_of, write

EVENT_PAGE = 1_000
SUPERSEDES_WEIGHT = 1.0


def correct(
    engine: Engine, scope: str, embedder: Embedder, memory_id: str, one: Draft
) -> Remembered:
    """Make a memory that supersedes another: the old one is demoted, never deleted.

    A memory that was already superseded is corrected at the live end of its chain, so that a
    chain never has two.
    """
    vectors = vectors_of(embedder, [one.summary])
    _require_known(engine, scope, [memory_id])
    with engine.change(scope, one.now_us) as change:
        old = _live_end(change, row_of(change.writer, change.scope, memory_id))
        (made,) = write(engine, change, embedder, [one], vectors)
        new = row_of(change.writer, change.scope, made.id)
        if new == old:
            return made
        change.writer.update_state(
            change.scope.scope_id, old, superseded_by=new, superseded_at=one.now_us
        )
        link = LinkRow(new, old, "supersedes", SUPERSEDES_WEIGHT, one.now_us)
        change.writer.insert_links(change.scope.scope_id, [link])
        change.writer.insert_event(change.scope.scope_id, "superseded", one.now_us, old)
        change.links.append(link)
        change.superseded.append((old, new))
    return made


def link(
    engine: Engine, scope: str, source: str, target: str, kind: str, weight: float, now_us: int
) -> None:
    """Link two memories of a scope; a link that is there keeps the greater weight."""
    if kind not in LINK_KINDS:
        raise InvalidArgument.of("kind", f"one of {', '.join(LINK_KINDS)}", kind)
    if parse_id(source) == parse_id(target):
        raise InvalidArgument.of("target", "another memory than the source", target)
    _require_known(engine, scope, [source, target])
    with engine.change(scope, now_us) as change:
        made = LinkRow(
            row_of(change.writer, change.scope, source),
            row_of(change.writer, change.scope, target),
            kind,
            weight,
            now_us,
        )
        there = {(one.target, one.kind) for one in change.writer.links_from(made.source)}
        change.writer.insert_links(change.scope.scope_id, [made])
        if (made.target, made.kind) in there:
            change.rebuild = True  # the index would add the weights up
        else:
            change.links.append(made)


def neighbors(engine: Engine, scope: str, memory_id: str) -> list[Link]:
    """Return the links that leave a memory: heaviest first, then lower number, then kind."""
    with engine.records.read() as reader:
        found = reader.scope(scope)
        row = row_of(reader, found, memory_id)
        links = reader.links_from(row)
        ids = reader.ids([one.target for one in links])
    links.sort(key=lambda one: (-one.weight, one.target, one.kind))
    return [Link(memory_id, id_text(ids[one.target]), one.kind, one.weight) for one in links]


def judge(
    engine: Engine,
    scope: str,
    used: Sequence[str],
    failed: Sequence[str],
    reinforcement: Reinforcement,
    now_us: int,
) -> None:
    """Write outcomes: what was used succeeds, what failed is penalised."""
    if not used and not failed:
        return
    _require_known(engine, scope, [*used, *failed])
    with engine.change(scope, now_us) as change:
        writer, scope_id = change.writer, change.scope.scope_id
        good, bad = (
            {row_of(writer, change.scope, one): None for one in ids} for ids in (used, failed)
        )
        if not good.keys().isdisjoint(bad):
            raise InvalidArgument.of("failed", "memories that are not in used", list(failed))
        outcomes = (
            ("used", list(good), reconsolidation.succeeded, reinforcement.beta),
            ("failed", list(bad), reconsolidation.failed, reinforcement.gamma),
        )
        for kind, rows, update, much in outcomes:
            if rows:
                before = reconsolidation.read(writer, rows)
                r = before.retrievability(now_us)
                payload = reconsolidation.packed(before, r)
                change.strengths.extend(update(before, r, much, now_us).rows())
                writer.insert_event(scope_id, kind, now_us, payload=payload)
        writer.update_strengths(scope_id, change.strengths)


def archive(engine: Engine, scope: str, memory_id: str, now_us: int) -> None:
    """Move a memory to the archive, where recall looks only when asked to."""
    _require_known(engine, scope, [memory_id])
    with engine.change(scope, now_us) as change:
        row = row_of(change.writer, change.scope, memory_id)
        change.writer.update_state(change.scope.scope_id, row, tier=int(Tier.ARCHIVE))
        change.writer.insert_event(change.scope.scope_id, "archived", now_us, row)
        change.tiers.append((row, int(Tier.ARCHIVE)))


def erase(engine: Engine, scope: str, memory_ids: Sequence[str], now_us: int) -> int:
    """Erase memories for good; return how many.

    Gone are the rows, everything that names them in any table, and their places in packed
    events; a keyed digest stays, so that nothing but an explicit ``remember`` brings them back.
    """
    if not memory_ids:
        return 0
    _require_known(engine, scope, memory_ids)
    with engine.change(scope, now_us) as change:
        writer, scope_id = change.writer, change.scope.scope_id
        rows = sorted({row_of(writer, change.scope, one) for one in memory_ids})
        gone = writer.memories(rows)
        _rewrite_events(change, set(rows))
        _close_chains(change, gone, now_us)
        writer.erase_memories(scope_id, rows)
        writer.insert_erased(scope_id, [(m.id, m.digest) for m in gone.values()], now_us)
        for run_id in {m.run_id for m in gone.values() if m.run_id is not None}:
            buffer.refold(change, run_id, now_us)
        change.dropped.extend(rows)
        # Others may have got another successor, or none: the columns are loaded anew.
        change.rebuild = True
    return len(rows)


def _close_chains(change: Change, gone: Mapping[int, MemoryRow], now_us: int) -> None:
    """Let what replaced erased memories stand for what those had replaced.

    What was replaced by the end of a chain is live again once that is erased.
    """
    writer, scope_id = change.writer, change.scope.scope_id
    for row in gone:
        end: int | None = row
        while end is not None and end in gone:
            end = gone[end].superseded_by
        older = [one.target for one in writer.links_from(row) if one.kind == "supersedes"]
        for old, memory in writer.memories(older).items():
            if end is not None and old not in gone and memory.superseded_by == row:
                writer.update_state(scope_id, old, superseded_by=end)
                link = LinkRow(end, old, "supersedes", SUPERSEDES_WEIGHT, now_us)
                writer.insert_links(scope_id, [link])


def _rewrite_events(change: Change, rows: set[int]) -> None:
    """Take erased memories out of the events that pack several."""
    writer, scope_id = change.writer, change.scope.scope_id
    after = 0
    while True:
        page = writer.events(scope_id, after, EVENT_PAGE)
        for event in page:
            if event.payload is None:
                continue
            left = reconsolidation.without(event.payload, rows)
            if left != event.payload:
                writer.rewrite_event(scope_id, event.seq, left)
        if len(page) < EVENT_PAGE:
            return
        after = page[-1].seq


def _require_known(engine: Engine, scope: str, memory_ids: Sequence[str]) -> None:
    """Refuse ids that are not of this scope, before anything is opened for writing."""
    with engine.records.read() as reader:
        found = reader.scope(scope)
        for memory_id in memory_ids:
            row_of(reader, found, memory_id)


def _live_end(change: Change, row: int) -> int:
    """Return the memory at the live end of a chain of corrections."""
    while True:
        successor = change.writer.memories([row])[row].superseded_by
        if successor is None:
            return row
        row = successor
