"""Lexical analysis, slow and plain: texts into words, by ``unicodedata`` and ``re`` alone."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Collection

UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)
WITHOUT_SPACES = re.compile(
    "(THAI|LAO|MYANMAR|KHMER|HIRAGANA|HENTAIGANA|KATAKANA|BOPOMOFO|CJK|HANGZHOU|MASU"
    "|VERTICAL KANA|(VERTICAL )?IDEOGRAPHIC (ITERATION|CLOSING|NUMBER))\\b"
)
JOINTS = {".": ".", "_": ".", "@": ".", "-": "-", ",": ",", ":": ",", "/": ",", "+": "+", "#": "#"}

# Over the kinds of a text's characters: word, digit, mark, hump, unspaced, gap (a space).
RUN = "[wd][wdmh]*"
JOINT = "(?:\\.|(?<=d)-|-(?=d)|(?<=d),(?=d))"
SIGN = "(?:\\+\\+|#(?![wd#]))"
CHAIN = re.compile(f"{RUN}(?P<rest>(?:{JOINT}{RUN})*{SIGN}?)|(?P<unspaced>u[um]*)")


@functools.cache
def kind(character: str) -> str:
    """Return what a character is, as one letter."""
    if character.isdecimal():
        return "d"
    if character != "_" and re.match(r"\w", character):
        return "u" if WITHOUT_SPACES.match(unicodedata.name(character, "")) else "w"
    if unicodedata.category(character) in ("Mn", "Mc"):
        return "m"
    return JOINTS.get(character, " ")


def folded(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def parts_of(run: str) -> list[str]:
    """Return the parts of a run of ASCII letters and digits, or the run if it may be a name."""
    parts = re.split("(?<=[a-z])(?=[A-Z])", run)
    return [run] if len(parts) == 2 and not run[0].islower() else parts


def characters(text: str) -> list[str | None]:
    """Return what is left of a text after folding; None between the parts of a run."""
    pieces = [""]
    for run in re.split("([A-Za-z0-9]+)", unicodedata.normalize("NFKC", text)):
        first, *others = parts_of(run)
        pieces = [*pieces[:-1], pieces[-1] + first, *others]
    found: list[str | None] = []
    for piece in pieces:
        found += [None, *UNSEEN.sub("", folded(piece))]
    return found[1:]


def written(some: list[str | None]) -> str:
    return "".join(one for one in some if one is not None)


def analysis(text: str, as_cue: bool = False) -> tuple[list[str], list[str]]:
    """Return the forms of a text, and the words that are terms as they are."""
    shown = characters(text)
    kinds = "".join("h" if one is None else kind(one) for one in shown)
    forms: list[str] = []
    others: list[str] = []
    for found in CHAIN.finditer(kinds):
        begin, end = found.span()
        if found["unspaced"]:
            units = [
                written(shown[begin + unit.start() : begin + unit.end()])
                for unit in re.finditer("um*", found[0])
            ]
            for i, unit in enumerate(units):
                others += [unit] * (not as_cue or len(units) == 1)
                others += [units[i - 1] + unit] * (i > 0)
            continue
        for run in re.finditer(RUN, found[0]):
            at = begin + run.start()
            parts = [
                written(shown[at + part.start() : at + part.end()])
                for part in re.finditer("[^h]+", run[0])
            ]
            forms += [*(parts if len(parts) > 1 else []), "".join(parts)]
        if found["rest"]:
            others.append(written(shown[begin:end]))
    return forms, others


def terms(
    text: str,
    stem: Callable[[str], str],
    stop_words: Collection[str] = (),
    as_cue: bool = False,
) -> list[str]:
    """Return the terms of a text."""
    forms, others = analysis(text, as_cue)
    kept = [stem(form) for form in forms if form not in stop_words] + others
    return kept or [stem(form) for form in forms]
