"""The published embedders bring back as much of the evidence as measured for them elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from quality import locomo

from ebbmem import HashingEmbedder, _core

NEAR = 0.004
# R@5, R@10, hit@10, MRR over 760 questions; ties oldest first.
ROWS = {
    HashingEmbedder(256): (0.161, 0.217, 0.246, 0.143),
    HashingEmbedder(1024): (0.211, 0.266, 0.300, 0.174),
    HashingEmbedder(256, sign="seed", split="lower_split"): (0.116, 0.158, 0.178, 0.098),
}


def answers(
    conversation: locomo.Conversation, embedder: HashingEmbedder
) -> list[tuple[locomo.Question, list[str]]]:
    """Return the turns of a conversation by cosine with each of its questions."""
    texts = [f"{line['name']}: {line['content']}" for line in conversation.lines]
    ids = [line["id"] for line in conversation.lines]
    arena = _core.Arena(embedder.dim)
    arena.append(embedder.embed_many(texts))
    oldest_first = -np.arange(len(texts), dtype=np.int64)
    cues = embedder.embed_many([question.text for question in conversation.questions])
    found = []
    for question, cue in zip(conversation.questions, cues, strict=True):
        slots, _, _ = _core.top_affine(arena, cue, None, None, oldest_first, None, len(texts))
        found.append((question, [ids[slot] for slot in slots]))
    return found


@pytest.mark.parametrize("embedder", ROWS, ids=lambda embedder: embedder.name)
def test_the_published_embedders_find_what_was_measured(
    data_dir: Path, embedder: HashingEmbedder
) -> None:
    source = data_dir / "locomo_dev.json.gz"
    if not source.is_file():
        pytest.skip(f"no {source.name} among the data sets")

    found = locomo.quality(
        [one for each in locomo.conversations(source) for one in answers(each, embedder)]
    )

    assert _figures(found) == pytest.approx(ROWS[embedder], abs=NEAR)


def _figures(found: locomo.Quality) -> tuple[float, ...]:
    return (found.recall_at_5, found.recall_at_10, found.hit_at_10, found.mrr)
