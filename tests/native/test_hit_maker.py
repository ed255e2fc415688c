"""The hits that the core makes are what their classes would make of the same values."""

from __future__ import annotations

import gc
import weakref

import pytest

from ebbmem import _core
from ebbmem.errors import InvalidType, ShapeMismatch
from ebbmem.models import Recalled

MAKER = _core.HitMaker(Recalled)
ROWS = [("first text", "row"), ("second text", "row")]


def told(place: int, name: str) -> str:
    return f"{place}: {name}"


def test_a_hit_per_row():
    first, second = MAKER.made(told, ROWS, iter([0.5, 0.25]))
    assert [type(one) for one in (first, second)] == [Recalled, Recalled]
    assert [one.summary for one in (first, second)] == ["first text", "second text"]
    assert [one.score for one in (first, second)] == [0.5, 0.25]
    assert (first.memory, second.similarity) == ("0: memory", "1: similarity")


def test_no_rows_make_no_hits():
    assert MAKER.made(told, [], []) == ()


def test_they_are_collected():
    class Source:
        def told(self, place, name):
            return place, name

    source = Source()
    gone = weakref.ref(source)
    hits = MAKER.made(source.told, ROWS[:1], [1.0])
    del source
    assert gone() is not None
    del hits
    gc.collect()
    assert gone() is None


def test_what_does_not_fit_is_refused():
    with pytest.raises(ShapeMismatch, match="scores: expected 2 values"):
        MAKER.made(told, ROWS, [0.5])
    for rows in ([()], [["listed"]], [None]):
        with pytest.raises(InvalidType, match="rows: expected tuples"):
            MAKER.made(told, rows, [0.5])
    with pytest.raises(TypeError):
        MAKER.made(told, 5, [0.5, 0.25])
    with pytest.raises(InvalidType, match="cls"):
        _core.HitMaker(tuple)


def test_an_error_of_a_column_is_passed_on():
    def failing():
        yield 1.0
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        MAKER.made(told, ROWS, failing())


def test_rows_may_change_while_hits_are_made():
    rows = list(ROWS)

    def emptying():
        rows.clear()
        yield from (0.5, 0.25)

    hits = MAKER.made(told, rows, emptying())
    assert [one.summary for one in hits] == ["first text", "second text"]
