"""Lexical analysis: what counts as the same term."""

from __future__ import annotations

import re
import threading
import unicodedata

import numpy as np
import oracles
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import AgenticMemory, _core, analysis
from ebbmem._tokenize import TermReader
from ebbmem.analysis import Analyzer
from ebbmem.errors import InvalidArgument, InvalidType

ENCODABLE = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
STOP_WORDS = set(analysis._ENGLISH_STOP_WORDS.split())


def term_id(term: str) -> int:
    return oracles.word_hash(term) & (2**64 - 1)


def expected(text: str, language: str | None = "english") -> list[int]:
    """The analysis, step by step, in Python alone."""
    found = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    if language is None:
        return [term_id(word) for word in found]
    stop = STOP_WORDS if language == "english" else set()
    stem = Stemmer.Stemmer(language).stemWord
    kept = [word for word in found if word not in stop] or found
    return [term_id(stem(word)) for word in kept]


def analysed(analyzer: Analyzer, texts: list[str]) -> list[list[int]]:
    ids, ends = analyzer.terms(texts)
    return [ids[a:b].tolist() for a, b in zip([0, *ends], ends, strict=False)]


def same(first: str, second: str, language: str | None = "english") -> bool:
    one, other = analysed(Analyzer(language), [first, second])
    return one == other != []


def forgetful(capacity: int) -> Analyzer:
    """An analyzer that starts anew after a few forms."""
    analyzer = Analyzer()
    analyzer._lexicon = _core.Lexicon(capacity, sorted(STOP_WORDS))
    analyzer._reader = TermReader(analyzer._lexicon, analysis._folded)
    return analyzer


def test_stop_words_go_and_the_rest_is_stemmed():
    assert analysed(Analyzer(), ["The dogs were running"]) == [[term_id("dog"), term_id("run")]]


def test_a_text_of_stop_words_alone_keeps_them():
    kept = [term_id(word) for word in ("to", "be", "or", "not", "to", "be")]
    assert analysed(Analyzer(), ["To be, or not to be", "to be a dog"]) == [kept, [term_id("dog")]]


@pytest.mark.parametrize("cue", ["who are you", "To be or not to be", "what is it?", "don't!"])
def test_a_cue_of_stop_words_alone_finds_texts_of_stop_words_alone(cue):
    with AgenticMemory(":memory:") as memory:
        wanted = memory.remember(cue)
        memory.remember(f"{cue} and my dog")
        assert [hit.id for hit in memory.recall(cue)] == [wanted.id]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("running dogs", "RUN, dog!"),
        ("caf\u00e9", "CAFE\u0301"),  # composed, decomposed
        ("\ufb01ne \uff12\uff10\uff12\uff14", "fine 2024"),  # ligature, full width
        ("Straße", "STRASSE"),
        ("ΟΔΟΣ", "οδος"),
        ("don't worry", "worry"),
        ("don\u2019t worry", "worry"),
    ],
)
def test_spellings_that_mean_the_same_word(first, second):
    assert same(first, second)


def test_words_that_also_name_things_are_no_stop_words():
    assert all(analysed(Analyzer(), ["may", "us", "won", "like", "now"]))


def test_stop_words_are_folded_words():
    assert 120 <= len(STOP_WORDS) <= 175
    assert all(re.fullmatch(r"[a-z]+", word) for word in STOP_WORDS)


def test_without_a_language_words_stay_as_they_are():
    assert analysed(Analyzer(None), ["The DOGS"]) == [[term_id("the"), term_id("dogs")]]


def test_language_decides_the_stem():
    assert same("Häuser", "Haus", "german")
    assert not same("Häuser", "Haus", "english")
    assert same("Autobahnen", "autobahn", "german")
    assert not same("Autobahnen", "autobahn", "english")


def test_term_order_and_repetition_are_kept():
    assert analysed(Analyzer(), ["dog cat dog"]) == [
        [term_id("dog"), term_id("cat"), term_id("dog")]
    ]


@pytest.mark.parametrize("texts", [[], (), [""], ["", " "], ["?!", "\u0301 ..."]])
@pytest.mark.parametrize("language", ["english", None])
def test_texts_without_terms(texts, language):
    ids, ends = Analyzer(language).terms(texts)

    assert ids.dtype == np.uint64
    assert ends.dtype == np.int64
    assert ends.tolist() == [0] * len(texts)


@pytest.mark.parametrize("language", ["english", "german", None])
def test_random_texts_equal_the_steps_in_python(language, random_texts):
    assert analysed(Analyzer(language), random_texts) == [
        expected(text, language) for text in random_texts
    ]


def test_real_texts_equal_the_steps_in_python(turn_texts):
    assert analysed(Analyzer(), turn_texts) == [expected(text) for text in turn_texts]


@given(st.lists(st.lists(ENCODABLE, max_size=4), max_size=4))
@settings(max_examples=50, deadline=None)
def test_earlier_batches_have_no_influence(batches):
    analyzer = Analyzer()

    for texts in batches:
        assert analysed(analyzer, texts) == [expected(text) for text in texts]


def test_forgetting_forms_changes_nothing():
    analyzer = forgetful(3)
    texts = ["one two three four dogs", "five dogs two", "six seven eight"]

    for _ in range(3):
        for text in texts:
            assert analysed(analyzer, [text]) == [expected(text)]
    assert len(analyzer._lexicon) < 12


def test_threads_share_an_analyzer_that_keeps_forgetting():
    analyzer = forgetful(5)
    texts = [f"running dogs number{i} jumped over fences{i % 7}" for i in range(40)]
    want = [expected(text) for text in texts]
    got: list[bool] = []

    def work(shift: int):
        order = [*range(shift, 40), *range(shift)]
        got.append(all(analysed(analyzer, [texts[i]]) == [want[i]] for i in order * 5))

    threads = [threading.Thread(target=work, args=(shift,)) for shift in (0, 10, 20, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [True] * 4


@pytest.mark.parametrize("language", ["klingon", "", "English", "de"])
def test_unknown_language_is_refused_with_those_known(language):
    with pytest.raises(InvalidArgument, match=r"language: expected None or one of .*english"):
        Analyzer(language)


@pytest.mark.parametrize("language", [3, b"english", ["english"]])
def test_language_must_be_a_str(language):
    with pytest.raises(InvalidType, match="language: expected str or None"):
        Analyzer(language)


@pytest.mark.parametrize("language", ["english", None])
def test_lone_surrogate_is_refused_by_position(language):
    with pytest.raises(InvalidArgument, match=r"texts\[1\]: expected text without lone surrogates"):
        Analyzer(language).terms(["fine", "bad \udc80"])


@pytest.mark.parametrize("texts", ["text", None, [b"x"], [None]])
def test_texts_of_the_wrong_type_are_refused(texts):
    with pytest.raises(InvalidType, match="texts"):
        Analyzer().terms(texts)
