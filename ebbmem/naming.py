"""Names and identifiers in a text, by how they are written."""

from __future__ import annotations

import re
from itertools import pairwise

from ebbmem import _core

# A word with what joins its parts (v1.2.3, ERR_42, O'Brien), or what ends a sentence.
_PIECE = re.compile(r"[^\W_](?:[\w.'\u2019@/-]*\w)?|[.!?:;\n]")
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_ENDS = ".!?:;\n"


def names(text: str) -> list[str]:
    """Return the names and identifiers of a text, each once, in order of first occurrence.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str
        As written, without a possessive ending.  A word counts when it begins with a capital
        letter and no sentence begins with it (``Rex``, ``Ghent``), or when it has a digit beside
        letters, an underscore, or a capital after a small letter (``v1.2.3``, ``ERR_42``,
        ``getUser``).

    Notes
    -----
    The first word of a sentence has a capital whatever it is, so it does not count; nor does the
    English pronoun I.  In German every noun counts.  A text in capitals throughout, or in a script
    without capitals, has identifiers only.
    """
    if text.isascii():  # what most are: told natively
        found = _core.ascii_names(text)
        return found.split(" ") if found else []
    return scanned(text)


def scanned(text: str) -> list[str]:
    """Return what `names` does, by the definition."""
    found: dict[str, None] = {}
    starts = True
    shouted = text.isupper()
    for match in _PIECE.finditer(text):
        piece = match.group()
        if piece in _ENDS:
            starts = True
            continue
        if piece.islower() and piece.isalpha():  # what most are
            starts = False
            continue
        word = _POSSESSIVE.sub("", piece)
        capital = word[:1].isupper() and not (starts or shouted or word == "I")
        if capital or _is_identifier(word):
            found[word] = None
        starts = False
    return list(found)


def _is_identifier(word: str) -> bool:
    """Return whether a word is written as no word of a language is."""
    if "_" in word:
        return True
    if any(map(str.isdigit, word)):
        return any(map(str.isalpha, word))
    return any(a.islower() and b.isupper() for a, b in pairwise(word))
