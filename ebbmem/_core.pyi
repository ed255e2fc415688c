from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

F32: TypeAlias = NDArray[np.float32]
F64: TypeAlias = NDArray[np.float64]
<<<<<<< HEAD
I8: TypeAlias = NDArray[np.int8]
I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
U32: TypeAlias = NDArray[np.uint32]
U64: TypeAlias = NDArray[np.uint64]
Bool: TypeAlias = NDArray[np.bool_]

__version__: str
compiler: str

# --- instruction sets
def isa() -> str: ...
def isas() -> list[str]: ...
def choose_isa(name: str) -> None: ...

# --- words, embedding, lexicon
def embed_words(utf8: bytes, word_ends: I64, text_ends: I64, dim: int, sign: str) -> F32: ...
def hash_words(utf8: bytes, word_ends: I64) -> U64: ...
def bucket_words(utf8: bytes, word_ends: I64, dim: int, sign: str) -> tuple[U32, I8]: ...

class Lexicon:
    def __init__(self, capacity: int = 1_048_576) -> None: ...
    def unknown(self, utf8: bytes, word_ends: I64) -> list[str]: ...
    def learn(self, forms: list[str], terms: list[str | None]) -> None: ...
    def terms(self, utf8: bytes, word_ends: I64, text_ends: I64) -> tuple[U64, I64] | None: ...
    def clear(self) -> None: ...
    def __len__(self) -> int: ...

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
=======
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
>>>>>>> 746fbac8c430048087f5103058124c1e96b55a71
