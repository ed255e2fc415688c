"""Recall, from the cue to the result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import data
import numpy as np
import pytest
import rivals
from timing import Timed

from ebbmem import AgenticMemory, Database, Fleet, recipes

pytestmark = pytest.mark.benchmark(max_time=0.5, min_rounds=3)

DIM, K = 1024, 10
COUNT = 1_000
RATE = recipes.EBBINGHAUS.law.decay_factor  # type: ignore[attr-defined]
START_S = 1_700_000_000
NOW_S = START_S + COUNT


@dataclass
class Filled:
    """The same memories, one per second, in ebbmem and in two rivals."""

    memory: AgenticMemory
    numpy: rivals.NumpyMemory
    python: rivals.PythonMemory


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    texts = data.texts(COUNT)
    importance = data.strengths(COUNT).importance
    created_s = START_S + np.arange(COUNT, dtype=float)
    python = rivals.PythonMemory(DIM)
    for text, weight, at in zip(texts, importance.tolist(), created_s.tolist(), strict=True):
        python.remember(text, weight, at)
    path = tmp_path_factory.mktemp("recall") / "memory.db"
    with AgenticMemory(path, recipe=recipes.EBBINGHAUS) as memory:
        memory.remember_many(
            {"summary": text, "importance": weight, "now": at}
            for text, weight, at in zip(texts, importance.tolist(), created_s.tolist(), strict=True)
        )
        yield Filled(memory, rivals.NumpyMemory(texts, DIM, importance, created_s), python)


@pytest.mark.parametrize("who", ["ebbmem", "numpy", "python"])
def test_recall_by_the_ebbinghaus_law(timed: Timed, who: str, filled: Filled) -> None:
    def by_ebbmem(cue: str) -> list[str]:
        found = filled.memory.recall(cue, top_k=K, now=NOW_S)  # reinforced, like any recall
        return [hit.summary for hit in found]

    calls = {
        "ebbmem": by_ebbmem,
        "numpy": lambda cue: filled.numpy.recall(cue, NOW_S, K, RATE),
        "python": lambda cue: filled.python.recall(cue, NOW_S, K, RATE),
    }
    cues = data.cues(20)
    for cue in cues[:5]:
        assert calls["ebbmem"](cue) == calls["python"](cue) == calls["numpy"](cue)

    turn = cycle(cues)
    group = f"recall {K} of {COUNT}, Ebbinghaus law"
    timed(lambda: calls[who](next(turn)), group=group, units=1, unit="recall")


@pytest.mark.parametrize("reinforce", [False, "recall"])
@pytest.mark.parametrize("recipe", [recipes.DEFAULT, recipes.ASSOCIATIVE], ids=lambda r: r.name)
def test_recall(timed: Timed, recipe: recipes.Recipe, reinforce: object, filled: Filled) -> None:
    turn = cycle(data.cues(20))

    def recall() -> int:
        cue = next(turn)
        found = filled.memory.recall(cue, recipe=recipe, reinforce=reinforce, now=NOW_S)  # type: ignore[arg-type]
        return len(found)

    assert recall() > 0

    timed(recall, group=f"recall 10 of {COUNT}, {recipe.name}", units=1, unit="recall")


@pytest.mark.parametrize("how", ["many", "one by one"])
def test_recall_of_many_cues(timed: Timed, how: str, filled: Filled) -> None:
    cues = data.cues(64)

    def many() -> list[list[str]]:
        found = filled.memory.recall_many(cues, recipe=recipes.DEFAULT, now=NOW_S)
        return [hits(one) for one in found]

    def one_by_one() -> list[list[str]]:
        return [hits(filled.memory.recall(c, recipe=recipes.DEFAULT, now=NOW_S)) for c in cues]

    assert many() == one_by_one()

    call = many if how == "many" else one_by_one
    timed(call, group=f"recall 10 of {COUNT}, 64 cues", units=len(cues), unit="recall")


def test_writing_what_waits(timed: Timed, tmp_path: Path) -> None:
    texts, cues, waiting = data.texts(COUNT), data.cues(50), 256
    database = Database(tmp_path / "memory.db", pending_recalls=waiting, pending_s=3_600)
    with database, AgenticMemory(database, recipe=recipes.EBBINGHAUS) as memory:
        memory.remember_many(texts)

        def recalled() -> tuple[tuple[()], dict[str, object]]:
            for _, cue in zip(range(waiting), cycle(cues), strict=False):
                memory.recall(cue)
            return (), {}

        recalled()
        database.flush()
        best = memory.recall(cues[0], reinforce=False).memories[0].memory
        assert best.access_count > 1

        group = f"write {waiting} recalls that wait"
        timed(database.flush, group=group, units=waiting, unit="recall", setup=recalled)


@pytest.mark.parametrize("how", ["many", "many, 2 threads", "one by one"])
def test_recall_of_many_agents(timed: Timed, how: str, tmp_path: Path) -> None:
    agents, each = 50, 400
    texts, cues = data.texts(agents * each), data.cues(agents)
    scopes = [f"agent-{number}" for number in range(agents)]
    with Fleet(tmp_path / "fleet.db") as fleet:
        fleet.remember_many(zip(scopes * each, texts, strict=True))
        pairs = list(zip(scopes, cues, strict=True))
        calls = {
            "many": lambda: fleet.recall_many(pairs),
            "many, 2 threads": lambda: fleet.recall_many(pairs, threads=2),
            "one by one": lambda: [fleet[scope].recall(cue) for scope, cue in pairs],
        }
        together, alone = calls[how](), calls["one by one"]()
        assert [hits(one) for one in together] == [hits(one) for one in alone]

        timed(calls[how], group=f"recall in {agents} scopes of {each}", units=agents, unit="recall")


def hits(result: object) -> list[str]:
    return [hit.summary for hit in result]  # type: ignore[attr-defined]
