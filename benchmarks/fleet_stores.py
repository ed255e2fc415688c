"""The stores that figures of a fleet are measured on: the same texts in the same scopes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import data
from fleet_sizes import FleetSizes

from ebbmem import AgenticMemory, Fleet

STEP = 617
"""How far apart the first texts of scopes with neighbouring numbers are."""
START_S = 1_700_000_000
NOW_S = START_S + 3_600
CUES, CHECKED = 500, 5


def name(number: int) -> str:
    """Return the name of a scope."""
    return f"agent {number}"


def texts_of(sizes: FleetSizes, number: int) -> Sequence[str]:
    """Return the texts that one scope remembers."""
    pool = data.texts(sizes.texts)
    first = number * STEP % (sizes.texts - sizes.memories + 1)
    return pool[first : first + sizes.memories]


def build_fleet(path: Path, sizes: FleetSizes) -> None:
    """Write the store of many scopes."""
    with Fleet(path) as fleet:
        for number in range(sizes.scopes):
            scope = name(number)
            fleet.remember_many(((scope, t) for t in texts_of(sizes, number)), now=START_S)


def require_right_answers(fleet: Fleet, sizes: FleetSizes) -> None:
    """See that a scope of many answers as if it were alone in its store."""
    for number in range(0, sizes.scopes, max(1, sizes.scopes // CHECKED)):
        with AgenticMemory(":memory:") as alone:
            alone.remember_many(
                [{"summary": text, "now": START_S} for text in texts_of(sizes, number)]
            )
            for cue in data.cues(CHECKED):
                assert _found(fleet[name(number)], cue) == _found(alone, cue)


def _found(memory: AgenticMemory, cue: str) -> list[tuple[str, float]]:
    result = memory.recall(cue, now=NOW_S, reinforce=False)
    return [(hit.summary, hit.score) for hit in result]
