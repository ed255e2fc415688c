"""Figures of remembering: one caller, eight threads, many memories in one call."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import data
from figures import Figure
from fleet_sizes import FleetSizes
from fleet_stores import name

from ebbmem import Fleet

ONE_CALLER, THREADS, BESIDE, MANY = 4_000.0, 8, 2.5, 40_000.0
REMEMBER_S = 200e-6
ROUNDS, MANY_ROUNDS = 5, 20


def remember(sizes: FleetSizes, folder: Path) -> Iterator[Figure]:
    """One caller remembers, one memory after the other, each committed."""
    texts = data.texts(sizes.remembers)
    with Fleet(folder / "one.db") as fleet:
        memory = fleet["a"]
        took: list[float] = []

        def calls() -> None:
            for text in texts:
                began = time.perf_counter()
                memory.remember(text)
                took.append(time.perf_counter() - began)

        rates = _rates(calls, sizes.remembers)
        _require_kept(fleet, "a", ROUNDS * sizes.remembers)
    took.sort()
    work = "remember, one caller, committed"
    yield Figure(work, "memories a second, wall", rates[0], "/s", at_least=ONE_CALLER)
    yield Figure(work, "memories a second, CPU", rates[1], "/s")
    yield Figure(work, "p50, wall", median(took), "s", at_most=REMEMBER_S)
    yield Figure(work, "p99, wall", took[len(took) * 99 // 100], "s")


def threads(sizes: FleetSizes, folder: Path) -> Iterator[Figure]:
    """Eight threads remember, in one scope or in one each."""
    for scopes in (1, THREADS):
        with Fleet(folder / f"threads {scopes}.db") as fleet:
            work = partial(_by_threads, fleet, data.texts(THREADS * sizes.remembers), scopes)
            rates = _rates(work, THREADS * sizes.remembers)
            for number in range(scopes):
                kept = ROUNDS * THREADS * sizes.remembers // scopes
                _require_kept(fleet, name(number), kept)
        what = f"remember, {THREADS} threads, {_told(scopes)}"
        least = BESIDE * ONE_CALLER
        yield Figure(what, "memories a second, wall", rates[0], "/s", at_least=least)
        yield Figure(what, "memories a second, CPU", rates[1], "/s")


def remember_many(sizes: FleetSizes, folder: Path) -> Iterator[Figure]:
    """Many memories in one call and commit, in one scope or over many."""
    texts = data.texts(sizes.batch)
    for scopes in (1, sizes.batch // 10):
        batch = [(name(number % scopes), text) for number, text in enumerate(texts)]
        with Fleet(folder / f"many {scopes}.db") as fleet:
            rates = _rates(partial(fleet.remember_many, batch), sizes.batch, MANY_ROUNDS)
            _require_kept(fleet, name(0), MANY_ROUNDS * sizes.batch // scopes)
        what = f"remember_many, {sizes.batch:,} a call, {_told(scopes)}"
        least = MANY if scopes == 1 else None
        yield Figure(what, "memories a second, wall", rates[0], "/s", at_least=least)
        yield Figure(what, "memories a second, CPU", rates[1], "/s")


def _told(scopes: int) -> str:
    return "1 scope" if scopes == 1 else f"{scopes} scopes"


def _rates(call: Callable[[], object], units: int, rounds: int = ROUNDS) -> tuple[float, float]:
    """Return medians of units a second by wall and by CPU time of the whole process."""
    wall: list[float] = []
    cpu: list[float] = []
    for _ in range(rounds):
        began, began_cpu = time.perf_counter(), time.process_time()
        call()
        wall.append(units / (time.perf_counter() - began))
        cpu.append(units / (time.process_time() - began_cpu))
    return median(wall), median(cpu)


def _by_threads(fleet: Fleet, texts: Sequence[str], scopes: int) -> None:
    failures: list[BaseException] = []

    def work(number: int, own: Sequence[str]) -> None:
        memory = fleet[name(number % scopes)]
        try:
            for text in own:
                memory.remember(text)
        except BaseException as exc:  # noqa: BLE001 - told by the thread that waits for this one
            failures.append(exc)

    running = [
        threading.Thread(target=work, args=(number, texts[number::THREADS]))
        for number in range(THREADS)
    ]
    for one in running:
        one.start()
    for one in running:
        one.join()
    if failures:
        raise failures[0]


def _require_kept(fleet: Fleet, scope: str, memories: int) -> None:
    """See that every memory is there."""
    assert fleet[scope].stats().memories == memories
