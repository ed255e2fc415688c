"""Probable updates and contradictions: a new memory that says other things of the same.

- *Change*: exactly one of the two texts has a phrase of negation or change ("no longer", "not",
  "moved", "now", ...).  The confidence is the share of the lesser text that both have, in the idf
  of their terms: ``idf(both) / min(idf(new), idf(old))``.
- *Another value*: they are equal, word for word, but for one gap of up to three words in each,
  behind the first word ("the vet opens at nine", "the vet opens at eight").  The confidence is the
  share of equal words, ``2 * equal / (words of new + words of old)``, halved where neither text
  has a verb of a state ("is", "has", "lives", ...): what happens twice is no contradiction.

Memories whose keywords, being the contexts they hold in, have none in common are in no conflict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core, arguments
from ebbmem.drafts import Draft
from ebbmem.engine import Engine
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.index import ScopeIndex
from ebbmem.records.base import MemoryRow
from ebbmem.records.identity import parse_id
from ebbmem.searches import Search

U64 = NDArray[np.uint64]
Judge = Callable[[str, str], float]

K1, B = 0.9, 0.4
"""Of the search for what may be in conflict."""
WIDEST_GAP: Final = 3
"""Words that may stand for another value."""
EVENTS: Final = 0.5
"""What the confidence of another value is multiplied by where both texts tell of events."""

_WORD: Final = re.compile(r"\w+")
_CHANGE: Final = re.compile(
    r"\b(?:not|never|no longer|any ?more|cannot|now|nowadays|instead|actually|correction|"
    r"change[ds]?|switch(?:ed|es)?|move[ds]?|replace[ds]?|rename[ds]?|bec[oa]mes?|"
    r"stop(?:ped|s)?|quit|cancel(?:led|ed|s)?|used to|from now on|as of)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
"""General English for what has come to be otherwise."""
_STATE: Final = re.compile(
    r"\b(?:am|is|are|has|have|lives?|works?|likes?|loves?|hates?|prefers?|uses?|owns?|"
    r"drives?|speaks?|knows?|studie?[sy]|follows?|belongs?|costs?|opens?|closes?|"
    r"starts?|ends?|stands?|means?|contains?)\b|\b(?:i|it|he|she|they|we|you)['\u2019](?:m|s|re)\b",
    re.IGNORECASE,
)
"""General English for what holds rather than happens."""


@dataclass(frozen=True, slots=True)
class ConflictRule:
    """When a new memory is linked to older ones as in conflict with them.

    Parameters
    ----------
    least : float
        The least confidence that is recorded, in (0, 1].
    looked_at : int
        How many of the best lexical matches are compared with it.
    judge : callable, optional
        Called with the new and an old text where the rule alone is at least half as confident as
        ``least``; returns the confidence, a number in [0, 1] (no bool: 1.0 for surely).  No lock
        is held meanwhile.  What it raises goes to the caller, and nothing is remembered.
    """

    least: float = 0.5
    looked_at: int = 8
    judge: Judge | None = None

    def __post_init__(self) -> None:
        arguments.number(self.least, "least", 0, 1)
        if self.least == 0:
            raise InvalidArgument.of("least", "a number above 0", self.least)
        arguments.count(self.looked_at, "looked_at")
        if self.judge is not None and not callable(self.judge):
            raise InvalidType.of("judge", "a callable or None", self.judge)


class Text(NamedTuple):
    """A text with its distinct terms, and the contexts that it holds in."""

    text: str
    terms: frozenset[int]
    contexts: frozenset[str]


def noted(engine: Engine, scope: str, one: Draft, rule: ConflictRule) -> Draft:
    """Return a draft with the memories that it is in conflict with, and how surely.

    Compared are memories that recall would look at now and nothing has replaced, also not this one.
    """
    (terms,) = _terms_of(engine, (one.summary,))
    new = Text(one.summary, frozenset(terms.tolist()), frozenset(one.keywords))
    with engine.alone(scope, write=False):
        index = engine.current(scope)
        if index is None or not len(terms):
            return one
        old = _nearest(engine, index, terms, one, rule)
        asked = sorted(new.terms.union(*(text.terms for text in old.values())))
        idf = index.postings.idf(np.array(asked, dtype=np.uint64)).tolist()
    weights = dict(zip(asked, idf, strict=True))
    sure = {row: _confidence(new, text, weights, rule) for row, text in old.items()}
    found = tuple((row, value) for row, value in sure.items() if value >= rule.least)
    return one._replace(conflicts=found) if found else one


def confidence(new: Text, old: Text, idf: dict[int, float]) -> float:
    """Return how surely two texts are in conflict, in [0, 1]; see the module.

    Parameters
    ----------
    new, old : Text
        In either order.
    idf : dict of int to float
        Of the terms of both.
    """
    if new.contexts and old.contexts and new.contexts.isdisjoint(old.contexts):
        return 0.0
    if _changes(new) == _changes(old):
        return _another_value(new.text, old.text)
    both, mine, theirs = (
        sum(idf[term] for term in terms) for terms in (new.terms & old.terms, new.terms, old.terms)
    )
    return both / min(mine, theirs) if both > 0 else 0.0


def _another_value(new: str, old: str) -> float:
    """Return the share of equal words of two texts that differ in one gap, or 0."""
    mine, theirs = (_WORD.findall(text.casefold()) for text in (new, old))
    shorter = min(len(mine), len(theirs))
    ahead = _equal(mine, theirs, shorter)
    equal = ahead + _equal(mine[::-1], theirs[::-1], shorter - ahead)
    gaps = len(mine) - equal, len(theirs) - equal
    if ahead == 0 or not all(1 <= gap <= WIDEST_GAP for gap in gaps):
        return 0.0
    states = _STATE.search(new) or _STATE.search(old)
    return 2 * equal / (len(mine) + len(theirs)) * (1.0 if states else EVENTS)


def _equal(mine: Sequence[str], theirs: Sequence[str], most: int) -> int:
    """Return how many of the first words are equal."""
    for at in range(most):
        if mine[at] != theirs[at]:
            return at
    return most


def _confidence(new: Text, old: Text, idf: dict[int, float], rule: ConflictRule) -> float:
    """Return how surely two texts are in conflict, asking the judge where there is one."""
    sure = confidence(new, old, idf)
    if rule.judge is None or sure < rule.least / 2:
        return sure
    answer = rule.judge(new.text, old.text)
    if isinstance(answer, bool):
        expected = f"a confidence, such as {float(answer)} instead of {answer}"
        raise InvalidType.of("judge", expected, answer)
    return arguments.number(answer, "judge", 0, 1)


def _changes(one: Text) -> bool:
    return _CHANGE.search(one.text) is not None


def _nearest(
    engine: Engine, index: ScopeIndex, terms: U64, one: Draft, rule: ConflictRule
) -> dict[int, Text]:
    """Return the memories that match a new one best, by row id."""
    columns = index.columns
    mask = columns.mask(one.now_us, as_of_us=None, run=None, archive=False)
    if columns.any_superseded:
        mask = mask & (columns.successor == 0)
    args = (index.postings, terms, K1, B, columns.created_us, mask, rule.looked_at, None)
    slots = Search(_core.Postings.top_bm25, _core.Searches.bm25, args).ranking().slots
    found = (shelved.row for shelved in engine.rows_now(index, slots.tolist()).values())
    replaced = {parse_id(old) for old in one.supersedes}
    rows = [row for row in found if row.id not in replaced]
    return dict(zip((row.row_id for row in rows), _texts(engine, rows), strict=True))


def _texts(engine: Engine, rows: Sequence[MemoryRow]) -> list[Text]:
    terms = _terms_of(engine, tuple(row.summary for row in rows))
    return [
        Text(
            row.summary, frozenset(own.tolist()), frozenset(filter(None, row.keywords.split("\n")))
        )
        for row, own in zip(rows, terms, strict=True)
    ]


def _terms_of(engine: Engine, texts: tuple[str, ...]) -> list[U64]:
    """Return the distinct terms of each text."""
    terms, ends = engine.analyzer.terms(texts)
    return [np.unique(own) for own in np.split(terms, ends.tolist()[:-1])] if texts else []
