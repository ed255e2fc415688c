"""The associative seed's quickstart, as written there, and what it brings back."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ebbmem import AgenticMemory, Fleet, ManualClock, Tier, recipes, run_consolidation

# Its own words; only the package is named ebbmem.
QUICKSTART = """\
from ebbmem import Database, EpisodicMemoryStore, HashingEmbedder, InMemoryVectorStore

# 1. Set up storage (SQLite for records + graph, a vector store for similarity)
db = Database("memory.sqlite")
db.run_migrations()

store = EpisodicMemoryStore(
    db=db,
    vector_store=InMemoryVectorStore(),   # or: ChromaVectorStore(path="./chroma")
    embedder=HashingEmbedder(),           # or: SentenceTransformerEmbedder()
)

# 2. Encode memories — 'related_to' wires them into the associative graph
store.remember(summary="Started learning classical guitar", keywords=["guitar", "hobby"],
               emotional_valence=0.6, emotional_intensity=0.5)
store.remember(summary="Practices every morning for 30 min", keywords=["routine"],
               related_to=["guitar", "hobby"], memory_type="procedural")

# 3. Recall — vector familiarity + spreading activation, ranked & token-budgeted
result = store.recall("morning guitar practice")
for m in result.memories:
    print(f"{m.final_score:.3f}  {m.summary}   (cascade={m.cascade_score:.2f})")

# 4. A future intention
store.remember_intention(action="Book a guitar setup", trigger="when strings buzz")

# 5. The nightly "sleep" pass (maturation / aging / dreaming)
from ebbmem import run_consolidation
run_consolidation(db)   # pass llm=... to also generate cross-context hypotheses
"""

GUITAR = "Started learning classical guitar"
ROUTINE = "Practices every morning for 30 min"


@pytest.fixture
def ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[str, Any]:
    """Run the quickstart in a folder of its own; return its names, and under "said" its output."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    exec(compile(QUICKSTART, "quickstart", "exec"), namespace)
    return {**namespace, "said": capsys.readouterr().out}


def test_recall_brings_back_both_memories(ran: dict[str, Any]) -> None:
    assert {hit.summary for hit in ran["result"].memories} == {GUITAR, ROUTINE}
    assert not ran["result"].abstained
    assert [hit.number for hit in sorted(ran["result"], key=lambda hit: hit.number)] == [1, 2]


def test_it_prints_a_line_per_memory(ran: dict[str, Any]) -> None:
    lines = [
        f"{hit.final_score:.3f}  {hit.summary}   (cascade={hit.cascade_score:.2f})"
        for hit in ran["result"]
    ]

    assert ran["said"].splitlines() == lines


def test_related_memories_are_linked_both_ways_and_carry_activation(ran: dict[str, Any]) -> None:
    ids = {hit.summary: hit.id for hit in ran["result"]}

    assert [link.target for link in ran["store"].neighbors(ids[GUITAR])] == [ids[ROUTINE]]
    assert [link.target for link in ran["store"].neighbors(ids[ROUTINE])] == [ids[GUITAR]]
    assert max(hit.cascade_score for hit in ran["result"]) > 0


def test_the_intention_waits_apart_from_facts(ran: dict[str, Any]) -> None:
    (intention,) = ran["store"].due()

    assert (intention.action, intention.trigger) == ("Book a guitar setup", "when strings buzz")
    assert "setup" not in " ".join(hit.summary for hit in ran["store"].recall("guitar setup"))


def test_consolidation_reports_what_it_did(ran: dict[str, Any]) -> None:
    report = run_consolidation(ran["db"])

    assert (report.scopes, report.dry_run) == (1, False)
    assert (report.archived, report.expired) == (0, 0)
    assert ran["store"].stats().memories == 2


def test_it_is_all_there_after_reopening(ran: dict[str, Any]) -> None:
    ran["db"].close()

    with AgenticMemory("memory.sqlite") as memory:
        assert {hit.summary for hit in memory.recall("guitar")} == {GUITAR, ROUTINE}
        assert [i.action for i in memory.due()] == ["Book a guitar setup"]


def test_a_memory_without_a_word_of_the_cue_is_brought_up_by_another(tmp_path: Path) -> None:
    with AgenticMemory(tmp_path / "m.db") as memory:
        memory.remember("Adopted a puppy named Rex", keywords=["dog", "pet"])
        memory.remember("Bought a leash and kibble", keywords=["supplies"], related_to=["dog"])
        memory.remember("Paid the electricity bill")

        hits = memory.recall("Rex").memories

    assert [hit.summary for hit in hits] == [
        "Adopted a puppy named Rex",
        "Bought a leash and kibble",
    ]
    assert hits[0].cascade_score < hits[1].cascade_score
    assert hits[1].similarity == 0.0
    assert hits[1].explanation.path == (1, 2)


def test_the_seeds_decay_and_recall_by_the_clock(tmp_path: Path) -> None:
    clock = ManualClock()
    with AgenticMemory(tmp_path / "m.db", recipe=recipes.ASSOCIATIVE, clock=clock) as memory:
        kept = memory.remember("Practices guitar for 30 minutes every morning")
        clock.advance(days=20)
        (hit,) = memory.recall("guitar").memories
        # 0.55 * exp(-0.01 * (1 - 0.75 * 0.1) * 480 h)
        assert hit.retrievability == pytest.approx(0.0064882, rel=1e-4)
        again = memory.get(kept.id)

    # S: 0.1 + 0.1 * (1 - 0.0064882) * 0.9, then R: 0.5 + 0.5 * S
    assert again.storage_strength == pytest.approx(0.1894161, rel=1e-5)
    assert again.retrievability == pytest.approx(0.5947080, rel=1e-5)
    assert again.access_count == 2


def test_the_tour_of_the_public_surface(tmp_path: Path) -> None:
    clock = ManualClock()
    with Fleet(tmp_path / "fleet.db", index_budget="2GiB", clock=clock) as fleet:
        memory = fleet["researcher-7"]
        memory.add_turn("user", "I'm allergic to peanuts")
        first = memory.remember("Adopted a puppy named Rex", keywords=["dog"], importance=8)
        hit = memory.recall("Rex", top_k=5, token_budget=400).memories[0]
        assert (hit.id, hit.number, hit.scope) == (first.id, first.number, "researcher-7")

        corrected = memory.correct(hit.id, "Rex is a cat")
        assert memory.recall("Rex").memories[0].id == corrected.id
        assert memory.get(hit.id).superseded_by == corrected.id

        memory.remember_intention(action="Book", trigger="soon", expires_in="30d")
        assert len(memory.due()) == 1
        assert memory.due(now=clock.now_us() / 1e6 + timedelta(days=31).total_seconds()) == []

        memory.archive(corrected.id)
        assert memory.get(corrected.id).tier is Tier.ARCHIVE
        assert memory.erase(hit.id).count == 1
        assert fleet["another"].recall("Rex").abstained
