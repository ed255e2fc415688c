"""An object that its class never made is refused wherever it is used."""

from __future__ import annotations

import numpy as np
import pytest

from ebbmem import _core, _tokenize
from ebbmem.errors import InvalidType

CLASSES = [value for value in vars(_core).values() if isinstance(value, type)]
REFUSAL = "self: expected an object that its class has made"


def methods_of(cls: type) -> list[str]:
    """Return what a class lets its objects do, properties among it."""
    apart = {"__init__", "__new__", "__doc__", "__module__"}
    return [name for name in vars(cls) if name not in apart and not name.startswith("_pybind11")]


def test_every_class_is_looked_at() -> None:
    assert {_core.Arena, _core.Postings, _core.Bounded, _core.Maker, _core.LogIndex} <= {*CLASSES}
    assert all(methods_of(cls) for cls in CLASSES)


@pytest.mark.parametrize("cls", CLASSES)
def test_its_methods_and_properties_refuse_it(cls: type) -> None:
    """pybind11 gave them memory in which nothing was made: a lock of it was never free, for one."""
    for name in methods_of(cls):
        attribute = vars(cls)[name]
        use = attribute.fget if isinstance(attribute, property) else getattr(cls, name)
        refusals = []
        for others in range(15):
            with pytest.raises(TypeError) as refused:  # also for another number of arguments
                use(cls.__new__(cls), *[None] * others)
            refusals.append(str(refused.value))
        assert any(REFUSAL in one for one in refusals), name


def test_it_is_refused_as_an_argument() -> None:
    query, terms, none = np.ones(4, np.float32), np.ones(1, np.uint64), np.empty(0, np.int64)
    arena, postings, lexicon, workers, bounded = (
        cls.__new__(cls)
        for cls in (_core.Arena, _core.Postings, _core.Lexicon, _core.Workers, _core.Bounded)
    )
    reader = _tokenize.TermReader(lexicon, str.casefold)
    calls = (
        lambda: _core.top_affine(arena, query, None, None, None, None, 1),
        lambda: _core.dots(arena, query, none),
        lambda: _core.Searches().bm25(postings, terms, 1.2, 0.75, None, None, 1, None, 0, 1.0, 0.0),
        lambda: _core.best_bounded([bounded], 1),
        lambda: _core.best_bounded([], 1, workers),
        lambda: reader.terms(["a"]),
        lambda: reader.unknown(["a"]),
    )
    for call in calls:
        with pytest.raises(InvalidType, match=REFUSAL):
            call()


def test_a_subclass_that_looks_before_its_base_is_made_is_refused() -> None:
    class Early(_core.Arena):
        def __init__(self) -> None:
            with pytest.raises(InvalidType, match=REFUSAL):
                _ = self.size
            super().__init__(4)

    assert Early().size == 0


def test_one_whose_making_was_refused_is_refused_until_it_is_made() -> None:
    arena = _core.Arena.__new__(_core.Arena)
    with pytest.raises(InvalidType, match="dim"):
        arena.__init__("4")  # type: ignore[arg-type, misc]
    with pytest.raises(InvalidType, match=REFUSAL):
        _ = arena.dim
    arena.__init__(4)  # type: ignore[misc]
    assert arena.dim == 4
