"""Lexical analysis: what counts as the same term."""

from __future__ import annotations

import re
import threading
import unicodedata

import analysis_oracles
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
MARKS = "".join(c for c in map(chr, range(0x20000)) if unicodedata.category(c) in ("Mn", "Mc"))


def term_id(term: str) -> int:
    return oracles.word_hash(term) & (2**64 - 1)


def expected(text: str, language: str | None = "english", as_cue: bool = False) -> list[int]:
    stop_words = STOP_WORDS if language == "english" else ()
    stem = str if language is None else Stemmer.Stemmer(language).stemWord
    return [term_id(term) for term in analysis_oracles.terms(text, stem, stop_words, as_cue)]


def analysed(analyzer: Analyzer, texts: list[str], as_cues: bool = False) -> list[list[int]]:
    ids, ends = analyzer.terms(texts, as_cues=as_cues)
    return [ids[a:b].tolist() for a, b in zip([0, *ends], ends, strict=False)]


def words(text: str, as_cue: bool = False) -> list[str]:
    """Return the terms of a text without stems and stop words, which the oracle gives as text."""
    found = analysis_oracles.terms(text, str, (), as_cue)
    assert analysed(Analyzer(None), [text], as_cue) == [[term_id(term) for term in found]]
    return found


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
        ("\u03aa\u0301", "\u03b9\u0308\u0301"),  # folding takes the capital apart
        ("co\u00adoperate", "cooperate"),  # a soft hyphen
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u06cc\u062e\u0648\u0627\u0647\u0645",
        ),  # non-joiner
        ("\uff76\uff9e\uff97\uff7d", "\u30ac\u30e9\u30b9"),  # half width
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


WORDS = [  # a text, and its words: first those that are stemmed, then those that are not
    ("ERR_42", "err 42 err_42"),
    ("v1.2.3", "v1 2 3 v1.2.3"),
    ("see foo.bar.", "see foo bar foo.bar"),
    ("<user@example.com>", "user example com user@example.com"),
    ("2026-11-30", "2026 11 30 2026-11-30"),
    ("COVID-19, F-16", "covid 19 f 16 covid-19 f-16"),
    ("3.14 of 1,000,000", "3 14 of 1 000 000 3.14 1,000,000"),
    ("at 10:30 on 11/30", "at 10 30 on 11 30 10:30 11/30"),
    ("a well-known and/or, 1, 2 a:b 9-to-5", "a well known and or 1 2 a b 9 to 5 9-to-5"),
    ("getUserName", "get user name getusername"),
    ("GetUserName iPhone", "get user name getusername i phone iphone"),
    ("YouTube HTTPServer 4K", "youtube httpserver 4k"),
    ("C++, C# or C++17?", "c c or c 17 c++ c# c++"),
    ("x.C# a+b c##d e#5 f+++", "x c a b c d e 5 f x.c# f++"),
    ("#tag __init__ a__b _ ...", "tag init a b"),
    (
        "\u00e9t\u00e9_2 \u2026 na\u00efve.py",
        "\u00e9t\u00e9 2 na\u00efve py \u00e9t\u00e9_2 na\u00efve.py",
    ),
    ("\u2026 fooBar FooBar", "foo bar foobar foobar"),
    ("\u0928\u092e\u0938\u094d\u0924\u0947", "\u0928\u092e\u0938\u094d\u0924\u0947"),  # Hindi
    (
        "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd",
        "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd",
    ),  # Hebrew
    ("a\u0301b \u0301c x.\u0301y", "\u00e1b c x y"),
    ("\u2764\ufe0f 5\ufe0f\u20e3", "5"),  # selectors of a variant are not seen
    ("\ud55c\uad6d\uc5b4 \uac80\uc0c9", "\ud55c\uad6d\uc5b4 \uac80\uc0c9"),  # Hangul
]


@pytest.mark.parametrize(("text", "found"), WORDS)
def test_words_and_wholes(text, found):
    assert words(text) == words(text, as_cue=True) == found.split()


def test_scripts_without_spaces_give_characters_and_pairs_of_them():
    assert words("GPT\u6a21\u578bv2") == ["gpt", "v2", "\u6a21", "\u578b", "\u6a21\u578b"]
    assert words("GPT\u6a21\u578bv2", as_cue=True) == ["gpt", "v2", "\u6a21\u578b"]
    assert words("\u732b", as_cue=True) == ["\u732b"]
    # A character is a letter with its marks.
    assert words("\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48") == [
        "\u0e17\u0e35\u0e48",
        "\u0e19\u0e35\u0e48",
        "\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "\u6211\u559c\u6b22\u5728\u5317\u4eac\u5403\u70e4\u9e2d",  # Chinese
        "\u5e83\u5cf6\u306e\u30ab\u30fc\u30d7\u3092\u5fdc\u63f4\u3059\u308b",  # Japanese
        "\u0e09\u0e31\u0e19\u0e0a\u0e2d\u0e1a\u0e01\u0e32\u0e41\u0e1f",  # Thai
        "\u0e82\u0ec9\u0ead\u0e8d\u0ea1\u0eb1\u0e81\u0e81\u0eb2\u0ec0\u0e9f",  # Lao
        "\u1781\u17d2\u1789\u17bb\u17c6\u1785\u17bc\u179b\u1785\u17b7\u178f\u17d2\u178f",  # Khmer
        "\u1000\u103b\u103d\u1014\u103a\u1010\u1031\u102c\u103a",  # Myanmar
    ],
)
def test_one_two_and_three_characters_find_a_text_without_spaces(text):
    units = re.findall(f"[^\\W_][{MARKS}]*", text)
    with AgenticMemory(":memory:") as memory:
        wanted = memory.remember(text)
        memory.remember("\u7a7a")
        for count in (1, 2, 3):
            for i in range(len(units) - count + 1):
                found = memory.recall("".join(units[i : i + count])).memories
                assert [hit.id for hit in found] == [wanted.id]


@pytest.mark.parametrize("cue", ["err_42", "ERR-42", "v1.2.3", "getusername", "user name", "C++"])
def test_identifiers_are_found(cue):
    with AgenticMemory(":memory:") as memory:
        wanted = memory.remember("ERR_42 in v1.2.3: getUserName fails when built as C++")
        memory.remember("v3.2.1 has no such thing in C#, see err 7")
        assert memory.recall(cue).memories[0].id == wanted.id


def test_every_character_is_read_as_in_python():
    # Of the long rows of ideographs and of Hangul only the first and the last.
    points = [
        *range(0x3500),
        *range(0x4DB0, 0x4F00),
        *range(0x9FF0, 0xAD00),
        *range(0xD7A0, 0xD800),
    ]
    points += [
        *range(0xE000, 0x17100),
        *range(0x18C00, 0x20100),
        0x3FFFF,
        0xE0001,
        0xE01EF,
        0xE1000,
    ]
    known = [chr(p) for p in points if unicodedata.category(chr(p)) != "Cn"]
    texts = [f"a{c}1{c}Z z{c}{c}" for c in known]

    assert analysed(Analyzer(None), texts) == [expected(text, None) for text in texts]


@pytest.mark.parametrize("language", ["english", "german", None])
@pytest.mark.parametrize("as_cues", [False, True])
def test_random_texts_equal_the_steps_in_python(language, as_cues, random_texts):
    assert analysed(Analyzer(language), random_texts, as_cues) == [
        expected(text, language, as_cues) for text in random_texts
    ]


def test_real_texts_equal_the_steps_in_python(turn_texts):
    assert analysed(Analyzer(), turn_texts) == [expected(text) for text in turn_texts]


def test_wholes_and_parts_add_little_to_plain_english(turn_texts):
    plain = sum(len(re.findall(r"\w+", text)) for text in turn_texts)
    assert plain < len(Analyzer(None).terms(turn_texts)[0]) < 1.01 * plain


# What joins, splits, folds and combines, in many scripts and all widths.
SIGNS = (
    "aZ9bC._@-,:/+# '\u0301\u200d\u00ad\u732b\u304c\u30ab\u3099\u0e44\u0e17\u0e22\u0e31\ud55c\u00e9"
    "\u0915\u094d\ufdd0\u0130\u03a3\u00df\ufb01\uff12\uff21\u0660\U00020000\U0001f600\u3007\u05e9\u05c1"
)
MIXED = st.text(st.sampled_from(SIGNS), max_size=30) | ENCODABLE
ASCII = st.text(st.sampled_from("aabbZC9._@-,:/+#  "), max_size=200)


@given(st.lists(MIXED | ASCII, max_size=6), st.booleans(), st.sampled_from(["english", None]))
@settings(max_examples=200)
def test_any_text_equals_the_steps_in_python(texts, as_cues, language):
    assert analysed(Analyzer(language), texts, as_cues) == [
        expected(text, language, as_cues) for text in texts
    ]


@given(MIXED)
@settings(max_examples=100)
def test_composed_and_decomposed_texts_have_the_same_terms(text):
    spellings = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    first, second = analysed(Analyzer(), spellings)
    assert first == second


@given(ASCII)
@settings(max_examples=100)
def test_words_are_read_alike_beside_other_scripts(text):
    """The core reads ASCII in one way and what Python folded in another."""
    alone, beside = analysed(Analyzer(None), [text, f"{text} \u00bf"])
    assert alone == beside


@given(st.lists(st.lists(ENCODABLE, max_size=4), max_size=4))
@settings(max_examples=50)
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


def test_only_words_that_are_stemmed_are_learnt():
    analyzer = Analyzer()
    analyzer.terms(["".join(map(chr, range(0x4E00, 0x9000))), "1.2.3 and dogs, dogs"])
    assert len(analyzer._lexicon) == len({"1", "2", "3", "and", "dogs"})


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
