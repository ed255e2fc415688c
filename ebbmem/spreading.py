"""Spreading activation: what comes to mind because something linked to it did.

A node that is activated passes ``activation * hop_decay * weight`` along each of its links; what
reaches a node adds up over the hops and is capped at 1.  The sums are float64 in one fixed order:
the same call gives the same bits every time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ebbmem import _core
from ebbmem.csr import Csr
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ebbmem.graph import LinkTable

    Seeds = Mapping[int, float] | tuple[NDArray[Any], NDArray[Any]]

_MAX_DEPTH = 8
_MAX_CAP = 2**63 - 1


class CsrMatrix(Protocol):
    """What is read of a matrix: ``scipy.sparse.csr_array`` and ``csr_matrix`` have it."""

    indptr: Any
    indices: Any
    data: Any
    shape: Any


@dataclass(frozen=True, slots=True)
class SpreadConfig:
    """How far activation goes, and how much of it.

    Parameters
    ----------
    depth : int
        Hops, 0 to 8.
    hop_decay : float
        What is left of activation after one hop, in (0, 1].
    threshold : float
        A node passes on at a hop only what is at least this; finite, at least 0.
    fan_cap : int
        Links that a node passes over at most: the heaviest, then the lowest targets.  0: all.
    node_cap : int
        Nodes that are reached at most: at the hop that goes over it the most activated stay,
        then the lowest numbers.  0: no cap.
    fan_normalise : bool
        Divide the weights of a node by their sum where that is above 1, so that a node with many
        links does not create activation.
    seeds_receive : bool
        Whether seeds are activated through links like any other node.

    Raises
    ------
    InvalidType
        If a field has another type.
    InvalidArgument
        If a number is out of range.
    """

    depth: int = 3
    hop_decay: float = 0.5
    threshold: float = 0.01
    fan_cap: int = 64
    node_cap: int = 4096
    fan_normalise: bool = True
    seeds_receive: bool = True

    def __post_init__(self) -> None:
        _check_integer("depth", self.depth, _MAX_DEPTH)
        _check_integer("fan_cap", self.fan_cap, _MAX_CAP)
        _check_integer("node_cap", self.node_cap, _MAX_CAP)
        _check_number("hop_decay", self.hop_decay)
        if not 0 < self.hop_decay <= 1:
            raise InvalidArgument.of("hop_decay", "a number in (0, 1]", self.hop_decay)
        _check_number("threshold", self.threshold)
        if not 0 <= self.threshold < math.inf:
            raise InvalidArgument.of("threshold", "a finite number of at least 0", self.threshold)
        for name in ("fan_normalise", "seeds_receive"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidType.of(name, "True or False", getattr(self, name))


@dataclass(frozen=True, slots=True, eq=False)
class Activation:
    """What was reached through links, the most activated first, then the lowest number.

    Parameters
    ----------
    nodes : (n,) int64
        Each node once.
    activation : (n,) float64
        In [0, 1].
    parent : (n,) int64
        The node that gave the largest single contribution at the hop of first arrival, the lowest
        number among equals.
    hop : (n,) int32
        That hop, from 1.
    """

    nodes: NDArray[np.int64]
    activation: NDArray[np.float64]
    parent: NDArray[np.int64]
    hop: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.nodes)

    def path(self, node: int) -> tuple[int, ...]:
        """Return the nodes that activation came along, from a seed to ``node``.

        Raises
        ------
        InvalidArgument
            If ``node`` was not reached.
        """
        steps = [node]
        while True:
            place = np.flatnonzero(self.nodes == steps[-1])
            if not len(place):
                raise InvalidArgument.of("node", "a node that was reached", node)
            steps.append(int(self.parent[place[0]]))
            if self.hop[place[0]] == 1:
                return tuple(reversed(steps))


def spread(
    graph: CsrMatrix | Csr,
    seeds: Seeds,
    config: SpreadConfig | None = None,
    *,
    mask: NDArray[np.bool_] | None = None,
) -> Activation:
    """Return what the seeds activate through links.

    Parameters
    ----------
    graph : Csr, scipy.sparse.csr_array or csr_matrix
        Square; row = source, column = target.  Read where it lies: float32 or float64 weights,
        int32 or int64 indices.  Weights of 0 or less pass nothing.
    seeds : mapping of node to activation, or a pair of arrays (nodes, activation)
        Distinct nodes, each with finite activation of at least 0.
    config : SpreadConfig, optional
        The default one when left out.
    mask : (nodes,) bool, optional
        Nodes that are False neither receive nor pass.

    Returns
    -------
    Activation
        A seed is in it only if links lead to it; its own activation at the start is not added.

    Raises
    ------
    InvalidType
        If ``graph`` is of another format or an array of another dtype.
    ShapeMismatch
        If the matrix is not square or lengths do not belong together.
    InvalidArgument
        If a value is not allowed.

    Notes
    -----
    A scipy matrix is checked from end to end at each call, in time that follows its number of
    edges; a `Csr` was checked when it was made, and then a call costs only what it touches.
    """
    _check_matrix(graph)
    nodes, activation = _seed_arrays(seeds)
    rules = config if config is not None else SpreadConfig()
    reached = _core.spread(
        graph.indptr,
        graph.indices,
        graph.data,
        nodes,
        activation,
        mask,
        rules.depth,
        rules.hop_decay,
        rules.threshold,
        rules.fan_cap,
        rules.node_cap,
        rules.fan_normalise,
        rules.seeds_receive,
        graph.scratches if isinstance(graph, Csr) else None,
    )
    return Activation(*reached)


def spread_links(
    links: LinkTable,
    size: int,
    seeds: Seeds,
    config: SpreadConfig | None = None,
    *,
    mask: NDArray[np.bool_] | None = None,
) -> Activation:
    """Return what the seeds activate through the links of a scope.

    The same, bit for bit, as `spread` over ``links.csr(size)``, without building that matrix.

    Parameters
    ----------
    links : LinkTable
        Other threads may change it meanwhile; the call sees one moment of it.
    size : int
        Number of slots, above every slot that a link names.
    seeds : mapping of slot to activation, or a pair of arrays (slots, activation)
        Distinct slots below ``size``, each with finite activation of at least 0.
    config : SpreadConfig, optional
        The default one when left out.
    mask : (size,) bool, optional
        Slots that are False neither receive nor pass.

    Returns
    -------
    Activation
        A seed is in it only if links lead to it; its own activation at the start is not added.

    Raises
    ------
    InvalidType
        If an argument is of another type or dtype.
    ShapeMismatch
        If lengths do not belong together.
    InvalidArgument
        If a value is not allowed.
    """
    slots, activation = _seed_arrays(seeds)
    rules = config if config is not None else SpreadConfig()
    reached = links.graph.spread(
        size,
        slots,
        activation,
        mask,
        rules.depth,
        rules.hop_decay,
        rules.threshold,
        rules.fan_cap,
        rules.node_cap,
        rules.fan_normalise,
        rules.seeds_receive,
    )
    return Activation(*reached)


def _check_matrix(graph: object) -> None:
    expected = "a Csr, scipy.sparse.csr_array or csr_matrix"
    scipy_format = getattr(graph, "format", "csr")
    parts = ("indptr", "indices", "data", "shape")
    if scipy_format != "csr" or not all(hasattr(graph, part) for part in parts):
        raise InvalidType.of("graph", expected, graph)
    shape = tuple(graph.shape)  # type: ignore[attr-defined]
    nodes = len(graph.indptr) - 1  # type: ignore[attr-defined]
    if shape != (nodes, nodes):
        raise ShapeMismatch.of("graph", "a square matrix", shape)


def _seed_arrays(seeds: object) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return seeds as the two arrays the core reads; they are few, so copying is no matter."""
    if isinstance(seeds, Mapping):
        nodes, activation = np.array(list(seeds)), np.array(list(seeds.values()))
    elif isinstance(seeds, tuple) and len(seeds) == 2:
        nodes, activation = (np.asarray(part) for part in seeds)
    else:
        expected = "a mapping of node to activation, or a pair of arrays"
        raise InvalidType.of("seeds", expected, seeds)
    if nodes.ndim != 1 or activation.ndim != 1:
        raise ShapeMismatch.of("seeds", "1-d arrays of nodes and activation", seeds)
    if len(nodes) and nodes.dtype.kind not in "iu":
        raise InvalidType.of("seeds", "integer nodes", seeds)
    if len(activation) and activation.dtype.kind not in "iuf":
        raise InvalidType.of("seeds", "numbers as activation", seeds)
    slots = np.require(nodes, np.int64, ["C", "A", "E"])
    return slots, np.require(activation, np.float64, ["C", "A", "E"])


def _check_integer(name: str, value: object, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidType.of(name, "an integer", value)
    if not 0 <= value <= most:
        raise InvalidArgument.of(name, f"0 to {most}", value)


def _check_number(name: str, value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidType.of(name, "a number", value)
