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

from ebbmem import AgenticMemory, Fleet, recipes

pytestmark = pytest.mark.benchmark(max_time=0.5, min_rounds=3)

DIM, K = 1024, 5
COUNT = 2_000
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
        found = filled.memory.recall(cue, top_k=K, reinforce=False, now=NOW_S)
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


def test_recall_of_many_agents(timed: Timed, tmp_path: Path) -> None:
    agents, each = 50, 40
    texts, cues = data.texts(agents * each), data.cues(agents)
    scopes = [f"agent-{number}" for number in range(agents)]
    with Fleet(tmp_path / "fleet.db") as fleet:
        fleet.remember_many(zip(scopes * each, texts, strict=True))
        pairs = list(zip(scopes, cues, strict=True))
        together = fleet.recall_many(pairs)
        alone = [fleet[scope].recall(cue) for scope, cue in pairs]
        assert [hits(one) for one in together] == [hits(one) for one in alone]

        group = f"recall in {agents} scopes of {each}"
        timed(lambda: fleet.recall_many(pairs), group=group, units=agents, unit="recall")


def hits(result: object) -> list[str]:
    return [hit.summary for hit in result]  # type: ignore[attr-defined]
