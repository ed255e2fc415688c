"""Lines that an export wrote: memories with their strengths, links, intentions, turns."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, cast

from ebbmem.changes import Change
from ebbmem.intake import Correction, Intake, Item, OnConflict, Outcome, Verdict
from ebbmem.lines import IntentionLine, LinkLine, MemoryLine, RunSummaryLine, TurnLine
from ebbmem.prospective import intention_text
from ebbmem.records.base import (
    HAS,
    NUMBER_BITS,
    WANTS,
    IntentionRow,
    LinkRow,
    MemoryRow,
    Reader,
    SummaryRow,
    TurnRow,
)
from ebbmem.records.identity import new_id, parse_id
from ebbmem.remembering import new_row
from ebbmem.telling import Vectors, erased

_THERE: Final = "id: expected one that is not there yet, nor a key of one"


def take_memories(
    intake: Intake, change: Change, items: Sequence[Item], vectors: Vectors
) -> list[Verdict]:
    """Restore memories as they were; what is there already stays as it is, whatever comes."""
    verdicts: list[Verdict] = []
    met: set[bytes] = set()
    for at, item in enumerate(items):
        line = cast("MemoryLine", item.line)
        memory_id = _memory_id(change, line.id)
        verdict = _met(intake, change, line, memory_id)
        if verdict is Outcome.IMPORTED and memory_id in met:
            verdict = Outcome.EXISTING
        elif verdict is Outcome.EXISTING and intake.on_conflict is OnConflict.ERROR:
            verdict = _THERE
        elif verdict is Outcome.EXISTING and intake.on_conflict is OnConflict.NEW:
            memory_id = new_id(line.draft.now_us)
            line = replace(line, draft=line.draft._replace(key=None))
            verdict = _guarded(intake, change, line)
        if verdict is Outcome.IMPORTED:
            met.add(memory_id)
            vector = None if vectors is None else vectors[at].tobytes()
            row = _restore(intake, change, line, memory_id, vector)
            if (change.scope.name, line.id) in intake.aliases:
                intake.aliases[change.scope.name, line.id] = row
        if line.superseded_by is not None and verdict in (Outcome.IMPORTED, Outcome.EXISTING):
            intake.corrections.append(Correction(item.number, change.scope.name, line))
        verdicts.append(verdict)
    change.rebuild = True
    return verdicts


def take_links(
    intake: Intake,
    change: Change,
    items: Sequence[Item],
    vectors: Vectors,  # noqa: ARG001
) -> list[Verdict]:
    """Restore links; one that is there keeps the greater weight."""
    verdicts: list[Verdict] = []
    for item in items:
        line = cast("LinkLine", item.line)
        ends = [_row(intake, change, end) for end in (line.source, line.target)]
        if any((change.scope.name, end) in intake.gone for end in (line.source, line.target)):
            verdicts.append(Outcome.ERASED)
        elif ends[0] is None or ends[1] is None or ends[0] == ends[1]:
            verdicts.append("link: expected two memories of this scope")
        else:
            made = LinkRow(ends[0], ends[1], line.kind, line.weight, line.created_us)
            verdicts.append(_put_link(change, made))
    change.rebuild = True
    return verdicts


def take_intentions(
    intake: Intake,
    change: Change,
    items: Sequence[Item],
    vectors: Vectors,  # noqa: ARG001
) -> list[Verdict]:
    """Restore intentions, completed ones as completed."""
    verdicts: list[Verdict] = []
    scope_id = change.scope.scope_id
    for item in items:
        line = cast("IntentionLine", item.line)
        intention_id = parse_id(line.id)
        owner = change.writer.intention_scope(intention_id)
        if owner not in (None, scope_id):
            intention_id = _local(change, intention_id)
            owner = change.writer.intention_scope(intention_id)
        if owner is not None and intake.on_conflict is OnConflict.ERROR:
            verdicts.append(_THERE)
            continue
        if owner is not None and intake.on_conflict is OnConflict.NEW:
            intention_id, owner = new_id(line.created_us), None
        told = intention_text(line.action, line.trigger)
        if owner is None and erased(intake, change, told):
            verdicts.append(Outcome.ERASED)
            continue
        if owner is None:
            row = IntentionRow(
                intention_id,
                scope_id,
                line.action,
                line.trigger,
                line.due_us,
                line.created_us,
                line.expires_us,
                line.completed_us,
            )
            change.writer.insert_intention(row)
        verdicts.append(Outcome.IMPORTED if owner is None else Outcome.EXISTING)
    return verdicts


def take_turns(
    intake: Intake,
    change: Change,
    items: Sequence[Item],
    vectors: Vectors,  # noqa: ARG001
) -> list[Verdict]:
    """Restore turns, in order, each with the memory that was made of it."""
    scope = change.scope.name
    verdicts: list[Verdict] = []
    rows = []
    for item in items:
        line = cast("TurnLine", item.line)
        memory = None if line.memory_id is None else _row(intake, change, line.memory_id)
        verdict: Verdict = Outcome.IMPORTED
        if item.known is not None:
            verdict = Outcome.EXISTING
        elif (scope, line.memory_id) in intake.gone or erased(intake, change, line.content):
            intake.gone_runs.add((scope, line.run_id))
            verdict = Outcome.ERASED
        elif line.memory_id is not None and memory is None:
            verdict = "memory_id: expected a memory of this scope"
        else:
            rows.append(TurnRow(0, line.run_id, line.role, line.content, line.created_us, memory))
        verdicts.append(verdict)
    change.writer.insert_turns(change.scope.scope_id, rows)
    return verdicts


def take_run_summaries(
    intake: Intake,
    change: Change,
    items: Sequence[Item],
    vectors: Vectors,  # noqa: ARG001
) -> list[Verdict]:
    """Restore the summaries of runs that have none; after an erasure they may tell too much."""
    verdicts: list[Verdict] = []
    for item in items:
        line = cast("RunSummaryLine", item.line)
        run = (change.scope.name, line.run_id)
        count = intake.folded[run]
        turns = change.writer.turns(change.scope.scope_id, line.run_id, 0, count)
        if change.writer.summary(change.scope.scope_id, line.run_id) is not None:
            verdicts.append(Outcome.EXISTING)
        elif run in intake.gone_runs or erased(intake, change, line.text):
            verdicts.append(Outcome.ERASED)
        elif not turns or len(turns) < count:
            verdicts.append("run_summary: expected the turns it stands for before it")
        else:
            row = SummaryRow(line.run_id, line.text, turns[-1].row_id, line.updated_us)
            change.writer.put_summary(change.scope.scope_id, row)
            verdicts.append(Outcome.IMPORTED)
    return verdicts


def supersede(intake: Intake, change: Change, one: Correction) -> str | None:
    """Mark a memory as superseded; return why it cannot be, or None."""
    line, writer = one.line, change.writer
    old = _row(intake, change, line.id)
    new = None if line.superseded_by is None else _row(intake, change, line.superseded_by)
    if (change.scope.name, line.superseded_by) in intake.gone or old is None:
        return None
    if new is None:
        return "superseded_by: expected a memory of this scope"
    if writer.memories([old])[old].superseded_by is not None:
        return None
    if old in _chain(writer, new):
        return "superseded_by: expected no circle of corrections"
    at_us = intake.now_us if line.superseded_us is None else line.superseded_us
    writer.update_state(change.scope.scope_id, old, superseded_by=new, superseded_at=at_us)
    change.rebuild = True
    return None


def _met(intake: Intake, change: Change, line: MemoryLine, memory_id: bytes) -> Verdict:
    """Return what becomes of an exported memory."""
    name = (change.scope.name, line.id)
    row = change.writer.find(memory_id)
    if row is not None:
        intake.aliases[name] = row
        return Outcome.EXISTING
    if line.draft.key is not None:
        row = change.writer.find_key(change.scope.scope_id, line.draft.key)
        if row is not None:
            intake.aliases[name] = row
            return Outcome.EXISTING
    return _guarded(intake, change, line)


def _guarded(intake: Intake, change: Change, line: MemoryLine) -> Verdict:
    """Return that a memory can be imported, unless its text was erased here."""
    name = (change.scope.name, line.id)
    if erased(intake, change, line.draft.summary):
        intake.gone.add(name)
        if line.draft.run_id is not None:
            intake.gone_runs.add((change.scope.name, line.draft.run_id))
        return Outcome.ERASED
    return Outcome.IMPORTED


def _restore(
    intake: Intake, change: Change, line: MemoryLine, memory_id: bytes, vector: bytes | None
) -> int:
    """Insert one memory as it was and return its row; its links have lines of their own."""
    writer, scope_id = change.writer, change.scope.scope_id
    (row,) = writer.insert_memories(scope_id, [_memory_row(intake, change, line, memory_id)])
    entries = [(keyword, HAS, row.row_id) for keyword in line.draft.keywords]
    entries += [(keyword, WANTS, row.row_id) for keyword in line.draft.related_to]
    if entries:
        writer.insert_keywords(scope_id, entries)
    if vector is not None:
        intake.engine.bind_embedder(writer, intake.embedder)
        writer.insert_vectors([(row.row_id, vector)])
    writer.insert_event(scope_id, "imported", intake.now_us, row.row_id)
    return row.row_id


def _memory_row(intake: Intake, change: Change, line: MemoryLine, memory_id: bytes) -> MemoryRow:
    """Return the row of an exported memory."""
    digest = intake.engine.digest(change.scope.name, line.draft.summary)
    return new_row(line.draft, digest)._replace(
        id=memory_id,
        storage_strength=line.storage_strength,
        r_anchor=line.retrievability,
        anchored_at=line.anchored_us,
        access_count=line.access_count,
        recorded_at=line.recorded_us,
        tier=int(line.tier),
    )


def _put_link(change: Change, link: LinkRow) -> Verdict:
    """Insert a link unless it is there as it is."""
    there = any(
        (one.target, one.kind) == (link.target, link.kind) and one.weight >= link.weight
        for one in change.writer.links_from(link.source)
    )
    if there:
        return Outcome.EXISTING
    change.writer.insert_links(change.scope.scope_id, [link])
    return Outcome.IMPORTED


def _row(intake: Intake, change: Change, memory_id: str) -> int | None:
    """Return the row that stands for a memory of the file."""
    row = intake.aliases.get((change.scope.name, memory_id))
    if row is not None and row in change.writer.ids([row]):
        return row
    return change.writer.find(_memory_id(change, memory_id))


def _memory_id(change: Change, memory_id: str) -> bytes:
    """Return the id that a memory of the file has in this scope.

    It is the same one, unless another scope of the store has it: an id names one memory.
    """
    own = parse_id(memory_id)
    row = change.writer.find(own)
    if row is None or row >> NUMBER_BITS == change.scope.scope_id:
        return own
    return _local(change, own)


def _local(change: Change, other: bytes) -> bytes:
    """Return the id that stands in this scope for one of another: always the same."""
    hashed = hashlib.sha256(change.scope.name.encode() + b"\0" + other).digest()
    # The moment and version stay, the random part is new.
    return other[:8] + bytes([0x80 | hashed[0] & 0x3F]) + hashed[1:8]


def _chain(reader: Reader, row: int) -> list[int]:
    """Return a memory and what superseded it, step by step."""
    chain = [row]
    while (successor := reader.memories(chain[-1:])[chain[-1]].superseded_by) is not None:
        chain.append(successor)
    return chain
