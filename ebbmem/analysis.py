"""Lexical analysis: texts into term ids, for the index and for cues alike.

1. NFKC, case folding, NFKC. Characters that are not seen (joiners, soft hyphens) do not count.
2. Words: runs of letters and digits, with the marks behind them; ``getUserName`` and its parts.
   Stop words are left out, unless there is nothing else; the others are stemmed.
3. Identifiers and numbers are kept whole as well, as they are: words joined by one ``.``, ``_`` or
   ``@``, by ``-`` beside a digit, by ``,``, ``:`` or ``/`` between digits; ``C++`` and ``C#``.
4. Of scripts without spaces between words, each two neighbouring characters, as they are; in texts
   also each character alone.

A term's id is the low 64 bits of the MD5 of its UTF-8, so ids need no vocabulary and mean the same
in every process. Which words there are in detail stands in ``csrc/core/term_words.h``.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem._tokenize import HUMP, TermReader, has_humps
from ebbmem.errors import InvalidArgument, InvalidType

# Words that say how others hang together and little about the matter, and the pieces that \w+
# leaves of "don't" or "we'll". Kept, because they also name things: may, us, won, like, now.
_ENGLISH_STOP_WORDS = """
a an the this that these those
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
it its itself we our ours ourselves they them their theirs themselves
who whom whose which what when where why how
am is are was were be been being do does did doing done have has had having
can could shall should will would might must
and or but nor if then else than because as while although though unless until since whether
of at by for with about against between among into through during before after above below to
from up down in out on off over under upon within without
again further here there all any both each either neither few more most other another some
such no not only own same so too very just also even ever yet still quite rather
d ll m re s t ve
ain aren couldn didn doesn don hadn hasn haven isn mustn shouldn wasn weren wouldn
"""
_STOP_WORDS = {"english": frozenset(_ENGLISH_STOP_WORDS.split())}

_ASCII_RUN = re.compile("[A-Za-z0-9]+")
_HUMP = re.compile("(?<=[a-z])(?=[A-Z])")

_Terms = tuple[NDArray[np.uint64], NDArray[np.int64]]


class Analyzer:
    """Turns texts into the terms that lexical search compares.

    One analyzer may serve all threads. It learns each distinct word form once and holds some
    33,000 of them (as hashes, not as text; about 1.5 MB) before it starts anew.

    Parameters
    ----------
    language : str or None, default "english"
        A Snowball language, such as ``"english"``, ``"german"`` or ``"spanish"``. Only English has
        stop words. None compares words as they are: no stop words, no stems.

    Raises
    ------
    InvalidType
        If ``language`` is neither a ``str`` nor None.
    InvalidArgument
        If Snowball does not know the language; the message lists those it knows.
    """

    def __init__(self, language: str | None = "english") -> None:
        self.language = language
        self._stem = list if language is None else _stemmer(language)
        stop_words = _STOP_WORDS.get(language or "", frozenset())
        self._lexicon = _core.Lexicon(stop_words=sorted(stop_words))
        self._reader = TermReader(None if language is None else self._lexicon, _folded)
        self._learning = threading.Lock()

    def terms(self, texts: list[str] | tuple[str, ...], *, as_cues: bool = False) -> _Terms:
        """Return the terms of every text.

        Parameters
        ----------
        texts : list or tuple of str
        as_cues : bool, default False
            Leave out what only cues of a single character are to find: each character of a script
            without spaces, where it has a neighbour.

        Returns
        -------
        term_ids : (terms,) uint64
            The terms of all texts, back to back, as often as they occur: of each text first those
            of words, then wholes and pieces of scripts without spaces, both in order of occurrence.
        text_ends : (n,) int64
            Text ``t`` ends before ``term_ids[text_ends[t]]``.

        Raises
        ------
        InvalidType
            If ``texts`` is no list or tuple of ``str``.
        InvalidArgument
            If a text has a lone surrogate, so that UTF-8 cannot encode it.
        """
        found = self._reader.terms(texts, as_cues)
        return found if found is not None else self._learned(tuple(texts), as_cues)

    def _learned(self, texts: tuple[str, ...], as_cues: bool) -> _Terms:
        """Learn the forms that are new, then look up. A Snowball stemmer serves one thread."""
        with self._learning:
            # Looked up first, since another thread may have learnt them while this one waited.
            # Only `unknown` forgets forms, and only here, so the second look finds them all.
            while (found := self._reader.terms(texts, as_cues)) is None:
                forms = self._reader.unknown(texts)
                self._lexicon.learn(forms, self._stem(forms))
        return found


def _folded(text: str) -> str:
    """Return the text in NFKC and case-folded, with a mark where a hump was.

    ASCII does not come here: lowering is all it needs.
    """
    text = unicodedata.normalize("NFKC", text).replace(HUMP, " ")
    if has_humps(text):
        text = _ASCII_RUN.sub(_humps_marked, text)
    # Folding takes some characters apart that NFKC puts together.
    return unicodedata.normalize("NFKC", text.casefold())


def _humps_marked(run: re.Match[str]) -> str:
    """Return a run with its humps marked, unless it may be a name: one hump after a capital."""
    parts = _HUMP.split(run[0])
    return HUMP.join(parts) if len(parts) > 2 or run[0][0].islower() else run[0]


def _stemmer(language: str) -> Callable[[list[str]], list[str]]:
    """Return the stemming function of a language, without a cache: the lexicon is one."""
    if not isinstance(language, str):
        raise InvalidType.of("language", "str or None", language)
    import Stemmer  # noqa: PLC0415  not before someone analyses text

    if language not in Stemmer.algorithms():
        known = ", ".join(Stemmer.algorithms())
        raise InvalidArgument.of("language", f"None or one of {known}", language)
    stem: Callable[[list[str]], list[str]] = Stemmer.Stemmer(language, 0).stemWords
    return stem
