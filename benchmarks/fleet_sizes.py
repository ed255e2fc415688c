"""How large the fleets are: in full, or small for a smoke test."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True)
class FleetSizes:
    """Numbers of scopes, memories and calls; figures are stated for ``FULL`` alone."""

    scopes: int
    memories: int
    """In each of these."""
    budgets: tuple[int, ...]
    """Bytes; the last holds every scope."""
    warm_each: int
    """Recalls in a scope right after it was loaded, where not all of them fit."""
    warm: int
    """Recalls in scopes at random, where all of them fit."""
    texts: int
    """Different ones."""
    remembers: int
    """By one caller or by each thread, in each round."""
    batch: int
    in_one: int
    """Memories of the one scope of the store that is opened."""
    opens: int
    judged: bool


FULL = FleetSizes(
    scopes=2_000,
    memories=1_000,
    budgets=(64 * MIB, 192 * MIB, 384 * MIB, 2_048 * MIB),
    warm_each=3,
    warm=6_000,
    texts=100_000,
    remembers=1_000,
    batch=1_000,
    in_one=100_000,
    opens=5,
    judged=True,
)
QUICK = FleetSizes(
    scopes=20,
    memories=50,
    budgets=(MIB // 4, 2_048 * MIB),
    warm_each=2,
    warm=50,
    texts=200,
    remembers=20,
    batch=50,
    in_one=200,
    opens=1,
    judged=False,
)
