r"""Lexical analysis: texts into term ids, for the index and for cues alike.

The steps, in this order: NFKC and case folding; runs of ``\w``; stop words left out, unless there
is nothing else; Snowball stems. A term's id is the low 64 bits of the MD5 of its UTF-8, so ids need
no vocabulary and mean the same in every process.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem._tokenize import TermReader
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

    def terms(self, texts: list[str] | tuple[str, ...]) -> _Terms:
        """Return the terms of every text.

        Parameters
        ----------
        texts : list or tuple of str

        Returns
        -------
        term_ids : (terms,) uint64
            The terms of all texts, back to back, in order of occurrence and as often as they
            occur. Stop words are left out of every text that has other words.
        text_ends : (n,) int64
            Text ``t`` ends before ``term_ids[text_ends[t]]``.

        Raises
        ------
        InvalidType
            If ``texts`` is no list or tuple of ``str``.
        InvalidArgument
            If a text has a lone surrogate, so that UTF-8 cannot encode it.
        """
        found = self._reader.terms(texts)
        return found if found is not None else self._learned(tuple(texts))

    def _learned(self, texts: tuple[str, ...]) -> _Terms:
        """Learn the forms that are new, then look up. A Snowball stemmer serves one thread."""
        with self._learning:
            # Looked up first, since another thread may have learnt them while this one waited.
            # Only `unknown` forgets forms, and only here, so the second look finds them all.
            while (found := self._reader.terms(texts)) is None:
                forms = self._reader.unknown(texts)
                self._lexicon.learn(forms, self._stem(forms))
        return found


def _folded(text: str) -> str:
    """Return the text in NFKC and case-folded.

    ASCII does not come here: lowering is all it needs. Scripts without spaces (Chinese, Japanese,
    Thai) come out as long runs of word characters.
    """
    return unicodedata.normalize("NFKC", text).casefold()


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
