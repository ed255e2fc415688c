"""The vector store: exact cosine search by id, whatever was added, replaced and removed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch
from ebbmem.vectorstores import InMemoryVectorStore, VectorHit, VectorStore

AXES = np.eye(4, dtype=np.float32)


def store_of(**vectors: np.ndarray) -> InMemoryVectorStore:
    store = InMemoryVectorStore()
    store.add(vectors, np.array(list(vectors.values()), dtype=np.float32))
    return store


def ids_of(hits: list[VectorHit]) -> list[str]:
    return [hit.id for hit in hits]


def test_in_memory_store_keeps_the_protocol() -> None:
    store: VectorStore = InMemoryVectorStore()
    assert store.dim is None
    assert len(store) == 0


def test_search_returns_cosines_best_first() -> None:
    between = (AXES[0] + AXES[1]) / np.float32(2**0.5)
    store = store_of(north=AXES[0], between=between, east=AXES[1], south=-AXES[0])
    hits = store.search(AXES[0], 10)
    assert ids_of(hits) == ["north", "between", "east", "south"]
    assert [hit.similarity for hit in hits] == pytest.approx([1, 0.5**0.5, 0, -1], abs=1e-7)


def test_the_first_vectors_decide_the_dimension() -> None:
    store = InMemoryVectorStore()
    store.add(["a"], AXES[:1])
    assert store.dim == 4
    with pytest.raises(ShapeMismatch, match="rows: expected 4 columns"):
        store.add(["b"], np.zeros((1, 5), np.float32))
    assert "b" not in store


def test_a_refused_first_add_decides_nothing() -> None:
    store = InMemoryVectorStore()
    with pytest.raises(InvalidArgument, match="finite"):
        store.add(["a"], np.full((1, 3), np.nan, np.float32))
    assert store.dim is None
    store.add(["a"], AXES[:1])
    assert ids_of(store.search(AXES[0], 1)) == ["a"]


def test_a_zero_vector_is_like_nothing() -> None:
    store = store_of(blank=0 * AXES[0], north=AXES[0])
    assert store.search(0 * AXES[0], 2) == [VectorHit("north", 0.0), VectorHit("blank", 0.0)]


def test_ties_go_to_the_one_added_later() -> None:
    store = store_of(first=AXES[0], second=AXES[0])
    assert ids_of(store.search(AXES[0], 2)) == ["second", "first"]
    store.add(["first"], AXES[:1])
    assert ids_of(store.search(AXES[0], 2)) == ["first", "second"]


def test_adding_an_id_again_replaces_its_vector() -> None:
    store = store_of(a=AXES[0], b=AXES[1])
    store.add(["a", "c", "a"], AXES[[1, 2, 3]])
    assert len(store) == 3
    assert store.search(AXES[3], 1) == [VectorHit("a", 1.0)]
    assert ids_of(store.search(AXES[0], 9)) == ["a", "c", "b"]


def test_removed_vectors_never_come_back() -> None:
    store = store_of(a=AXES[0], b=AXES[1], c=AXES[2])
    store.remove(["a", "a", "unknown"])
    store.remove(["b"])
    assert "a" not in store
    assert ids_of(store.search(AXES[0], 9)) == ["c"]
    store.remove(["c"])
    assert store.search(AXES[0], 9) == []
    store.add(["a"], AXES[3:])
    assert store.search(AXES[3], 9) == [VectorHit("a", 1.0)]


def test_memory_of_removed_vectors_is_given_back() -> None:
    store = InMemoryVectorStore(1024)
    for _ in range(30):
        store.add([str(n) for n in range(200)], np.ones((200, 1024), np.float32) / 32)
    assert len(store) == 200
    assert store._arena.bytes < 4 * 200 * 1024 * 4


STEPS = st.lists(
    st.tuples(st.booleans(), st.lists(st.sampled_from("abcdefgh"), max_size=6)), max_size=30
)


@settings(max_examples=50)
@given(STEPS, st.integers(0, 2**32), st.integers(1, 9))
def test_store_does_what_a_dict_would(steps: list, seed: int, top_k: int) -> None:
    rng, store = np.random.default_rng(seed), InMemoryVectorStore(5)
    model: dict[str, np.ndarray] = {}
    for adding, ids in steps:
        if not adding:
            store.remove(ids)
            model = {id_: row for id_, row in model.items() if id_ not in ids}
            continue
        rows = rng.choice([-0.5, 0.0, 0.5], (len(ids), 5)).astype(np.float32)
        store.add(ids, rows)
        for id_, row in zip(ids, rows, strict=True):
            model.pop(id_, None)
            model[id_] = row
    query = rng.choice([-0.5, 0.0, 0.5], 5).astype(np.float32)
    dots = [oracles.dot32(query, row) for row in model.values()]
    want = oracles.best(dots, range(len(dots)), [True] * len(dots), top_k)
    assert len(store) == len(model)
    assert store.search(query, top_k) == [VectorHit([*model][i], dots[i]) for i in want]


@pytest.mark.parametrize("top_k", [0, -1])
def test_top_k_below_one_is_refused(top_k: int) -> None:
    with pytest.raises(InvalidArgument, match="top_k: expected an integer of at least 1"):
        InMemoryVectorStore().search(AXES[0], top_k)


@pytest.mark.parametrize("top_k", [1.0, "1", None, True])
def test_top_k_of_another_type_is_refused(top_k: object) -> None:
    with pytest.raises(InvalidType, match="top_k: expected an integer"):
        InMemoryVectorStore().search(AXES[0], top_k)


@pytest.mark.parametrize("ids", ["ab", 7, [1, 2], [b"a", b"b"], [None, "a"]])
def test_ids_must_be_strings(ids: object) -> None:
    store = InMemoryVectorStore()
    with pytest.raises(InvalidType, match="ids: expected"):
        store.add(ids, AXES[:2])
    with pytest.raises(InvalidType, match="ids: expected"):
        store.remove(ids)


@pytest.mark.parametrize(
    ("vectors", "error"),
    [
        ([[1.0, 0.0, 0.0, 0.0]], InvalidType),
        (AXES[:1].astype(np.float64), InvalidType),
        (AXES[:2], ShapeMismatch),
        (AXES[0], ShapeMismatch),
        (np.zeros((1, 0), np.float32), InvalidArgument),
    ],
)
def test_vectors_that_do_not_fit_are_refused(vectors: object, error: type) -> None:
    store = InMemoryVectorStore()
    with pytest.raises(error, match="expected"):
        store.add(["a"], vectors)
    assert (len(store), store.dim) == (0, None)


def test_queries_that_do_not_fit_are_refused() -> None:
    store = store_of(a=AXES[0])
    with pytest.raises(ShapeMismatch, match="query: expected 4 values, got 3"):
        store.search(np.zeros(3, np.float32), 1)
    with pytest.raises(InvalidType, match="query"):
        store.search([1.0, 0.0, 0.0, 0.0], 1)
    with pytest.raises(InvalidArgument, match="query: expected finite"):
        store.search(np.full(4, np.inf, np.float32), 1)


def test_adding_nothing_is_allowed() -> None:
    store = InMemoryVectorStore()
    store.add([], np.zeros((0, 7), np.float32))
    assert (len(store), store.dim) == (0, None)


def test_searches_see_the_right_ids_while_rows_move() -> None:
    store, done = InMemoryVectorStore(4), threading.Event()
    store.add(["n0", "e1", "s2", "w3"], AXES)

    def searching() -> int:
        searches = 0
        while not done.is_set() or searches == 0:
            # The last character of an id says which axis it stands for.
            hits = store.search(AXES[2], 50)
            assert all((hit.id[-1] == "2") == (hit.similarity == 1.0) for hit in hits)
            searches += 1
        return searches

    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(searching) for _ in range(3)]
        try:
            for n in range(400):
                ids = [f"{n % 7}-{axis}" for axis in (2, 0, 2, 1)]
                store.add([f"{id_}-{id_[-1]}" for id_ in ids], AXES[[2, 0, 2, 1]])
                store.remove([f"{(n + 3) % 7}-2-2"])
        finally:
            done.set()
        assert all(future.result(timeout=60) > 0 for future in futures)
