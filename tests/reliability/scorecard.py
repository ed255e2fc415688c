"""Running the harnesses and showing what they counted."""

from __future__ import annotations

import argparse
import faulthandler
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from reliability import plants
from reliability.processes import TELL_STACKS, WorkerFailed, apart
from reliability.results import Result

SEED = 20_261_130
SHORT_S = 180
"""What the short forms may take in all, by the bounds they keep."""
CONFIDENT = 3
"""No failure in N trials bounds the true rate below this over N, at 95 %."""


@dataclass(frozen=True)
class Figure:
    """One line of the scorecard: a module, and how often it tries in the short and long form."""

    module: str
    title: str
    short: dict[str, float]
    long: dict[str, float]


FIGURES: dict[str, Figure] = {
    "R1": Figure(
        "kills",
        "kill -9 among 4 writing processes",
        {"rounds": 8, "seconds": 16},
        {"rounds": 200, "seconds": 570},
    ),
    "R2": Figure(
        "states",
        "kill -9 inside an operation",
        {"rounds": 39, "seconds": 30},
        {"rounds": 300, "seconds": 570},
    ),
    "R3": Figure(
        "power_cuts",
        "power cuts, writes lost and torn",
        {"rounds": 4, "seconds": 14, "cuts": 20},
        {"rounds": 20, "seconds": 570},
    ),
    "R11": Figure(
        "mixed_load",
        "80 % recall, 20 % remember",
        {"rounds": 400, "seconds": 12},
        {"rounds": 10**9, "seconds": 120, "processes": 8, "threads": 4},
    ),
    "R12": Figure(
        "first_opens",
        "16 processes open at once",
        {"rounds": 3, "seconds": 16},
        {"rounds": 50, "seconds": 570},
    ),
    "R13": Figure(
        "forks",
        "forks: idle, recalling, writing, with threads",
        {"rounds": 20, "seconds": 16},
        {"rounds": 300, "seconds": 570},
    ),
    "R14": Figure(
        "cancellations",
        "calls ended by a signal, a timeout or cancelling",
        {"rounds": 52, "seconds": 16},
        {"rounds": 500, "seconds": 570},
    ),
    "R16": Figure(
        "growth",
        "growth under writes and erasures",
        {"rounds": 8_000, "seconds": 28, "readers": 3, "log_bytes": 8 << 20, "growth": 0.2},
        {"rounds": 100_000, "seconds": 570},
    ),
    "R17": Figure(
        "isolation",
        "secrets of other scopes, and of what was erased",
        {"rounds": 1_500, "seconds": 26},
        {"rounds": 20_000, "seconds": 570},
    ),
}


def run(
    figure: str,
    form: str,
    *,
    plant: str | None = None,
    seed: int = SEED,
    seconds: float | None = None,
) -> Result:
    """Run one harness in a process of its own, in its ``"short"`` or ``"long"`` form.

    ``seconds``, where given, takes the place of the form's: long enough, it is the rounds that end
    it, on a machine of any speed.
    """
    one = FIGURES[figure]
    options: dict[str, Any] = dict(one.short if form == "short" else one.long)
    if seconds is not None:
        options["seconds"] = seconds
    return apart(one.module, plant=plant, seed=seed, **options)


def table(results: Sequence[Result]) -> str:
    """Return the scorecard: for each figure its trials, and N beside every zero."""
    lines = []
    for one in results:
        bound = f"< {CONFIDENT / one.trials:.2%}" if one.trials and not one.failed else ""
        lines.append(
            f"{one.figure:4} {FIGURES[one.figure].title}: {one.trials} {one.unit},"
            f" seed {one.seed}, {one.took_s:.0f} s {bound}"
        )
        lines += [f"       {count} of {one.trials}  {kind}" for kind, count in one.failures.items()]
        lines += [f"       {value:,.4g}  {name}" for name, value in one.measured.items()]
        lines += [f"       {note}" for note in one.notes]
        lines += [f"     ! {example}" for example in one.examples]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; return 1 where anything failed."""
    parser = argparse.ArgumentParser(prog="tests/reliability", description=__doc__)
    parser.add_argument("--only", action="append", choices=FIGURES, help="this figure (repeat)")
    parser.add_argument("--short", action="store_true", help="few rounds, as in the tests")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--plant", choices=plants.PLANTS, help="plant this fault in the workers")
    parser.add_argument("--call", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.call is not None:
        faulthandler.register(TELL_STACKS)
        module, function, options = asked.call
        called = getattr(import_module(f"reliability.{module}"), function)(**json.loads(options))
        if isinstance(called, Result):
            print(called.to_json())
        return 0
    return _show(asked)


def _show(asked: argparse.Namespace) -> int:
    """Run and print figure by figure."""
    failed = 0
    for figure in asked.only or FIGURES:
        try:
            result = run(
                figure, "short" if asked.short else "long", plant=asked.plant, seed=asked.seed
            )
        except WorkerFailed as exc:
            print(f"{figure:4} did not finish:\n{exc}", file=sys.stderr)
            failed += 1
            continue
        print(table([result]), flush=True)
        failed += bool(result.failed or not result.trials)
    return int(failed > 0)
