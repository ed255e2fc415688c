"""Remembering, from the call to the commit."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import data
import pytest
import rivals
from timing import Timed

from ebbmem import AgenticMemory, Fleet

pytestmark = pytest.mark.benchmark(max_time=0.5, min_rounds=3)

DIM = 1024
MANY = 500
THREADS = 8
EACH = 50


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgenticMemory]:
    with AgenticMemory(tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def table(tmp_path: Path) -> Iterator[rivals.SqliteTable]:
    opened = rivals.SqliteTable(tmp_path / "table.db", DIM)
    yield opened
    opened.close()


@pytest.mark.parametrize("who", ["ebbmem", "sqlite3 and numpy"])
def test_remember_one(
    timed: Timed, who: str, memory: AgenticMemory, table: rivals.SqliteTable
) -> None:
    texts = iter(data.texts(MANY) * 100)
    calls = {
        "ebbmem": lambda: memory.remember(next(texts)),
        "sqlite3 and numpy": lambda: table.remember_many([next(texts)]),
    }
    for call in calls.values():
        call()
    assert memory.stats().memories == table.count() == 1

    timed(calls[who], group="remember 1 memory", units=1, unit="memory", rounds=300)


@pytest.mark.parametrize("who", ["ebbmem", "sqlite3 and numpy"])
def test_remember_many(
    timed: Timed, who: str, memory: AgenticMemory, table: rivals.SqliteTable
) -> None:
    texts = data.texts(MANY)
    calls = {
        "ebbmem": lambda: memory.remember_many(texts),
        "sqlite3 and numpy": lambda: table.remember_many(texts),
    }
    for call in calls.values():
        call()
    assert memory.stats().memories == table.count() == MANY

    timed(
        calls[who],
        group=f"remember {MANY} memories in one call",
        units=MANY,
        unit="memory",
        rounds=5,
    )


@pytest.mark.parametrize("scopes", [1, THREADS])
def test_remember_one_by_threads(timed: Timed, scopes: int, tmp_path: Path) -> None:
    texts = data.texts(EACH)
    with Fleet(tmp_path / "fleet.db") as fleet, ThreadPoolExecutor(THREADS) as pool:
        agents = [fleet[f"agent {n % scopes}"] for n in range(THREADS)]

        def work(n: int) -> None:
            for text in texts:
                agents[n].remember(text)

        def all_work() -> None:
            for _ in pool.map(work, range(THREADS)):
                pass

        all_work()
        told = sum(agents[n].stats().memories for n in range(scopes))
        assert told == THREADS * EACH

        timed(
            all_work,
            group=f"remember 1 memory, {THREADS} threads",
            units=THREADS * EACH,
            unit="memory",
            rounds=10,
        )


def test_remember_linked(timed: Timed, memory: AgenticMemory) -> None:
    texts, number = iter(data.texts(MANY) * 100), count()

    def linked() -> None:
        topic = f"topic {next(number) % 50}"
        memory.remember(next(texts), keywords=[topic], related_to=["topic 0"])

    linked()
    linked()
    assert memory.stats().links == 2

    timed(linked, group="remember 1 memory with links", units=1, unit="memory", rounds=300)


def test_open_a_store(timed: Timed, tmp_path: Path, memory: AgenticMemory) -> None:
    memory.remember_many(data.texts(2_000))
    memory.close()

    def first_recall() -> int:
        with AgenticMemory(tmp_path / "memory.db") as opened:
            return len(opened.recall(data.texts(1)[0], reinforce=False))

    assert first_recall() > 0

    timed(first_recall, group="open 2000 memories and recall", units=1, unit="call", rounds=5)
