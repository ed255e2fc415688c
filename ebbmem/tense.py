"""Whether a cue asks about the past."""

from __future__ import annotations

import re
from typing import Final

# General English: auxiliaries of the past, and words that point back in time.
_ENGLISH: Final = """
did didn was wasn were weren had hadn been
ago before earlier former formerly originally previous previously past prior
yesterday last once first used
"""
_BY_LANGUAGE: Final = {"english": frozenset(_ENGLISH.split())}
_WORD: Final = re.compile(r"\w+")


def about_the_past(cue: str, language: str | None) -> bool:
    """Return whether a cue asks about the past, by the words that say so.

    Parameters
    ----------
    cue : str
    language : str or None
        The store's; only English has such words, all others ask about the present.
    """
    words = _BY_LANGUAGE.get(language or "")
    return words is not None and not words.isdisjoint(_WORD.findall(cue.casefold()))
