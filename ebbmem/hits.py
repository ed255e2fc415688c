"""What a recall found: the few best candidates, as Python values, and how each came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem.models import Explanation

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

SUPERSEDED = "superseded"
OVER_BUDGET = "over budget"
_NUMBERS = {
    "similarity": "similarity",
    "cascade_score": "cascade",
    "retrievability": "retrievability",
}
"""A hit's fields, and where `Ranked` has them."""


class Ranked(NamedTuple):
    """The best candidates, best first.

    ``slots`` and ``scores`` have a value per candidate.  What few ask for stays where it was
    computed: ``similarity cascade retrievability`` and ``parts``, the terms of the score by name,
    are columns over all that was scored, and ``positions`` says where in them a candidate is.
    ``lanes`` are the slots that each lane put forward, its best first; ``paths`` the numbers of
    the memories that activation came along, by slot; ``notes`` by slot.
    """

    recipe: str
    slots: I64
    scores: Sequence[float]
    positions: Sequence[int]
    similarity: F64
    cascade: F64
    retrievability: F64
    parts: Mapping[str, F64]
    lanes: Mapping[str, I64]
    paths: Mapping[int, tuple[int, ...]]
    notes: Mapping[int, str]

    def part(self, at: int, name: str) -> Any:
        """Return a field of one candidate as a hit, other than its score."""
        if name == "explanation":
            return self.explanation(at)
        values: F64 = getattr(self, _NUMBERS[name])
        return values[self.positions[at]].item()

    def explanation(self, at: int) -> Explanation:
        """Return how the score of one candidate came about."""
        slot, position = self.slots[at].item(), self.positions[at]
        places = {lane: np.flatnonzero(slots == slot) for lane, slots in self.lanes.items()}
        return Explanation(
            recipe=self.recipe,
            terms={name: values[position].item() for name, values in self.parts.items()},
            ranks={lane: int(place[0]) + 1 for lane, place in places.items() if len(place)},
            path=self.paths.get(slot, ()),
            note=self.notes.get(slot, ""),
        )


NO_CASCADE: F64 = np.broadcast_to(np.float64(0.0), np.iinfo(np.int32).max)
"""The column of who spreads no activation: a single zero, however many were scored."""
_NONE: F64 = np.empty(0)
NOTHING = Ranked("", np.empty(0, np.int64), (), (), _NONE, _NONE, _NONE, {}, {}, {}, {})


class Answer(NamedTuple):
    """What recall found: places in ``ranked`` of the hits, and of what was skipped."""

    ranked: Ranked = NOTHING
    hits: Sequence[int] = range(0)
    """A range where it is all that was ranked."""
    skipped: Sequence[int] = ()

    def slots(self) -> I64:
        """Return the slots of hits and skipped, in this order."""
        slots, places = self.ranked.slots, self.places()
        return slots if isinstance(places, range) else slots[list(places)]

    def similarity(self) -> F64:
        """Return the similarity of the hits and skipped, in this order."""
        positions, places = self.ranked.positions, self.places()
        if isinstance(positions, range) and isinstance(places, range):
            return self.ranked.similarity
        return self.ranked.similarity[[positions[at] for at in places]]

    def places(self) -> Sequence[int]:
        """Return the places of hits and skipped, in this order."""
        return [*self.hits, *self.skipped] if self.skipped else self.hits


def cut(ranked: Ranked, min_score: float) -> Answer:
    """Split the best candidates at ``min_score``."""
    scores = ranked.scores
    if not scores or min(scores) >= min_score:
        return Answer(ranked, range(len(scores)))
    hits = [at for at, score in enumerate(scores) if score >= min_score]
    return Answer(ranked, hits, [at for at, score in enumerate(scores) if score < min_score])


def known(answer: Answer, slots: Mapping[int, object]) -> Answer:
    """Return the answer without what is not among some slots."""
    every = answer.ranked.slots.tolist()
    hits, skipped = (
        [at for at in part if every[at] in slots] for part in (answer.hits, answer.skipped)
    )
    return Answer(answer.ranked, hits, skipped)


def budgeted(answer: Answer, sizes: Mapping[int, int], token_budget: int) -> Answer:
    """Return the answer with the hits that fit a budget, taken greedily in order.

    ``sizes`` maps a slot to its size in tokens.  A hit that does not fit is marked and moves to
    the skipped ones; later, smaller ones may still fit.
    """
    left = token_budget
    kept, over = [], []
    slots = answer.ranked.slots.tolist()
    for at in answer.hits:
        size = sizes[slots[at]]
        if size <= left:
            left -= size
            kept.append(at)
        else:
            over.append(at)
    noted = dict.fromkeys((slots[at] for at in over), OVER_BUDGET)
    ranked = answer.ranked._replace(notes={**answer.ranked.notes, **noted})
    return Answer(ranked, kept, [*over, *answer.skipped])
