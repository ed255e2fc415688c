from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

F32: TypeAlias = NDArray[np.float32]
F64: TypeAlias = NDArray[np.float64]
I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
U64: TypeAlias = NDArray[np.uint64]
Bool: TypeAlias = NDArray[np.bool_]

def choose_isa(name: str) -> None: ...

# --- postings, spreading

class Postings:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    @property
    def live(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    def append(self, term_ids: U64, text_ends: I64) -> int: ...
    def tombstone(self, slots: I64) -> int: ...
    def compact(self) -> I64: ...
    def document_frequency(self, terms: U64) -> I64: ...
    def idf(self, terms: U64) -> F64: ...
    def top_bm25(
        self,
        terms: U64,
        k1: float,
        b: float,
        newness: I64 | None,
        mask: Bool | None,
        k: int,
        limit: int | None = ...,
    ) -> tuple[I64, F64]: ...
    def top_bm25_many(
        self,
        term_ids: U64,
        cue_ends: I64,
        k1: float,
        b: float,
        newness: I64 | None,
        mask: Bool | None,
        k: int,
        limit: int | None = ...,
    ) -> tuple[I64, F64, I64]: ...
    def bm25(self, terms: U64, k1: float, b: float, slots: I64) -> F64: ...

def check_csr(indptr: I32 | I64, indices: I32 | I64, weights: F32 | F64) -> None: ...
def spread(
    indptr: I32 | I64,
    indices: I32 | I64,
    weights: F32 | F64,
    seeds: I64,
    seed_activation: F64,
    mask: Bool | None,
    depth: int,
    hop_decay: float,
    threshold: float,
    fan_cap: int,
    node_cap: int,
    fan_normalise: bool,
    seeds_receive: bool,
    validated: bool = ...,
) -> tuple[I64, F64, I64, I32]: ...
