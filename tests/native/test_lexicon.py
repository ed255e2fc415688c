"""The core's memory of word forms, apart from the analysis that fills it."""

from __future__ import annotations

import threading

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem._tokenize import TermReader
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

WORDS = st.sampled_from(["a", "bb", "ccc", "한국", "naïve", "x" * 60, "\U0001d518"])


def term_id(term: str) -> int:
    return oracles.word_hash(term) & (2**64 - 1)


def without_stop_words(words: list[str]) -> list[str]:
    return [word for word in words if word != "bb"] or words


def unknown(lexicon: _core.Lexicon, texts: list[str]) -> list[str]:
    return TermReader(lexicon, str.lower).unknown(texts)


def terms(lexicon: _core.Lexicon, texts: list[str]) -> tuple[np.ndarray, np.ndarray] | None:
    return TermReader(lexicon, str.lower).terms(texts)


def test_unknown_forms_come_once_in_order_of_first_occurrence():
    lexicon = _core.Lexicon()

    assert unknown(lexicon, ["dogs run", "run dogs 한국", "", "ate"]) == [
        "dogs",
        "run",
        "한국",
        "ate",
    ]


def test_learnt_forms_are_not_unknown():
    lexicon = _core.Lexicon()
    lexicon.learn(["dogs", "the"], ["dog", "the"])

    assert unknown(lexicon, ["the dogs run"]) == ["run"]
    assert len(lexicon) == 2


def test_terms_are_hashes_and_stop_words_are_left_out():
    lexicon = _core.Lexicon(stop_words=["the"])
    lexicon.learn(["dogs", "the", "run"], ["dog", "the", "run"])

    ids, ends = terms(lexicon, ["the dogs run", "", "run dogs run", "dogs the the"])

    dog, run = term_id("dog"), term_id("run")
    assert ids.dtype == np.uint64
    assert ends.dtype == np.int64
    assert ids.tolist() == [dog, run, run, dog, run, dog]
    assert ends.tolist() == [2, 2, 5, 6]


def test_a_text_of_stop_words_alone_keeps_their_terms():
    lexicon = _core.Lexicon(stop_words=["is", "being"])
    lexicon.learn(["is", "being"], ["is", "be"])

    ids, ends = terms(lexicon, ["being", "", "is being is"])

    assert ids.tolist() == [term_id(term) for term in ("be", "is", "be", "is")]
    assert ends.tolist() == [1, 1, 4]


def test_stop_words_are_not_forgotten():
    lexicon = _core.Lexicon(stop_words=["the"])
    lexicon.clear()
    lexicon.learn(["the", "dog"], ["the", "dog"])

    assert terms(lexicon, ["the dog"])[0].tolist() == [term_id("dog")]


@pytest.mark.parametrize("words", ["the", ("the",), None])
def test_stop_words_must_be_a_list(words):
    with pytest.raises(InvalidType, match="stop_words: expected a list"):
        _core.Lexicon(stop_words=words)


def test_terms_are_none_while_a_form_is_not_known():
    lexicon = _core.Lexicon()
    lexicon.learn(["dogs"], ["dog"])

    assert terms(lexicon, ["dogs run"]) is None


def test_no_texts_need_no_forms():
    ids, ends = terms(_core.Lexicon(), [])

    assert ids.shape == ends.shape == (0,)


def test_learning_again_overwrites():
    lexicon = _core.Lexicon()
    lexicon.learn(["a"], ["b"])
    lexicon.learn(["a"], ["c"])

    assert terms(lexicon, ["a"])[0].tolist() == [term_id("c")]
    assert len(lexicon) == 1


def test_clear_forgets():
    lexicon = _core.Lexicon()
    lexicon.learn(["a"], ["b"])

    lexicon.clear()

    assert len(lexicon) == 0
    assert unknown(lexicon, ["a"]) == ["a"]


def test_full_lexicon_starts_anew_when_asked_for_unknown_forms():
    lexicon = _core.Lexicon(2)
    lexicon.learn(["a", "b"], ["a", "b"])
    assert unknown(lexicon, ["a c"]) == ["c"]  # as many as it may hold: nothing is forgotten

    lexicon.learn(["c"], ["c"])

    assert len(lexicon) == 3
    assert terms(lexicon, ["a b c"]) is not None
    assert unknown(lexicon, ["a c"]) == ["a", "c"]
    assert len(lexicon) == 0


@given(st.lists(st.lists(st.lists(WORDS, max_size=5).map(" ".join), max_size=4), max_size=5))
@settings(max_examples=50)
def test_lexicon_is_a_dictionary(batches):
    lexicon, model = _core.Lexicon(stop_words=["bb"]), {}
    for texts in batches:
        found = [w for text in texts for w in oracles.words(text)]
        new = [w for w in dict.fromkeys(found) if w not in model]
        assert unknown(lexicon, texts) == new
        lexicon.learn(new, [w[:2] for w in new])
        model.update({w: term_id(w[:2]) for w in new})
        kept = [w for text in texts for w in without_stop_words(oracles.words(text))]
        assert terms(lexicon, texts)[0].tolist() == [model[w] for w in kept]
        assert len(lexicon) == len(model)


def test_threads_may_learn_look_up_and_clear_together():
    lexicon = _core.Lexicon(50)
    forms = [f"w{i}" for i in range(100)]
    texts = [" ".join(forms)]
    want = [term_id(f) for f in forms]
    wrong: list[object] = []

    def work():
        for _ in range(100):
            new = unknown(lexicon, texts)
            lexicon.learn(new, new)
            found = terms(lexicon, texts)
            if found is not None and found[0].tolist() != want:
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("terms", [[], ["a", "b", "c"]])
def test_one_term_per_form(terms):
    with pytest.raises(ShapeMismatch, match="terms: expected 2 terms, one per form, got"):
        _core.Lexicon().learn(["a", "b"], terms)


@pytest.mark.parametrize("forms", ["ab", ("a",), None])
def test_forms_must_be_a_list(forms):
    with pytest.raises(InvalidType, match="forms: expected a list"):
        _core.Lexicon().learn(forms, ["a"])


@pytest.mark.parametrize("form", [None, 3, b"a"])
def test_form_that_is_no_str_is_named(form):
    with pytest.raises(InvalidType, match=r"forms\[1\]: expected str"):
        _core.Lexicon().learn(["a", form], ["a", "b"])


@pytest.mark.parametrize(("forms", "terms"), [(["\ud800"], ["a"]), (["a"], ["\ud800"])])
def test_lone_surrogate_is_refused(forms, terms):
    lexicon = _core.Lexicon()

    with pytest.raises(InvalidArgument, match=r"\[0\]: expected text without lone surrogates"):
        lexicon.learn(forms, terms)
    assert len(lexicon) == 0


@pytest.mark.parametrize("capacity", [0, -1])
def test_capacity_must_be_positive(capacity):
    with pytest.raises(InvalidArgument, match="capacity: expected an integer of at least 1"):
        _core.Lexicon(capacity)
