"""R17: nothing of one scope in an answer to another; nothing that was erased in any file.

Every scope holds memories with secrets in all of their fields, and probes that anybody may ask
for.  Calls in one scope ask for the probes, ids, keys and runs of the others: no answer, error or
export may hold a secret of another scope.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ebbmem import AgenticMemory, Database, Fleet, recipes
from ebbmem.errors import EbbmemError
from reliability.processes import STARTS_S, Worker, answer_of, folder
from reliability.results import Course, Result
from reliability.stored import opened, told

NAMES = (
    "a",
    "ab",
    "A",
    "a%",
    "a_",
    "a*",
    "a?",
    "a ",
    " a",
    "\u0430",  # Cyrillic
    "\uff41",  # full width
    "a\u200b",  # a zero-width space
    "\u00e1",
    "a\x00",
    "a\x00b",
    "a\nb",
    "a;agent=b",
    "a'--",
    'a"',
    "../a",
    "default",
    "x" * 5_000,
    "x" * 5_001,
)
ALIKE = "a\u0301"
"""The same name as one above, written in two code points."""
RECIPES = (recipes.DEFAULT, recipes.ASSOCIATIVE, recipes.SIMILARITY, recipes.EBBINGHAUS)
ERASURES_PER_CALL = 0.01
LEAKED, CHANGED, RAISED, BACK, LEFT = (
    "secret of another scope in an answer",
    "another scope changed",
    "errors without a type",
    "erased but recalled",
    "erased but in a file",
)


def measure(rounds: int, seed: int, seconds: float) -> Result:
    """Make so many calls, and a hundredth as many erasures."""
    result = Result.looking_for("R17", "calls", seed, LEAKED, CHANGED, RAISED, BACK, LEFT)
    started, chosen = time.monotonic(), random.Random(seed)
    with folder() as where:
        with Worker(partial(_ask, where / "scopes.db", seed, rounds, seconds / 2)) as worker:
            calls, failures = worker.receive(seconds + STARTS_S)
        result.trials += calls
        for kind, example in failures:
            result.fail(kind, example)
    erasures = 0
    for _ in Course(-(-int(rounds * ERASURES_PER_CALL) // Erasing.EACH), seconds / 2):
        with folder() as where:
            erasures += Erasing(where / "store.db", chosen, result).run()
    result.measured["erasures"] = erasures
    result.took_s = time.monotonic() - started
    return result


class Scope:
    """What one scope holds: probes to ask for, secrets that only it may tell."""

    def __init__(self, memory: AgenticMemory, number: int, chosen: random.Random) -> None:
        self.memory = memory
        self.probes = [f"probe{number}n{n}" for n in range(4)]
        self.secrets = [f"q{chosen.getrandbits(64):016x}" for _ in range(12)]
        hide = iter(self.secrets)
        self.run = f"run{number}"
        self.key, self.word = f"key{number}", f"word{number}"
        self.ids = [
            memory.remember(
                f"{probe} {next(hide)} kettle",
                detail=next(hide),
                keywords=[self.word, next(hide)] if n == 0 else [self.word],
                metadata={"secret": next(hide)} if n == 0 else None,
                source=next(hide) if n == 0 else None,
                key=self.key if n == 0 else None,
                run_id=self.run,
            ).id
            for n, probe in enumerate(self.probes[:2])
        ]
        turn = memory.add_turn("user", f"{self.probes[2]} {next(hide)} river", run_id=self.run)
        self.ids.append(str(turn.memory_id))
        self.intention = memory.remember_intention(f"{self.probes[3]} {next(hide)}").id
        self.texts = [memory.get(one).summary for one in self.ids]


class Asking:
    """Calls in one scope that ask for what belongs to another."""

    def __init__(self, db: Database, fleet: Fleet, chosen: random.Random) -> None:
        self._db, self._fleet, self._random = db, fleet, chosen
        self.scopes = [
            Scope(AgenticMemory(db, scope=name), number, chosen)
            for number, name in enumerate(NAMES)
        ]
        self._owner = {secret: scope for scope in self.scopes for secret in scope.secrets}
        self.failures: list[tuple[str, str]] = []
        self.calls = 0

    def ask(self) -> None:
        """Make one call, and look for secrets in what it answers."""
        mine, theirs = self._random.sample(self.scopes, 2)
        name, call = self._random.choice(self._calls(mine, theirs))
        self.calls += 1
        try:
            answer = call()
        except EbbmemError as exc:
            answer = exc
        except Exception as exc:  # noqa: BLE001 - counted
            self.failures.append((RAISED, f"{name}: {type(exc).__name__}: {exc}"))
            return
        told = shown(answer)
        for secret, owner in self._owner.items():
            if owner is not mine and secret in told:
                self.failures.append((LEAKED, f"{name} in {mine.memory.scope[:20]!r}"))
                return

    def _calls(self, mine: Scope, theirs: Scope) -> list[tuple[str, Callable[[], Any]]]:
        """Return a call of every verb."""
        memory, chosen = mine.memory, self._random
        probe, foreign = chosen.choice(theirs.probes), chosen.choice(theirs.ids)
        own = chosen.choice(mine.ids)
        recipe = chosen.choice(RECIPES)
        recalls: list[tuple[str, Callable[[], Any]]] = [
            ("recall", lambda: memory.recall(f"{probe} kettle", recipe=recipe, top_k=50)),
            ("recall run", lambda: memory.recall(probe, run_id=theirs.run, include_archive=True)),
            ("recall many", lambda: memory.recall_many(theirs.probes, recipe=recipe, min_score=0)),
            ("fleet recall many", lambda: self._fleet.recall_many([(memory.scope, probe)])),
        ]
        if hasattr(memory, "context"):
            recalls.append(("context", lambda: memory.context(probe)))
        readings: list[tuple[str, Callable[[], Any]]] = [
            ("get", lambda: memory.get(foreign)),
            ("neighbors", lambda: memory.neighbors(foreign)),
            ("turns", lambda: memory.turns(run_id=theirs.run)),
            ("summary", lambda: memory.summary(run_id=theirs.run)),
            ("due", memory.due),
            ("stats", memory.stats),
            ("export", lambda: list(self._db.export_lines(scopes=[memory.scope]))),
            ("metrics", self._fleet.metrics),
            ("consolidate", memory.consolidate),
        ]
        changes: list[tuple[str, Callable[[], Any]]] = [
            ("correct", lambda: memory.correct(foreign, "no more")),
            ("archive", lambda: memory.archive(foreign)),
            ("erase", lambda: memory.erase(foreign)),
            ("feedback", lambda: memory.feedback(used=[foreign], failed=[own])),
            ("link", lambda: memory.link(own, foreign)),
            ("complete", lambda: memory.complete_intention(theirs.intention)),
            ("key", lambda: self._own_id(memory.remember("mine", key=theirs.key), theirs)),
            ("dedupe", lambda: self._own_id(memory.remember("all know", dedupe=True), theirs)),
            ("related", lambda: memory.remember("x", key="x", related_to=[theirs.word])),
            ("recall again", lambda: memory.recall(mine.probes[0], top_k=50)),
        ]
        return [*recalls * 3, *readings, *changes]

    def _own_id(self, made: Any, theirs: Scope) -> Any:
        """Return what was remembered; it must not be the other scope's."""
        if made.id in theirs.ids:
            self.failures.append((LEAKED, "an id of another scope was returned"))
        return made

    def look_at_all(self) -> None:
        """See that every scope holds what it held, and nothing of another."""
        for scope in self.scopes:
            memories = [scope.memory.get(one) for one in scope.ids]
            changed = [one for one in memories if one.superseded_by or one.tier.name != "WARM"]
            if changed or [one.summary for one in memories] != scope.texts:
                self.failures.append((CHANGED, scope.memory.scope[:20]))
            if not any(one.id == scope.intention for one in scope.memory.due()):
                self.failures.append((CHANGED, f"an intention of {scope.memory.scope[:20]}"))
            told = shown(list(self._db.export_lines(scopes=[scope.memory.scope])))
            if any(secret in told for secret, owner in self._owner.items() if owner is not scope):
                self.failures.append((LEAKED, f"the export of {scope.memory.scope[:20]!r}"))


def shown(value: Any) -> str:
    """Return everything that an answer tells, as text."""
    if isinstance(value, BaseException):
        return " ".join([str(value), shown(value.__cause__), shown(value.__context__)])
    trace = getattr(value, "trace", None)
    return f"{value!r} {trace()}" if callable(trace) else repr(value)


def _ask(path: Path, seed: int, rounds: int, seconds: float, pipe: Connection) -> None:
    """Ask so often; send how many calls were made, and what was wrong."""
    with Fleet(path) as fleet:
        asking = Asking(fleet.database, fleet, random.Random(seed))
        alike = fleet[ALIKE].recall(asking.scopes[NAMES.index("\u00e1")].probes[0])
        if not alike.memories:
            asking.failures.append((CHANGED, "a name in two code points is another scope"))
        for _ in Course(rounds, seconds):
            asking.ask()
        asking.look_at_all()
        pipe.send((asking.calls, asking.failures))


class Erasing:
    """A store from which memories are erased while another process has it open."""

    HOW = ("idle", "recalling", "reading")
    """What another process does meanwhile; only an idle one can hold nothing back."""
    EACH = 9

    def __init__(self, path: Path, chosen: random.Random, result: Result) -> None:
        self._path, self._random, self._result = path, chosen, result
        self._secrets = [f"z{chosen.getrandbits(64):016x}" for _ in range(6 * self.EACH)]

    def run(self) -> int:
        """Erase while nothing else is open, another process is idle, reads on, or recalls."""
        erased = 0
        answer_of(partial(told, self._path))
        with ExitStack() as stack:
            other = stack.enter_context(Worker(partial(_be_beside, self._path), planted=False))
            eraser = stack.enter_context(Worker(partial(_erase_when_asked, self._path)))
            for how in self.HOW:
                count = self.EACH // len(self.HOW)
                secrets = self._secrets[erased * 6 : (erased + count) * 6]
                eraser.pipe.send(("remember", secrets))
                eraser.receive()
                other.pipe.send(how)
                other.receive()
                eraser.pipe.send(("erase", secrets))
                recalled, pending = eraser.receive()
                self._count_recalled(recalled, how)
                erased += count
                if not pending or how == "idle":
                    self._look(secrets, f"while another process is {how}")
                other.pipe.send("stop")
                self._count_recalled(other.receive(), f"another process, {how}")
            eraser.pipe.send(("write", []))
            eraser.receive()
            self._look(self._secrets, "after the other process had ended its reading")
        self._look(self._secrets, "after all processes had ended")
        answer_of(partial(told, self._path))
        self._look(self._secrets, "after a process had opened it anew")
        return erased

    def _count_recalled(self, texts: list[str], how: str) -> None:
        for text in texts:
            self._result.fail(BACK, f"{how}: {text}")

    def _look(self, secrets: list[str], when: str) -> None:
        """Look for what was erased in every file of the store's folder."""
        for file in self._path.parent.iterdir():
            held = file.read_bytes()
            left = [secret for secret in secrets if secret.encode() in held]
            if left:
                self._result.fail(LEFT, f"{file.name} {when}", len(left))


def _erase_when_asked(path: Path, pipe: Connection) -> None:
    """Remember secrets in every field, or erase what was remembered."""
    # Erasing waits no longer than this for the other process's reading to end.
    with Database(path, busy_wait_s=1.0) as db:
        memory = AgenticMemory(db, scope="mine", run_id="run")
        memory.remember("stays in the kettle", keywords=["kettle"])
        ids: list[str] = []
        while True:
            what, secrets = pipe.recv()
            if what == "remember":
                for at in range(0, len(secrets), 6):
                    ids += _remembered(memory, secrets[at : at + 6])
                memory.recall("kettle", top_k=50, recipe=recipes.ASSOCIATIVE)
                # Every one was in an answer before it is erased.
                pipe.send(_recalled(memory, secrets))
            elif what == "erase":
                receipt = memory.erase(ids)
                ids.clear()
                pipe.send((_recalled(memory, secrets), receipt.pending))
            else:
                memory.remember("another kettle")
                pipe.send("written")


def _remembered(memory: AgenticMemory, secrets: list[str]) -> list[str]:
    """Remember six secrets: in a memory that is corrected, its correction, and a turn."""
    text, detail, keyword, metadata, other, said = secrets
    first = memory.remember(
        f"{text} kettle",
        detail=f"{detail} was told",
        keywords=[keyword],
        metadata={"from": metadata},
        source=metadata,
        related_to=[keyword],
    )
    second = memory.correct(first.id, f"{other} kettle")
    turns = [memory.add_turn("user", f"{said} kettle {n}") for n in range(4)]
    memory.link(second.id, str(turns[0].memory_id))
    return [first.id, second.id, *(str(turn.memory_id) for turn in turns)]


def _recalled(memory: AgenticMemory, secrets: list[str]) -> list[str]:
    """Return what a recall still brings of some secrets."""
    found = [memory.recall(f"{secret} kettle", top_k=50) for secret in secrets]
    return [
        hit.summary
        for result in found
        for hit in (*result.memories, *result.skipped)
        if any(secret in shown(hit) for secret in secrets)
    ]


def _be_beside(path: Path, pipe: Connection) -> None:
    """Have the store open, and be idle, recall, or be in the middle of reading, until stopped."""
    with opened(path) as db:
        memory = AgenticMemory(db, scope="mine")
        while True:
            how = pipe.recv()
            memory.recall("kettle", top_k=50, reinforce=False)
            lines = db.export_lines()
            if how == "reading":
                next(lines)
                next(lines)
            pipe.send("ready")
            while how == "recalling" and not pipe.poll():
                memory.recall("kettle", top_k=50, reinforce=False)
            pipe.recv()
            with suppress(AttributeError):
                lines.close()
            found = memory.recall("kettle", top_k=200, reinforce=False)
            pipe.send([hit.summary for hit in found if hit.summary.startswith("z")])
