"""reembed with embedders that become others, or make vectors near the end of what a float holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from test_reembedding import OLD, TEXTS, db, expected, stored

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
