"""Links between the memories of one scope, and the sparse matrix that spreading reads.

Nodes are slots: the numbers that the scope's other structures use too.  One thread changes a
`LinkTable` at a time; any number may read it meanwhile, and each sees one moment of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

if TYPE_CHECKING:
    from numpy.typing import NDArray

LINK_KINDS: Final = (
    "related",
    "keyword",
    "next_turn",
    "co_recall",
    "supersedes",
    "causes",
    "conflicts",
    "source",
)
"""Every kind of link; its place in the tuple is its code."""

KIND_FACTORS: Final = (1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0)
"""What the weight of a link of each kind is multiplied by; 0 carries no activation."""

_MAX_NODES = 2**31 - 1
_FIRST_ROOM = 64
_MOST_WEIGHT = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True, eq=False)
class Csr:
    """A square sparse matrix in compressed rows: row = source, column = target.

    Parameters
    ----------
    indptr : (nodes + 1,) int64 or int32
        Row ``i`` holds the entries from ``indptr[i]`` to below ``indptr[i + 1]``.
    indices : (edges,) int32 or int64
        Target of each entry.  Two entries of one row may share a target: they add up.
    data : (edges,) float32 or float64
        Weight of each entry, finite.
    shape : (int, int)
        ``(nodes, nodes)``.

    Raises
    ------
    InvalidType
        If an array has another dtype or is not C-contiguous.
    ShapeMismatch
        If the lengths do not belong together.
    InvalidArgument
        If the offsets fall, a target is out of range or a weight is not finite.

    Notes
    -----
    The arrays are kept, not copied, and checked once, here.
    """

    indptr: NDArray[np.int64] | NDArray[np.int32]
    indices: NDArray[np.int32] | NDArray[np.int64]
    data: NDArray[np.float32] | NDArray[np.float64]
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        _core.check_csr(self.indptr, self.indices, self.data)
        nodes = len(self.indptr) - 1
        if self.shape != (nodes, nodes):
            raise ShapeMismatch.of("shape", f"({nodes}, {nodes})", self.shape)

    def to_scipy(self) -> Any:
        """Return the same matrix as a ``scipy.sparse.csr_array``, sharing what scipy can share."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - only here is scipy needed

        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)


class LinkTable:
    """The typed, weighted, directed links of one scope, between slots.

    Every link that is added is kept, parallel ones too: their weights add up when spreading.
    """

    __slots__ = ("_links", "_snapshot")

    def __init__(self) -> None:
        self._links = _Links.with_room(_FIRST_ROOM, epoch=0)
        self._snapshot: _Snapshot | None = None

    def __len__(self) -> int:
        return self._links.count

    @property
    def bytes(self) -> int:
        """Return the memory that the links take, in bytes."""
        links, last = self._links, self._snapshot
        arrays: list[NDArray[Any]] = [links.source, links.target, links.kind, links.weight]
        if last is not None:
            arrays += [last.csr.indptr, last.csr.indices, last.csr.data]
        return sum(array.nbytes for array in arrays)

    def add(self, source: int, target: int, kind: str, weight: float = 1.0) -> None:
        """Add the link from ``source`` to ``target``.

        Parameters
        ----------
        source, target : int
            Two different slots.
        kind : str
            One of `LINK_KINDS`.
        weight : float
            Finite, at least 0.

        Raises
        ------
        InvalidType
            If a slot is not an integer or the weight not a number.
        InvalidArgument
            If a slot, the kind or the weight is not allowed.
        """
        named = {"source": source, "target": target, "kind": kind_code(kind), "weight": weight}
        columns = _checked_columns({name: np.array([value]) for name, value in named.items()})
        self._links = self._links.extended(columns)

    def add_many(
        self,
        sources: NDArray[np.integer[Any]],
        targets: NDArray[np.integer[Any]],
        kinds: NDArray[np.integer[Any]],
        weights: NDArray[np.floating[Any]] | NDArray[np.integer[Any]],
    ) -> None:
        """Add one link per entry, in order; all or none.

        Parameters
        ----------
        sources, targets : (n,) integers
            Slots; no link joins a slot to itself.
        kinds : (n,) integers
            Codes: places in `LINK_KINDS`.
        weights : (n,) numbers
            Finite, at least 0; kept as float32.

        Raises
        ------
        InvalidType
            If an array holds something else than these numbers.
        ShapeMismatch
            If the arrays are not one-dimensional and of one length.
        InvalidArgument
            If a value is not allowed.
        """
        columns = _checked_columns(
            {"sources": sources, "targets": targets, "kinds": kinds, "weights": weights}
        )
        self._links = self._links.extended(columns)

    def drop_nodes(self, slots: NDArray[np.integer[Any]]) -> None:
        """Take away every link that leaves or reaches one of ``slots`` ((n,) integers)."""
        gone = _checked_integers("slots", slots, 0, _MAX_NODES - 1)
        source, target, _, _ = self._links.columns()
        kept = ~(np.isin(source, gone) | np.isin(target, gone))
        if not kept.all():
            self._replace(tuple(column[kept] for column in self._links.columns()))

    def remap(self, old_to_new: NDArray[np.int64]) -> None:
        """Renumber the slots; links of slots that are gone go too.

        Parameters
        ----------
        old_to_new : (slots,) integers
            The new number of each slot, or -1 where it is gone: what compacting an index returns.

        Raises
        ------
        ShapeMismatch
            If a link names a slot beyond the map.
        InvalidArgument
            If a number is below -1 or too large, or two linked slots become one.
        """
        numbers = _checked_integers("old_to_new", old_to_new, -1, _MAX_NODES - 1)
        source, target, kind, weight = self._links.columns()
        if self._links.nodes > len(numbers):
            expected = f"at least {self._links.nodes} values, one per slot"
            raise ShapeMismatch.of("old_to_new", expected, len(numbers))
        new_source, new_target = numbers[source], numbers[target]
        kept = (new_source >= 0) & (new_target >= 0)
        if (merged := kept & (new_source == new_target)).any():
            raise InvalidArgument.of("old_to_new", "distinct numbers", int(new_source[merged][0]))
        columns = (new_source[kept], new_target[kept], kind[kept], weight[kept])
        self._replace(columns)

    def csr(self, size: int) -> Csr:
        """Return the matrix that spreading reads: ``size`` nodes, factors applied.

        Parameters
        ----------
        size : int
            Number of nodes, above every slot that a link names.

        Returns
        -------
        Csr
            int64 offsets, int32 targets, float32 weights, all read-only.  The entries of a row
            stand in the order in which they were added; kinds of factor 0 are left out.

        Raises
        ------
        InvalidArgument
            If ``size`` is too small or too large.

        Notes
        -----
        The matrix is kept until something changes.  After links were only added, they are
        inserted into it, which costs a copy instead of a sort.
        """
        links, last = self._links, self._snapshot
        _check_size(size, links)
        if last is not None and last.links is links and last.csr.shape[0] == size:
            return last.csr
        grown = last is not None and last.begins(links) and last.csr.shape[0] <= size
        csr = _inserted(last, links, size) if last is not None and grown else _built(links, size)
        self._snapshot = _Snapshot(links, csr)
        return csr

    def neighbors(self, slot: int) -> list[tuple[int, str, float]]:
        """Return target, kind and weight of each link that leaves ``slot``, in order of addition.

        The weight is the one that was added (as float32), whatever the factor of the kind.
        """
        source, target, kind, weight = self._links.columns()
        return [
            (int(target[i]), LINK_KINDS[kind[i]], float(weight[i]))
            for i in np.flatnonzero(source == slot)
        ]

    def _replace(self, columns: tuple[NDArray[Any], ...]) -> None:
        # Into new arrays: a reader may still hold the old ones.
        room = _Links.with_room(max(len(columns[0]), _FIRST_ROOM), epoch=self._links.epoch + 1)
        self._links = room.extended(columns)


@dataclass(frozen=True, slots=True, eq=False)
class _Links:
    """One moment of a table.

    Places from ``count`` on are room that later moments fill.  Of two moments of one epoch the
    longer begins with the shorter.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    kind: NDArray[np.uint8]
    weight: NDArray[np.float32]
    count: int
    nodes: int  # above every slot of them
    epoch: int

    @classmethod
    def with_room(cls, room: int, *, epoch: int) -> _Links:
        """Return no links, with room for some."""
        numbers = np.empty(room, np.int32), np.empty(room, np.int32)
        return cls(*numbers, np.empty(room, np.uint8), np.empty(room, np.float32), 0, 0, epoch)

    def columns(self) -> tuple[NDArray[Any], ...]:
        """Return the filled parts: source, target, kind, weight."""
        return tuple(array[: self.count] for array in self._arrays())

    def extended(self, columns: tuple[NDArray[Any], ...]) -> _Links:
        """Return the moment after appending ``columns``: in the room there is, or in twice it."""
        count = self.count + len(columns[0])
        links = self
        if count > len(self.source):
            links = _Links.with_room(max(count, 2 * len(self.source)), epoch=self.epoch)
            for array, old in zip(links._arrays(), self.columns(), strict=True):
                array[: self.count] = old
        for array, new in zip(links._arrays(), columns, strict=True):
            array[self.count : count] = new
        ends = (array[self.count : count] for array in (links.source, links.target))
        nodes = 1 + max(int(end.max(initial=-1)) for end in ends)
        return replace(links, count=count, nodes=max(self.nodes, nodes))

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.source, self.target, self.kind, self.weight


@dataclass(frozen=True, slots=True, eq=False)
class _Snapshot:
    """A matrix and the moment it was built from."""

    links: _Links
    csr: Csr

    def begins(self, links: _Links) -> bool:
        """Return whether ``links`` are those of the matrix and perhaps some more."""
        return self.links.epoch == links.epoch and self.links.count <= links.count


def kind_code(kind: str) -> int:
    """Return the code of a kind of link.

    Raises
    ------
    InvalidArgument
        If `LINK_KINDS` does not have it.
    """
    if kind not in LINK_KINDS:
        raise InvalidArgument.of("kind", f"one of {', '.join(LINK_KINDS)}", kind)
    return LINK_KINDS.index(kind)


def _built(links: _Links, size: int) -> Csr:
    sources, targets, weights = _carrying(links, 0)
    order = np.argsort(sources, kind="stable")
    return _frozen(_offsets(sources, size), targets[order], weights[order])


def _inserted(last: _Snapshot, links: _Links, size: int) -> Csr:
    """Return the matrix of ``links``, given that of a moment it begins with."""
    sources, targets, weights = _carrying(links, last.links.count)
    known = len(last.csr.indptr) - 1
    # Each goes to the end of its row, after those before it; new rows begin at the very end.
    ends = last.csr.indptr[np.minimum(sources, known - 1) + 1] if known else 0 * sources
    order = np.argsort(sources, kind="stable")
    places = ends[order]
    indptr = _offsets(sources, size)
    indptr[: known + 1] += last.csr.indptr
    indptr[known + 1 :] += last.csr.indptr[-1]
    indices: NDArray[Any] = np.insert(last.csr.indices, places, targets[order])
    data: NDArray[Any] = np.insert(last.csr.data, places, weights[order])
    return _frozen(indptr, indices, data)


def _carrying(links: _Links, first: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return source, target and weight of the links from ``first`` on that carry activation."""
    source, target, kind, weight = (column[first:] for column in links.columns())
    factor = np.array(KIND_FACTORS, np.float32)[kind]
    carries = factor != 0
    return source[carries], target[carries], (weight * factor)[carries]


def _offsets(sources: NDArray[np.int32], size: int) -> NDArray[np.int64]:
    indptr = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=size), out=indptr[1:])
    return indptr


def _frozen(indptr: NDArray[np.int64], indices: NDArray[Any], data: NDArray[Any]) -> Csr:
    for array in (indptr, indices, data):
        array.setflags(write=False)
    size = len(indptr) - 1
    return Csr(indptr, indices, data, (size, size))


def _checked_columns(named: dict[str, NDArray[Any]]) -> tuple[NDArray[Any], ...]:
    """Return source, target, kind and weight, which come in this order under the caller's names."""
    names = tuple(named)
    most = (_MAX_NODES - 1, _MAX_NODES - 1, len(LINK_KINDS) - 1)
    whole = [
        _checked_integers(name, named[name], 0, m) for name, m in zip(names, most, strict=False)
    ]
    source, target, _ = whole
    columns = (*whole, _checked_weights(names[3], named[names[3]]))
    for name, column in zip(names, columns, strict=True):
        if len(column) != len(source):
            raise ShapeMismatch.of(name, f"{len(source)} values", len(column))
    if (loops := source == target).any():
        raise InvalidArgument.of(names[1], "another slot than the source", int(target[loops][0]))
    return columns


def _checked_integers(argument: str, values: object, least: int, most: int) -> NDArray[Any]:
    expected = "a 1-d numpy array of integers"
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu":
        raise InvalidType.of(argument, expected, values)
    if values.ndim != 1:
        raise ShapeMismatch.of(argument, expected, values.shape)
    if (wrong := (values < least) | (values > most)).any():
        raise InvalidArgument.of(argument, f"{least} to {most}", int(values[wrong][0]))
    return values


def _checked_weights(argument: str, values: object) -> NDArray[np.float32]:
    expected = "a 1-d numpy array of numbers"
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf":
        raise InvalidType.of(argument, expected, values)
    if values.ndim != 1:
        raise ShapeMismatch.of(argument, expected, values.shape)
    if (wrong := ~((values >= 0) & (values <= _MOST_WEIGHT))).any():
        raise InvalidArgument.of(argument, "finite float32, at least 0", float(values[wrong][0]))
    return values.astype(np.float32)


def _check_size(size: int, links: _Links) -> None:
    if not isinstance(size, int) or isinstance(size, bool):
        raise InvalidType.of("size", "an integer", size)
    if not links.nodes <= size <= _MAX_NODES:
        raise InvalidArgument.of("size", f"{links.nodes} to {_MAX_NODES}", size)
