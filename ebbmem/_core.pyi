from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

F32: TypeAlias = NDArray[np.float32]
F64: TypeAlias = NDArray[np.float64]
I64: TypeAlias = NDArray[np.int64]
U64: TypeAlias = NDArray[np.uint64]
Bool: TypeAlias = NDArray[np.bool_]

__version__: str
compiler: str

def isa() -> str: ...
def isas() -> list[str]: ...
def choose_isa(name: str) -> None: ...

# --- arena, scan, decay

class Arena:
    def __init__(self, dim: int) -> None: ...
    def append(self, rows: F32) -> int: ...
    def overwrite(self, slot: int, row: F32) -> None: ...
    def tombstone(self, slots: I64) -> int: ...
    def compact(self) -> I64: ...
    def copy_rows(self, slots: I64) -> F32: ...
    @property
    def dim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def live(self) -> int: ...
    @property
    def generation(self) -> int: ...
    @property
    def bytes(self) -> int: ...

def top_affine(
    arena: Arena,
    query: F32,
    mul: F64 | None,
    add: F64 | None,
    newness: I64 | None,
    mask: Bool | None,
    k: int,
) -> tuple[I64, F64, F32]: ...
def top_affine_many(
    arena: Arena,
    queries: F32,
    mul: F64 | None,
    add: F64 | None,
    newness: I64 | None,
    mask: Bool | None,
    k: int,
) -> tuple[I64, F64, F32, I64]: ...
def top_product(
    arena: Arena,
    query: F32,
    log_weight: F64,
    newness: I64 | None,
    mask: Bool | None,
    k: int,
) -> tuple[I64, F64, F32]: ...
def top_product_many(
    arena: Arena,
    queries: F32,
    log_weight: F64,
    newness: I64 | None,
    mask: Bool | None,
    k: int,
) -> tuple[I64, F64, F32, I64]: ...
def dots(arena: Arena, query: F32, slots: I64) -> F32: ...
def exponential_retention(anchor: F64, idle: F64, rate: F64) -> F32: ...
def log_weights(importance: F64, age: F64, rate: float) -> F64: ...
def power_retention(elapsed: F64, stability: F64, exponent: float) -> F64: ...

# --- end of arena, scan, decay
