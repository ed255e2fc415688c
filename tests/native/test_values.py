"""Objects made past a class's __init__ are what it makes, however it guards its attributes."""

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


def test_a_value_is_an_attribute():
    pair = _core.Maker(Pair, ("second", "first")).one(1, "a")
    assert pair == Pair("a", 1)
    with pytest.raises(FrozenInstanceError):
        pair.first = "c"


def test_what_is_not_named_is_not_there():
    one = _core.Maker(Pair, ("first",)).one(1)
    with pytest.raises(AttributeError, match="second"):
        one.second  # noqa: B018


def test_no_names_make_nothing_of_it():
    with pytest.raises(AttributeError, match="first"):
        _core.Maker(Pair, ()).one().first  # noqa: B018


def test_it_and_its_values_are_collected():
    held = Pair(1, 2)
    made = _core.Maker(Pair, ("first", "second")).one(held, held)
    refs = [weakref.ref(held), weakref.ref(made)]
    del made, held
    gc.collect()
    assert [ref() for ref in refs] == [None, None]


def test_a_class_that_gets_a_way_of_its_own_to_make_objects_is_past_it():
    class One:
        __slots__ = ("first",)

    class Other:
        __slots__ = ("first",)

    other = Other()
    other.first = 1
    maker = _core.Maker(One, ("first",))
    One.__new__ = lambda cls: other
    made = maker.one(2)
    assert (type(made), made.first, other.first) == (One, 2, 1)


@pytest.mark.parametrize("cls", [tuple, dict, int, "Pair", None])
def test_other_classes_are_refused(cls):
    with pytest.raises(InvalidType, match="cls"):
        _core.Maker(cls, ("first",))


def test_values_that_do_not_fit_are_refused():
    for names, values in [((), (1,)), (("first",), (1, 2)), (("first", "second"), (1,))]:
        with pytest.raises(ShapeMismatch, match="values"):
            _core.Maker(Pair, names).one(*values)
    with pytest.raises(AttributeError, match="third"):
        _core.Maker(Pair, ("third",)).one(1)


def test_of_a_name_given_twice_the_last_column_counts_and_nothing_leaks():
    class Seen(Referable):
        pass

    first = Seen()
    gone = weakref.ref(first)
    made = _core.Maker(Pair, ("first", "first")).one(first, 2)
    del first
    assert (gone(), made.first) == (None, 2)


def test_attributes_without_a_slot_are_set_as_well():
    class Loose:
        pass

    one = _core.Maker(Loose, ("first", "second")).one(1, 2)
    assert vars(one) == {"first": 1, "second": 2}
