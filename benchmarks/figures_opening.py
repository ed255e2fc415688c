"""Figures of opening a large store: how long it takes to the first answer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import data
import peers
from figures import Figure
from figures_scopes import apart
from fleet_sizes import FleetSizes
from fleet_stores import name

from ebbmem import Fleet, HashingEmbedder

OPEN_S, FASTER = 0.8, 1.0
BATCH = 5_000


def opening(sizes: FleetSizes, folder: Path) -> Iterator[Figure]:
    """Open a store with one large scope and ask it, beside chromadb with the same embedder."""
    stores = {"ebbmem": folder / "large.db", "chromadb": folder / "chroma"}
    texts = data.texts(sizes.in_one)
    built = stores["ebbmem"].exists()
    with Fleet(stores["ebbmem"]) as fleet:
        for first in range(0, 0 if built else len(texts), BATCH):
            fleet.remember_many((name(0), text) for text in texts[first : first + BATCH])
        cue = data.cues(1)[0]
        right = [hit.summary for hit in fleet[name(0)].recall(cue, reinforce=False)]
    if peers.load("chromadb") is None:
        del stores["chromadb"]
    elif not built:
        peers.Chroma(stores["chromadb"], HashingEmbedder().embed_many).remember_many(texts)
    took: dict[str, list[tuple[float, float]]] = {who: [] for who in stores}
    for _ in range(sizes.opens):
        for who, store in stores.items():
            found = apart("open", who, str(store))
            assert found["found"] == right if who == "ebbmem" else len(found["found"]) > 0
            took[who].append((found["cpu_s"], found["wall_s"]))
    work = f"open {len(texts):,} memories in one scope, to the first answer"
    yield from _shown(work, took)


def _shown(work: str, took: dict[str, list[tuple[float, float]]]) -> Iterator[Figure]:
    for at, clock in enumerate(("CPU", "wall")):
        most = OPEN_S if clock == "CPU" else None
        ours = [one[at] for one in took["ebbmem"]]
        theirs = [one[at] for one in took.get("chromadb", [])]
        ratio = median(b / a for a, b in zip(ours, theirs, strict=True)) if theirs else math.nan
        rival_s = median(theirs) if theirs else math.nan
        yield Figure(work, clock, median(ours), "s", at_most=most)
        yield Figure(work, f"chromadb, {clock}", rival_s, "s")
        yield Figure(work, f"chromadb over ebbmem, {clock}", ratio, "x", at_least=FASTER)
