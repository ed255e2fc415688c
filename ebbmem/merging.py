"""Answers of several scopes to one cue, as one answer."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from ebbmem.hits import OVER_BUDGET, Answer


class Part(NamedTuple):
    """What one scope answered.

    ``created_us`` has the moment at which each of its hits and skipped was made, in the order of
    ``answer.places``; ``sizes`` maps a slot to its size in tokens.
    """

    answer: Answer
    created_us: Sequence[int]
    sizes: Mapping[int, int]


class Merged(NamedTuple):
    """Each part's share of the whole answer; ``hits`` and ``skipped`` say whose is the next."""

    answers: Sequence[Answer]
    hits: Sequence[int]
    skipped: Sequence[int]


class _Candidate(NamedTuple):
    """One of a part's hits or skipped, so that the better of two is the lesser."""

    minus_score: float
    minus_created_us: int
    part: int
    slot: int
    at: int
    skipped: bool


def merged(parts: Sequence[Part], top_k: int, token_budget: int | None) -> Merged:
    """Return the best of several answers.

    Parameters
    ----------
    parts : sequence of Part
        None of them cut at a budget.
    top_k : int
        Hits and skipped, at most, of all parts together.
    token_budget : int or None
        Size of all hits together; they are taken greedily, as by `hits.budgeted`.

    Returns
    -------
    Merged
        Ties: higher score, then newer, then the part named first; what is of one part stays in
        the order of its answer.
    """
    # Each part in its own order: for a cue about the past the older comes first.
    every = heapq.merge(*(_candidates(n, part) for n, part in enumerate(parts)))
    best = list(islice(every, top_k))
    kept, over, left = [], [], token_budget
    for one in best:
        size = parts[one.part].sizes[one.slot]
        if one.skipped:
            continue
        if left is None:
            kept.append(one)
        elif size <= left:
            left -= size
            kept.append(one)
        else:
            over.append(one)
    skipped = [*over, *(one for one in best if one.skipped)]
    answers = [_share(n, part.answer, kept, over, skipped) for n, part in enumerate(parts)]
    return Merged(answers, [one.part for one in kept], [one.part for one in skipped])


def _candidates(n: int, part: Part) -> list[_Candidate]:
    """Return the hits and skipped of one part."""
    answer, ranked = part.answer, part.answer.ranked
    slots, hits = answer.slots.tolist(), len(answer.hits)
    return [
        _Candidate(-ranked.scores[at], -created_us, n, slot, at, place >= hits)
        for place, (at, slot, created_us) in enumerate(
            zip(answer.places, slots, part.created_us, strict=True)
        )
    ]


def _share(
    n: int,
    answer: Answer,
    kept: Sequence[_Candidate],
    over: Sequence[_Candidate],
    skipped: Sequence[_Candidate],
) -> Answer:
    """Return what is left of one part's answer."""
    noted = {one.slot: OVER_BUDGET for one in over if one.part == n}
    ranked = answer.ranked._replace(notes={**answer.ranked.notes, **noted})
    hits, rest = ([one.at for one in some if one.part == n] for some in (kept, skipped))
    return Answer(ranked, hits, rest)
