"""The link graph: grown by any sequence of changes it equals one built at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

Link = tuple[int, int, int, float]  # source, target, kind, weight

CARRIES = np.array([True, True, False])
RULES = (None, 3, 0.5, 0.0, 0, 0, False, True)


def graph() -> _core.LinkGraph:
    return _core.LinkGraph(CARRIES)


def columns(links: list[Link]) -> tuple[np.ndarray, ...]:
    parts = list(zip(*links, strict=True)) or [(), (), (), ()]
    dtypes = (np.int64, np.int64, np.uint8, np.float32)
    return tuple(np.array(part, dtype) for part, dtype in zip(parts, dtypes, strict=True))


def built(links: list[Link]) -> _core.LinkGraph:
    made = graph()
    made.add_many(*columns(links))
    return made


def matrix(links: list[Link], size: int) -> tuple[np.ndarray, ...]:
    """Return the rows of what counts, each in order of addition."""
    rows: list[list[tuple[int, float]]] = [[] for _ in range(size)]
    for source, target, kind, weight in links:
        if CARRIES[kind]:
            rows[source].append((target, weight))
    flat = [edge for row in rows for edge in row]
    return (
        np.cumsum([0, *map(len, rows)]),
        np.array([t for t, _ in flat], np.int32),
        np.array([w for _, w in flat], np.float32),
    )


def same(one: tuple, other: tuple) -> bool:
    pairs = zip(one, other, strict=True)
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in pairs)


class Model:
    """A graph beside a plain list of the links it should hold."""

    def __init__(self) -> None:
        self.graph, self.links = graph(), []

    def change(self, verb: str, value: object) -> None:
        getattr(self, verb)(value)

    def add(self, links: list[Link]) -> None:
        for link in links:
            self.graph.add(*link)
        self.links += links

    def add_many(self, links: list[Link]) -> None:
        self.graph.add_many(*columns(links))
        self.links += links

    def replace(self, value: tuple[list[int], list[Link]]) -> None:
        """Let the links of some slots be those of a list that leave them."""
        slots, links = value
        coming = [one for one in links if one[0] in slots]
        self.graph.replace(np.array(slots, np.int64), *columns(coming))
        self.links = [one for one in self.links if one[0] not in slots] + coming

    def drop_nodes(self, slots: list[int]) -> None:
        before, gone = len(self.links), set(slots)
        self.links = [one for one in self.links if not gone & {one[0], one[1]}]
        assert self.graph.drop_nodes(np.array(slots, np.int64)) == before - len(self.links)

    def remap(self, order: list[int]) -> None:
        """Give the slots of ``order`` the numbers 0, 1, 2, ...; the others go."""
        numbers = np.full(SLOTS, -1)
        numbers[order] = np.arange(len(order))
        self.graph.remap(numbers)
        moved = [(int(numbers[s]), int(numbers[t]), k, w) for s, t, k, w in self.links]
        self.links = [one for one in moved if one[0] >= 0 and one[1] >= 0]

    def check(self, rules: tuple = RULES) -> None:
        assert len(self.graph) == len(self.links)
        for slot in range(SLOTS):
            mine = [(t, k, w) for s, t, k, w in self.links if s == slot]
            assert self.graph.links(slot) == mine
        expected = matrix(self.links, SLOTS)
        assert same(self.graph.matrix(SLOTS)[1:], expected)
        seeds, amounts = np.array([0, 3]), np.array([1.0, 0.75])
        spread = self.graph.spread(SLOTS, seeds, amounts, *rules)
        assert same(spread, _core.spread(*expected, seeds, amounts, *rules))
        assert same(spread, built(self.links).spread(SLOTS, seeds, amounts, *rules))


SLOTS = 6
slot = st.integers(0, SLOTS - 1)
# Sums of these depend on their order: what is added in another one shows in the last bits.
weight = st.sampled_from([0.0, 0.1, 0.1, 0.7, 1.0, 3.3, 1e-30, 1e30]).map(
    lambda number: float(np.float32(number))
)
link = st.tuples(slot, slot, st.integers(0, 2), weight).filter(lambda one: one[0] != one[1])
links = st.lists(link, max_size=40)
# A hub: a row that is longer than one run, with links that came one by one or many at a time.
hub = st.tuples(st.just(0), st.integers(1, SLOTS - 1), st.integers(0, 2), weight)
hubs = st.lists(hub, min_size=30, max_size=120)
change = (
    st.tuples(st.sampled_from(["add", "add_many"]), links | hubs)
    | st.tuples(st.just("replace"), st.tuples(st.lists(slot, max_size=3), links | hubs))
    | st.tuples(st.just("drop_nodes"), st.lists(st.integers(0, SLOTS + 2), max_size=2))
    | st.tuples(st.just("remap"), st.permutations(range(SLOTS)).map(lambda order: order[:-1]))
)
rules = st.tuples(
    st.none() | st.lists(st.booleans(), min_size=SLOTS, max_size=SLOTS).map(np.array),
    st.integers(0, 3),
    st.sampled_from([0.3, 0.5, 1.0]),
    st.sampled_from([0.0, 0.01, 0.3]),
    st.sampled_from([0, 1, 2, 40]),
    st.integers(0, 4),
    st.booleans(),
    st.booleans(),
)


@settings(max_examples=100)
@given(st.lists(st.tuples(change, rules), max_size=5))
def test_a_graph_that_was_changed_equals_one_built_at_once(changes) -> None:
    model = Model()
    for (verb, value), rules in changes:
        model.change(verb, value)
        model.check(rules)


@pytest.mark.parametrize("degree", [1, 31, 32, 63, 64, 65, 95, 96, 97, 128, 129, 500, 3000])
@pytest.mark.parametrize("step", [1, 3, 200])
def test_a_long_row_is_the_same_however_it_grew(degree: int, step: int) -> None:
    rng = np.random.default_rng(degree)
    targets, weights = rng.integers(1, 600, degree), rng.integers(0, 9, degree) / 7
    row = [
        (0, int(t), i % 3, float(np.float32(w)))
        for i, (t, w) in enumerate(zip(targets, weights, strict=True))
    ]
    made = graph()
    for first in range(0, degree, step):
        made.add_many(*columns(row[first : first + step]))
        if first // step % 29 == 0 or first + step >= degree:
            held = matrix(row[: first + step], 600)
            for cap in (0, 1, 33, 64):
                rules = (None, 1, 0.5, 0.0, cap, 0, True, True)
                seeds = np.array([0]), np.array([1.0])
                found = made.spread(600, *seeds, *rules)
                assert same(found, _core.spread(*held, *seeds, *rules))
    assert made.links(0) == [one[1:] for one in row]


def test_memory_follows_the_links() -> None:
    rng = np.random.default_rng(0)
    count, nodes = 100_000, 10_000
    sources = rng.integers(0, nodes, count)
    targets = (sources + rng.integers(1, nodes, count)) % nodes
    made = graph()
    made.add_many(sources, targets, np.zeros(count, np.uint8), np.ones(count, np.float32))
    assert made.bytes <= 12 * count * 1.4 + 32 * nodes + 100_000
    before = made.bytes
    made.spread(nodes, np.array([0]), np.array([1.0]), *RULES)
    assert before + 4 * nodes <= made.bytes
    for _ in range(10):
        made.spread(nodes, np.array([0]), np.array([1.0]), *RULES)
    assert made.bytes <= before + 4 * 5 * nodes + 8 * 2**20
    made.drop_nodes(np.arange(nodes))
    assert len(made) == 0


def test_dropped_links_leave_their_room_to_later_ones() -> None:
    made, many = graph(), [(s, t, 0, 1.0) for s in range(200) for t in range(200) if s != t]
    made.add_many(*columns(many))
    full = made.bytes
    for _ in range(4):
        made.drop_nodes(np.arange(200))
        made.add_many(*columns(many))
    assert made.bytes <= full * 1.05


def test_readers_see_whole_changes_while_a_writer_adds_and_drops() -> None:
    made, size = graph(), 40
    star = [(0, t, 0, 1.0) for t in range(1, size)]

    def write(_: int) -> None:
        for _ in range(150):
            made.add_many(*columns(star))
            made.remap(np.arange(size))
            made.drop_nodes(np.array([0]))

    def read(_: int) -> list[int]:
        seeds = np.array([0]), np.array([1.0])
        return [len(made.spread(size, *seeds, *RULES)[0]) for _ in range(600)]

    with ThreadPoolExecutor(4) as pool:
        writing = pool.submit(write, 0)
        counts = [count for counts in pool.map(read, range(3)) for count in counts]
        writing.result()
    assert set(counts) <= {0, size - 1}


# --- refusals ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "value", "argument"),
    [(0, -1, "sources"), (0, 2**31 - 1, "sources"), (1, -1, "targets"), (1, 2**40, "targets"),
     (1, 0, "targets"), (2, 3, "kinds"), (3, -1.0, "weights"), (3, np.nan, "weights"),
     (3, np.inf, "weights")],
)  # fmt: skip
def test_links_that_make_no_sense_are_refused_with_all_that_come_along(
    place: int, value: float, argument: str
) -> None:
    made, wrong = graph(), list(columns([(0, 1, 0, 1.0), (0, 2, 0, 1.0)]))
    wrong[place][1] = value
    with pytest.raises(InvalidArgument, match=f"^{argument}: expected"):
        made.add_many(*wrong)
    assert (len(made), made.version) == (0, 0)


@pytest.mark.parametrize("place", range(4))
def test_columns_of_another_length_or_dtype_are_refused(place: int) -> None:
    name = ("sources", "targets", "kinds", "weights")[place]
    short, other = list(columns([(0, 1, 0, 1.0)])), list(columns([(0, 1, 0, 1.0)]))
    short[place] = short[place][:0]
    with pytest.raises(ShapeMismatch, match="targets" if place == 0 else name):
        graph().add_many(*short)
    other[place] = other[place].astype(np.float16)
    with pytest.raises(InvalidType, match=name):
        graph().add_many(*other)


def test_a_link_that_leaves_another_slot_is_refused_and_changes_nothing() -> None:
    made = built([(0, 1, 0, 1.0), (2, 1, 0, 1.0)])
    with pytest.raises(InvalidArgument, match="sources: expected links that leave one of"):
        made.replace(np.array([0]), *columns([(0, 3, 0, 1.0), (2, 3, 0, 1.0)]))
    with pytest.raises(InvalidArgument, match="slots: expected 0 to"):
        made.replace(np.array([-1]), *columns([]))
    assert (made.links(0), made.links(2)) == ([(1, 0, 1.0)], [(1, 0, 1.0)])


def test_more_kinds_than_a_tag_holds_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="carries: expected at most 16 kinds"):
        _core.LinkGraph(np.ones(17, np.bool_))


def test_a_size_below_a_linked_slot_is_refused() -> None:
    made = built([(0, 5, 0, 1.0)])
    for call in (made.matrix, lambda size: made.spread(size, np.array([0]), np.ones(1), *RULES)):
        with pytest.raises(InvalidArgument, match="size: expected 6 to"):
            call(5)


def test_slots_that_do_not_exist_have_no_links() -> None:
    made = built([(0, 1, 0, 1.0)])
    assert made.links(1) == made.links(10**9) == []
    with pytest.raises(InvalidArgument, match="slot"):
        made.links(-1)
    with pytest.raises(InvalidArgument, match="slots: expected 0 to"):
        made.drop_nodes(np.array([-1]))
