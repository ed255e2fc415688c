"""Whole recalls, brute force over every memory in float64.  Imports nothing of ebbmem.

A recall is right when its scores are those of the formula, its order is that of the formula,
and memories that the formula cannot tell apart come newest first, then lower number first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import oracles

S = 1_000_000
HOUR = 3_600 * S
DAY = 24 * HOUR

Counts = Callable[[str], dict[int, int]]


@dataclass(frozen=True)
class Fact:
    """One memory as the formulas see it; times in microseconds, its number is its place."""

    text: str
    importance: float = 5.0
    created_us: int = 0
    anchored_us: int = 0
    strength: float = 0.1
    anchor: float = 0.55
    intensity: float = 0.0
    keywords: str = ""
    allowed: bool = True
    successor: int | None = None


class Ranked(NamedTuple):
    """One memory's place: ``key`` orders, ``inputs`` are equal for memories that must tie."""

    place: int
    key: float
    score: float
    inputs: tuple[object, ...]


def ranking(facts: Sequence[Fact], rows: Sequence[Ranked]) -> list[Ranked]:
    """Best first: higher key, then newer, then lower number; without what is not allowed."""
    allowed = [row for row in rows if facts[row.place].allowed]
    return sorted(allowed, key=lambda r: (-r.key, -facts[r.place].created_us, r.place))


def disagreement(
    got: Sequence[tuple[int, float]],
    expected: Sequence[Ranked],
    k: int,
    *,
    rtol: float = 1e-6,
    atol: float = 0.0,
) -> str:
    """Return what is wrong with hits given as (place, score), or an empty string.

    Keys that differ by less than ``rtol`` may swap, unless their inputs are equal.
    """
    by_place = {row.place: row for row in expected}
    if len(got) != min(k, len(expected)):
        return f"{len(got)} hits instead of {min(k, len(expected))}"
    for at, (place, score) in enumerate(got):
        if place not in by_place:
            return f"{place} is not allowed"
        right, wanted = by_place[place], expected[at]
        if not math.isclose(score, right.score, rel_tol=rtol, abs_tol=atol):
            return f"{place}: score {score!r} instead of {right.score!r}"
        if right.key != wanted.key and not math.isclose(
            right.key, wanted.key, rel_tol=rtol, abs_tol=rtol
        ):
            return f"place {at}: {right} instead of {wanted}"
    return _broken_tie([place for place, _ in got], expected)


def _broken_tie(got: Sequence[int], expected: Sequence[Ranked]) -> str:
    """Return which memories of equal inputs do not come in order."""
    inputs = {row.place: row.inputs for row in expected}
    for group in set(inputs.values()):
        right = [row.place for row in expected if row.inputs == group]
        came = [place for place in got if inputs[place] == group]
        if came != right[: len(came)]:
            return f"of the equals {right} came {came}"
    return ""


# --- the seeds --------------------------------------------------------------------------


def ebbinghaus(facts: Sequence[Fact], cue: str, now_us: int, counts: Counts) -> list[Ranked]:
    """Seed 000, ordered by the logarithm, which never underflows."""
    rows = []
    for place, (fact, cos) in enumerate(_with_cosines(facts, cue, counts)):
        age_s = max(now_us - fact.created_us, 0) / S
        key = oracles.ebbinghaus_key(cos, fact.importance, age_s)
        score = oracles.ebbinghaus_score(cos, fact.importance, age_s)
        rows.append(Ranked(place, key, score, (cos, fact.importance, age_s)))
    return ranking(facts, rows)


def generative(facts: Sequence[Fact], cue: str, now_us: int, counts: Counts) -> list[Ranked]:
    """Seed 002: relevance, recency and importance added."""
    rows = []
    for place, (fact, cos) in enumerate(_with_cosines(facts, cue, counts)):
        age_h = max(now_us - fact.created_us, 0) / HOUR
        score = oracles.weighted_sum_score(cos, fact.importance, age_h)
        rows.append(Ranked(place, score, score, (cos, fact.importance, age_h)))
    return ranking(facts, rows)


def similarity(facts: Sequence[Fact], cue: str, counts: Counts) -> list[Ranked]:
    """Seed 003: the cosine, nothing else."""
    cosines = [cos for _, cos in _with_cosines(facts, cue, counts)]
    return ranking(facts, [Ranked(at, cos, cos, (cos,)) for at, cos in enumerate(cosines)])


# --- recipes with links -----------------------------------------------------------------


@dataclass(frozen=True)
class Spreading:
    """From how many of the best matches activation starts, and how it goes on."""

    seeds: int
    rules: Mapping[str, Any]
    normalise: bool


def cascades(
    facts: Sequence[Fact], matches: Sequence[float], edges: oracles.Edges, how: Spreading
) -> list[float]:
    """Return the activation of every memory; superseded ones take no part."""
    live = [fact.allowed and fact.successor is None for fact in facts]
    order = sorted(range(len(facts)), key=lambda p: (-matches[p], -facts[p].created_us, p))
    seeds = [p for p in order if live[p] and matches[p] > 0][: how.seeds]
    if not seeds:
        return [0.0] * len(facts)
    best = matches[seeds[0]] if how.normalise else 1.0
    start = {p: matches[p] / best for p in seeds}
    reached = oracles.spread(edges, start, allowed=lambda node: live[node], **how.rules)
    return [reached.get(place, 0.0) for place in range(len(facts))]


def associative(
    facts: Sequence[Fact],
    cue: str,
    now_us: int,
    counts: Counts,
    edges: oracles.Edges,
    how: Spreading,
) -> list[Ranked]:
    """0.40 similarity + 0.25 cascade + 0.25 R + 0.05 S + 0.05 emotional intensity."""
    cosines = [cos for _, cos in _with_cosines(facts, cue, counts)]
    cascade = cascades(facts, cosines, edges, how)
    inherited = _inherited(facts, cosines)
    scores = []
    for place, fact in enumerate(facts):
        idle_h = max(now_us - fact.anchored_us, 0) / HOUR
        r = oracles.storage_retrievability(fact.anchor, fact.strength, fact.intensity, idle_h)
        likeness = 0.40 * inherited[place] + 0.25 * cascade[place]
        scores.append(likeness + 0.25 * r + 0.05 * fact.strength + 0.05 * fact.intensity)
    return _demoted(facts, scores, list(zip(inherited, cascade, scores, strict=True)))


@dataclass(frozen=True)
class Bounded:
    """The numbers of a bounded recipe; ``named``: weight, most texts; ``alike``: among, near."""

    k1: float
    b: float
    cascade: float
    floor: float
    stability_days: float
    exponent: float
    named: tuple[float, int] | None = None
    alike: tuple[int, float] | None = None
    past: bool = False


def bounded(
    facts: Sequence[Fact],
    cue: str,
    now_us: int,
    edges: oracles.Edges,
    how: Spreading,
    law: Bounded,
) -> list[Ranked]:
    """(1 - (1 - familiarity)(1 - weighted cascade)) * (floor + (1 - floor) R); 0 is left out."""
    familiar = familiarity(facts, cue, law)
    cascade = cascades(facts, familiar, edges, how)
    if law.named is not None:
        through_names = named(facts, cue, familiar, law.named)
        cascade = [min(a + b, 1.0) for a, b in zip(cascade, through_names, strict=True)]
    inherited = _inherited(facts, familiar)
    scores = []
    for place, fact in enumerate(facts):
        evidence = 1 - (1 - inherited[place]) * (1 - min(law.cascade * cascade[place], 1.0))
        scores.append(evidence * (law.floor + (1 - law.floor) * _retained(fact, now_us, law)))
    rows = _demoted(facts, scores, list(zip(inherited, cascade, scores, strict=True)))
    rows = [row for row in rows if row.score > 0]
    return exchanged(facts, cue, rows, law)


def named(
    facts: Sequence[Fact], cue: str, familiar: Sequence[float], how: tuple[float, int]
) -> list[float]:
    """What reaches each memory from the best match through the rare names in its text."""
    weight, most = how
    words = [set(_terms(f"{fact.text}\n{fact.keywords}")) for fact in facts]
    live = [fact.allowed and _end(facts, place) is None for place, fact in enumerate(facts)]
    best = [place for place in range(len(facts)) if live[place] and familiar[place] > 0]
    best.sort(key=lambda place: (-familiar[place], -facts[place].created_us, place))
    reached = [0.0] * len(facts)
    for seed in best[:1]:
        said = {term for name in _names(facts[seed].text) for term in _terms(name)}
        for name in said - set(_terms(cue)):
            holders = [place for place in range(len(facts)) if name in words[place]]
            if 2 <= len(holders) <= most:
                much = min(familiar[seed] * weight * 2 / len(holders), 1.0)
                for place in holders:
                    if place != seed and live[place]:
                        reached[place] = max(reached[place], much)
    return reached


def _names(text: str) -> list[str]:
    """Words with a capital that no sentence begins with (of texts of words and full stops)."""
    found = []
    for sentence in text.split("."):
        found += [word for word in sentence.split()[1:] if word[0].isupper()]
    return found


def exchanged(
    facts: Sequence[Fact], cue: str, rows: Sequence[Ranked], law: Bounded
) -> list[Ranked]:
    """Of the best, those with the same words of the cue exchange places, the newest first."""
    asked = set(_terms(cue))
    has = [asked & set(_terms(f"{fact.text}\n{fact.keywords}")) for fact in facts]
    among, near = law.alike or (0, 1.0)
    places, made = list(range(min(among, len(rows)))), list(rows)
    while places:
        own = has[rows[places[0]].place]
        least = near * rows[places[0]].score
        group = [
            at
            for at in places
            if at == places[0] or (own and has[rows[at].place] == own and rows[at].score >= least)
        ]
        places = [at for at in places if at not in group]
        sign = 1 if law.past else -1
        by_time = sorted(group, key=lambda at: sign * facts[rows[at].place].created_us)
        for at, who in zip(group, by_time, strict=True):
            much = rows[at].score
            made[at] = rows[who]._replace(key=much, score=much)
    # Which of two equals stands first is told by what came before.
    return [row._replace(inputs=(at,)) for at, row in enumerate(made)]


def familiarity(facts: Sequence[Fact], cue: str, law: Bounded) -> list[float]:
    """BM25 over text and keywords, divided by the idf of all distinct words of the cue."""
    asked = list(dict.fromkeys(_terms(cue)))
    if not asked:
        return [0.0] * len(facts)
    names: dict[str, int] = {}
    texts = [_terms(f"{fact.text}\n{fact.keywords}") for fact in facts]
    numbered = [[names.setdefault(term, len(names)) for term in text] for text in texts]
    wanted = [names.setdefault(term, len(names)) for term in asked]
    total = sum(oracles.bm25_idf(len(texts), sum(term in text for text in texts)) for term in asked)
    return [score / total for score in oracles.bm25(wanted, numbered, law.k1, law.b)]


def _terms(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _retained(fact: Fact, now_us: int, law: Bounded) -> float:
    """Stability grows threefold with each of S, emotion and importance."""
    gain = (1 + 2 * fact.strength) * (1 + 2 * fact.intensity)
    gain *= 1 + 2 * (fact.importance - 1) / 9
    idle_days = max(now_us - fact.anchored_us, 0) / DAY
    return oracles.power_retention(idle_days, law.stability_days * gain, law.exponent)


def _with_cosines(facts: Sequence[Fact], cue: str, counts: Counts) -> list[tuple[Fact, float]]:
    asked = counts(cue)
    return [(fact, oracles.count_cosine(asked, counts(fact.text))) for fact in facts]


def _end(facts: Sequence[Fact], place: int) -> int | None:
    """Return the newest correction of a memory that may come back, or None."""
    best, at = None, facts[place].successor
    while at is not None:
        best = at if facts[at].allowed else best
        at = facts[at].successor
    return best


def _inherited(facts: Sequence[Fact], matches: Sequence[float]) -> list[float]:
    """What replaced a memory answers whatever that memory answered."""
    out = list(matches)
    for place in range(len(facts)):
        end = _end(facts, place)
        if facts[place].allowed and end is not None:
            out[end] = max(out[end], matches[place])
    return out


def _demoted(
    facts: Sequence[Fact], scores: list[float], inputs: Sequence[tuple[object, ...]]
) -> list[Ranked]:
    """A superseded memory keeps half its score at most, and stays below its successor."""
    rows = []
    for place, own in enumerate(scores):
        end, score = _end(facts, place), own
        if end is not None:
            score = min(score, score * 0.5, math.nextafter(scores[end], -math.inf))
        rows.append(Ranked(place, score, score, (*inputs[place], end)))
    return ranking(facts, rows)
