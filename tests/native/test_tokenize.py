"""Python strings into ragged UTF-8 batches: the same words that Python itself finds."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import pickle
import re
import sys
import threading
import tracemalloc

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core, _tokenize
from ebbmem._tokenize import TermReader, WordBatch, WordHasher, checked, lower_split, words
from ebbmem.errors import InvalidArgument, InvalidType

SPLITTERS = [(words, oracles.words), (lower_split, oracles.lower_split)]
HASHER = WordHasher("lower_split", 8, "independent")
READERS = [HASHER.embed_many, HASHER.counts_many, TermReader(None, str.casefold).terms]
NOT_SURROGATES = [*range(0xD800), *range(0xE000, 0x110000)]
ENCODABLE = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def unpacked(batch: WordBatch) -> list[list[str]]:
    starts = [0, *batch.word_ends.tolist()]
    flat = [
        batch.utf8[a:b].decode() for a, b in zip(starts, batch.word_ends.tolist(), strict=False)
    ]
    ends = batch.text_ends.tolist()
    return [flat[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def test_word_characters_are_those_of_re_on_every_code_point():
    batch = words([chr(point) for point in range(0x110000)])

    found = np.diff(batch.text_ends, prepend=0)
    expected = [bool(re.match(r"\w", chr(point))) for point in range(0x110000)]
    assert found.tolist() == expected
    assert batch.utf8 == "".join(re.findall(r"\w", "".join(map(chr, range(0x110000))))).encode()


def test_spaces_are_those_of_str_on_every_code_point():
    texts = [f"a{chr(point)}b" for point in NOT_SURROGATES]

    batch = lower_split(texts)

    found = [oracles.lower_split(text) for text in texts]
    assert np.diff(batch.text_ends, prepend=0).tolist() == [len(split) for split in found]
    assert batch.utf8 == "".join(itertools.chain.from_iterable(found)).encode()


@pytest.mark.parametrize(("split", "oracle"), SPLITTERS)
def test_random_texts_split_like_python(split, oracle, random_texts):
    assert unpacked(split(random_texts)) == [oracle(text) for text in random_texts]


@pytest.mark.parametrize(("split", "oracle"), SPLITTERS)
def test_real_texts_split_like_python(split, oracle, real_texts):
    assert unpacked(split(real_texts)) == [oracle(text) for text in real_texts]


@pytest.mark.parametrize(("split", "oracle"), SPLITTERS)
@given(st.lists(ENCODABLE, max_size=8))
@settings(max_examples=50)
def test_any_batch_splits_like_its_texts(split, oracle, texts):
    assert unpacked(split(texts)) == [oracle(text) for text in texts]


@given(st.lists(st.text(st.characters(), max_size=20), max_size=5))
@settings(max_examples=50)
def test_words_pass_over_surrogates_as_re_does(texts):
    assert unpacked(words(texts)) == [oracles.words(text) for text in texts]


@pytest.mark.parametrize("split", [words, lower_split])
@pytest.mark.parametrize("texts", [[], (), [""], ["", ""], ["  "]])
def test_no_words_give_empty_arrays(split, texts):
    batch = split(texts)

    assert batch.utf8 == b""
    assert batch.word_ends.shape == (0,)
    assert batch.text_ends.tolist() == [0] * len(texts)
    assert batch.word_ends.dtype == batch.text_ends.dtype == np.int64


@pytest.mark.parametrize("count", [1, 15, 16, 17, 31, 33, 1000, 70_000])
@pytest.mark.parametrize("letter", ["a", "é", "漢", "\U0001d518"])
def test_word_of_every_length_and_width(letter, count):
    batch = words([letter * count, f"{letter} " * count])

    assert unpacked(batch) == [[letter * count], [letter] * count]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\0b", ["a\0b"]),
        ("Straße ÉCOLE", ["straße", "école"]),
        ("ΟΔΥΣΣΕΥΣ", ["οδυσσευς"]),  # the last sigma is lowered by its place
        ("İ", ["i̇"]),  # one letter becomes two code points
        ("\x1f a\x85b\u3000c ", ["a", "b", "c"]),
    ],
)
def test_lower_split_lowers_as_str_does(text, expected):
    assert unpacked(lower_split([text])) == [expected]


def test_nul_is_between_words():
    assert unpacked(words(["a\0b"])) == [["a", "b"]]


def test_result_cannot_be_changed():
    batch = words(["one two"])

    with pytest.raises(ValueError, match="read-only"):
        batch.word_ends[0] = 9
    with pytest.raises(AttributeError):
        batch.utf8 = b""


def test_result_survives_pickling():
    batch = words(["one two", "three"])

    assert unpacked(pickle.loads(pickle.dumps(batch))) == unpacked(batch)


def test_subclass_of_str_is_taken_as_its_text():
    class Loud(str):
        def lower(self):
            return "overridden"

    assert unpacked(lower_split([Loud("A b")])) == [["a", "b"]]


@pytest.mark.parametrize("split", [words, lower_split, checked])
@pytest.mark.parametrize("texts", ["text", b"text", None, 3, {"a"}, iter(["a"]), np.array(["a"])])
def test_only_lists_and_tuples_are_batches(split, texts):
    with pytest.raises(InvalidType, match=r"texts: expected a list or tuple of str"):
        split(texts)


@pytest.mark.parametrize("split", [words, lower_split, checked])
@pytest.mark.parametrize("item", [None, b"b", 3, ["b"]])
def test_item_that_is_no_str_is_named(split, item):
    with pytest.raises(InvalidType, match=r"texts\[1\]: expected str"):
        split(["a", item])


@pytest.mark.parametrize("split", [lower_split, checked, WordHasher("words", 8, None).embed_many])
@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\U0001d518\udc00", "x " * 99 + "\ud83d"])
def test_lone_surrogate_is_refused_by_position(split, text):
    with pytest.raises(InvalidArgument, match=r"texts\[2\]: expected text without lone surrogates"):
        split(["a", "\ud7ff\ue000😀", text])


def test_checked_returns_a_tuple_of_the_same_texts():
    texts = ["a", "漢", "😀"]

    assert checked(texts) == tuple(texts)


def test_caller_may_change_the_list_meanwhile():
    texts = [f"word{i} " * 50 for i in range(3000)]
    expected = unpacked(words(texts))
    done = threading.Event()

    def churn():
        while not done.is_set():
            texts.append(f"more {len(texts)}")
            del texts[-1]

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        got = [unpacked(words(texts))[:3000] for _ in range(5)]
    finally:
        done.set()
        thread.join()
    assert got == [expected] * 5


@pytest.mark.parametrize("texts", [["a b c 漢 " * 200] * 50, ["a " * 900, "\ud800"], ["a", None]])
def test_nothing_leaks(texts):
    def run(times):
        for split in (words, lower_split, checked, *READERS) * times:
            with contextlib.suppress(InvalidArgument, InvalidType):
                split(texts)

    grown = []
    tracemalloc.start()
    try:
        run(150)  # until the interpreter's free lists are full
        for _ in range(3):
            before = tracemalloc.get_traced_memory()[0]
            run(100)
            grown.append(tracemalloc.get_traced_memory()[0] - before)
    finally:
        tracemalloc.stop()
    # A leak grows every time, the interpreter's own caches now and then.
    assert min(grown) < 100 * 8


def test_references_are_given_back():
    text = "".join(["one ", "two"])
    before = sys.getrefcount(text)

    for split in (words, lower_split, checked, *READERS):
        split([text, text])
    HASHER.embed(text)
    HASHER.counts(text)

    assert sys.getrefcount(text) == before


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("texts", ["text", None, ["a", None], ["a", b"b"]])
def test_readers_refuse_what_is_no_batch_of_texts(read, texts):
    with pytest.raises(InvalidType, match=r"texts(\[1\])?: expected"):
        read(texts)


@pytest.mark.parametrize("read", [HASHER.embed, HASHER.counts])
@pytest.mark.parametrize(("text", "error"), [(None, InvalidType), ("a\udc80", InvalidArgument)])
def test_one_text_is_refused_by_name(read, text, error):
    with pytest.raises(error, match="text: expected"):
        read(text)


def test_texts_long_enough_to_give_up_the_lock_are_read_alike(random_texts):
    long = [" ".join(random_texts)] * 2

    assert HASHER.embed_many(long).tobytes() == HASHER.embed(long[0]).tobytes() * 2
    assert [part.tolist() for part in HASHER.counts(long[0])] == [
        part.tolist() for part in HASHER.counts_many([long[0], ""])[:2]
    ]


def test_terms_of_folded_texts_stay_alive_while_they_are_read():
    texts = [f"GRÖSSE {i} ΟΔΟΣ" for i in range(2000)]

    ids, ends = TermReader(None, str.casefold).terms(texts)

    folded = [word for text in texts for word in oracles.words(text.casefold())]
    assert ids.tolist() == [oracles.word_hash(word) & (2**64 - 1) for word in folded]
    assert ends.tolist() == [3 * (i + 1) for i in range(2000)]


@pytest.mark.parametrize(
    ("lexicon", "fold", "argument"),
    [("x", str.casefold, "lexicon"), (1, str.casefold, "lexicon"), (None, None, "fold")],
)
def test_a_reader_of_terms_refuses_what_it_cannot_use(lexicon, fold, argument):
    with pytest.raises(InvalidType, match=f"{argument}: expected"):
        TermReader(lexicon, fold)


def test_a_fold_that_gives_no_str_is_refused():
    with pytest.raises(InvalidType, match="fold: expected"):
        TermReader(None, len).terms(["é"])


def test_without_a_lexicon_no_form_is_unknown_or_known():
    with pytest.raises(InvalidType, match="lexicon: expected"):
        TermReader(None, str.casefold).unknown(["abc"])


@pytest.mark.parametrize("dim", [0, -1, 2**24 + 1, 2**64])
def test_a_hasher_refuses_a_dimension_that_no_vector_has(dim):
    with pytest.raises(InvalidArgument, match="dim: expected 1 to 16777216, got"):
        WordHasher("words", dim, None)

    hasher = WordHasher("words", 8, None)
    with pytest.raises(InvalidArgument, match="dim"):
        hasher.__init__("lower_split", dim, None)  # type: ignore[misc]
    assert hasher.embed("Rex").tolist() == oracles.embed("Rex", 8).tolist()


def test_a_reader_that_is_made_anew_goes_on_with_the_splitter_it_began_with():
    made_anew = []

    def fold(text):
        reader.__init__(None, str.upper)  # type: ignore[misc]
        made_anew.append(text)
        return text.casefold()

    reader = TermReader(None, fold)
    ids, _ = reader.terms(["É x", "Ü y"])

    assert len(made_anew) == 2
    assert ids.tolist() == [oracles.word_hash(w) & (2**64 - 1) for w in ("é", "x", "ü", "y")]


def test_whatever_the_core_throws_is_an_exception_in_python():
    name = b"ebbmem._core._text_functions"
    find = ctypes.pythonapi.PyCapsule_GetPointer
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = (ctypes.c_void_p * 5).from_address(find(_core._text_functions, name))
    parts = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    terms = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, *parts)(table[2])
    with pytest.raises(RuntimeError, match="cast"):
        terms("no lexicon", None, 0, None)


def test_public_names_have_docstrings():
    for public in (_tokenize.words, _tokenize.lower_split, _tokenize.checked, WordBatch):
        assert public.__doc__


def test_what_was_not_initialised_is_whole_all_the_same() -> None:
    # Without a splitter its first use ended the interpreter.
    hasher = _tokenize.WordHasher.__new__(_tokenize.WordHasher)
    reader = _tokenize.TermReader.__new__(_tokenize.TermReader)

    assert hasher.embed("a b").tolist() == [1.0]
    assert len(reader.terms(("a b",))[0]) == 2
