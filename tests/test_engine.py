"""One engine per file and process: shared, current with other processes, within its budget."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading

import apsw
import pytest

from ebbmem import (
    CallableEmbedder,
    Database,
    EpisodicMemoryStore,
    Fleet,
    ManualClock,
    recipes,
)
from ebbmem.engine import Engine
from ebbmem.errors import EmbedderMismatch, InvalidArgument, StoreClosed, StoreError
from ebbmem.recall import answer

NOW = 1_700_000_000


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shared.db"


@pytest.fixture
def db(path):
    with Database(path, clock=ManualClock(NOW)) as opened:
        yield opened


def child(path, code, **how):
    """Start another process in which ``memory`` is this store's default scope."""
    text = f"""
import json, sys, time
from ebbmem import AgenticMemory
memory = AgenticMemory({str(path)!r})
{textwrap.dedent(code)}
"""
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, **how)


def elsewhere(path, code):
    """Run code in another process; return what it printed as JSON."""
    process = child(path, code)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return json.loads(out) if out else None


def summaries(store, cue, **options):
    return sorted(hit.summary for hit in store.recall(cue, **options))


class TestSharing:
    def test_two_databases_on_a_file_share_an_engine(self, db, path):
        with Database(path) as other:
            assert other.engine is db.engine
        assert db.engine.records.path == str(path)

    def test_links_and_relative_paths_lead_to_the_same_engine(self, db, path, monkeypatch):
        link = path.with_name("link.db")
        link.symlink_to(path)
        monkeypatch.chdir(path.parent)
        with Database("shared.db") as relative, Database(link) as linked:
            assert relative.engine is linked.engine is db.engine

    def test_the_last_to_close_closes(self, path):
        one, other = Database(path), Database(path)
        store = EpisodicMemoryStore(other)
        one.close()
        one.close()
        store.remember("x")
        other.close()
        with pytest.raises(StoreClosed):
            store.remember("x")
        with Database(path) as again:
            assert EpisodicMemoryStore(again).stats().memories == 1

    def test_options_must_agree(self, db, path):
        for name, value in (("durability", "power"), ("pending_s", 2.0), ("busy_wait_s", 1.0)):
            with pytest.raises(InvalidArgument, match=f"^{name}: .* close it first, got {value!r}"):
                Database(path, **{name: value})

    def test_clocks_may_differ(self, db, path):
        with Database(path, clock=ManualClock(5)) as other:
            made = EpisodicMemoryStore(other).remember("x")
        assert EpisodicMemoryStore(db).get(made.id).created_at.timestamp() == 5

    def test_memory_is_never_shared(self):
        with Database(":memory:") as one, Database(":memory:") as other:
            assert one.engine is not other.engine

    @pytest.mark.parametrize(
        "verb",
        [
            lambda s: s.remember("x"), lambda s: s.recall("x"), lambda s: s.recall_many([]),
            lambda s: s.stats(), lambda s: s.due(), lambda s: s.remember_intention("x"),
            lambda s: s.consolidate(), lambda s: s.get("0" * 32), lambda s: s.erase("0" * 32),
            lambda s: s.remember_many(["x"]), lambda s: s.neighbors("0" * 32),
            lambda s: s.feedback(used=["0" * 32]), lambda s: s.complete_intention("0" * 32),
            lambda s: s.archive("0" * 32), lambda s: s.link("0" * 32, "1" * 32),
            lambda s: s.correct("0" * 32, "x"),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("what", ["handle", "database"])
    def test_what_is_closed_says_so(self, path, verb, what):
        with Database(path) as db:
            store = EpisodicMemoryStore(db)
            (store if what == "handle" else db).close()
            with pytest.raises(StoreClosed, match="closed"):
                verb(store)


class TestForeignWrites:
    @pytest.fixture
    def store(self, db):
        store = EpisodicMemoryStore(db)
        store.remember("rex barks")
        store.recall("rex")  # the index is loaded
        return store

    def test_a_new_memory_is_found_by_the_next_recall(self, store, path):
        elsewhere(path, "memory.remember('rex sleeps')")
        assert summaries(store, "rex") == ["rex barks", "rex sleeps"]

    def test_an_erasure_is_seen_by_the_next_recall(self, store, path):
        elsewhere(path, "memory.erase([h.id for h in memory.recall('rex')])")
        assert summaries(store, "rex") == []

    def test_a_correction_is_seen_by_the_next_recall(self, store, path):
        elsewhere(path, "memory.correct(memory.recall('rex').memories[0].id, 'rex meows')")
        assert [hit.summary for hit in store.recall("rex")] == ["rex meows", "rex barks"]

    def test_archive_links_and_strengths_are_seen_too(self, store, path):
        other = store.remember("leash").id
        first = store.recall("rex").memories[0].id
        elsewhere(path, f"memory.link({first!r}, {other!r})")
        assert summaries(store, "rex") == ["leash", "rex barks"]
        elsewhere(path, f"memory.feedback(used=[{first!r}]); memory.archive({other!r})")
        assert summaries(store, "rex") == ["rex barks"]
        assert store.get(first).access_count == 2

    def test_own_writes_go_on_between_foreign_ones(self, store, path):
        for n in range(3):
            elsewhere(path, f"memory.remember('rex foreign {n}')")
            store.remember(f"rex own {n}")
        assert len(store.recall("rex", top_k=20)) == 7
        numbers = elsewhere(path, "print(json.dumps([h.number for h in memory.recall('rex')]))")
        assert sorted(numbers) == [1, 2, 3, 4, 5, 6, 7]

    def test_an_update_goes_on_from_what_another_process_wrote(self, store, path):
        made = store.recall("rex", reinforce=False).memories[0].id
        elsewhere(path, f"[memory.feedback(used=[{made!r}], now={NOW}) for _ in range(3)]")
        store.feedback(used=[made])
        assert store.get(made).access_count == 5

    def test_other_scopes_are_left_as_they_are(self, store, path):
        before = store._db.engine._indexes.get("default")
        elsewhere(path, "AgenticMemory(memory.database, scope='other').remember('x')")
        store.recall("rex", reinforce=False)
        assert store._db.engine._indexes.get("default") is before

    def test_a_write_between_looking_and_writing_is_no_lost_update(self, store, path, monkeypatch):
        made = store.recall("rex", reinforce=False).memories[0].id
        commit, done = Engine.commit, []

        def interrupted(engine, *args):
            if not done:
                done.append(elsewhere(path, f"memory.feedback(used=[{made!r}], now={NOW})"))
            return commit(engine, *args)

        monkeypatch.setattr(Engine, "commit", interrupted)
        store.feedback(used=[made])
        assert store.get(made).access_count == 3

    def test_what_is_erased_while_recall_looks_is_not_brought_back(self, store, path, monkeypatch):
        store.remember("rex stays")
        done = []

        def interrupted(*args):
            found = answer(*args)
            if not done:
                done.append(elsewhere(path, "memory.erase(memory.recall('barks').memories[0].id)"))
            return found

        monkeypatch.setattr("ebbmem.retrieval.answer", interrupted)
        assert summaries(store, "rex") == ["rex stays"]

    def test_what_is_erased_while_a_pass_looks_is_passed_over(self, store, path, monkeypatch):
        store.remember("rex stays")
        change, done = Engine.change, []

        def interrupted(engine, scope, now_us):
            if not done:
                done.append(elsewhere(path, "memory.erase(memory.recall('barks').memories[0].id)"))
            return change(engine, scope, now_us)

        monkeypatch.setattr(Engine, "change", interrupted)
        store.consolidate(now=NOW + 40 * 86_400)
        assert store.stats().by_tier == {"cold": 1}


class TestDeath:
    def test_what_a_killed_process_remembered_is_there(self, db, path):
        process = child(
            path,
            """
            for n in range(10_000):
                memory.remember(f'rex number{n}')
                print(n, flush=True)
            """,
        )
        for _ in range(40):
            last = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        rest = process.stdout.read().split()
        process.wait()
        process.stdout.close()
        last = int(rest[-1]) if rest and rest[-1].isdigit() else last
        store = EpisodicMemoryStore(db)
        assert store.stats().memories in (last + 1, last + 2)
        assert store.recall(f"number{last}").memories[0].summary == f"rex number{last}"
        store.remember("goes on")

    def test_a_transaction_that_fails_leaves_records_and_index_as_they_were(self, db, monkeypatch):
        store = EpisodicMemoryStore(db)
        store.remember("rex")
        store.recall("rex")
        monkeypatch.setattr("ebbmem.remembering._links", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            store.remember("rex half", keywords=["x"])
        monkeypatch.undo()
        assert summaries(store, "rex") == ["rex"]
        assert store.remember("rex whole").number == 2
        assert summaries(store, "rex") == ["rex", "rex whole"]


class TestIndex:
    @pytest.mark.parametrize("recipe", [recipes.DEFAULT, recipes.GENERATIVE, recipes.ASSOCIATIVE])
    def test_an_index_kept_current_answers_like_one_loaded_anew(self, path, recipe):
        with Database(path, clock=ManualClock(NOW)) as db:
            store = EpisodicMemoryStore(db, recipe=recipe)
            store.recall("rex")
            ids = [store.remember(f"rex {n} dog", keywords=[f"k{n % 2}"]).id for n in range(6)]
            store.recall("rex", reinforce=False)
            store.correct(ids[0], "tom the cat rex")
            store.link(ids[1], ids[4])
            store.link(ids[1], ids[4], weight=0.5)
            store.archive(ids[2])
            store.feedback(used=[ids[3]], failed=[ids[5]])
            store.erase(ids[4])
            store.remember("rex again", related_to=["k1"])
            kept = [(h.id, h.score) for h in store.recall("rex", reinforce=False)]
        with Database(path, clock=ManualClock(NOW)) as db:
            store = EpisodicMemoryStore(db, recipe=recipe)
            assert [(h.id, h.score) for h in store.recall("rex", reinforce=False)] == kept

    @pytest.mark.parametrize("budget", [0, -1, "1", "1 kB", "GiB", "1.5GiB", True, 1.5, None, ""])
    def test_budgets_are_sizes(self, path, budget):
        with pytest.raises((InvalidArgument, TypeError), match="index_budget"):
            Database(path, index_budget=budget)

    def test_a_table_changed_behind_its_back_is_no_silent_answer(self, path):
        with Database(path) as db:
            EpisodicMemoryStore(db).remember("rex")
        with apsw.Connection(str(path)) as connection:
            connection.execute("UPDATE memories SET importance = 9")
        connection.close()
        with Database(path) as db, pytest.raises(StoreError):
            EpisodicMemoryStore(db).recall("rex")


def test_the_index_budget_holds_after_writes_too() -> None:
    with Fleet(":memory:", index_budget=200_000) as fleet:
        for agent in ("a", "b", "c"):
            fleet[agent].remember("first")
            fleet[agent].recall("first", reinforce=False)
        for agent in ("a", "b", "c"):
            fleet[agent].remember_many([f"memory {n}" for n in range(2_000)])
        assert fleet.metrics().loaded_scopes == 1


def test_a_correction_keeps_the_pin_and_the_emotion() -> None:
    with Fleet(":memory:") as fleet:
        old = fleet["a"].remember("old", pinned=True, emotional_valence=-0.5)
        new = fleet["a"].get(fleet["a"].correct(old.id, "new").id)
        assert (new.pinned, new.emotional_valence) == (True, -0.5)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_may_open_the_store_again(tmp_path) -> None:
    path = tmp_path / "store.sqlite"
    with Database(path) as db:
        EpisodicMemoryStore(db).remember("of the parent")
        child = os.fork()
        if child == 0:
            with Database(path) as own:
                found = EpisodicMemoryStore(own).recall("parent", reinforce=False)
                os._exit(0 if len(found) == 1 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(EpisodicMemoryStore(db).recall("parent")) == 1


def _told_by_child(action, write_end: int) -> None:
    """Write to a pipe what an action raises, in a process that ends within seconds."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(10)
    told = "returned"
    try:
        action()
    except BaseException as exc:  # noqa: BLE001
        told = type(exc).__name__
    os.write(write_end, told.encode())
    os._exit(0)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda db, s: s.recall("parent"), "ForkedStore"),
        (lambda db, s: s.recall("parent", reinforce=False), "ForkedStore"),
        (lambda db, s: s.recall_many(["a", "b"]), "ForkedStore"),
        (lambda db, s: s.remember("x"), "ForkedStore"),
        (lambda db, s: s.stats(), "ForkedStore"),
        (lambda db, s: s.consolidate(), "ForkedStore"),
        (lambda db, s: db.flush(), "ForkedStore"),
        (lambda db, s: db.engine.index_bytes(), "ForkedStore"),
        (lambda db, s: db.close(), "returned"),
    ],
)
def test_a_forked_child_waits_for_no_thread_that_it_has_not(tmp_path, call, told) -> None:
    with Database(tmp_path / "store.sqlite") as db:
        store = EpisodicMemoryStore(db)
        store.remember("of the parent")
        store.recall("parent")
        inside, leave = threading.Event(), threading.Event()

        def hold() -> None:
            engine = db.engine
            with engine._desks.lock("default"), engine._writes.lock, engine._indexes._lock:
                inside.set()
                leave.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        inside.wait(10)
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            _told_by_child(lambda: call(db, store), write_end)
        os.close(write_end)
        os.waitpid(child, 0)
        leave.set()
        thread.join(10)
        with os.fdopen(read_end) as answer:
            assert answer.read() == told
        assert len(store.recall("parent")) == 1


def test_a_fact_never_merges_into_a_turn() -> None:
    with Fleet(":memory:") as fleet:
        fleet["a"].add_turn("user", "I like tea")
        assert fleet["a"].remember("I like tea", dedupe=True).created


def test_a_lane_takes_no_vector_of_another_embedder() -> None:
    def embedder(name: str, dim: int) -> CallableEmbedder:
        return CallableEmbedder(lambda texts: [[1.0] * dim for _ in texts], dim, name)

    with Database(":memory:") as db:
        x = EpisodicMemoryStore(db, embedder=embedder("x", 2), recipe=recipes.SIMILARITY)
        y = EpisodicMemoryStore(db, embedder=embedder("y", 3), recipe=recipes.SIMILARITY)
        x.remember_intention("makes the scope")
        x.recall("builds an empty lane")
        y.remember("of y")
        with pytest.raises(EmbedderMismatch):
            x.recall("of y")
        assert len(y.recall("of y")) == 1
