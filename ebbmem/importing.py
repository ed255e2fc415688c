"""Taking lines into a store: in batches, each a transaction; a bad line costs only itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from ebbmem import restoring, telling
from ebbmem.buffer import BufferLimits
from ebbmem.changes import Change
from ebbmem.embedders.base import Embedder
from ebbmem.engine import Engine
from ebbmem.errors import EbbmemError, InvalidArgument, InvalidType
from ebbmem.intake import Intake, Item, OnConflict, Outcome, Verdict
from ebbmem.lines import (
    HEADER,
    VERSION,
    ChatLine,
    Header,
    IntentionLine,
    Line,
    LinkLine,
    MemoryLine,
    RunSummaryLine,
    ToldLine,
    TurnLine,
)
from ebbmem.parsing import parsed
from ebbmem.records.base import TurnRow
from ebbmem.remembering import vectors_of
from ebbmem.reports import BadLine, ImportReport
from ebbmem.telling import Vectors

BATCH: Final = 500
DEFAULT_SCOPE: Final = "default"

_TAKE: Final[
    dict[type[Line], Callable[[Intake, Change, Sequence[Item], Vectors], list[Verdict]]]
] = {
    ChatLine: telling.take_messages,
    ToldLine: telling.take_told,
    MemoryLine: restoring.take_memories,
    LinkLine: restoring.take_links,
    IntentionLine: restoring.take_intentions,
    TurnLine: restoring.take_turns,
    RunSummaryLine: restoring.take_run_summaries,
}


@dataclass(frozen=True, slots=True)
class Options:
    """How to import.

    ``scope`` is where everything goes; None for the scope that each line names, or
    ``"default"``.  ``as_memories`` makes chat messages memories as well as turns.  ``now_us`` is
    the moment of what names none.
    """

    scope: str | None
    as_memories: bool
    now_us: int
    on_conflict: OnConflict = OnConflict.SKIP


def imported(
    engine: Engine,
    embedder: Embedder,
    lines: Iterable[str | bytes],
    options: Options,
) -> ImportReport:
    """Take lines into a store, in order.

    Parameters
    ----------
    engine : Engine
        The store.
    embedder : Embedder
        Makes the vectors that are stored.
    lines : iterable of str or bytes
        JSON, one object each; blank lines are passed over.
    options : Options
        Where to, and as what.

    Raises
    ------
    InvalidArgument
        If the lines are an export of a later version than this one reads.
    """
    how = (options.as_memories, BufferLimits(), options.now_us, options.on_conflict)
    intake = Intake(engine, embedder, *how)
    course = _Course(intake, options.scope)
    if not isinstance(lines, Iterable):
        raise InvalidType.of("source", "a file or lines", lines)
    for number, raw in enumerate(lines, 1):
        if not isinstance(raw, (str, bytes)):
            raise InvalidType.of("source", "lines of str or bytes", raw)
        if raw.strip():
            course.take(number, raw)
    return course.report()


def on_conflict_of(name: object) -> OnConflict:
    """Return what a name of a way to treat conflicts stands for."""
    names = {one.value: one for one in OnConflict}
    found = names.get(name) if isinstance(name, str) else None
    if found is None:
        raise InvalidArgument.of("on_conflict", f"one of {', '.join(names)}", name)
    return found


class _Course:
    """An import on its way: the batch that waits, and what became of the lines before it."""

    def __init__(self, intake: Intake, scope: str | None) -> None:
        self._intake = intake
        self._scope = scope
        self._batch: list[Item] = []
        self._batch_key: tuple[type[Line], str] | None = None
        self._lines = 0
        self._outcomes: Counter[Outcome] = Counter()
        self._made: Counter[type[Line]] = Counter()
        self._bad: list[BadLine] = []

    def take(self, number: int, raw: str | bytes) -> None:
        """Take one line."""
        self._lines += 1
        try:
            line = parsed(raw, self._intake.now_us)
        except EbbmemError as error:
            self._bad.append(BadLine(number, str(error)))
            return
        if isinstance(line, Header):
            self._lines -= 1
            _require_readable(line)
            return
        key = (_together(line), self._scope or line.scope or DEFAULT_SCOPE)
        if key != self._batch_key or len(self._batch) == BATCH:
            self._flush()
            self._batch_key = key
        self._batch.append(Item(number, line, self._known(key[1], line)))

    def report(self) -> ImportReport:
        """Take what waits, and tell what the import did."""
        self._flush()
        self._supersede()
        chats = self._made[ChatLine]
        return ImportReport(
            lines=self._lines,
            imported=self._outcomes[Outcome.IMPORTED] + self._outcomes[Outcome.ADDED],
            existing=self._outcomes[Outcome.EXISTING],
            erased=self._outcomes[Outcome.ERASED],
            bad=tuple(sorted(self._bad, key=lambda line: line.number)),
            memories=self._made[ToldLine]
            + self._made[MemoryLine]
            + (chats if self._intake.as_memories else 0)
            + self._outcomes[Outcome.ADDED],
            turns=chats + self._made[TurnLine],
            links=self._made[LinkLine],
            intentions=self._made[IntentionLine],
        )

    def _known(self, scope: str, line: Line) -> TurnRow | None:
        """Return the turn that a line is where it was there before the import."""
        if isinstance(line, TurnLine):
            run = line.run_id
        elif isinstance(line, ChatLine) and self._can_meet(scope, line):
            run = telling.run_of(line)
        else:
            return None
        return self._intake.meets(scope, run, (line.role, line.content, line.created_us))

    def _can_meet(self, scope: str, line: ChatLine) -> bool:
        """Return whether a message says which turn it is, by its moment or else by its id."""
        if line.created_us is not None:
            return True
        # No turn keeps an id; so one that says the same, and is no memory yet, is taken for it.
        key = telling.key_of(line) if self._intake.as_memories else None
        return key is not None and not self._intake.names(scope, key)

    def _flush(self) -> None:
        """Write the batch; one line at a time where the store refuses some of it."""
        batch, self._batch = self._batch, []
        if not batch or self._batch_key is None:
            return
        _, scope = self._batch_key
        try:
            verdicts = self._written(scope, batch)
        except (InvalidArgument, InvalidType):
            verdicts = [self._alone(scope, item) for item in batch]
        for item, verdict in zip(batch, verdicts, strict=True):
            if isinstance(verdict, str):
                self._bad.append(BadLine(item.number, verdict))
                continue
            self._outcomes[verdict] += 1
            self._made[type(item.line)] += verdict is Outcome.IMPORTED

    def _written(self, scope: str, batch: Sequence[Item]) -> list[Verdict]:
        """Write lines of one scope, that belong together, in one transaction."""
        vectors = self._vectors(batch)
        verdicts: list[Verdict] = []
        try:
            with self._intake.engine.change(scope, self._intake.now_us) as change:
                for kind, alike in groupby(batch, key=lambda item: type(item.line)):
                    items = list(alike)
                    taken = _TAKE[kind](self._intake, change, items, vectors)
                    self._intake.count_folded(scope, items, taken)
                    verdicts += taken
        except BaseException:
            self._intake.forget(scope, batch, verdicts)
            raise
        return verdicts

    def _alone(self, scope: str, item: Item) -> Verdict:
        """Write one line in a transaction of its own."""
        try:
            return self._written(scope, [item])[0]
        except (InvalidArgument, InvalidType) as error:
            return str(error)

    def _vectors(self, batch: Sequence[Item]) -> Vectors:
        """Return one vector per line that becomes a memory, where vectors are stored."""
        texts = []
        for item in batch:
            if isinstance(item.line, (ToldLine, MemoryLine)):
                texts.append(item.line.draft.summary)
            elif isinstance(item.line, ChatLine) and self._intake.as_memories:
                memory = telling.message(self._intake, item.line).memory
                texts.append("" if memory is None else memory.summary)
        return vectors_of(self._intake.embedder, texts) if texts else None

    def _supersede(self) -> None:
        """Mark what other memories of the file supersede, now that all are there."""
        ordered = sorted(self._intake.corrections, key=lambda one: one.scope)
        for scope, corrections in groupby(ordered, key=lambda one: one.scope):
            with self._intake.engine.change(scope, self._intake.now_us) as change:
                for one in corrections:
                    reason = restoring.supersede(self._intake, change, one)
                    if reason is not None:
                        self._bad.append(BadLine(one.number, reason))


def _together(line: Line) -> type[Line]:
    """Return the kind of lines that a line shares transactions with.

    Turns do so with the summary that folds them: killed in between, the import would leave them in
    the buffer.  Where they are too many that may be, until it is done again.
    """
    return TurnLine if isinstance(line, RunSummaryLine) else type(line)


def _require_readable(header: Header) -> None:
    """Refuse an export of a later version."""
    if header.version > VERSION:
        raise InvalidArgument.of(HEADER, f"a version up to {VERSION}", header.version)
