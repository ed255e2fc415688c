"""reembed that fails: of embedders that raise or become others, of processes that are killed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from damage import edit
from test_reembedding import NEW, OLD, TEXTS, best, child, db, embedder, expected, stored, vectors

import ebbmem
from ebbmem import CallableEmbedder, Database
from ebbmem.errors import EmbedderFailed

__all__ = ["db"]


class Fickle:
    """An embedder that becomes another one in the middle."""

    def __init__(self, **later: object) -> None:
        self.name, self.dim, self._later, self._calls = "fickle", 8, later, 0

    def embed_many(self, texts: Sequence[str]) -> np.ndarray:
        self._calls += 1
        if self._calls == 2:
            vars(self).update(self._later)
        return np.ones((len(texts), self.dim), dtype=np.float32)


def stop_at_the_last(db: Database) -> None:
    """Begin to make the vectors of `NEW`, by an embedder that fails over the last text."""

    def stopped(texts: Sequence[str]) -> np.ndarray:
        if "fact number 599" in texts:
            raise RuntimeError
        return vectors(texts, 16, "new")

    with pytest.raises(EmbedderFailed):
        db.reembed(CallableEmbedder(stopped, dim=16, name="new"))


@pytest.mark.parametrize("later", [{"dim": 16}, {"name": "other"}])
def test_an_embedder_that_becomes_another_is_refused(
    db: Database, path: Path, later: dict[str, object]
) -> None:
    with pytest.raises(EmbedderFailed, match="stay 'fickle'"):
        db.reembed(Fickle(**later))
    assert stored(path) == expected(OLD, TEXTS)
    assert db.verify().ok


def test_large_vectors_warn_of_nothing(db: Database, recwarn: pytest.WarningsRecorder) -> None:
    large = CallableEmbedder(lambda texts: np.full((len(texts), 8), 3e38), dim=8, name="large")
    db.reembed(large)
    assert [str(one.message) for one in recwarn] == []


class TestFailure:
    @pytest.mark.parametrize(
        "made",
        [
            lambda texts: 1 / 0,
            lambda texts: vectors(texts, 7, "new"),
            lambda texts: vectors(texts, 16, "new") * np.nan,
            lambda texts: vectors(texts, 16, "new")[:-1],
        ],
    )
    def test_an_embedder_that_fails_leaves_the_store_as_it_was(
        self, db: Database, path: Path, made: Callable[[Sequence[str]], np.ndarray]
    ) -> None:
        before = stored(path)

        def third_time(texts: Sequence[str]) -> np.ndarray:
            if "fact number 599" in texts:
                return made(texts)
            return vectors(texts, 16, "new")

        with pytest.raises(EmbedderFailed):
            db.reembed(CallableEmbedder(third_time, dim=16, name="new"))

        assert stored(path) == before
        assert best(db, OLD, "fact number 7") == "fact number 7"
        report = db.reembed(NEW)
        assert (report.memories, report.embedded) == (600, 88)
        assert stored(path) == expected(NEW, TEXTS)

    def test_another_embedder_begins_anew(self, db: Database, path: Path) -> None:
        stop_at_the_last(db)
        third = embedder("third", 16)
        assert db.reembed(third).embedded == 600
        assert stored(path) == expected(third, TEXTS)

    def test_kill_9_anywhere_leaves_old_or_new_and_the_work_goes_on(
        self, db: Database, path: Path
    ) -> None:
        db.close()
        code = f"""
from test_reembedding import *
db = Database({str(path)!r})
print("ready", flush=True)
db.reembed(slowly(NEW))
"""
        old, new = expected(OLD, TEXTS), expected(NEW, TEXTS)
        for delay_s in (0.0, 0.01, 0.03, 0.05, 0.06, 0.07, 0.08, 0.1):
            with child(code) as process:
                process.stdout.readline()
                time.sleep(delay_s)
                process.kill()
            assert stored(path) in (old, new)
            assert ebbmem.verify(path).ok
        with Database(path) as again:
            again.reembed(NEW)
            assert stored(path) == new
            assert best(again, NEW, "fact number 7") == "fact number 7"

    def test_a_repair_keeps_the_old_vectors(self, db: Database, path: Path) -> None:
        stop_at_the_last(db)
        db.close()
        edit(path, "UPDATE staged SET vector = zeroblob(64) WHERE row_id & 255 = 2")
        assert not ebbmem.verify(path).ok
        ebbmem.repair(path)
        assert stored(path) == expected(OLD, TEXTS)
        with Database(path) as again:
            assert again.reembed(NEW).embedded == 600
