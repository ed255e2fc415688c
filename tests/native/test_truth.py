"""Any byte of a bool array but 0 is true, as numpy has it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from word_cases import i64

from ebbmem import _core

ROWS = 300
SCORES = np.linspace(0.1, 0.9, ROWS)
MOMENTS = np.arange(ROWS, dtype=np.int64)
QUERY = np.full(4, 0.5, np.float32)
WORD = np.ones(1, np.uint32), np.ones(1, np.int32)
TERM = np.ones(1, np.uint64)
ENDS = np.arange(1, ROWS + 1)
LINE = np.minimum(np.arange(ROWS + 1), ROWS - 1), np.arange(1, ROWS), np.full(ROWS - 1, 0.9)
# Two seeds have more links than there are nodes: too many to keep account of those reached.
NODES = 30
MESH = np.arange(NODES + 1) * NODES, np.tile(np.arange(NODES), NODES), np.full(NODES**2, 0.01)
SEED, SEEDS = (i64([0]), np.ones(1)), (i64([0, 1]), np.ones(2))
RULES = (3, 0.9, 0.0, 0, 0, False, True)

Ask = Callable[[np.ndarray], object]


def bounded(texts: _core.Postings) -> Ask:
    """Return a ranking in which the name of one text brings up others."""
    columns, rule = (SCORES, SCORES, SCORES, MOMENTS, MOMENTS), (1.0, 0.5, 1.0, 1.0, 1.0, 0.5)
    return lambda mask: _core.Bounded(
        texts, TERM + TERM, 1.2, 0.75, i64([0]), np.ones(1), TERM, mask, i64([]), np.empty(0),
        *columns, 0, 1, *rule, 0.6, ROWS, 0, 1.0, False, 50,
    ).best()  # fmt: skip


def found(add: Callable[[_core.Searches], None]) -> object:
    searches = _core.Searches()
    add(searches)
    return searches.run(1, None)


def links(carries: np.ndarray) -> _core.LinkGraph:
    graph = _core.LinkGraph(carries)
    kinds = np.arange(ROWS - 1, dtype=np.uint8) % len(carries)
    graph.add_many(MOMENTS[:-1], MOMENTS[1:], kinds, np.full(ROWS - 1, 0.9, np.float32))
    return graph


def asks() -> dict[str, Ask]:
    arena, words, fading = _core.Arena(4), _core.WordVectors(8), _core.Fading(1)
    arena.append(np.full((ROWS, 4), 0.5, np.float32))
    words.append(np.ones(ROWS, np.uint32), np.ones(ROWS, np.int32), ENDS)
    fading.append(SCORES, MOMENTS)
    texts = _core.Postings()
    texts.append(np.ones(ROWS, np.uint64), ENDS)
    graph = links(np.ones(1, bool))
    faded = fading, 400, 0.01
    products = words, fading, SCORES, MOMENTS
    return {
        "top_affine": lambda m: _core.top_affine(arena, QUERY, SCORES, None, None, m, 50),
        "top_product": lambda m: _core.top_product(arena, QUERY, SCORES, None, m, 50),
        "top_faded": lambda m: _core.top_faded(arena, fading, QUERY, *faded[1:], None, m, 50),
        "words.top_affine": lambda m: words.top_affine(*WORD, SCORES, None, None, m, 50),
        "words.top_product": lambda m: words.top_product(*WORD, SCORES, None, m, 50),
        "words.top_faded": lambda m: words.top_faded(*WORD, *faded, None, m, 50),
        "top_bm25": lambda m: texts.top_bm25(TERM, 1.2, 0.75, None, m, 50),
        "tied": lambda m: texts.tied(0, 1.0, TERM, np.empty(0, np.uint64), m, 1.0, ROWS),
        "bounded": bounded(texts),
        "products": lambda m: _core.Products(*products, m, 1).best(*WORD, 400, 0.01, 50).slots,
        "searches.bm25": lambda m: found(
            lambda s: s.bm25(texts, TERM, 1.2, 0.75, None, m, 50, None, 0, 1.0, 0.0)
        ),
        "searches.affine": lambda m: found(
            lambda s: s.affine(arena, QUERY, SCORES, None, None, m, 50)
        ),
        "searches.words_affine": lambda m: found(
            lambda s: s.words_affine(words, *WORD, SCORES, None, None, m, 50)
        ),
        "spread": lambda m: _core.spread(*LINE, *SEED, m, *RULES),
        "spread widely": lambda m: _core.spread(*MESH, *SEEDS, m[:NODES], *RULES),
        "graph.spread": lambda m: graph.spread(ROWS, *SEED, m, *RULES),
        "carries": lambda m: links(m[:12]).matrix(ROWS)[1:],
    }


def listed(found: object) -> object:
    """Return what was found, in lists."""
    if isinstance(found, tuple):
        return [listed(one) for one in found]
    return found.tolist() if isinstance(found, np.ndarray) else found


def masks(byte: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a mask that has a byte for each truth, and the same of ones."""
    bytes_ = np.resize(np.array([byte, byte, 0], np.uint8), ROWS)
    return bytes_.view(bool), bytes_ != 0


@pytest.mark.parametrize("byte", [1, 2, 128, 254, 255])
@pytest.mark.parametrize("name", asks())
def test_a_byte_that_is_not_one_is_true(name: str, byte: int) -> None:
    """A C++ bool that was 2 was neither true nor false: what it let through was chance."""
    wild, plain = masks(byte)
    ask = asks()[name]
    assert listed(ask(wild)) == listed(ask(plain))
    assert listed(ask(plain)) != listed(ask(np.ones(ROWS, bool)))
