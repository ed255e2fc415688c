"""Long-horizon streams: a year of remembering and asking, replayed in the order of time."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

KINDS = ("current", "past", "permanent", "episodic", "twohop", "habit")
GOLD, STALE, WRONG = "gold", "stale", "wrong"
START_S = 1_600_000_000
TOP_K = 5


@dataclass(frozen=True)
class Told:
    """Something to be remembered; ``supersedes`` names what it corrects explicitly."""

    number: int
    at_s: float
    text: str
    importance: float
    supersedes: tuple[int, ...]


@dataclass(frozen=True)
class Asked:
    """A question; ``verdicts`` says of some memories what answering with them would be."""

    kind: str
    at_s: float
    text: str
    verdicts: Mapping[int, str]


class System(Protocol):
    """What is measured: it remembers and recalls, both at a given moment."""

    def remember(self, one: Told) -> None:
        """Remember one thing."""

    def recall(self, text: str, top_k: int, at_s: float) -> Sequence[int]:
        """Return the numbers of what a cue brings up, best first."""


def stream(path: Path) -> list[Told | Asked]:
    """Return the events of a file, in the order of time."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [_event(json.loads(line)) for line in file]


def _event(line: dict[str, object]) -> Told | Asked:
    at_s = START_S + 3_600 * float(str(line["t"]))
    if line["kind"] == "memory":
        return Told(line["id"], at_s, line["text"], line["importance"], tuple(line["supersedes"]))
    # Where one memory is in two lists, the first says what it is.
    verdicts = {one: verdict for verdict in (WRONG, STALE, GOLD) for one in line[verdict]}
    return Asked(line["qtype"], at_s, line["text"], verdicts)


def answers(system: System, events: Iterable[Told | Asked]) -> dict[str, list[str]]:
    """Replay events; return, by kind of question, what a reader answered each with.

    It takes the first memory that is gold, stale or wrong; an empty string where none is.
    """
    given: dict[str, list[str]] = defaultdict(list)
    for one in events:
        if isinstance(one, Told):
            system.remember(one)
        else:
            found = system.recall(one.text, TOP_K, one.at_s)
            judged = (one.verdicts[number] for number in found if number in one.verdicts)
            given[one.kind].append(next(judged, ""))
    return given


@dataclass(frozen=True)
class Accuracy:
    """Share of gold answers by kind of question, and of stale ones among those of now."""

    by_kind: Mapping[str, float]
    stale: float

    @property
    def macro(self) -> float:
        """Return the mean over kinds."""
        return sum(self.by_kind.values()) / len(self.by_kind)


def accuracy(make: Callable[[], System], paths: Iterable[Path]) -> Accuracy:
    """Return how well a system answers several streams, each replayed from an empty store."""
    given: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for path in paths:
        for kind, some in answers(make(), stream(path)).items():
            given[kind] += some
    by_kind = {kind: some.count(GOLD) / len(some) for kind, some in given.items() if some}
    return Accuracy(by_kind, given["current"].count(STALE) / max(len(given["current"]), 1))
