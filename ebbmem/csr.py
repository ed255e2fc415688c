"""The sparse matrix that spreading reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ebbmem import _core
from ebbmem.errors import ShapeMismatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
    The arrays are kept, not copied, and checked once, here.  ``scratches`` is what spreading over
    this matrix writes to: 4 bytes a node from the first call on.
    """

    indptr: NDArray[np.int64] | NDArray[np.int32]
    indices: NDArray[np.int32] | NDArray[np.int64]
    data: NDArray[np.float32] | NDArray[np.float64]
    shape: tuple[int, int]
    scratches: _core.ScratchPool = field(default_factory=_core.ScratchPool, init=False, repr=False)

    def __post_init__(self) -> None:
        _core.check_csr(self.indptr, self.indices, self.data)
        nodes = len(self.indptr) - 1
        if self.shape != (nodes, nodes):
            raise ShapeMismatch.of("shape", f"({nodes}, {nodes})", self.shape)

    def to_scipy(self) -> Any:
        """Return the same matrix as a ``scipy.sparse.csr_array``, sharing what scipy can share."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - only here is scipy needed

        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)
