"""Objects made by columns are what their class makes, however it guards its attributes."""

from __future__ import annotations

import gc
import weakref
from dataclasses import FrozenInstanceError, dataclass

import pytest

from ebbmem import _core
from ebbmem.errors import InvalidType, ShapeMismatch


class Referable:
    """What lets Python 3.10 refer weakly to a class with slots."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True)
class Pair(Referable):
    first: object
    second: object


def test_a_column_is_an_attribute_of_each():
    pairs = _core.made(Pair, ("second", "first"), ([1, 2], iter("ab")))
    assert pairs == [Pair("a", 1), Pair("b", 2)]
    with pytest.raises(FrozenInstanceError):
        pairs[0].first = "c"


def test_what_is_not_named_is_not_there():
    (one,) = _core.made(Pair, ("first",), ([1],))
    with pytest.raises(AttributeError, match="second"):
        one.second  # noqa: B018


def test_no_rows_make_no_objects():
    assert _core.made(Pair, ("first",), ((),)) == []


def test_they_and_their_values_are_collected():
    held = [Pair(1, 2)]
    seen = weakref.ref(held[0])
    made = _core.made(Pair, ("first", "second"), (held, held))
    refs = [weakref.ref(one) for one in made]
    del made, held
    gc.collect()
    assert seen() is None
    assert [ref() for ref in refs] == [None]


@pytest.mark.parametrize("cls", [tuple, dict, int, "Pair", None])
def test_other_classes_are_refused(cls):
    with pytest.raises(InvalidType, match="cls"):
        _core.made(cls, ("first",), ([1],))


def test_columns_that_do_not_fit_are_refused():
    for names, columns in [
        ((), ()),
        (("first",), ([1], [2])),
        (("first", "second"), ([1], [2, 3])),
    ]:
        with pytest.raises(ShapeMismatch, match="columns"):
            _core.made(Pair, names, columns)
    with pytest.raises(AttributeError, match="third"):
        _core.made(Pair, ("third",), ([1],))
    with pytest.raises(TypeError):
        _core.made(Pair, ("first",), (5,))


def test_an_error_of_a_column_is_passed_on():
    def failing():
        yield 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _core.made(Pair, ("first",), (failing(),))


def test_of_a_name_given_twice_the_last_column_counts_and_nothing_leaks():
    class Seen(Referable):
        pass

    first = Seen()
    gone = weakref.ref(first)
    made = _core.made(Pair, ("first", "first"), ([first], [2]))
    del first
    assert (gone(), made[0].first) == (None, 2)


def test_attributes_without_a_slot_are_set_as_well():
    class Loose:
        pass

    (one,) = _core.made(Loose, ("first", "second"), ([1], [2]))
    assert vars(one) == {"first": 1, "second": 2}
