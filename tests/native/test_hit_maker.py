"""The hits that the core makes are what their classes would make of the same values."""

from __future__ import annotations

import gc
import weakref

import pytest

from ebbmem import _core
from ebbmem.errors import InvalidType, ShapeMismatch
from ebbmem.models import Memory, Recalled

MAKER = _core.HitMaker(Recalled, Memory)
ROWS = [("first text", "row"), ("second text", "row")]


def of_hits(place: int, name: str) -> str:
    return f"hit {place}: {name}"


def of_memories(place: int, name: str) -> str:
    return f"memory {place}: {name}"


def test_a_hit_per_row_with_its_memory():
    first, second = MAKER.made(of_hits, of_memories, [4, 7], ROWS, iter([0.5, 0.25]))
    assert [type(one) for one in (first, first.memory)] == [Recalled, Memory]
    assert [one.summary for one in (first, second)] == ["first text", "second text"]
    assert [one.score for one in (first, second)] == [0.5, 0.25]
    # A hit is asked for by its own place, a memory by that of its row.
    assert second.similarity == "hit 7: similarity"
    assert second.memory.detail == "memory 1: detail"


def test_no_rows_make_no_hits():
    assert MAKER.made(of_hits, of_memories, range(0), [], []) == ()


def test_they_are_collected():
    class Source:
        def told(self, place, name):
            return place, name

    source = Source()
    gone = weakref.ref(source)
    hits = MAKER.made(source.told, source.told, [0], ROWS[:1], [1.0])
    del source
    assert gone() is not None
    del hits
    gc.collect()
    assert gone() is None


def test_what_does_not_fit_is_refused():
    with pytest.raises(ShapeMismatch, match="places: expected 2 values"):
        MAKER.made(of_hits, of_memories, [1], ROWS, [0.5, 0.25])
    with pytest.raises(ShapeMismatch, match="scores: expected 2 values"):
        MAKER.made(of_hits, of_memories, [1, 2], ROWS, [0.5])
    for rows in ([()], [["listed"]], [None]):
        with pytest.raises(InvalidType, match="rows: expected tuples"):
            MAKER.made(of_hits, of_memories, [1], rows, [0.5])
    with pytest.raises(TypeError):
        MAKER.made(of_hits, of_memories, 5, ROWS, [0.5, 0.25])
    with pytest.raises(InvalidType, match="cls"):
        _core.HitMaker(tuple, Memory)
    with pytest.raises(InvalidType, match="cls"):
        _core.HitMaker(Recalled, dict)


def test_an_error_of_a_column_is_passed_on():
    def failing():
        yield 1.0
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        MAKER.made(of_hits, of_memories, [1, 2], ROWS, failing())


def test_rows_may_change_while_hits_are_made():
    rows = list(ROWS)

    def emptying():
        rows.clear()
        yield from (0.5, 0.25)

    hits = MAKER.made(of_hits, of_memories, [0, 1], rows, emptying())
    assert [one.summary for one in hits] == ["first text", "second text"]
