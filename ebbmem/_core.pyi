from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ebbmem._core_recall import Bounded as Bounded
from ebbmem._core_recall import FoundProducts as FoundProducts
from ebbmem._core_recall import HitMaker as HitMaker
from ebbmem._core_recall import Maker as Maker
from ebbmem._core_recall import Products as Products
from ebbmem._core_recall import Searches as Searches
from ebbmem._core_recall import Strengths as Strengths
from ebbmem._core_recall import best_bounded as best_bounded
from ebbmem._core_recall import best_products as best_products
from ebbmem._core_recall import product_scores as product_scores
from ebbmem._core_recall import retold as retold

F32: TypeAlias = NDArray[np.float32]
F64: TypeAlias = NDArray[np.float64]
I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
U8: TypeAlias = NDArray[np.uint8]
U32: TypeAlias = NDArray[np.uint32]
U64: TypeAlias = NDArray[np.uint64]
Bool: TypeAlias = NDArray[np.bool_]
Column: TypeAlias = F64 | None
Newness: TypeAlias = I64 | None
Mask: TypeAlias = Bool | None

__version__: str
compiler: str

# --- instruction sets, threads, lexicon
def isa() -> str: ...
def isas() -> list[str]: ...
def choose_isa(name: str) -> None: ...
def give_back_free_pages() -> None: ...

class Workers:
    def __init__(self, most: int) -> None: ...
    def close(self) -> None: ...
    def forget(self) -> None: ...
    most: Final[int]
    started: Final[int]

def ascii_names(text: str) -> str: ...

class Lexicon:
    def __init__(self, capacity: int = 32_768, stop_words: list[str] = []) -> None: ...
    def learn(self, forms: list[str], terms: list[str]) -> None: ...
    def clear(self) -> None: ...
    def __len__(self) -> int: ...

# --- arena, scan, decay, reinforcement
class Arena:
    def __init__(self, dim: int) -> None: ...
    def append(self, rows: F32) -> int: ...
    def overwrite(self, slot: int, row: F32) -> None: ...
    def tombstone(self, slots: I64) -> int: ...
    def compact(self) -> I64: ...
    def copy_rows(self, slots: I64) -> F32: ...
    dim: Final[int]
    size: Final[int]
    live: Final[int]
    generation: Final[int]
    bytes: Final[int]

def top_affine(
    arena: Arena, query: F32, mul: Column, add: Column, newness: Newness, mask: Mask, k: int
) -> tuple[I64, F64, F32]: ...
def top_affine_many(
    arena: Arena,
    queries: F32,
    mul: Column,
    add: Column,
    newness: Newness,
    mask: Mask,
    k: int,
    threads: int = ...,
    workers: Workers | None = ...,
) -> tuple[I64, F64, F32, I64]: ...
def top_product(
    arena: Arena, query: F32, log_weight: F64, newness: Newness, mask: Mask, k: int
) -> tuple[I64, F64, F32]: ...
def top_product_many(
    arena: Arena,
    queries: F32,
    log_weight: F64,
    newness: Newness,
    mask: Mask,
    k: int,
    threads: int = ...,
    workers: Workers | None = ...,
) -> tuple[I64, F64, F32, I64]: ...
def dots(arena: Arena, query: F32, slots: I64) -> F32: ...
def exponential_retention(anchor: F32 | F64, idle: F32 | F64, rate: F32 | F64) -> F32: ...
def log_weights(importance: F64, age: F64, rate: float) -> F64: ...
def power_retention(elapsed: F64, stability: F64, exponent: float) -> F64: ...
def exponential_share(since_us: I64, now_us: int, unit_us: int, rate: float) -> F64: ...
def strength_retention(
    anchor: F64,
    strength: F64,
    intensity: F64,
    since_us: I64,
    now_us: int,
    unit_us: int,
    rate: float,
) -> F64: ...
def log_weights_since(
    importance: F64, since_us: I64, now_us: int, unit_us: int, rate: float
) -> F64: ...
def power_of_strength(
    importance: F64,
    strength: F64,
    intensity: F64,
    since_us: I64,
    now_us: int,
    unit_us: int,
    stability: float,
    exponent: float,
) -> F64: ...

# --- pages of a database file, its log, and the index of that
def write_without_leftovers(file: int) -> bool: ...
def gather_frames(log: int, page_size: int) -> bool: ...
def let_frames_wait(log: int, may_wait: bool) -> bool: ...

class LogIndex:
    def __init__(self, file: int) -> None: ...
    def header(self) -> bytes: ...
    def frames(self) -> int: ...

def forks() -> int: ...

# --- fading
class Fading:
    def __init__(self, unit_us: int = 1_000_000) -> None: ...
    def append(self, importance: F64, since_us: I64, pace: F64 | None = ...) -> int: ...
    def overwrite(
        self, slots: I64, importance: F64, since_us: I64, pace: F64 | None = ...
    ) -> None: ...
    def tombstone(self, slots: I64) -> int: ...
    def compact(self) -> I64: ...
    def log_weights(self, slots: I64, now_us: int, rate: float) -> F64: ...
    def bound(self, first: int, count: int, now_us: int, rate: float) -> float: ...
    size: Final[int]
    live: Final[int]
    generation: Final[int]
    bytes: Final[int]

def top_faded(
    arena: Arena,
    fading: Fading,
    query: F32,
    now_us: int,
    rate: float,
    newness: Newness,
    mask: Mask,
    k: int,
) -> tuple[I64, F64, F32]: ...
def top_faded_many(
    arena: Arena,
    fading: Fading,
    queries: F32,
    now_us: int,
    rate: float,
    newness: Newness,
    mask: Mask,
    k: int,
    threads: int = ...,
    workers: Workers | None = ...,
) -> tuple[I64, F64, F32, I64]: ...

# --- scopes as they are loaded
class MemoryRows:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def take(self, rows: list[tuple[Any, ...]]) -> int: ...
    def columns(self) -> dict[str, NDArray[Any]]: ...
    checksum_xor: Final[int]
    texts: Final[list[str]]
    kinds: Final[list[str]]
    runs: Final[list[str]]

class LinkRows:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def take(self, rows: list[tuple[Any, ...]]) -> int: ...
    def columns(self) -> tuple[I64, I64, I32, F64]: ...
    kinds: Final[list[str]]

def sealed_births(
    rows: list[Any], row_id: int, seq: int, kind: str | None
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], int] | None: ...
def sealed_strengths(
    rows: list[tuple[Any, ...]], strengths: dict[int, Any], seq: int
) -> tuple[list[tuple[Any, ...]], int] | None: ...
def sealed_events(
    scope_id: int, seq: int, kind: str, events: list[tuple[int, bytes]]
) -> list[tuple[Any, ...]] | None: ...
def agreeing_memories(rows: list[tuple[Any, ...]]) -> int: ...

# --- postings, spreading, links
class Postings:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    live: Final[int]
    bytes: Final[int]
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
        newness: Newness,
        mask: Mask,
        k: int,
        limit: int | None = ...,
        count: int = ...,
        share: float = ...,
        spare: float = ...,
    ) -> tuple[I64, F64]: ...
    def bm25(self, terms: U64, k1: float, b: float, slots: I64) -> F64: ...
    def preceding(
        self,
        terms: U64,
        slots: I64,
        scores: F64,
        newness: I64,
        k: int,
        among: int,
        near: float,
        past: bool,
    ) -> tuple[I64, F64]: ...
    def tied(
        self,
        slot: int,
        activation: float,
        terms: U64,
        said: U64,
        mask: Bool,
        weight: float,
        most: int,
    ) -> tuple[I64, F64]: ...

class WordVectors:
    def __init__(self, dim: int) -> None: ...
    def append(self, buckets: U32, counts: I32, text_ends: I64) -> int: ...
    def overwrite(self, slot: int, buckets: U32, counts: I32) -> None: ...
    def tombstone(self, slots: I64) -> int: ...
    def compact(self) -> I64: ...
    def top_affine(
        self,
        buckets: U32,
        counts: I32,
        mul: Column,
        add: Column,
        newness: Newness,
        mask: Mask,
        k: int,
    ) -> tuple[I64, F64, F64]: ...
    def top_product(
        self, buckets: U32, counts: I32, log_weight: F64, newness: Newness, mask: Mask, k: int
    ) -> tuple[I64, F64, F64]: ...
    def top_faded(
        self,
        buckets: U32,
        counts: I32,
        fading: Fading,
        now_us: int,
        rate: float,
        newness: Newness,
        mask: Mask,
        k: int,
    ) -> tuple[I64, F64, F64]: ...
    def cosines(self, buckets: U32, counts: I32, slots: I64) -> F64: ...
    dim: Final[int]
    size: Final[int]
    live: Final[int]
    generation: Final[int]
    bytes: Final[int]

class ScratchPool:
    def __init__(self) -> None: ...
    bytes: Final[int]

def check_csr(indptr: I32 | I64, indices: I32 | I64, weights: F32 | F64) -> None: ...
def spread(
    indptr: I32 | I64,
    indices: I32 | I64,
    weights: F32 | F64,
    seeds: I64,
    seed_activation: F64,
    mask: Mask,
    depth: int,
    hop_decay: float,
    threshold: float,
    fan_cap: int,
    node_cap: int,
    fan_normalise: bool,
    seeds_receive: bool,
    scratches: ScratchPool | None = ...,
) -> tuple[I64, F64, I64, I32]: ...

class LinkGraph:
    def __init__(self, carries: Bool) -> None: ...
    def __len__(self) -> int: ...
    bytes: Final[int]
    version: Final[int]
    def add(self, source: int, target: int, kind: int, weight: float) -> None: ...
    def add_many(self, sources: I64, targets: I64, kinds: U8, weights: F32) -> None: ...
    def replace(self, slots: I64, sources: I64, targets: I64, kinds: U8, weights: F32) -> None: ...
    def drop_nodes(self, slots: I64) -> int: ...
    def remap(self, old_to_new: I64) -> None: ...
    def links(self, slot: int) -> list[tuple[int, int, float]]: ...
    def matrix(self, size: int) -> tuple[int, I64, I32, F32]: ...
    def spread(
        self,
        size: int,
        seeds: I64,
        seed_activation: F64,
        mask: Mask,
        depth: int,
        hop_decay: float,
        threshold: float,
        fan_cap: int,
        node_cap: int,
        fan_normalise: bool,
        seeds_receive: bool,
    ) -> tuple[I64, F64, I64, I32]: ...
