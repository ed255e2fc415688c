"""Changes to memories that exist: outcomes, corrections, links, the archive."""

from __future__ import annotations

from collections.abc import Sequence

from ebbmem import reconsolidation
from ebbmem.changes import Change
from ebbmem.drafts import Draft
from ebbmem.embedders.base import Embedder
from ebbmem.engine import Engine
from ebbmem.errors import InvalidArgument
from ebbmem.graph import LINK_KINDS
from ebbmem.hubs import keep_best
from ebbmem.models import Link, Remembered, Tier
from ebbmem.reading import require_known, row_of
from ebbmem.records.base import LinkRow
from ebbmem.records.identity import id_text, parse_id
from ebbmem.reinforcement import Reinforcement
from ebbmem.remembering import vectors_of, write
from ebbmem.superseding import live_end, supersede

CO_RECALL = "co_recall"
CO_RECALL_WEIGHT = 0.5
MOST_TIED = 8
"""Memories used together of which every two are linked; of more, the first ones."""


def correct(
    engine: Engine, scope: str, embedder: Embedder, memory_id: str, one: Draft
) -> Remembered:
    """Make a memory that supersedes another: the old one is demoted, never deleted.

    A memory that was already superseded is corrected at the live end of its chain, so that a
    chain never has two.
    """
    vectors = vectors_of(embedder, [one.summary])
    require_known(engine, scope, [memory_id])

    def write_it(change: Change) -> Remembered:
        engine.bind_embedder(change.writer, embedder)
        old = live_end(change, row_of(change.writer, change.scope, memory_id))
        (made,) = write(engine, change, embedder, [one], vectors)
        new = row_of(change.writer, change.scope, made.id)
        if new != old:
            supersede(change, old, new, one.now_us)
        return made

    return engine.commit(scope, one.now_us, write_it)


def link(
    engine: Engine, scope: str, source: str, target: str, kind: str, weight: float, now_us: int
) -> None:
    """Link two memories of a scope; a link that is there keeps the greater weight."""
    if kind not in LINK_KINDS:
        raise InvalidArgument.of("kind", f"one of {', '.join(LINK_KINDS)}", kind)
    if parse_id(source) == parse_id(target):
        raise InvalidArgument.of("target", "another memory than the source", target)
    require_known(engine, scope, [source, target])

    def write_it(change: Change) -> None:
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

    engine.commit(scope, now_us, write_it)


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
    """Write outcomes: what was used succeeds and is linked, what failed is penalised."""
    if not used and not failed:
        return
    require_known(engine, scope, [*used, *failed])

    def write_them(change: Change) -> None:
        writer, scope = change.writer, change.scope
        good, bad = ({row_of(writer, scope, one): None for one in ids} for ids in (used, failed))
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
                writer.insert_event(scope.scope_id, kind, now_us, payload=payload)
        writer.update_strengths(scope.scope_id, change.strengths)
        _tie(change, list(good)[:MOST_TIED], now_us)

    engine.commit(scope, now_us, write_them)


def _tie(change: Change, rows: Sequence[int], now_us: int) -> None:
    """Link what was of use together, each pair both ways and once."""
    writer, made = change.writer, []
    for row in rows if len(rows) > 1 else ():
        there = {one.target for one in writer.links_from(row) if one.kind == CO_RECALL}
        made += [
            LinkRow(row, other, CO_RECALL, CO_RECALL_WEIGHT, now_us)
            for other in rows
            if other != row and other not in there
        ]
    if made:
        writer.insert_links(change.scope.scope_id, made)
        change.links.extend(made)
        keep_best(change, rows, CO_RECALL)


def archive(engine: Engine, scope: str, memory_id: str, now_us: int) -> None:
    """Move a memory to the archive, where recall looks only when asked to."""
    require_known(engine, scope, [memory_id])

    def write_it(change: Change) -> None:
        row = row_of(change.writer, change.scope, memory_id)
        change.writer.update_state(change.scope.scope_id, row, tier=int(Tier.ARCHIVE))
        change.writer.insert_event(change.scope.scope_id, "archived", now_us, row)
        change.tiers.append((row, int(Tier.ARCHIVE)))

    engine.commit(scope, now_us, write_it)
