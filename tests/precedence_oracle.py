"""Which of several matches alike comes first, and what a shared name activates, plainly."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def exchanged(
    scores: Sequence[float],
    kinds: Sequence[int],
    created: Sequence[int],
    *,
    among: int,
    near: float,
    past: bool,
) -> list[int]:
    """Return which match stands at each place; they come best first.

    Of the first ``among``, those with the same terms of the cue are alike (kind 0 has none and is
    like no other).  The best of them and those that score at least ``near`` times what it does
    are a group, and so are the others in turn.  The places of a group go to its members by time.
    """
    at = list(range(len(scores)))
    left = [place for place in at[:among] if kinds[place]]
    while left:
        first = left[0]
        group = [
            place
            for place in left
            if kinds[place] == kinds[first] and scores[place] >= near * scores[first]
        ]
        by_time = sorted(group, key=lambda place: created[place], reverse=not past)
        for place, match in zip(group, by_time, strict=True):
            at[place] = match
        left = [place for place in left if place not in group]
    return at


def tied(
    texts: Sequence[Collection[int]],
    live: Sequence[bool],
    allowed: Sequence[bool],
    seed: tuple[int, float, Sequence[int]],
    said: Collection[int],
    *,
    weight: float,
    most: int,
) -> dict[int, float]:
    """Return what the names of a text (its place, its activation, their terms) activate."""
    first, activation, names = seed
    reached: dict[int, float] = {}
    for name in names:
        holders = [place for place, text in enumerate(texts) if live[place] and name in text]
        if name in said or not 2 <= len(holders) <= most:
            continue
        much = min(1.0, activation * (weight * 2 / len(holders)))
        for place in holders:
            if allowed[place] and place != first:
                reached[place] = max(reached.get(place, 0.0), much)
    return reached
