"""Memory of one agent: the newest turns word for word, and long-term memory beneath."""

from __future__ import annotations

import os

from ebbmem import arguments, buffer, reading
from ebbmem.buffer import BufferLimits
from ebbmem.clock import Clock, Moment
from ebbmem.conflicts import ConflictRule
from ebbmem.database import Database
from ebbmem.drafts import Extractor
from ebbmem.embedders.base import Embedder
from ebbmem.errors import InvalidType
from ebbmem.languages import KEPT, require_language
from ebbmem.models import Turn
from ebbmem.recipes import DEFAULT, Recipe
from ebbmem.records.identity import id_text
from ebbmem.store import EpisodicMemoryStore


class AgenticMemory(EpisodicMemoryStore):
    """Long-term memory with a short-term buffer of turns in front of it.

    Parameters
    ----------
    store : str or os.PathLike or Database
        The store's file (opened here and closed with this handle), or an open store.
    embedder, scope, user_id, agent_id, recipe, conflicts, extract
        As for `EpisodicMemoryStore`.
    run_id : str
        The conversation that `add_turn` adds to unless told otherwise.
    limits : BufferLimits
        How much of a run stays word for word.
    index_turns : bool
        Whether each turn is also a memory of type ``"turn"``, marked unverified.
    language : str or None
        As for `Database`; an open store has to be of it.
    clock : Clock, optional
        Of a store that is opened here.
    """

    def __init__(
        self,
        store: str | os.PathLike[str] | Database,
        *,
        embedder: Embedder | None = None,
        scope: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        recipe: Recipe = DEFAULT,
        run_id: str = "default",
        limits: BufferLimits | None = None,
        index_turns: bool = True,
        conflicts: ConflictRule | None = None,
        extract: Extractor | None = None,
        language: str | None = KEPT,
        clock: Clock | None = None,
    ) -> None:
        self._run_id = arguments.name(run_id, "run_id")
        self._limits = BufferLimits() if limits is None else limits
        if not isinstance(self._limits, BufferLimits):
            raise InvalidType.of("limits", "BufferLimits or None", limits)
        self._index_turns = arguments.flag(index_turns, "index_turns")
        if isinstance(store, Database):
            require_language(store.path, store.language, language)
            opened, self._owned = store, None
        else:
            opened = self._owned = Database(store, language=language, clock=clock)
        try:
            super().__init__(
                opened,
                embedder=embedder,
                scope=scope,
                user_id=user_id,
                agent_id=agent_id,
                recipe=recipe,
                conflicts=conflicts,
                extract=extract,
            )
        except BaseException:
            if self._owned is not None:
                self._owned.close()
            raise

    @property
    def database(self) -> Database:
        """Return the store."""
        return self._db

    def add_turn(
        self,
        role: str,
        content: str,
        *,
        name: str | None = None,
        run_id: str | None = None,
        now: Moment | None = None,
    ) -> Turn:
        """Keep one message of a conversation.

        Parameters
        ----------
        role : str
            ``"user"``, ``"assistant"``, ...
        content : str
            The message.
        name : str, optional
            Who speaks; stands before the text of the memory made of the turn.
        run_id : str, optional
            The conversation, by default the handle's.
        now : datetime or int or float, optional
            When it was said; by default the clock's moment.

        Notes
        -----
        Neither ``extract`` nor ``conflicts`` is asked about turns: they are kept as they were said,
        and at once; `remember` what follows from them.

        Adjacent turns of a run are linked.  When the buffer overflows, its oldest turns are
        folded into the summary of the run; their rows, and the memories made of them, stay.
        """
        run = self._run_id if run_id is None else arguments.name(run_id, "run_id")
        message = buffer.message_of(
            role, content, name=name, run_id=run, now_us=self._now(now), index=self._index_turns
        )
        return buffer.add_turns(self._engine, self._scope, self._embedder, [message], self._limits)[
            0
        ]

    def turns(self, *, run_id: str | None = None) -> list[Turn]:
        """Return the turns of a run that are still in the buffer, oldest first."""
        run = self._run_id if run_id is None else arguments.name(run_id, "run_id")
        with self._engine.records.read() as reader:
            found = reader.scope(self._scope)
            rows = [] if found is None else buffer.window(reader, found.scope_id, run)[1]
            ids = reader.ids([row.memory for row in rows if row.memory is not None])
        texts = {row: id_text(value) for row, value in ids.items()}
        return [reading.turn(row, texts) for row in rows]

    def summary(self, *, run_id: str | None = None) -> str:
        """Return the summary of a run's older turns; empty while none has left the buffer."""
        run = self._run_id if run_id is None else arguments.name(run_id, "run_id")
        with self._engine.records.read() as reader:
            found = reader.scope(self._scope)
            return "" if found is None else buffer.window(reader, found.scope_id, run)[0]

    def close(self) -> None:
        """Close the handle, and the store where it was opened here.  Idempotent."""
        super().close()
        if self._owned is not None:
            self._owned.close()
