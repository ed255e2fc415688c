"""The short-term buffer: the newest turns of a run word for word, older ones in a summary.

Turns are rows from the moment they are said; the buffer is a view of the newest of them, so
nothing is lost when it overflows or the process dies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebbmem import arguments, reading, summaries
from ebbmem.changes import Change
from ebbmem.drafts import Draft, draft
from ebbmem.embedders.base import Embedder
from ebbmem.engine import Engine
from ebbmem.errors import InvalidArgument
from ebbmem.models import Turn
from ebbmem.records.base import LinkRow, Reader, SummaryRow, TurnRow, row_id
from ebbmem.records.identity import id_text
from ebbmem.remembering import NEXT_TURN, NEXT_TURN_WEIGHT, vectors_of, write

TURN = "turn"
_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class BufferLimits:
    """How much of a run stays word for word.

    Parameters
    ----------
    max_messages : int
        Messages the buffer holds at most: 10 are five pairs of user and assistant.
    keep_messages : int
        The newest messages that stay when it overflows: 4 are two pairs.
    """

    max_messages: int = 10
    keep_messages: int = 4

    def __post_init__(self) -> None:
        arguments.count(self.max_messages, "max_messages")
        if arguments.count(self.keep_messages, "keep_messages", 0) > self.max_messages:
            raise InvalidArgument.of(
                "keep_messages", "an integer from 0 to max_messages", self.keep_messages
            )


@dataclass(frozen=True, slots=True)
class Message:
    """A turn about to be kept, and the memory made of it (None for none)."""

    run_id: str
    role: str
    content: str
    created_us: int
    memory: Draft | None


def add_turns(
    engine: Engine,
    scope: str,
    embedder: Embedder,
    messages: Sequence[Message],
    limits: BufferLimits,
) -> list[Turn]:
    """Keep turns in order, in one transaction, and fold what overflows into the summary."""
    if not messages:
        return []
    texts = [m.memory.summary for m in messages if m.memory is not None]
    vectors = vectors_of(embedder, texts)

    def work(change: Change) -> list[Turn]:
        if texts:
            engine.bind_embedder(change.writer, embedder)
        kept = write_turns(engine, change, embedder, messages, vectors, limits)
        ids = change.writer.ids([row.memory for row in kept if row.memory is not None])
        by_row = {row: id_text(value) for row, value in ids.items()}
        return [reading.turn(row, by_row) for row in kept]

    return engine.commit(scope, messages[-1].created_us, work)


def write_turns(
    engine: Engine,
    change: Change,
    embedder: Embedder,
    messages: Sequence[Message],
    vectors: NDArray[np.float32] | None,
    limits: BufferLimits,
) -> list[TurnRow]:
    """Write turns within a transaction that is already open.

    ``vectors`` has one row for each message that becomes a memory; None where none are stored.
    """
    made = iter(_memories(engine, change, embedder, messages, vectors))
    rows = [
        TurnRow(0, m.run_id, m.role, m.content, m.created_us, next(made) if m.memory else None)
        for m in messages
    ]
    scope = change.scope
    kept = change.writer.insert_turns(scope.scope_id, rows)
    digests = [engine.digest(scope.name, m.content) for m in messages]
    change.writer.lift_erased(scope.scope_id, digests)
    newest_us = {m.run_id: m.created_us for m in messages}
    for run_id, at_us in newest_us.items():
        _overflow(change, run_id, limits, at_us)
    return kept


def message_of(
    role: str,
    content: str,
    *,
    name: str | None,
    run_id: str,
    now_us: int,
    index: bool,
    id: str | None = None,
) -> Message:
    """Check a turn and return it with the memory made of it.

    An ``id``, unique within the run, makes the memory's key and stands in its metadata.
    """
    said = arguments.text(content, "content")
    checked_role = arguments.name(role, "role")
    speaker = None if name is None else arguments.name(name, "name")
    memory: Draft | None = None
    if index:
        memory = draft(
            said if speaker is None else f"{speaker}: {said}",
            now_us=now_us,
            memory_type=TURN,
            verified=False,
            key=None if id is None else key_of(run_id, id),
            metadata=None if id is None else {"id": id},
            source=checked_role,
            run_id=run_id,
        )
    return Message(run_id, checked_role, said, now_us, memory)


def key_of(run_id: str, id: str) -> str:
    """Return the key of the memory made of a turn that has an id."""
    return f"{run_id}/{id}"


def write_memory(
    engine: Engine,
    change: Change,
    embedder: Embedder,
    said: tuple[TurnRow, Draft],
    vector: NDArray[np.float32] | None,
) -> None:
    """Make a memory of a turn that has none, linked to those of the turns beside it.

    ``vector`` is its row; None where none are stored.
    """
    turn, one = said
    scope_id = change.scope.scope_id
    before = change.writer.last_turn(scope_id, turn.run_id, turn.row_id)
    one = one._replace(now_us=turn.created_at, after=None if before is None else before.memory)
    (made,) = write(engine, change, embedder, [one], vector)
    row = row_id(scope_id, made.number)
    change.writer.give_memory(turn, row)
    for after in change.writer.turns(scope_id, turn.run_id, turn.row_id, 1):
        if after.memory is not None:
            link = LinkRow(row, after.memory, NEXT_TURN, NEXT_TURN_WEIGHT, turn.created_at)
            change.writer.insert_links(scope_id, [link])
            change.links.append(link)


def window(reader: Reader, scope_id: int, run_id: str) -> tuple[str, list[TurnRow]]:
    """Return the summary of a run and the turns that are not folded into it, oldest first."""
    summary = reader.summary(scope_id, run_id)
    if summary is None:
        return "", reader.turns(scope_id, run_id, 0, _ALL)
    return summary.text, reader.turns(scope_id, run_id, summary.through, _ALL)


def refold(change: Change, run_id: str, now_us: int) -> None:
    """Make the summary of a run anew, from the turns that are left of those folded into it."""
    scope_id = change.scope.scope_id
    summary = change.writer.summary(scope_id, run_id)
    if summary is None:
        return
    turns = change.writer.turns(scope_id, run_id, 0, _ALL)
    old = [turn for turn in turns if turn.row_id <= summary.through]
    text = summaries.folded("", old)
    if not old:
        change.writer.erase_summary(scope_id, run_id)
    elif text != summary.text:
        change.writer.put_summary(scope_id, summary._replace(text=text, updated_at=now_us))


def _memories(
    engine: Engine,
    change: Change,
    embedder: Embedder,
    messages: Sequence[Message],
    vectors: NDArray[np.float32] | None,
) -> list[int]:
    """Make a memory of each turn that wants one, linked to the turn before; return row ids."""
    scope_id = change.scope.scope_id
    previous: dict[str, int | None] = {}
    rows: list[int] = []
    for message in messages:
        if message.memory is None:
            continue
        run = message.run_id
        if run not in previous:
            last = change.writer.last_turn(scope_id, run)
            previous[run] = None if last is None else last.memory
        one = message.memory._replace(after=previous[run])
        vector = None if vectors is None else vectors[len(rows) : len(rows) + 1]
        (made,) = write(engine, change, embedder, [one], vector)
        previous[run] = row_id(scope_id, made.number)
        rows.append(row_id(scope_id, made.number))
    return rows


def _overflow(change: Change, run_id: str, limits: BufferLimits, now_us: int) -> None:
    """Fold the oldest turns into the summary when there are too many; their rows stay."""
    scope_id = change.scope.scope_id
    text, turns = window(change.writer, scope_id, run_id)
    if len(turns) <= limits.max_messages:
        return
    old = turns[: len(turns) - limits.keep_messages]
    row = SummaryRow(run_id, summaries.folded(text, old), old[-1].row_id, now_us)
    change.writer.put_summary(scope_id, row)
