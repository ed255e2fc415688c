"""Which bytes of ASCII are in a set: every byte, every place in a block."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem._tokenize import WordHasher, words

ISAS = _core.isas()
ASCII = st.text(st.characters(max_codepoint=127), max_size=64)


def members(isa: str, text: str, members_: set[str]) -> list[bool]:
    rows = bytes(
        sum(1 << high for high in range(8) if chr(16 * high + low) in members_) for low in range(16)
    )
    bits = _core._testing.ascii_members(isa, text.encode("ascii"), rows)
    assert bits >> len(text) == 0
    return [bool(bits >> i & 1) for i in range(len(text))]


@pytest.mark.parametrize("point", range(128))
def test_each_byte_is_found_alone(isa: str, point: int) -> None:
    text = "".join(map(chr, range(128)))
    halves = [text[:64], text[64:]]

    found = [members(isa, half, {chr(point)}) for half in halves]

    assert [i for i, inside in enumerate(found[0] + found[1]) if inside] == [point]


@pytest.mark.parametrize("isa", ISAS)
@given(text=ASCII, members_=st.sets(st.characters(max_codepoint=127)))
@settings(max_examples=100)
def test_any_text_and_any_set(isa: str, text: str, members_: set[str]) -> None:
    assert members(isa, text, members_) == [c in members_ for c in text]


@pytest.mark.parametrize("length", [*range(20), 62, 63, 64, 65, 66, 127, 128, 129, 191, 192, 193])
def test_words_around_the_edges_of_blocks(isa: str, length: int) -> None:
    rng = random.Random(length)
    texts = ["a" * length, " " * length, "a" * (length - 1) + " ", " " * (length - 1) + "a"]
    texts += ["".join(rng.choices("ab_9 .-", k=length)) for _ in range(50)]

    batch = words(texts)

    found = [re.findall(r"\w+", text) for text in texts]
    assert batch.utf8.decode() == "".join(word for text in found for word in text)
    assert batch.word_ends.tolist()[-1:] == [len(batch.utf8)][: len(batch.word_ends)]
    assert [b - a for a, b in zip([0, *batch.text_ends], batch.text_ends, strict=False)] == [
        len(text) for text in found
    ]


def test_rows_are_the_same_on_every_isa(isa: str, real_texts: list[str]) -> None:
    hasher = WordHasher("lower_split", 300, "independent")
    rows = hasher.embed_many(real_texts)
    _core.choose_isa("scalar")

    assert rows.tobytes() == hasher.embed_many(real_texts).tobytes()
