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
    maker = _core.Maker(Pair, ("second", "first"))
    pairs = maker.many([1, 2], iter("ab"))
    assert pairs == (Pair("a", 1), Pair("b", 2))
    assert maker.one(1, "a") == Pair("a", 1)
    with pytest.raises(FrozenInstanceError):
        pairs[0].first = "c"


def test_what_is_not_named_is_not_there():
    one = _core.Maker(Pair, ("first",)).one(1)
    with pytest.raises(AttributeError, match="second"):
        one.second  # noqa: B018


def test_no_rows_make_no_objects():
    assert _core.Maker(Pair, ("first",)).many(()) == ()


def test_no_names_make_nothing_of_many():
    maker = _core.Maker(Pair, ())
    assert maker.many() == ()
    with pytest.raises(AttributeError, match="first"):
        maker.one().first  # noqa: B018


def test_they_and_their_values_are_collected():
    held = [Pair(1, 2)]
    seen = weakref.ref(held[0])
    made = _core.Maker(Pair, ("first", "second")).many(held, held)
    refs = [weakref.ref(one) for one in made]
    del made, held
    gc.collect()
    assert seen() is None
    assert [ref() for ref in refs] == [None]


@pytest.mark.parametrize("cls", [tuple, dict, int, "Pair", None])
def test_other_classes_are_refused(cls):
    with pytest.raises(InvalidType, match="cls"):
        _core.Maker(cls, ("first",))


def test_columns_that_do_not_fit_are_refused():
    for names, columns in [
        ((), ([1],)),
        (("first",), ([1], [2])),
        (("first", "second"), ([1],)),
        (("first", "second"), ([1], [2, 3])),
    ]:
        with pytest.raises(ShapeMismatch, match="columns"):
            _core.Maker(Pair, names).many(*columns)
    with pytest.raises(ShapeMismatch, match="values"):
        _core.Maker(Pair, ("first", "second")).one(1)
    with pytest.raises(AttributeError, match="third"):
        _core.Maker(Pair, ("third",)).one(1)
    with pytest.raises(TypeError):
        _core.Maker(Pair, ("first",)).many(5)


def test_an_error_of_a_column_is_passed_on():
    def failing():
        yield 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _core.Maker(Pair, ("first",)).many(failing())


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
