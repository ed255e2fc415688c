"""Names and identifiers, found by how they are written."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.naming import names, scanned

NAMED = {
    "My uncle's dog is called Coco.": ["Coco"],
    "Coco only ever touches goat milk.": [],
    "Visited the Glass Tower with Elif": ["Glass", "Tower", "Elif"],
    "Rosa: I met Ann. Then Bob left": ["Ann", "Bob"],
    "We left. Then it rained": [],
    "It broke with ERR_42 in v1.2.3 of getUser at 10:30": ["ERR_42", "v1.2.3", "getUser"],
    "ERR_42 again": ["ERR_42"],
    "Ann said that I and Rex's friend saw Rex": ["Rex"],
    "She met O\u2019Brien and Jean-Luc": ["O\u2019Brien", "Jean-Luc"],
    "ALL OF THIS IS LOUD, EVEN REX": [],
    "Der Hund hei\u00dft \u00c4nne": ["Hund", "\u00c4nne"],
    "\u732b\u306f\u8336\u304c\u597d\u304d": [],
    "3.14 and 42": [],
    "": [],
    " \n..!": [],
}


@pytest.mark.parametrize(("text", "found"), NAMED.items())
def test_names_are_found_by_how_they_are_written(text, found):
    assert names(text) == found


@given(st.text())
def test_names_stand_in_the_text_and_come_once(text):
    found = names(text)
    assert len(set(found)) == len(found)
    assert all(name in text and name for name in found)


@given(st.text(st.sampled_from("aBI'9_s.-@/: \n!?;,") | st.characters(max_codepoint=127)))
def test_ascii_texts_are_read_natively_alike(text):
    assert names(text) == scanned(text)


def test_a_text_with_very_many_names_takes_no_longer_than_by_the_definition():
    text = " ".join(f"id_{n % 15_000}" for n in range(20_000))

    def taken_s(read):
        began_s = time.thread_time()
        assert read(text) == [f"id_{n}" for n in range(15_000)]
        return time.thread_time() - began_s

    # Each compared with all before it took 8 times as long; natively it is 8 times faster.
    assert min(taken_s(names) for _ in range(3)) < min(taken_s(scanned) for _ in range(3))


def test_only_ascii_is_read_natively():
    with pytest.raises(InvalidArgument, match="text"):
        _core.ascii_names("\u00c4nne")
    with pytest.raises(InvalidType, match="text"):
        _core.ascii_names(b"Rex")
