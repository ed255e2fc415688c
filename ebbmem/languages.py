"""The language of a store's words: chosen when it is made, kept in its file."""

from __future__ import annotations

from typing import Final

from ebbmem.analysis import Analyzer
from ebbmem.errors import LanguageMismatch
from ebbmem.records.base import Reader
from ebbmem.records.digests import STORE_KEY
from ebbmem.records.store import RecordStore

LANGUAGE: Final = "language"
"""The meta key of it."""
KEPT: Final = "kept"
"""Names the language that a store keeps."""
OF_NEW: Final = "english"
"""That of a store which is made without naming one, or was made before they were kept."""
_NO_STEMS: Final = ""
"""How None is kept."""


def checked_language(language: str | None) -> str | None:
    """Return a language that Snowball knows, None or ``KEPT``, or refuse what is none of them."""
    return language if language == KEPT else Analyzer(language).language


def analyzer_of(records: RecordStore, named: str | None) -> Analyzer:
    """Return what analyses the texts of a store, whose language is kept from now on.

    A store that was made before languages were kept takes the first that is named.

    Raises
    ------
    LanguageMismatch
        If the store keeps another language than the one named.
    """
    with records.read() as reader:
        kept, is_new = reader.meta(LANGUAGE), reader.meta(STORE_KEY) is None
    if kept is None and (is_new or named != KEPT):
        with records.write() as writer:
            # Another process may have been first since the look above.
            kept = writer.meta(LANGUAGE)
            if kept is None:
                chosen = OF_NEW if named == KEPT else named
                kept = _NO_STEMS if chosen is None else chosen
                writer.set_meta(LANGUAGE, kept)
    language = _told(kept)
    require_language(records.path, language, named)
    return Analyzer(language)


def language_of(reader: Reader, named: str | None) -> str | None:
    """Return the language that is named, or the one that a store keeps."""
    return _told(reader.meta(LANGUAGE)) if named == KEPT else named


def require_language(path: str, language: str | None, named: str | None) -> None:
    """Refuse to open a store of one language in another."""
    if named not in (KEPT, language):
        raise LanguageMismatch.of("language", f"{language!r}, the language of {path}", named)


def _told(kept: str | None) -> str | None:
    """Return a language as it was named, from how it is kept."""
    if kept is None:
        return OF_NEW
    return None if kept == _NO_STEMS else kept
