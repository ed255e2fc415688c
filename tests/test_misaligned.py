"""Arrays off the alignment of their numbers: refused by the core, copied where the API copies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from ebbmem import _core
from ebbmem.errors import InvalidType
from ebbmem.graph import LinkTable
from ebbmem.spaces import embedded
from ebbmem.spreading import spread_links

COUNT = 40  # more than the kernels take at a time
Numbers = NDArray[np.generic]


def misaligned(values: Numbers) -> Numbers:
    """Return the same values, a byte further than numbers of their size may lie."""
    copy = np.zeros(values.nbytes + 1, np.uint8)[1:].view(values.dtype).reshape(values.shape)
    copy[...] = values
    assert not copy.flags.aligned
    assert copy.flags.c_contiguous
    return copy


REALS, FLOATS = np.linspace(0.1, 1.0, COUNT), np.linspace(0.1, 1.0, COUNT, dtype=np.float32)
SLOTS, TERMS = np.arange(COUNT), np.arange(1, COUNT + 1, dtype=np.uint64)
BUCKETS, ONCE = np.arange(COUNT, dtype=np.uint32), np.ones(COUNT, np.int32)

CALLS: dict[str, tuple[Callable[[Numbers], object], Numbers]] = {
    "rows": (_core.Arena(4).append, FLOATS.reshape(10, 4)),
    "importance": (lambda x: _core.Fading().append(x, SLOTS), REALS),
    "since_us": (lambda x: _core.Fading().append(REALS, x), SLOTS),
    "term_ids": (lambda x: _core.Postings().append(x, np.array([COUNT])), TERMS),
    "buckets": (lambda x: _core.WordVectors(64).append(x, ONCE, np.array([COUNT])), BUCKETS),
    "counts": (lambda x: _core.WordVectors(64).append(BUCKETS, x, np.array([COUNT])), ONCE),
    "idle": (lambda x: _core.exponential_retention(FLOATS, x, FLOATS), FLOATS),
    "anchor": (lambda x: _core.exponential_retention(x, REALS, REALS), REALS),
    "strength": (
        lambda x: _core.Strengths(SLOTS, x, REALS, REALS, SLOTS, SLOTS, 1.0, 0.1),
        REALS,
    ),
    "indices": (lambda x: _core.check_csr(np.arange(COUNT + 1), x, REALS), SLOTS),
}


@pytest.mark.parametrize("argument", CALLS)
def test_the_core_refuses_them(argument):
    call, values = CALLS[argument]
    call(values)
    with pytest.raises(InvalidType, match=f"^{argument}: .* got a misaligned view"):
        call(misaligned(values))


def test_links_are_the_same():
    columns = (SLOTS[:-1], SLOTS[1:], np.zeros(COUNT - 1, np.uint8), FLOATS[:-1])
    usual, copied = LinkTable(), LinkTable()
    usual.add_many(*columns)
    copied.add_many(*(misaligned(x) if x.itemsize > 1 else x for x in columns))
    seeds = (SLOTS[:2], REALS[:2])
    wanted = spread_links(usual, COUNT, seeds)
    found = spread_links(copied, COUNT, tuple(map(misaligned, seeds)))
    np.testing.assert_array_equal(found.nodes, wanted.nodes)
    np.testing.assert_array_equal(found.activation, wanted.activation)


def test_an_embedder_may_return_them():
    class Embedder:
        name, dim = "misaligned", 4

        def embed_many(self, texts):
            return misaligned(FLOATS[: 4 * len(texts)].reshape(-1, 4))

    made = embedded(Embedder(), ["a", "b"])
    assert made.flags.aligned
    np.testing.assert_array_equal(made, FLOATS[:8].reshape(2, 4))
