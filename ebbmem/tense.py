"""Whether a cue asks about the past."""

from __future__ import annotations

import re
from typing import Final

# General English: auxiliaries of the past, words that point back in time, and phrases that do where
# their words alone need not ("last name", "which tool is used").
_ENGLISH: Final = re.compile(
    r"\b(?:did|didn|was|wasn|were|weren|had|hadn|ago|before|earlier|former|formerly|originally|"
    r"previous|previously|past|prior|yesterday|used to|at first|"
    r"last (?:time|night|week|weekend|month|year|spring|summer|autumn|fall|winter|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday))\b"
)
_BY_LANGUAGE: Final = {"english": _ENGLISH}


def about_the_past(cue: str, language: str | None) -> bool:
    """Return whether a cue asks about the past, by the words that say so.

    Parameters
    ----------
    cue : str
    language : str or None
        The store's; only English has such words, all others ask about the present.
    """
    phrases = _BY_LANGUAGE.get(language or "")
    return phrases is not None and phrases.search(cue.casefold()) is not None
