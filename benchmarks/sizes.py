"""How large the inputs of the contests are: in full, or small for a smoke test."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Numbers of rows, texts, nodes and memories; figures are stated for ``FULL`` alone."""

    texts: int
    few_texts: int
    rows: tuple[tuple[int, int], ...]
    ann_rows: int
    columns: int
    bm25_texts: int
    nodes: tuple[int, ...]
    memories: tuple[int, ...]
    judged: bool

    def shown(self, count: int) -> str:
        """Return a count as the table shows it."""
        return f"{count:.0e}".replace("e+0", "e") if count >= 1_000 else str(count)


FULL = Sizes(
    texts=1_000,
    few_texts=200,
    rows=((1_000_000, 256), (100_000, 384)),
    ann_rows=100_000,
    columns=1_000_000,
    bm25_texts=100_000,
    nodes=(100_000, 1_000_000),
    memories=(1_000, 100_000),
    judged=True,
)
QUICK = Sizes(
    texts=50,
    few_texts=10,
    rows=((2_000, 32),),
    ann_rows=500,
    columns=2_000,
    bm25_texts=500,
    nodes=(500,),
    memories=(100,),
    judged=False,
)
