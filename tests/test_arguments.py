"""Checks at the border: one form of every value inside, one typed error for every mistake."""

from __future__ import annotations

import json
import math
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import arguments
from ebbmem.errors import EbbmemError, InvalidArgument, InvalidType

NOT_TEXT = [None, 5, 1.5, True, b"text", ["text"], {"text": 1}, object()]
SURROGATES = ["\ud800", "a\udc00", "\udfff\ud800", "ok \ud83d tail"]
HUGE = 10**309  # too large for a float


class Unshowable:
    """Something whose repr fails: the error must still come, and name the argument."""

    def __repr__(self):
        raise RuntimeError("no repr")


@settings(max_examples=100)
@given(st.text())
def test_text_is_kept_as_it_is(value):
    assert arguments.text(value, "summary") == value


def test_nul_and_astral_characters_are_text():
    assert arguments.text("a\0b \U0001f600", "summary") == "a\0b \U0001f600"


@pytest.mark.parametrize("value", SURROGATES)
@pytest.mark.parametrize("check", [arguments.text, arguments.name, arguments.keyword])
def test_lone_surrogates_are_refused(check, value):
    with pytest.raises(InvalidArgument, match=r"detail.*surrogate"):
        check(value, "detail")


@pytest.mark.parametrize("value", NOT_TEXT)
@pytest.mark.parametrize("check", [arguments.text, arguments.name, arguments.keyword])
def test_other_types_are_no_text(check, value):
    with pytest.raises(InvalidType, match="detail: expected a str"):
        check(value, "detail")


@pytest.mark.parametrize("value", ["", " ", "\t\n", "\u3000", "\u2028"])
@pytest.mark.parametrize("check", [arguments.name, arguments.keyword])
def test_blank_names_are_refused(check, value):
    with pytest.raises(InvalidArgument, match="scope"):
        check(value, "scope")


def test_names_are_nfc():
    assert arguments.name("cafe\u0301", "scope") == "caf\u00e9"


@settings(max_examples=200)
@given(st.text(min_size=1).filter(str.strip))
def test_keywords_are_a_fixed_point_on_one_line(value):
    once = arguments.keyword(value, "keywords")
    assert arguments.keyword(once, "keywords") == once
    assert len(once.splitlines()) == 1
    assert unicodedata.is_normalized("NFC", once)


@pytest.mark.parametrize("value", ["Dog", "DOG", " dog ", "d\u006fg"])
def test_keywords_are_compared_folded(value):
    assert arguments.keyword(value, "keywords") == "dog"


def test_names_come_once_and_in_order():
    assert arguments.names(["b", "A", "a", "B"], "keywords") == ("b", "a")
    assert arguments.names((one for one in "ab"), "keywords") == ("a", "b")
    assert arguments.names([], "keywords") == ()


@pytest.mark.parametrize("value", ["dog", b"dog", 5, None])
def test_one_string_is_no_sequence_of_keywords(value):
    with pytest.raises(InvalidType, match="keywords"):
        arguments.names(value, "keywords")


@pytest.mark.parametrize("value", [1, 10, 5.5, 1.0])
def test_numbers_within_their_range(value):
    assert arguments.number(value, "importance", 1, 10) == value
    assert isinstance(arguments.number(value, "importance", 1, 10), float)


@pytest.mark.parametrize("value", [0.999, 10.001, math.nan, math.inf, -math.inf, HUGE])
def test_numbers_out_of_range(value):
    with pytest.raises(InvalidArgument, match=r"importance.*\[1, 10\]"):
        arguments.number(value, "importance", 1, 10)


@pytest.mark.parametrize("value", [True, "5", None, [5], 5j])
def test_no_numbers(value):
    with pytest.raises(InvalidType, match="importance"):
        arguments.number(value, "importance", 1, 10)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, HUGE, -HUGE])
def test_not_finite(value):
    with pytest.raises(InvalidArgument, match="min_score"):
        arguments.finite(value, "min_score")


def test_any_finite_number():
    assert arguments.finite(-1e308, "min_score") == -1e308


@pytest.mark.parametrize("value", [0, -1, -(10**30)])
def test_counts_too_low(value):
    with pytest.raises(InvalidArgument, match="top_k: expected an integer of at least 1"):
        arguments.count(value, "top_k")


@pytest.mark.parametrize("value", [True, 1.0, "1", None, math.nan])
def test_no_counts(value):
    with pytest.raises(InvalidType, match="top_k"):
        arguments.count(value, "top_k")


@pytest.mark.parametrize("value", [0, 1, None, "yes"])
def test_no_flags(value):
    with pytest.raises(InvalidType, match="dedupe"):
        arguments.flag(value, "dedupe")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=100)
@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_metadata_survives_the_round_trip(value):
    assert json.loads(arguments.metadata(value)) == value


def test_metadata_may_be_none():
    assert arguments.metadata(None) is None


def circular():
    inside = []
    inside.append(inside)
    return inside


def deep():
    inside = []
    for _ in range(100_000):
        inside = [inside]
    return inside


@pytest.mark.parametrize(
    "value",
    [
        {"a": math.nan}, {"a": math.inf}, {"a": object()}, {"a": b"x"}, {"a": {1, 2}}, {1: "a"},
        {None: 1}, {"a": {1: 2}}, {"a": [{2: 3}]}, {"a": circular()}, {"a": deep()}, {"\ud800": 1},
        {"a": "\ud800"}, {"a": ["\udfff"]}, [("a", 1)], "a", 5,
    ],
)  # fmt: skip
def test_metadata_that_json_cannot_keep_is_refused(value):
    with pytest.raises((InvalidArgument, InvalidType), match="metadata"):
        arguments.metadata(value)


@pytest.mark.parametrize(
    "value", [Unshowable(), 10**5000, "x" * 10**6], ids=["no repr", "long number", "long text"]
)
def test_an_error_shows_any_value_within_a_line(value):
    with pytest.raises(EbbmemError) as caught:
        arguments.number(value, "importance", 1, 10)
    assert str(caught.value).startswith("importance: expected")
    assert len(str(caught.value)) < 200


def test_numpy_numbers_are_numbers() -> None:
    assert arguments.count(np.int64(3), "top_k") == 3
    assert arguments.number(np.float32(0.5), "weight", 0, 1) == 0.5
    with pytest.raises(InvalidType):
        arguments.count(np.bool_(True), "top_k")


class Tricky(str):
    """Text whose methods say something else than it holds."""

    def encode(self, *_: object) -> bytes:
        return b"something else"

    def __str__(self) -> str:
        return "something else"


def test_text_of_a_subclass_becomes_plain_text():
    checked = arguments.text(Tricky("caf\xe9"), "summary")
    assert type(checked) is str
    assert checked == "caf\xe9"
    with pytest.raises(InvalidArgument, match="summary"):
        arguments.text(Tricky("\ud800"), "summary")
