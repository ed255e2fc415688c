"""Figures of many scopes in one file: how soon each answers, and what they take in RAM."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fleet_child
from figures import Figure, amount
from fleet_sizes import FleetSizes
from fleet_stores import build_fleet, require_right_answers

from ebbmem import Fleet

WARM_S, COLD_S, OVER_BUDGET, BYTES_A_MEMORY = 200e-6, 10e-3, 1.10, 250.0


def apart(*arguments: str) -> dict[str, Any]:
    """Return what a process of its own measured."""
    command = [sys.executable, fleet_child.__file__, *arguments]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def scopes(sizes: FleetSizes, folder: Path) -> Iterator[Figure]:
    """Recall in scopes that are in RAM and in scopes that are not, under several budgets."""
    store = _fleet(sizes, folder)
    for budget in sizes.budgets:
        found = _visited(store, sizes, budget, sizes.warm_each, sizes.warm)
        fits = not found["evictions"]
        held = "all in RAM" if fits else f"budget {amount(budget, 'B')}"
        work = f"{sizes.scopes:,} scopes x {sizes.memories:,}, {held}"
        yield from _times(work, found)
        yield Figure(work, "scopes in RAM at the end", found["loaded"], "")
        bound = found["index_bytes"] if fits else budget
        what = "most RSS over what is counted" if fits else "most RSS over the budget"
        over = found["most_bytes"] / bound
        yield Figure(work, what, over, "x", at_most=OVER_BUDGET, exact=True)


def memory(sizes: FleetSizes, folder: Path) -> Iterator[Figure]:
    """Bytes of a memory in RAM beside its text, once every scope has answered a question."""
    found = _visited(_fleet(sizes, folder), sizes, sizes.budgets[-1], 0, 0)
    memories = sizes.scopes * sizes.memories
    work = f"{memories:,} memories in RAM, one recall in each scope"
    counted, grown = found["index_bytes"] / memories, found["grown_bytes"] / memories
    most = BYTES_A_MEMORY
    yield Figure(work, "bytes a memory, counted", counted, "B", at_most=most, exact=True)
    yield Figure(work, "bytes a memory, by RSS", grown, "B", at_most=most, exact=True)


def _fleet(sizes: FleetSizes, folder: Path) -> Path:
    """Return the store of many scopes, made once, whose answers are right."""
    store = folder / "fleet.db"
    if not store.exists():
        build_fleet(store, sizes)
        with Fleet(store) as fleet:
            require_right_answers(fleet, sizes)
    return store


def _visited(store: Path, sizes: FleetSizes, *numbers: int) -> dict[str, Any]:
    budget, warm_each, warm = numbers
    return apart("visit", *map(str, (store, budget, sizes.scopes, warm_each, warm)))


def _times(work: str, found: dict[str, Any]) -> Iterator[Figure]:
    for what, took, most_s in (
        ("warm recall", found["warm"], WARM_S),
        ("cold scope", found["cold"], COLD_S),
    ):
        yield Figure(work, f"{what}, p50, wall", took["wall_s"], "s", at_most=most_s)
        yield Figure(work, f"{what}, p50, CPU", took["cpu_s"], "s")
        yield Figure(work, f"{what}, p99, wall", took["p99_s"], "s")
