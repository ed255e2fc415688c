"""Links between the memories of one scope, and the sparse matrix that spreading reads.

Nodes are slots: the numbers that the scope's other structures use too.  One thread changes a
`LinkTable` at a time; any number may read it meanwhile, and each sees one moment of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

if TYPE_CHECKING:
    from collections.abc import Sequence

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

    def to_scipy(self) -> Any:  # noqa: ANN401 - scipy ships no types
        """Return the same matrix as a ``scipy.sparse.csr_array``, sharing what scipy can share."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - only here is scipy needed

        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class _Links:
    """One moment of a table.  Places from ``count`` on are room, which later moments fill."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    kind: NDArray[np.uint8]
    weight: NDArray[np.float32]
    count: int

    @classmethod
    def with_room(cls, room: int) -> _Links:
        return cls(
            np.empty(room, np.int32),
            np.empty(room, np.int32),
            np.empty(room, np.uint8),
            np.empty(room, np.float32),
            0,
        )

    def columns(self) -> tuple[NDArray[Any], ...]:
        """Return the filled parts: source, target, kind, weight."""
        arrays = (self.source, self.target, self.kind, self.weight)
        return tuple(array[: self.count] for array in arrays)

    def extended(self, columns: Sequence[NDArray[Any]]) -> _Links:
        """Return the moment after appending ``columns``, in the room there is or in twice it."""
        count = self.count + len(columns[0])
        links = self
        if count > len(self.source):
            links = _Links.with_room(max(count, 2 * len(self.source)))
            for kept, old in zip(links._whole(), self.columns(), strict=True):
                kept[: self.count] = old
        for kept, new in zip(links._whole(), columns, strict=True):
            kept[self.count : count] = new
        return _Links(*links._whole(), count)

    def _whole(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        return self.source, self.target, self.kind, self.weight


@dataclass(frozen=True, slots=True, eq=False)
class _Snapshot:
    """A matrix and the moment it was built from."""

    links: _Links
    epoch: int
    csr: Csr


class LinkTable:
    """The typed, weighted, directed links of one scope, between slots.

    Every link that is added is kept, parallel ones too: their weights add up when spreading.
    """

    __slots__ = ("_epoch", "_links", "_snapshot")

    def __init__(self) -> None:
        self._links = _Links.with_room(_FIRST_ROOM)
        # Grows whenever links are taken away or renumbered: since then, nothing was only added.
        self._epoch = 0
        self._snapshot: _Snapshot | None = None

    def __len__(self) -> int:
        return self._links.count

    @property
    def bytes(self) -> int:
        """Return the memory that the links take, in bytes."""
        links, last = self._links, self._snapshot
        arrays = [links.source, links.target, links.kind, links.weight]
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
        InvalidArgument
            If a slot, the kind or the weight is not allowed.
        """
        codes = np.array([kind_code(kind)], np.uint8)
        self.add_many(np.array([source]), np.array([target]), codes, np.array([weight]))

    def add_many(
        self,
        sources: NDArray[np.integer[Any]],
        targets: NDArray[np.integer[Any]],
        kinds: NDArray[np.integer[Any]],
        weights: NDArray[np.floating[Any]],
    ) -> None:
        """Add one link per entry, in order; all or none.

        Parameters
        ----------
        sources, targets : (n,) integers
            Slots; no link joins a slot to itself.
        kinds : (n,) integers
            Codes: places in `LINK_KINDS`.
        weights : (n,) floats
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
        columns = _checked_columns(sources, targets, kinds, weights)
        self._links = self._links.extended(columns)

    def drop_nodes(self, slots: NDArray[np.integer[Any]]) -> None:
        """Take away every link that leaves or reaches one of ``slots`` ((n,) integers)."""
        gone = _checked_slots("slots", slots)
        source, target, _, _ = self._links.columns()
        self._keep(~(np.isin(source, gone) | np.isin(target, gone)))

    def remap(self, old_to_new: NDArray[np.int64]) -> None:
        """Renumber the slots; links of slots that are gone go too.

        Parameters
        ----------
        old_to_new : (slots,) integers
            The new number of each slot, or -1 where it is gone: what compacting an index returns.

        Raises
        ------
        InvalidArgument
            If a link names a slot beyond the map, or a number is below -1 or too large.
        """
        numbers = _checked_integers("old_to_new", old_to_new, -1, _MAX_NODES - 1)
        source, target, kind, weight = self._links.columns()
        _check_covers("old_to_new", len(numbers), source, target)
        new_source, new_target = numbers[source], numbers[target]
        kept = (new_source >= 0) & (new_target >= 0)
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
        links, epoch, last = self._links, self._epoch, self._snapshot
        _checked_size(size, links)
        if last is not None and last.links is links and last.csr.shape[0] == size:
            return last.csr
        usable = last is not None and last.epoch == epoch and last.csr.shape[0] <= size
        csr = _inserted(last, links, size) if last is not None and usable else _built(links, size)
        self._snapshot = _Snapshot(links, epoch, csr)
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

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        if not kept.all():
            self._replace(tuple(column[kept] for column in self._links.columns()))

    def _replace(self, columns: tuple[NDArray[Any], ...]) -> None:
        # Into new arrays: a reader may still hold the old ones.  The snapshot goes first, so that
        # none that is found later belongs to the moment before.
        self._epoch += 1
        self._snapshot = None
        self._links = _Links.with_room(max(len(columns[0]), _FIRST_ROOM)).extended(columns)


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
