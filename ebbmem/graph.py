"""Links between the memories of one scope: a thin layer over the core's link graph.

Nodes are slots: the numbers that the scope's other structures use too.  Threads may share a
`LinkTable`: one changes it at a time, any number read it, and each call sees one moment of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ebbmem import _core
from ebbmem.csr import Csr
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
"""What the weight of a link of each kind is multiplied by: 1, or 0 for no activation at all."""

_MOST_WEIGHT = float(np.finfo(np.float32).max)
_MOST_INTEGER = 2**63 - 1


class LinkTable:
    """The typed, weighted, directed links of one scope, between slots.

    Every link that is added is kept, parallel ones too: their weights add up when spreading.
    ``graph`` is the native form, which `ebbmem.spreading.spread_links` reads; adding a link to it
    costs the same however many there are.
    """

    __slots__ = ("_snapshot", "graph")

    def __init__(self) -> None:
        self.graph = _core.LinkGraph(np.array(KIND_FACTORS) != 0)
        self._snapshot: _Snapshot | None = None

    def __len__(self) -> int:
        return len(self.graph)

    @property
    def bytes(self) -> int:
        """Return the memory that the links take, in bytes."""
        held = self.graph.bytes
        if self._snapshot is not None:
            csr = self._snapshot.csr
            held += csr.indptr.nbytes + csr.indices.nbytes + csr.data.nbytes
        return held

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
        number = float(weight) if isinstance(weight, np.floating) else weight
        self.graph.add(source, target, kind_code(kind), number)

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
        self.graph.add_many(
            _integers("sources", sources),
            _integers("targets", targets),
            _codes("kinds", kinds),
            _checked_weights("weights", weights),
        )

    def replace(
        self,
        slots: NDArray[np.integer[Any]],
        sources: NDArray[np.integer[Any]],
        targets: NDArray[np.integer[Any]],
        kinds: NDArray[np.integer[Any]],
        weights: NDArray[np.floating[Any]] | NDArray[np.integer[Any]],
    ) -> None:
        """Let the links that leave some slots be those given, in order; all or nothing.

        Parameters
        ----------
        slots : (m,) integers
            Whose links go.
        sources, targets, kinds, weights : (n,)
            What comes instead, as for `add_many`; each leaves one of ``slots``.

        Raises
        ------
        InvalidType, ShapeMismatch, InvalidArgument
            As `add_many`, and where a link leaves another slot.
        """
        self.graph.replace(
            _integers("slots", slots),
            _integers("sources", sources),
            _integers("targets", targets),
            _codes("kinds", kinds),
            _checked_weights("weights", weights),
        )

    def drop_nodes(self, slots: NDArray[np.integer[Any]]) -> None:
        """Take away every link that leaves or reaches one of ``slots`` ((n,) integers)."""
        self.graph.drop_nodes(_integers("slots", slots))

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
            If a number is below -1 or too large, or two slots become one.
        """
        self.graph.remap(_integers("old_to_new", old_to_new))

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
        The matrix is kept until something changes; building it looks at every link.
        """
        _check_size(size)
        last = self._snapshot
        if last is not None and last.holds(self.graph.version, size):
            return last.csr
        version, indptr, indices, data = self.graph.matrix(size)
        for array in (indptr, indices, data):
            array.setflags(write=False)
        csr = Csr(indptr, indices, data, (size, size))
        self._snapshot = _Snapshot(version, csr)
        return csr

    def neighbors(self, slot: int) -> list[tuple[int, str, float]]:
        """Return target, kind and weight of each link that leaves ``slot``, in order of addition.

        The weight is the one that was added (as float32), whatever the factor of the kind.
        """
        return [
            (target, LINK_KINDS[kind], weight) for target, kind, weight in self.graph.links(slot)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class _Snapshot:
    """A matrix and the version of the links it was built from."""

    version: int
    csr: Csr

    def holds(self, version: int, size: int) -> bool:
        """Return whether this is the matrix of that version, over so many slots."""
        return self.version == version and self.csr.shape[0] == size


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


def _integers(argument: str, values: object) -> NDArray[np.int64]:
    """Return whole numbers as the core reads them; what is too large stays so."""
    found = _one_dimensional(argument, values, "integers", "iu")
    if found.dtype == np.uint64:
        found = np.minimum(found, np.uint64(_MOST_INTEGER))
    return np.require(found, np.int64, ["C", "A", "E"])


def _codes(argument: str, values: object) -> NDArray[np.uint8]:
    found = _one_dimensional(argument, values, "integers", "iu")
    if (wrong := (found < 0) | (found >= len(LINK_KINDS))).any():
        expected = f"0 to {len(LINK_KINDS) - 1}"
        raise InvalidArgument.of(argument, expected, int(found[wrong][0]))
    return np.require(found, np.uint8, ["C", "A", "E"])


def _checked_weights(argument: str, values: object) -> NDArray[np.float32]:
    found = _one_dimensional(argument, values, "numbers", "iuf")
    if (wrong := ~((found >= 0) & (found <= _MOST_WEIGHT))).any():
        raise InvalidArgument.of(argument, "finite float32, at least 0", float(found[wrong][0]))
    return np.require(found, np.float32, ["C", "A", "E"])


def _one_dimensional(argument: str, values: object, content: str, kinds: str) -> NDArray[Any]:
    expected = f"a 1-d numpy array of {content}"
    if not isinstance(values, np.ndarray) or values.dtype.kind not in kinds:
        raise InvalidType.of(argument, expected, values)
    if values.ndim != 1:
        raise ShapeMismatch.of(argument, expected, values.shape)
    return values


def _check_size(size: int) -> None:
    if not isinstance(size, int) or isinstance(size, bool):
        raise InvalidType.of("size", "an integer", size)
    if size < 0:
        raise InvalidArgument.of("size", "an integer of at least 0", size)
