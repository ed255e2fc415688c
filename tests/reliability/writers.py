"""What a process writes until it is killed, told to the one that will kill it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ebbmem import AgenticMemory, recipes
from reliability.ledger import Told
from reliability.stored import opened

SCOPES = ("team", "ann", "bob")
PENDING = 8
"""Recalls whose traces a writer that is killed may lose."""
KEYS = 25
WORDS = tuple(
    "kettle garden violin river copper lantern orchard velvet marble saddle".split()  # noqa: SIM905
)


class Recalls(NamedTuple):
    """How often a writer's recall of its own probe has returned it."""

    scope: str
    probe: str
    returned: int


class Writer:
    """Writes in an order that its name gives.

    Before a call it sends (name, number of the call, Told), and the same with ids once the call
    has returned; after a recall of its probe (name, 0, Recalls).
    """

    def __init__(self, path: Path, name: str, pipe: Connection, **options: Any) -> None:
        self._name = name
        self._pipe = pipe
        self._random = random.Random(name)
        self._calls = 0
        self._texts = 0
        self._db = opened(path, pending_recalls=PENDING, **options)
        self._handles = {s: AgenticMemory(self._db, scope=s, run_id=name) for s in SCOPES}
        self._own: list[tuple[str, str, str]] = []
        """(scope, text, id) of what may be corrected or erased."""

    def write_for_ever(self) -> NoReturn:
        """Write until the process is killed."""
        scope, probe = self._random.choice(SCOPES), self._text()
        self._tell(Told("remember", scope, (probe,)), lambda h: [h.remember(probe).id])
        recalls = 0
        actions = (self.remember, self.batch, self.turn, self.keyed, self.correct, self.erase)
        while True:
            self._random.choice(actions)()
            # This recipe strengthens at every recall, and ranks by nothing but hashes of words: a
            # newer text with the same ones is before the probe.
            found = self._handles[scope].recall(probe, top_k=1, recipe=recipes.SIMILARITY)
            recalls += [hit.summary for hit in found] == [probe]
            self._pipe.send((self._name, 0, Recalls(scope, probe, recalls)))

    def close(self) -> None:
        """Close the store."""
        self._db.close()

    def remember(self) -> None:
        """Remember one thing, with keywords that others have too."""
        scope, text = self._random.choice(SCOPES), self._text()
        keywords = tuple(self._random.sample(WORDS, 2))
        told = Told("remember", scope, (text,), keywords)
        (made,) = self._tell(told, lambda h: [h.remember(text, keywords=keywords).id])
        self._own.append((scope, text, made))

    def batch(self) -> None:
        """Remember several things that a keyword links."""
        texts = tuple(self._text() for _ in range(self._random.randint(2, 8)))
        keyword = f"k{texts[0].split()[0]}"
        drafts = [{"summary": text, "keywords": [keyword]} for text in texts]
        self._tell(
            Told("batch", self._random.choice(SCOPES), texts, (keyword,)),
            lambda h: [one.id for one in h.remember_many(drafts)],
        )

    def turn(self) -> None:
        """Say something."""
        text = self._text()
        self._tell(
            Told("turn", self._random.choice(SCOPES), (text,)),
            lambda h: [h.add_turn("user", text).memory_id],
        )

    def keyed(self) -> None:
        """Remember something under a key that others use too."""
        text, key = self._text(), f"key{self._random.randrange(KEYS)}"
        self._tell(
            Told("keyed", self._random.choice(SCOPES), (text,), key=key),
            lambda h: [h.remember(text, key=key).id],
        )

    def correct(self) -> None:
        """Correct the oldest of its own memories."""
        if self._own:
            scope, old, memory_id = self._own.pop(0)
            text = self._text()
            told = Told("correct", scope, (text,), target=old)
            self._tell(told, lambda h: [h.correct(memory_id, text).id])

    def erase(self) -> None:
        """Erase the newest of its own memories."""
        if self._own:
            scope, text, memory_id = self._own.pop()
            self._tell(Told("erase", scope, (), target=text), lambda h: [str(h.erase(memory_id))])

    def _text(self) -> str:
        """Return a text that nobody else writes."""
        self._texts += 1
        return " ".join([f"{self._name}x{self._texts}", *self._random.sample(WORDS, 3)])

    def _tell(self, told: Told, call: Callable[[AgenticMemory], list[str]]) -> list[str]:
        """Say what is about to be done, do it, and say that it was done."""
        self._calls += 1
        self._pipe.send((self._name, self._calls, told))
        ids = call(self._handles[told.scope])
        self._pipe.send((self._name, self._calls, replace(told, ids=tuple(ids))))
        return ids
