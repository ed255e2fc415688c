"""Lines that other programs wrote: chat messages, and memories as ``remember`` takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ebbmem import buffer
from ebbmem.changes import Change
from ebbmem.drafts import Draft
from ebbmem.intake import Intake, Item, Outcome, Verdict
from ebbmem.lines import ChatLine, ToldLine
from ebbmem.records.base import Reader, TurnRow
from ebbmem.remembering import write

DEFAULT_RUN = "default"

Vectors = NDArray[np.float32] | None
"""One row per line of a batch; None where no vectors are stored."""


def message(intake: Intake, line: ChatLine) -> buffer.Message:
    """Return a chat message as the buffer takes it."""
    return buffer.message_of(
        line.role,
        line.content,
        name=line.name,
        run_id=run_of(line),
        now_us=intake.now_us if line.created_us is None else line.created_us,
        index=intake.as_memories,
        id=line.id,
    )


def run_of(line: ChatLine) -> str:
    """Return the run that a chat message belongs to."""
    return line.run_id or DEFAULT_RUN


def key_of(line: ChatLine) -> str | None:
    """Return the key of the memory made of a chat message; None for one without an id."""
    return None if line.id is None else buffer.key_of(run_of(line), line.id)


def take_messages(
    intake: Intake, change: Change, items: Sequence[Item], vectors: Vectors
) -> list[Verdict]:
    """Keep chat messages as turns, and as memories where that is wanted."""
    lines = [cast("ChatLine", item.line) for item in items]
    messages = [message(intake, line) for line in lines]
    met: dict[str, str] = {}
    verdicts: list[Verdict] = []
    for at, (item, line, one) in enumerate(zip(items, lines, messages, strict=True)):
        if item.known is not None:
            own = None if vectors is None else vectors[at : at + 1]
            verdicts.append(_added(intake, change, (line, item.known, one.memory), own, met))
        elif _erased(intake, change, line):
            verdicts.append(Outcome.ERASED)
        else:
            verdicts.append(_judged(change, one.memory, met))
    new = [at for at, verdict in enumerate(verdicts) if verdict is Outcome.IMPORTED]
    kept = None if vectors is None else vectors[new]
    chosen = [messages[at] for at in new]
    buffer.write_turns(intake.engine, change, intake.embedder, chosen, kept, intake.limits)
    return verdicts


def _added(
    intake: Intake,
    change: Change,
    said: tuple[ChatLine, TurnRow, Draft | None],
    vector: Vectors,
    met: dict[str, str],
) -> Verdict:
    """Make a memory of a turn that was there already, where that is wanted and it has none."""
    line, turn, memory = said
    now = change.writer.turns(change.scope.scope_id, turn.run_id, turn.row_id - 1, 1)
    if memory is None or turn not in now or turn.memory is not None:
        return Outcome.EXISTING
    if _erased(intake, change, line):
        return Outcome.ERASED
    verdict = _judged(change, memory, met)
    if verdict is not Outcome.IMPORTED:
        return verdict
    buffer.write_memory(intake.engine, change, intake.embedder, (turn, memory), vector)
    return Outcome.ADDED


def take_told(
    intake: Intake, change: Change, items: Sequence[Item], vectors: Vectors
) -> list[Verdict]:
    """Remember what lines tell, except what was erased."""
    verdicts: list[Verdict] = []
    met: dict[str, str] = {}
    for at, item in enumerate(items):
        one = cast("ToldLine", item.line).draft
        if erased(intake, change, one.summary):
            verdicts.append(Outcome.ERASED)
            continue
        verdict = _judged(change, one, met)
        if verdict is Outcome.IMPORTED:
            vector = None if vectors is None else vectors[at : at + 1]
            (made,) = write(intake.engine, change, intake.embedder, [one], vector)
            verdict = Outcome.IMPORTED if made.created else Outcome.EXISTING
        verdicts.append(verdict)
    return verdicts


def erased(intake: Intake, change: Change, text: str) -> bool:
    """Return whether a text was erased from the scope."""
    digest = intake.engine.digest(change.scope.name, text)
    return change.writer.erased(change.scope.scope_id, digest)


def text_of_key(reader: Reader, scope_id: int, key: str) -> str | None:
    """Return the text of the memory that has a key."""
    row = reader.find_key(scope_id, key)
    return None if row is None else reader.memories([row])[row].summary


def _erased(intake: Intake, change: Change, line: ChatLine) -> bool:
    """Return whether a message was erased, with or without the name of who said it."""
    named = line.content if line.name is None else f"{line.name}: {line.content}"
    return any(erased(intake, change, text) for text in {line.content, named})


def _judged(change: Change, one: Draft | None, met: dict[str, str]) -> Verdict:
    """Return what becomes of a memory by its key; ``met`` has the texts of keys in this batch."""
    if one is None or one.key is None:
        return Outcome.IMPORTED
    text = text_of_key(change.writer, change.scope.scope_id, one.key)
    if text is None:
        text = met.get(one.key)
    if text is None:
        met[one.key] = one.summary
        return Outcome.IMPORTED
    if text != one.summary:
        return f"key: {one.key!r} names another text already"
    return Outcome.EXISTING
