"""Threads that share stores: no exception, nothing lost, nothing twice."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ebbmem import (
    AgenticMemory,
    CallableEmbedder,
    Database,
    EpisodicMemoryStore,
    Fleet,
    ManualClock,
    recipes,
)
from ebbmem.errors import StoreClosed

NOW = 1_700_000_000
THREADS = 8
EACH = 12


@pytest.fixture
def path(tmp_path):
    return tmp_path / "threads.db"


@pytest.fixture
def fleet(path):
    with Fleet(path, clock=ManualClock(NOW)) as opened:
        yield opened


def together(work, count=THREADS):
    """Run ``work(n)`` in threads that start at the same moment; return the results."""
    start = threading.Barrier(count)

    def waiting(n):
        start.wait(30)
        return work(n)

    with ThreadPoolExecutor(count) as pool:
        return [one.result(60) for one in [pool.submit(waiting, n) for n in range(count)]]


@pytest.mark.parametrize("scopes", [1, 3, THREADS])
@pytest.mark.parametrize("recipe", [recipes.DEFAULT, recipes.ASSOCIATIVE])
def test_remembering_and_recalling_lose_nothing(fleet, scopes, recipe):
    def work(n):
        memory = fleet[f"s{n % scopes}"]
        for step in range(EACH):
            made = memory.remember(f"rex word{n}x{step}", keywords=[f"k{step % 2}"])
            found = memory.recall(f"word{n}x{step}", recipe=recipe, top_k=1000)
            assert made.id in {hit.id for hit in found}
        return n

    assert together(work) == list(range(THREADS))
    for n in range(scopes):
        found = fleet[f"s{n}"].recall("rex", recipe=recipe, top_k=1000, reinforce=False)
        told = len(range(n, THREADS, scopes)) * EACH
        assert len({hit.summary for hit in found}) == fleet[f"s{n}"].stats().memories == told
        assert sorted(hit.number for hit in found) == list(range(1, told + 1))


def test_a_key_makes_one_memory(fleet):
    made = together(lambda n: fleet["a"].remember(f"text {n}", key="k"))
    assert len({one.id for one in made}) == 1
    assert sum(one.created for one in made) == 1


def test_dedupe_makes_one_memory_and_counts_every_telling(fleet):
    made = together(lambda n: fleet["a"].remember("kettle", dedupe=True))
    assert sum(one.created for one in made) == 1
    assert fleet["a"].get(made[0].id).access_count == THREADS


def test_no_update_is_lost(fleet):
    made = fleet["a"].remember("rex").id

    def work(n):
        for _ in range(EACH):
            fleet["a"].feedback(used=[made])

    together(work)
    assert fleet["a"].get(made).access_count == 1 + THREADS * EACH


def test_corrections_make_one_chain(fleet):
    first = fleet["a"].remember("rex 0").id
    made = together(lambda n: fleet["a"].correct(first, f"rex {n + 1}").id)
    known = [first, *made]
    assert [fleet["a"].get(one).superseded_by for one in known].count(None) == 1
    chain = [first]
    while (after := fleet["a"].get(chain[-1]).superseded_by) is not None:
        chain.append(after)
    assert sorted(chain) == sorted(known)


def test_turns_of_one_run_are_all_kept_in_one_order(path):
    with AgenticMemory(path, clock=ManualClock(NOW)) as memory:
        together(lambda n: [memory.add_turn("user", f"{n} {step}") for step in range(EACH)])
        folded = memory.summary().splitlines()
        kept = [turn.content for turn in memory.turns()]
        assert memory.stats().turns == THREADS * EACH
        for n in range(THREADS):
            own = [line for line in kept if line.startswith(f"{n} ")]
            assert own == sorted(own, key=lambda line: int(line.split()[1]))
    assert len(folded) == 40


def test_erasing_while_others_recall(fleet):
    ids = [fleet["a"].remember(f"rex {n}").id for n in range(THREADS * EACH)]

    def work(n):
        for step in range(EACH):
            if n % 2:
                fleet["a"].erase(ids[n * EACH + step])
            else:
                assert all(hit.summary.startswith("rex") for hit in fleet["a"].recall("rex"))

    together(work)
    assert fleet["a"].stats().memories == THREADS * EACH // 2
    left = fleet["a"].recall("rex", top_k=1000, reinforce=False)
    assert {hit.id for hit in left} == {
        ids[n * EACH + step] for n in range(0, THREADS, 2) for step in range(EACH)
    }


def test_indexes_dropped_and_loaded_under_load(path):
    with Fleet(path, index_budget=1, clock=ManualClock(NOW)) as fleet:

        def work(n):
            for step in range(EACH):
                memory = fleet[f"s{(n + step) % 5}"]
                made = memory.remember(f"rex word{n}x{step}")
                assert memory.recall(f"word{n}x{step}").memories[0].id == made.id

        together(work)
        assert sum(fleet[f"s{n}"].stats().memories for n in range(5)) == THREADS * EACH
        assert fleet.metrics().loaded_scopes >= 1


def test_stored_vectors_of_many_threads(path):
    embedder = CallableEmbedder(lambda texts: [[len(t), 1.0, 2.0] for t in texts], 3, "length")
    with Database(path) as db:
        store = EpisodicMemoryStore(db, embedder=embedder, recipe=recipes.SIMILARITY)

        def work(n):
            for step in range(EACH):
                store.remember("x" * (n * EACH + step))
                assert store.recall("xx", top_k=3).memories

        together(work)
        found = store.recall("x" * 50, top_k=1000, min_score=-1.0)
        assert len(found) == THREADS * EACH
        assert len(found.memories[0].summary) == 50


def test_opening_and_closing_side_by_side(path):
    def work(n):
        for step in range(5):
            with Database(path) as db:
                EpisodicMemoryStore(db).remember(f"{n} {step}")

    together(work)
    with Database(path) as db:
        assert EpisodicMemoryStore(db).stats().memories == THREADS * 5


def test_closing_under_load_ends_every_call_with_a_typed_error(path):
    fleet = Fleet(path)
    started = threading.Event()

    def work(n):
        if n == 0:
            started.wait(30)
            fleet.close()
            return 0
        done = 0
        try:
            while True:
                fleet["a"].remember(f"{n} {done}")
                done += 1
                started.set()
                fleet["a"].recall(f"{n}")
        except StoreClosed:
            return done

    counts = together(work)
    with Fleet(path) as again:
        # A call that closing overtook may have been committed before it raised.
        assert sum(counts) <= again["a"].stats().memories <= sum(counts) + THREADS
