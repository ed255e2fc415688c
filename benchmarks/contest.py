"""A contest: one piece of work done by ebbmem and by rivals, timed in turn in one process.

CPU time decides, of all threads of the process, so that nobody hides work in another thread; wall
time is shown beside it. A round goes through everyone several times, a slice of calls each, and
gives one ratio per rival; the median of the rounds counts.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from statistics import median
from typing import TypeVar

Call = Callable[[], object]
Asked = TypeVar("Asked")

ROUNDS = 5
SLICE_S = 0.004
ROUND_S = 0.25
MOST_TURNS = 12
ENOUGH = 0.85


@dataclass(frozen=True)
class Rival:
    """Someone else's way to the same answer.

    ``call`` is None where the package is not installed. One call does ``units`` of work. The
    figure ``at_least`` is how many times ebbmem's time it must take, None for information only.
    A ``candidate`` competes for "the best of" its contest.
    """

    name: str
    call: Call | None
    at_least: float | None = None
    units: float = 1.0
    candidate: bool = False


@dataclass(frozen=True)
class Fact:
    """Something else that a row promises; ``holds`` None is information only."""

    what: str
    holds: bool | None = None


@dataclass(frozen=True)
class Contest:
    """One piece of work, of which ebbmem's call does ``units``; answers were checked before.

    ``best_at_least`` is the figure against the fastest of the candidates.
    """

    work: str
    ours: Call
    rivals: Sequence[Rival]
    units: float = 1.0
    best_at_least: float | None = None
    facts: Sequence[Fact] = ()


@dataclass(frozen=True)
class Line:
    """One measured ratio: the rival's CPU time over ebbmem's, for the same work."""

    work: str
    rival: str
    at_least: float | None
    ours_s: float = math.nan
    rival_s: float = math.nan
    ratios: Sequence[float] = ()
    wall_ratio: float = math.nan

    @property
    def ratio(self) -> float:
        """Return the median of the rounds; NaN where there were none."""
        return median(self.ratios) if self.ratios else math.nan

    @property
    def verdict(self) -> str:
        """Return what the ratio means for the figure."""
        if not self.ratios:
            return "not installed"
        if self.at_least is None:
            return "information"
        if self.ratio >= self.at_least:
            return "reached"
        return "within 15 %" if self.ratio >= ENOUGH * self.at_least else "MISSED"


@dataclass
class Tally:
    """CPU and wall seconds of one contestant per unit of work, round by round."""

    cpu_s: list[float] = field(default_factory=list)
    wall_s: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Stopwatch:
    """The two clocks; tests put in their own."""

    cpu: Callable[[], float] = time.process_time
    wall: Callable[[], float] = time.perf_counter

    def run(self, call: Call, times: int) -> tuple[float, float]:
        """Return CPU and wall seconds of ``times`` calls."""
        wall, cpu = self.wall(), self.cpu()
        for _ in range(times):
            call()
        return self.cpu() - cpu, self.wall() - wall


def turning(call: Callable[[Asked], object], questions: Sequence[Asked]) -> Call:
    """Return a call that asks one question after the other, over and over."""
    turn = cycle(questions)
    return lambda: call(next(turn))


def held(contest: Contest, rounds: int = ROUNDS, watch: Stopwatch | None = None) -> list[Line]:
    """Hold a contest; return a line per rival, and one for the best of the candidates."""
    clocks = watch or Stopwatch()
    present = [rival for rival in contest.rivals if rival.call is not None]
    calls: list[tuple[Call, float]] = [(contest.ours, contest.units)]
    calls += [(rival.call, rival.units) for rival in present if rival.call is not None]
    ours, *theirs = _timed(calls, rounds, clocks)
    found = dict(zip([rival.name for rival in present], theirs, strict=True))
    lines = [
        _line(contest.work, r.name, r.at_least, ours, found.get(r.name)) for r in contest.rivals
    ]
    candidates = [rival.name for rival in contest.rivals if rival.candidate]
    if contest.best_at_least is not None:
        lines.append(_best(contest, candidates, ours, found))
    return lines


def _timed(calls: Sequence[tuple[Call, float]], rounds: int, watch: Stopwatch) -> list[Tally]:
    """Time everyone in turn. The collector rests: what one leaves is not for another to clear."""
    gc.collect()
    gc.disable()
    try:
        slices = [_calls_per_slice(call, watch) for call, _ in calls]
        once_s = sum(watch.run(call, n)[0] for (call, _), n in zip(calls, slices, strict=True))
        turns = max(1, min(MOST_TURNS, int(ROUND_S / max(once_s, 1e-9))))
        tallies = [Tally() for _ in calls]
        for _ in range(rounds):
            for tally, cpu_s, wall_s in zip(
                tallies, *_round(calls, slices, turns, watch), strict=True
            ):
                tally.cpu_s.append(cpu_s)
                tally.wall_s.append(wall_s)
        return tallies
    finally:
        gc.enable()


def _calls_per_slice(call: Call, watch: Stopwatch) -> int:
    """Return how many calls take long enough to be timed; the first call only warms up."""
    call()
    times, cpu_s = 1, watch.run(call, 1)[0]
    while cpu_s < SLICE_S / 2 and times < 1 << 16:
        times *= 2
        cpu_s = watch.run(call, times)[0]
    return times


def _round(
    calls: Sequence[tuple[Call, float]], slices: Sequence[int], turns: int, watch: Stopwatch
) -> tuple[list[float], list[float]]:
    """Return CPU and wall seconds per unit of everyone, over ``turns`` turns."""
    spent = [[0.0, 0.0] for _ in calls]
    for _ in range(turns):
        for total, (call, _), times in zip(spent, calls, slices, strict=True):
            cpu_s, wall_s = watch.run(call, times)
            total[0] += cpu_s
            total[1] += wall_s
    units = [turns * times * unit for (_, unit), times in zip(calls, slices, strict=True)]
    cpu = [total[0] / unit for total, unit in zip(spent, units, strict=True)]
    return cpu, [total[1] / unit for total, unit in zip(spent, units, strict=True)]


def _line(work: str, name: str, at_least: float | None, ours: Tally, their: Tally | None) -> Line:
    if their is None:
        return Line(work, name, at_least, median(ours.cpu_s))
    ratios = [b / a for a, b in zip(ours.cpu_s, their.cpu_s, strict=True)]
    wall = median(b / a for a, b in zip(ours.wall_s, their.wall_s, strict=True))
    return Line(work, name, at_least, median(ours.cpu_s), median(their.cpu_s), ratios, wall)


def _best(
    contest: Contest, candidates: Sequence[str], ours: Tally, found: dict[str, Tally]
) -> Line:
    """Return the line against the fastest candidate; without all of them nothing is judged."""
    if any(name not in found for name in candidates):
        return Line(contest.work, "best of these", contest.best_at_least, median(ours.cpu_s))
    fastest = min(candidates, key=lambda name: median(found[name].cpu_s))
    name = f"best of these ({fastest})"
    return _line(contest.work, name, contest.best_at_least, ours, found[fastest])


def least_s(call: Callable[[], object], times: int = 7) -> float:
    """Return the least CPU time of some calls."""
    spent = []
    for _ in range(times):
        started = time.process_time()
        call()
        spent.append(time.process_time() - started)
    return min(spent)
