"""How a memory is made: checked, embedded, written with its links in one transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ebbmem.changes import Change
from ebbmem.commits import Transaction
from ebbmem.conflicts import ConflictRule, noted
from ebbmem.drafts import Draft
from ebbmem.embedders.base import Embedder, stores_vectors
from ebbmem.engine import Engine
from ebbmem.hubs import keep_best
from ebbmem.index import Indexed
from ebbmem.models import Remembered, Tier
from ebbmem.reading import require_known
from ebbmem.reconsolidation import held, succeeded
from ebbmem.records.base import HAS, WANTS, IndexRow, LinkRow, MemoryRow, number_of
from ebbmem.records.identity import id_text, new_id
from ebbmem.reinforcement import (
    NEW_ACCESS_COUNT,
    NEW_RETRIEVABILITY,
    NEW_STRENGTH,
    Reinforcement,
)
from ebbmem.spaces import embedded
from ebbmem.superseding import supersede_all

NEWEST_PER_KEYWORD = 32
RELATED_WEIGHT = 1.0
KEYWORD_WEIGHT = 0.5
NEXT_TURN: Final = "next_turn"
NEXT_TURN_WEIGHT = 1.0
CONFLICTS: Final = "conflicts"
REMEMBERED: Final = "remembered"
_ID: Final = MemoryRow._fields.index("id")
_SUMMARY: Final = MemoryRow._fields.index("summary")
_KEYWORDS: Final = MemoryRow._fields.index("keywords")


def remember(
    engine: Engine,
    scope: str,
    embedder: Embedder,
    drafts: Sequence[Draft],
    rule: ConflictRule | None = None,
) -> list[Remembered]:
    """Make memories of drafts, in order, in one transaction: all of them or none.

    With a rule, each is compared with what is there before the first of them is written.
    """
    return remember_in_scopes(engine, embedder, {scope: drafts}, rule)[scope] if drafts else []


def remember_in_scopes(
    engine: Engine,
    embedder: Embedder,
    shares: Mapping[str, Sequence[Draft]],
    rule: ConflictRule | None = None,
) -> dict[str, list[Remembered]]:
    """Make memories of each scope's drafts as `remember` does, in one transaction for all."""
    if not shares:
        return {}
    started_ns = time.perf_counter_ns()
    if rule is not None:
        shares = {
            scope: [noted(engine, scope, one, rule) for one in share]
            for scope, share in shares.items()
        }
    for scope, share in shares.items():
        old = [one for draft in share for one in draft.supersedes]
        if old:
            require_known(engine, scope, old)
    texts = [one.summary for share in shares.values() for one in share]
    vectors = vectors_of(embedder, texts)
    if vectors is None and all(_is_plain(one) for share in shares.values() for one in share):
        made = engine.commit_many(shares, PlainShares(engine, embedder, shares), write_plain)
    else:
        made = engine.commit_many(shares, _written_by(engine, embedder, shares, vectors))
    engine.meter.remembered(shares, time.perf_counter_ns() - started_ns)
    return made


def _written_by(
    engine: Engine,
    embedder: Embedder,
    shares: Mapping[str, Sequence[Draft]],
    vectors: NDArray[np.float32] | None,
) -> Callable[[Transaction], dict[str, list[Remembered]]]:
    """Return what writes each scope's drafts."""

    def write_all(transaction: Transaction) -> dict[str, list[Remembered]]:
        engine.bind_embedder(transaction.writer, embedder)
        done, first = {}, 0
        for scope, share in shares.items():
            change = transaction.change(scope, share[0].now_us)
            own = None if vectors is None else vectors[first : first + len(share)]
            done[scope] = write(engine, change, embedder, share, own)
            first += len(share)
        return done

    return write_all


@dataclass(slots=True)
class PlainShares:
    """Plain drafts of each scope, to be written in a transaction by a call."""

    engine: Engine
    embedder: Embedder
    shares: Mapping[str, Sequence[Draft]]

    def __call__(self, transaction: Transaction) -> dict[str, list[Remembered]]:
        """Write them; return what was made, by scope."""
        return write_plain(transaction, [self])[0]


def write_plain(
    transaction: Transaction, parts: Sequence[PlainShares]
) -> list[dict[str, list[Remembered]]]:
    """Write the drafts of several callers, those of one scope together and in their order."""
    by_scope: dict[str, list[Draft]] = {}
    for part in parts:
        part.engine.bind_embedder(transaction.writer, part.embedder)
        for scope, share in part.shares.items():
            by_scope.setdefault(scope, []).extend(share)
    plain = [
        (transaction.change(scope, drafts[0].now_us), drafts) for scope, drafts in by_scope.items()
    ]
    made = dict(zip(by_scope, map(iter, _insert_plain(parts[0].engine, plain)), strict=True))
    return [
        {scope: list(islice(made[scope], len(share))) for scope, share in part.shares.items()}
        for part in parts
    ]


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32] | None:
    """Return the vectors to be stored with some texts; None where they follow from the text."""
    return embedded(embedder, texts) if stores_vectors(embedder) else None


def write(
    engine: Engine,
    change: Change,
    embedder: Embedder,
    drafts: Sequence[Draft],
    vectors: NDArray[np.float32] | None,
) -> list[Remembered]:
    """Write drafts within a transaction that is already open."""
    if vectors is not None:
        engine.bind_embedder(change.writer, embedder)
    if all(map(_is_plain, drafts)):
        return _insert_with_vectors(engine, change, embedder, drafts, vectors)
    done: list[Remembered] = []
    for plain, share in groupby(range(len(drafts)), lambda at: _is_plain(drafts[at])):
        places = list(share)
        some = drafts[places[0] : places[-1] + 1]
        own = None if vectors is None else vectors[places[0] : places[-1] + 1]
        if plain:
            done += _insert_with_vectors(engine, change, embedder, some, own)
        else:
            done += [
                _write_one(engine, change, embedder, one, None if own is None else own[at])
                for at, one in enumerate(some)
            ]
    return done


def _is_plain(one: Draft) -> bool:
    """Return whether a draft becomes a memory whatever else there is, and is linked to none."""
    return not (
        one.dedupe
        or one.keywords
        or one.related_to
        or one.supersedes
        or one.key is not None
        or one.after is not None
        or one.conflicts
    )


def _insert_plain(
    engine: Engine, shares: Sequence[tuple[Change, Sequence[Draft]]]
) -> list[list[Remembered]]:
    """Insert memories of scopes that nothing names or is linked to, each table's together."""
    rows = [
        (change.scope.scope_id, [new_row(one, engine.digest(name, one.summary)) for one in drafts])
        for change, drafts in shares
        for name in (change.scope.name,)
    ]
    stored = shares[0][0].writer.insert_new(rows, REMEMBERED)
    made = []
    for (change, _), memories in zip(shares, stored, strict=True):
        change.memories += [
            Indexed(index_row(one), one[_SUMMARY], one[_KEYWORDS], None, None) for one in memories
        ]
        made.append([_remembered(one, created=True) for one in memories])
    return made


def _insert_with_vectors(
    engine: Engine,
    change: Change,
    embedder: Embedder,
    drafts: Sequence[Draft],
    vectors: NDArray[np.float32] | None,
) -> list[Remembered]:
    """Insert plain memories of one scope, with the vectors that are stored."""
    before = len(change.memories)
    (done,) = _insert_plain(engine, [(change, drafts)])
    if vectors is not None:
        made = change.memories[before:]
        change.writer.insert_vectors(
            (one.row.row_id, own.tobytes()) for one, own in zip(made, vectors, strict=True)
        )
        change.memories[before:] = [
            one._replace(vector=own, space=embedder.name)
            for one, own in zip(made, vectors, strict=True)
        ]
    return done


def _write_one(
    engine: Engine,
    change: Change,
    embedder: Embedder,
    one: Draft,
    vector: NDArray[np.float32] | None,
) -> Remembered:
    """Write one draft, or find the memory that it names."""
    digest = engine.digest(change.scope.name, one.summary)
    existing = _existing(change, one, digest)
    if existing is not None:
        return existing
    return _insert(change, embedder, one, digest, vector)


def _existing(change: Change, one: Draft, digest: bytes) -> Remembered | None:
    """Return the memory that a key or an equal text already names, reinforced for the latter."""
    writer, scope_id = change.writer, change.scope.scope_id
    if one.key is not None:
        row = writer.find_key(scope_id, one.key)
        if row is not None:
            return _remembered(writer.memories([row])[row], created=False)
    if one.dedupe:
        row = writer.find_digest(scope_id, digest, one.now_us)
        if row is not None:
            memory = writer.memories([row])[row]
            _reinforce(change, memory, one.now_us)
            return _remembered(memory, created=False)
    return None


def _insert(
    change: Change,
    embedder: Embedder,
    one: Draft,
    digest: bytes,
    vector: NDArray[np.float32] | None,
) -> Remembered:
    """Insert one memory with its keywords, vector, links and event."""
    writer, scope_id = change.writer, change.scope.scope_id
    (memory,) = writer.insert_memories(scope_id, [new_row(one, digest)])
    writer.lift_erased(scope_id, [digest])
    if vector is not None:
        writer.insert_vectors([(memory.row_id, vector.tobytes())])
    links = _links(change, one, memory.row_id)
    entries = [(k, HAS, memory.row_id) for k in one.keywords]
    entries += [(k, WANTS, memory.row_id) for k in one.related_to]
    if entries:
        writer.insert_keywords(scope_id, entries)
    if links:
        writer.insert_links(scope_id, links)
    writer.insert_event(scope_id, REMEMBERED, one.now_us, memory.row_id)
    space = None if vector is None else embedder.name
    change.memories.append(
        Indexed(index_row(memory), memory.summary, memory.keywords, vector, space)
    )
    change.links.extend(links)
    if one.conflicts:
        keep_best(change, [memory.row_id, *(row for row, _ in one.conflicts)], CONFLICTS)
    supersede_all(change, one.supersedes, memory.row_id, one.now_us)
    return _remembered(memory, created=True)


def _links(change: Change, one: Draft, row: int) -> list[LinkRow]:
    """Return the links of a new memory, in both directions, to the newest per keyword.

    It is linked to memories that share a keyword, to those whose keyword it is related to, and
    to those that were waiting for one of its keywords; expired ones are passed over.
    """
    writer, scope_id = change.writer, change.scope.scope_id
    weights: dict[tuple[int, str], float] = {}
    for keyword in one.keywords:
        for other in writer.holders(scope_id, keyword, HAS, one.now_us, NEWEST_PER_KEYWORD):
            weights[other, "keyword"] = KEYWORD_WEIGHT
        for other in writer.holders(scope_id, keyword, WANTS, one.now_us, NEWEST_PER_KEYWORD):
            weights[other, "related"] = RELATED_WEIGHT
    for keyword in one.related_to:
        for other in writer.holders(scope_id, keyword, HAS, one.now_us, NEWEST_PER_KEYWORD):
            weights[other, "related"] = RELATED_WEIGHT
    links = []
    for (other, kind), weight in weights.items():
        links.append(LinkRow(row, other, kind, weight, one.now_us))
        links.append(LinkRow(other, row, kind, weight, one.now_us))
    for other, sure in _still_there(change, one.conflicts):
        links.append(LinkRow(row, other, CONFLICTS, sure, one.now_us))
        links.append(LinkRow(other, row, CONFLICTS, sure, one.now_us))
    if one.after is not None:
        links.append(LinkRow(one.after, row, NEXT_TURN, NEXT_TURN_WEIGHT, one.now_us))
    return links


def _still_there(change: Change, conflicts: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return those that were not erased since they were found."""
    there = change.writer.memories([row for row, _ in conflicts]) if conflicts else {}
    return [(row, sure) for row, sure in conflicts if row in there]


def _reinforce(change: Change, memory: MemoryRow, now_us: int) -> None:
    """Count an equal text as a success of the memory that holds it."""
    before = held([memory])
    r = before.retrievability(now_us)
    (row,) = succeeded(before, r, Reinforcement().beta, now_us).rows()
    change.writer.update_strengths(change.scope.scope_id, [row])
    change.writer.insert_event(change.scope.scope_id, "repeated", now_us, memory.row_id)
    change.strengths.append(row)


def new_row(one: Draft, digest: bytes) -> MemoryRow:
    """Return the row of a new memory; the store gives it its number and seq."""
    # By place: by name it takes five times as long.
    return MemoryRow(
        0,
        0,
        new_id(one.now_us),
        one.memory_type,
        one.summary,
        one.detail,
        "\n".join(one.keywords),
        one.importance,
        one.emotional_valence,
        one.emotional_intensity,
        NEW_STRENGTH,
        NEW_RETRIEVABILITY,
        one.now_us,  # anchored_at
        NEW_ACCESS_COUNT,
        one.now_us,  # created_at
        one.now_us,  # recorded_at
        one.valid_from_us,
        one.valid_to_us,
        one.expires_us,
        None,  # due_at
        int(one.pinned),
        int(one.verified),
        int(Tier.WARM),
        None,  # superseded_by
        None,  # superseded_at
        one.key,
        digest,
        one.source,
        one.run_id,
        one.metadata,
    )


_index_part: Final = itemgetter(*map(MemoryRow._fields.index, IndexRow._fields))


def index_row(memory: Sequence[Any]) -> IndexRow:
    """Return the part of a memory, given as its row, that the index keeps."""
    return IndexRow._make(_index_part(memory))


def _remembered(memory: Sequence[Any], *, created: bool) -> Remembered:
    """Return what ``remember`` tells of a memory, given as its row."""
    return Remembered(id_text(memory[_ID]), number_of(memory[0]), created, memory[_SUMMARY])
