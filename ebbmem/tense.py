"""What time a cue asks about."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple


class Tense(Enum):
    """What a cue says of the time that it asks about."""

    NOW = "now"
    """What holds, or held last."""
    ONCE = "once"
    """What happened: nothing says whether first or last."""
    BEFORE = "before"
    """What held before something else did."""


class _Phrases(NamedTuple):
    """The phrases of a language that tell; those of ``now`` come first, then ``before``."""

    now: re.Pattern[str]
    before: re.Pattern[str]
    once: re.Pattern[str]
    use_to: re.Pattern[str]
    """Of questions with ``use to``, those about the past, not about what a thing is for."""


def _any_of(phrases: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{phrases})\b")


_DID_USE_TO: Final = r"did(?:n['\u2019]?t)? (?:[\w'\u2019]+ ){1,5}use to"

# General English: words and phrases that point to the present, back in time, and auxiliaries of the
# past, with the pieces that \w+ leaves of "didn't".
_ENGLISH: Final = _Phrases(
    now=_any_of(
        "now|nowadays|today|currently|current|latest|last|recently|these days|will|still|right now"
    ),
    before=_any_of(
        "before|earlier|former|formerly|originally|previous|previously|prior|ago|past|used to|"
        "at first|back then|once (?:did|was|were|had)"
    ),
    once=_any_of("did|didn|was|wasn|were|weren|had|hadn|yesterday"),
    # "What did I use to clean the carpet?" asks for a tool: after "what" and "which" only a verb
    # that ends the question tells a habit.
    use_to=_any_of(
        rf"(?:where|when|whom?|how|why) {_DID_USE_TO}|(?:\A|[.,:;!?] ){_DID_USE_TO}|"
        rf"{_DID_USE_TO} \w+(?: (?:at|for|from|in|on|to|with))?(?=\W*\Z)|"
        r"(?:where \w+|who) use to"
    ),
)
_BY_LANGUAGE: Final = {"english": _ENGLISH}


def tense(cue: str, language: str | None) -> Tense:
    """Return what time a cue asks about, by the words that say so.

    Parameters
    ----------
    cue : str
    language : str or None
        The store's; only English has such words, all others ask about the present.
    """
    phrases = _BY_LANGUAGE.get(language or "")
    folded = cue.casefold()
    if phrases is None or phrases.now.search(folded):
        return Tense.NOW
    # Nearly no cue has "use to": looking for it costs less than the pattern.
    if phrases.before.search(folded) or ("use to" in folded and phrases.use_to.search(folded)):
        return Tense.BEFORE
    return Tense.ONCE if phrases.once.search(folded) else Tense.NOW
