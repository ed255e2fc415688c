"""The link table: what it keeps, and the matrix it gives."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem.csr import Csr
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch
from ebbmem.graph import KIND_FACTORS, LINK_KINDS, LinkTable, kind_code

Link = tuple[int, int, str, float]
SLOTS = 8

link = st.tuples(
    st.integers(0, SLOTS - 1),
    st.integers(0, SLOTS - 1),
    st.sampled_from(LINK_KINDS),
    st.sampled_from([0.0, 0.25, 1.0, 2.5]),
).filter(lambda one: one[0] != one[1])
links = st.lists(link, max_size=30)


def table(links: list[Link]) -> LinkTable:
    made = LinkTable()
    for one in links:
        made.add(*one)
    return made


def rows(csr: Csr) -> list[list[tuple[int, float]]]:
    pairs = list(zip(csr.indices.tolist(), csr.data.tolist(), strict=True))
    ends = csr.indptr.tolist()
    return [pairs[a:b] for a, b in itertools.pairwise(ends)]


def expected_rows(links: list[Link], size: int) -> list[list[tuple[int, float]]]:
    kept = [one for one in links if one[2] not in ("supersedes", "conflicts")]
    return [[(t, w) for s, t, _, w in kept if s == slot] for slot in range(size)]


def columns(links: list[Link]) -> tuple[np.ndarray, ...]:
    sources, targets, kinds, weights = zip(*links, strict=True)
    codes = [kind_code(kind) for kind in kinds]
    return np.array(sources), np.array(targets), np.array(codes), np.array(weights)


@settings(max_examples=50)
@given(links)
def test_rows_hold_the_links_in_order_of_addition(links: list[Link]) -> None:
    csr = table(links).csr(SLOTS)
    assert rows(csr) == expected_rows(links, SLOTS)
    assert (csr.indptr.dtype, csr.indices.dtype, csr.data.dtype) == ("i8", "i4", "f4")


@settings(max_examples=60)
@given(links, links, st.integers(SLOTS, SLOTS + 3))
def test_a_matrix_that_grew_equals_one_built_anew(first, later, size: int) -> None:
    grown = table(first)
    least = max((max(s, t) for s, t, _, _ in first), default=-1) + 1
    grown.csr(least)
    for one in later:
        grown.add(*one)
    assert rows(grown.csr(size)) == expected_rows([*first, *later], size)


def test_a_matrix_can_shrink_again() -> None:
    made = table([(0, 1, "related", 1.0)])
    made.csr(10)
    assert made.csr(2).shape == (2, 2)


@settings(max_examples=30)
@given(links.filter(bool))
def test_adding_many_equals_adding_each(links: list[Link]) -> None:
    many = LinkTable()
    many.add_many(*columns(links))
    assert rows(many.csr(SLOTS)) == rows(table(links).csr(SLOTS))
    assert len(many) == len(links)


@settings(max_examples=50)
@given(links, st.sets(st.integers(0, SLOTS + 2)))
def test_dropped_nodes_take_their_links_along(links: list[Link], gone: set[int]) -> None:
    made = table(links)
    made.csr(SLOTS)
    made.drop_nodes(np.array(sorted(gone), np.int64))
    kept = [one for one in links if one[0] not in gone and one[1] not in gone]
    assert rows(made.csr(SLOTS)) == expected_rows(kept, SLOTS)


@settings(max_examples=50)
@given(links, st.lists(st.booleans(), min_size=SLOTS, max_size=SLOTS), links)
def test_remapped_links_join_the_new_numbers(links, alive: list[bool], later) -> None:
    made, numbers = table(links), np.where(alive, np.cumsum(alive) - 1, -1)
    made.csr(SLOTS)
    made.remap(numbers)
    for one in later:
        made.add(*one)
    moved = [(int(numbers[s]), int(numbers[t]), k, w) for s, t, k, w in links]
    kept = [one for one in moved if one[0] >= 0 and one[1] >= 0]
    assert rows(made.csr(SLOTS)) == expected_rows([*kept, *later], SLOTS)


def test_the_matrix_is_kept_until_something_changes() -> None:
    made = table([(0, 1, "related", 1.0)])
    first = made.csr(3)
    assert made.csr(3) is first
    made.drop_nodes(np.array([2]))
    assert made.csr(3) is first
    made.add(1, 2, "causes", 0.5)
    assert rows(made.csr(3)) == [[(1, 1.0)], [(2, 0.5)], []]
    assert rows(first) == [[(1, 1.0)], [], []]


def test_kept_matrices_cannot_be_written() -> None:
    csr = table([(0, 1, "related", 1.0)]).csr(2)
    with pytest.raises(ValueError, match="read-only"):
        csr.data[0] = 2.0


def test_parallel_links_are_all_kept() -> None:
    made = table([(0, 1, "related", 1.0), (0, 1, "keyword", 0.5), (0, 1, "related", 1.0)])
    assert rows(made.csr(2))[0] == [(1, 1.0), (1, 0.5), (1, 1.0)]


def test_superseding_and_conflicting_carry_no_activation() -> None:
    silent = [k for k, f in zip(LINK_KINDS, KIND_FACTORS, strict=True) if f == 0]
    assert silent == ["supersedes", "conflicts"]


def test_neighbors_name_every_kind() -> None:
    made = table([(2, 0, "supersedes", 1.0), (0, 2, "related", 1.0), (2, 1, "causes", 0.25)])
    assert made.neighbors(2) == [(0, "supersedes", 1.0), (1, "causes", 0.25)]
    assert made.neighbors(7) == []


def test_an_empty_table_gives_an_empty_matrix() -> None:
    assert rows(LinkTable().csr(0)) == []
    assert rows(LinkTable().csr(2)) == [[], []]


def test_scipy_gets_the_same_matrix() -> None:
    made = table([(0, 1, "related", 1.0), (2, 0, "keyword", 0.5)])
    assert made.csr(3).to_scipy().toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0.5, 0, 0]]


def test_readers_see_a_prefix_while_a_writer_adds() -> None:
    made, failures = LinkTable(), []

    def read() -> None:
        while len(made) < 300:
            csr = made.csr(2)
            if csr.data.tolist() != list(range(len(csr.data))):
                failures.append(csr.data)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for weight in range(300):
        made.add(0, 1, "related", weight)
    for reader in readers:
        reader.join()
    assert not failures


# --- refusals ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "argument"),
    [
        ({"source": -1}, InvalidArgument, "source"),
        ({"target": 2**31}, InvalidArgument, "target"),
        ({"target": 0}, InvalidArgument, "target"),
        ({"source": 0.0}, InvalidType, "source"),
        ({"source": True}, InvalidType, "source"),
        ({"target": "1"}, InvalidType, "target"),
        ({"kind": "friend"}, InvalidArgument, "kind"),
        ({"weight": -1.0}, InvalidArgument, "weight"),
        ({"weight": float("nan")}, InvalidArgument, "weight"),
        ({"weight": 1e39}, InvalidArgument, "weight"),
        ({"weight": "1"}, InvalidType, "weight"),
    ],
)
def test_links_that_make_no_sense_are_refused(change: dict, error: type, argument: str) -> None:
    made = LinkTable()
    with pytest.raises(error, match=f"^{argument}: expected"):
        made.add(**{"source": 0, "target": 1, "kind": "related", "weight": 1.0, **change})
    assert len(made) == 0


@pytest.mark.parametrize(
    ("place", "wrong", "error"),
    [
        (0, [0], InvalidType),
        (0, np.array([0.0]), InvalidType),
        (1, np.array([1, 2]), ShapeMismatch),
        (1, np.array([[1]]), ShapeMismatch),
        (2, np.array([8]), InvalidArgument),
        (3, np.array([]), ShapeMismatch),
        (3, np.array([np.inf]), InvalidArgument),
    ],
)
def test_columns_that_make_no_sense_are_refused(place: int, wrong: object, error: type) -> None:
    made, good = LinkTable(), list(columns([(0, 1, "related", 1.0)]))
    good[place] = wrong
    with pytest.raises(error, match=("sources", "targets", "kinds", "weights")[place]):
        made.add_many(*good)
    assert len(made) == 0


@pytest.mark.parametrize(("size", "error"), [(1, InvalidArgument), (-1, InvalidArgument)])
def test_sizes_that_leave_out_a_linked_slot_are_refused(size: int, error: type) -> None:
    with pytest.raises(error, match="size"):
        table([(0, 1, "related", 1.0)]).csr(size)


@pytest.mark.parametrize(
    ("numbers", "error"),
    [([0], ShapeMismatch), ([0, -2], InvalidArgument), ([0, 0], InvalidArgument)],
)
def test_maps_that_make_no_sense_are_refused(numbers: list[int], error: type) -> None:
    made = table([(0, 1, "related", 1.0)])
    with pytest.raises(error, match="old_to_new"):
        made.remap(np.array(numbers))
    assert made.neighbors(0) == [(1, "related", 1.0)]


def test_a_malformed_matrix_is_refused() -> None:
    indptr, indices, data = np.array([0, 1]), np.array([0], "i4"), np.ones(1, "f4")
    with pytest.raises(ShapeMismatch, match="shape"):
        Csr(indptr, indices, data, (1, 2))
    with pytest.raises(InvalidArgument, match="indices"):
        Csr(indptr, np.array([1], "i4"), data, (1, 1))
    with pytest.raises(InvalidType, match="weights"):
        Csr(indptr, indices, data.astype("f2"), (1, 1))
