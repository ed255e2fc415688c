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
CONFLICT = "in conflict with"
AHEAD_OF_OLDER = "ahead of an older match alike"
BEHIND_NEWER = "behind a newer match alike"
AHEAD_OF_NEWER = "ahead of a newer match alike: the cue asks about the past"
BEHIND_OLDER = "behind an older match alike: the cue asks about the past"
"""Notes of hits whose score is that of another, with which they changed places."""
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


class Answer:
    """What recall found: places in ``ranked`` of the hits, and of what was skipped.

    ``places``, ``slots``, ``scores`` and ``similarity`` are of both, the hits first.

    Parameters
    ----------
    ranked : Ranked
    hits, skipped : sequence of int, optional
        Places; by default everything is a hit.
    """

    __slots__ = ("hits", "places", "ranked", "scores", "similarity", "skipped", "slots")

    def __init__(
        self,
        ranked: Ranked = NOTHING,
        hits: Sequence[int] | None = None,
        skipped: Sequence[int] = (),
    ) -> None:
        self.ranked = ranked
        self.skipped = skipped
        self.slots: I64 = ranked.slots
        self.scores = ranked.scores
        self.similarity: F64 = ranked.similarity
        self.hits: Sequence[int] = range(len(ranked.scores)) if hits is None else hits
        self.places = self.hits
        if hits is not None:
            self.places = [*hits, *skipped]
            self.slots = self.slots[self.places]
            self.scores = [self.scores[at] for at in self.places]
        if not (hits is None and isinstance(ranked.positions, range)):
            self.similarity = self.similarity[[ranked.positions[at] for at in self.places]]


def moved(slots: I64, own: F64, shown: F64, *, past: bool) -> dict[int, str]:
    """Return the notes of those whose place has another score than their own."""
    ahead, behind = (AHEAD_OF_NEWER, BEHIND_OLDER) if past else (AHEAD_OF_OLDER, BEHIND_NEWER)
    rows = zip(slots.tolist(), own.tolist(), shown.tolist(), strict=True)
    return {slot: ahead if new > old else behind for slot, old, new in rows if new != old}


def cut(ranked: Ranked, min_score: float) -> Answer:
    """Split the best candidates at ``min_score``."""
    scores = ranked.scores
    if not scores or min(scores) >= min_score:
        return Answer(ranked)
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
