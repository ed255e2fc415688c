"""reembed: another embedder's vectors for every memory, staged, then in place in one step."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from damage import edit

import ebbmem
from ebbmem import (
    AgenticMemory,
    CallableEmbedder,
    Database,
    EpisodicMemoryStore,
    HashingEmbedder,
    recipes,
)
from ebbmem.errors import EmbedderMismatch, StoreError

REPOSITORY = Path(__file__).resolve().parents[1]
TEXTS = [f"fact number {n}" for n in range(600)]


def vectors(texts: Sequence[str], dim: int, salt: str) -> np.ndarray:
    """Return vectors that follow from salt and text."""
    seeds = [hashlib.sha256(f"{salt}{text}".encode()).digest()[:8] for text in texts]
    made = [np.random.default_rng(int.from_bytes(s, "big")).normal(size=dim) for s in seeds]
    return np.array(made, dtype=np.float32).reshape(len(texts), dim)


def embedder(name: str, dim: int = 8, salt: str | None = None) -> CallableEmbedder:
    return CallableEmbedder(lambda texts: vectors(texts, dim, salt or name), dim=dim, name=name)


OLD = embedder("old")
NEW = embedder("new", 16)
LANES = {"recipe": recipes.SIMILARITY}


@pytest.fixture
def db(path: Path) -> Database:
    with Database(path) as db:
        EpisodicMemoryStore(db=db, embedder=OLD).remember_many(TEXTS[:300])
        EpisodicMemoryStore(db=db, embedder=OLD, scope="second").remember_many(TEXTS[300:])
        yield db


def stored(path: Path) -> dict[str, bytes]:
    joined = "SELECT m.summary, v.vector FROM vectors AS v JOIN memories AS m USING (row_id)"
    return dict(edit(path, joined))


def expected(one: CallableEmbedder, texts: Sequence[str]) -> dict[str, bytes]:
    made = one.embed_many(list(texts))
    return {text: row.tobytes() for text, row in zip(texts, made, strict=True)}


def best(db: Database, one: object, text: str, scope: str = "default") -> str:
    store = EpisodicMemoryStore(db=db, embedder=one, scope=scope)
    return store.recall(text, recipe=recipes.SIMILARITY).memories[0].summary


class TestSwitch:
    def test_every_memory_has_the_new_vector_and_no_other(self, db: Database, path: Path) -> None:
        report = db.reembed(NEW)

        assert (report.memories, report.embedded, report.changed) == (600, 600, True)
        assert stored(path) == expected(NEW, TEXTS)
        assert edit(path, "SELECT count(*) FROM staged") == [(0,)]
        assert db.verify().ok

    def test_recall_is_that_of_a_store_made_with_it(self, db: Database, tmp_path: Path) -> None:
        best(db, OLD, "fact number 7")
        db.reembed(NEW)
        with Database(tmp_path / "fresh.db") as other:
            fresh = EpisodicMemoryStore(db=other, embedder=NEW)
            fresh.remember_many(TEXTS[:300])
            changed = EpisodicMemoryStore(db=db, embedder=NEW)
            for cue in ("fact number 7", "something else"):
                hits = [
                    [(hit.number, hit.similarity) for hit in store.recall(
                        cue, recipe=recipes.SIMILARITY, min_score=-1.0, reinforce=False)]
                    for store in (fresh, changed)
                ]  # fmt: skip
                assert hits[0] == hits[1]

    def test_the_same_embedder_changes_nothing(self, db: Database) -> None:
        assert db.reembed(OLD) == ebbmem.ReembedReport(0, 0, changed=False)

    def test_the_same_name_with_another_dimension(self, db: Database) -> None:
        best(db, OLD, "fact number 7")
        wider = embedder("old", 32)
        db.reembed(wider)
        assert best(db, wider, "fact number 7") == "fact number 7"

    def test_there_and_back_again(self, db: Database, path: Path) -> None:
        best(db, OLD, "fact number 7")
        before = stored(path)
        db.reembed(NEW)
        EpisodicMemoryStore(db=db, embedder=NEW).remember("one more")
        db.reembed(OLD)
        assert stored(path) == before | expected(OLD, ["one more"])
        assert best(db, OLD, "one more") == "one more"
        assert db.verify().ok

    def test_from_words_to_vectors_and_back(self, path: Path) -> None:
        with Database(path) as db:
            words = EpisodicMemoryStore(db=db)
            words.remember_many(TEXTS)
            words.recall("fact", recipe=recipes.SIMILARITY)

            assert db.reembed(NEW).memories == 600
            assert stored(path) == expected(NEW, TEXTS)
            with pytest.raises(EmbedderMismatch):
                words.recall("fact")
            assert best(db, NEW, "fact number 7") == "fact number 7"

            assert db.reembed(HashingEmbedder()).changed
            assert stored(path) == {}
            assert best(db, HashingEmbedder(), "fact number 7") == "fact number 7"
            EpisodicMemoryStore(db=db).remember("goes on")

    def test_an_empty_store_is_bound(self, path: Path) -> None:
        with Database(path) as db:
            assert db.reembed(NEW).memories == 0
            with pytest.raises(EmbedderMismatch):
                EpisodicMemoryStore(db=db, embedder=OLD)

    def test_a_store_in_ram(self) -> None:
        with Database(":memory:") as db:
            EpisodicMemoryStore(db=db, embedder=OLD).remember("fact")
            assert db.reembed(NEW).memories == 1
            assert best(db, NEW, "fact") == "fact"


class TestMeanwhile:
    def test_what_is_remembered_meanwhile_gets_its_vector_before_the_switch(
        self, db: Database, path: Path
    ) -> None:
        store = EpisodicMemoryStore(db=db, embedder=OLD)
        calls = 0

        def made(texts: Sequence[str]) -> np.ndarray:
            nonlocal calls
            calls += 1
            if calls <= 5:
                store.remember(f"said meanwhile {calls}")
                assert store.recall("fact number 9", recipe=recipes.SIMILARITY).memories
            return vectors(texts, 16, "new")

        db.reembed(CallableEmbedder(made, dim=16, name="new"))

        said = [f"said meanwhile {n}" for n in range(1, 6)]
        assert stored(path) == expected(NEW, [*TEXTS, *said])

    def test_what_is_erased_meanwhile_leaves_no_vector(self, db: Database, path: Path) -> None:
        store = EpisodicMemoryStore(db=db, embedder=OLD)
        secret = store.recall("fact number 3", recipe=recipes.SIMILARITY).memories[0].id
        erased = False

        def made(texts: Sequence[str]) -> np.ndarray:
            nonlocal erased
            if "fact number 3" not in texts and not erased:
                store.erase(secret)
                erased = True
            return vectors(texts, 16, "new")

        db.reembed(CallableEmbedder(made, dim=16, name="new"))

        assert stored(path) == expected(NEW, [t for t in TEXTS if t != "fact number 3"])

    def test_threads_recall_with_the_old_one_until_the_switch(self, db: Database) -> None:
        outcomes: list[str] = []

        def recall() -> None:
            store = EpisodicMemoryStore(db=db, embedder=OLD)
            while True:
                try:
                    hit = store.recall("fact number 9", recipe=recipes.SIMILARITY).memories[0]
                except EmbedderMismatch:
                    return
                outcomes.append(hit.summary)

        threads = [threading.Thread(target=recall) for _ in range(3)]
        for thread in threads:
            thread.start()
        db.reembed(slowly(NEW))
        for thread in threads:
            thread.join(20)
        assert not any(thread.is_alive() for thread in threads)
        assert outcomes
        assert set(outcomes) == {"fact number 9"}
        assert best(db, NEW, "fact number 9") == "fact number 9"

    def test_old_handles_are_refused_after_it(self, db: Database) -> None:
        old = EpisodicMemoryStore(db=db, embedder=OLD)
        old.recall("fact", recipe=recipes.SIMILARITY)
        db.reembed(NEW)
        for call in (lambda: old.recall("fact"), lambda: old.remember("x"), lambda: reopened(db)):
            with pytest.raises(EmbedderMismatch, match="'new' \\(dim 16\\)"):
                call()

    def test_an_old_handle_without_vectors_writes_nothing_after_it(self, path: Path) -> None:
        """It went on to remember, while its recall was refused."""
        with Database(path) as db:
            old = AgenticMemory(db)
            known = old.remember("fact", keywords=["a"])
            db.reembed(NEW)
            for call in (
                lambda: old.recall("fact"),
                lambda: old.remember("plain"),
                lambda: old.remember("linked", keywords=["a"]),
                lambda: old.remember_many(["one", "two"]),
                lambda: old.correct(known.id, "another fact"),
                lambda: old.add_turn("user", "said"),
            ):
                with pytest.raises(EmbedderMismatch, match=r"'new' \(dim 16\)"):
                    call()
            assert (db.stats()[0].memories, db.stats()[0].turns) == (1, 0)
            assert stored(path) == expected(NEW, ["fact"])
            AgenticMemory(db, embedder=NEW).add_turn("user", "said")

    def test_handles_of_other_processes_are_refused_at_their_next_use(
        self, db: Database, path: Path
    ) -> None:
        for name in ("OLD", "HashingEmbedder()"):
            db.reembed(OLD if name == "OLD" else HashingEmbedder())
            code = f"""
import sys
from test_reembedding import *
db = Database({str(path)!r})
store = EpisodicMemoryStore(db=db, embedder={name})
for recipe in (recipes.DEFAULT, recipes.SIMILARITY):
    assert store.recall("fact number 9", recipe=recipe).memories[0].summary == "fact number 9"
print("ready", flush=True)
sys.stdin.readline()
# Remembering first: nothing has looked at the store since.
for call, options in ((store.remember, {{}}), (store.recall, {{}}), (store.recall, LANES)):
    try:
        call("fact number 9", **options)
    except EmbedderMismatch:
        print("refused", flush=True)
new = EpisodicMemoryStore(db=db, embedder=NEW)
print(new.recall("fact number 9", recipe=recipes.SIMILARITY).memories[0].summary, flush=True)
"""
            with child(code) as process:
                assert process.stdout.readline() == "ready\n"
                db.reembed(NEW)
                process.stdin.write("\n")
                process.stdin.flush()
                told = process.stdout.read().splitlines()
            assert told == ["refused", "refused", "refused", "fact number 9"]
            assert edit(path, "SELECT count(*) FROM memories") == [(600,)]

    def test_two_calls_for_one_embedder_both_end_well(self, db: Database, path: Path) -> None:
        errors: list[BaseException] = []

        def run() -> None:
            try:
                db.reembed(slowly(NEW))
            except StoreError as error:
                errors.append(error)

        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert stored(path) == expected(NEW, TEXTS)

    def test_a_call_for_a_third_embedder_ends_the_first(self, db: Database, path: Path) -> None:
        third = embedder("third", 4)

        def made(texts: Sequence[str]) -> np.ndarray:
            db.reembed(third)
            return vectors(texts, 16, "new")

        with pytest.raises(StoreError, match="changed by another call"):
            db.reembed(CallableEmbedder(made, dim=16, name="new"))
        assert stored(path) == expected(third, TEXTS)


def reopened(db: Database) -> None:
    EpisodicMemoryStore(db=db, embedder=OLD)


def slowly(one: CallableEmbedder) -> CallableEmbedder:
    def made(texts: Sequence[str]) -> np.ndarray:
        time.sleep(0.02)
        return vectors(texts, one.dim, one.name)

    return CallableEmbedder(made, dim=one.dim, name=one.name)


def child(code: str) -> subprocess.Popen[str]:
    folders = [str(REPOSITORY), str(REPOSITORY / "tests")]
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_lane_takes_no_vector_of_another_dimension_under_the_same_name() -> None:
    with Database(":memory:") as db:
        narrow = EpisodicMemoryStore(db, embedder=embedder("x", 2), recipe=recipes.SIMILARITY)
        narrow.remember("first")
        narrow.recall("builds a lane")
        db.reembed(embedder("x", 3))
        wide = EpisodicMemoryStore(db, embedder=embedder("x", 3), recipe=recipes.SIMILARITY)
        wide.remember("second")
        assert len(wide.recall("both", min_score=-1.0)) == 2
        assert db.verify().ok
