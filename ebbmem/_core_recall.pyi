from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeAlias, TypeVar

from typing_extensions import Never

from ebbmem._core import (
    F32,
    F64,
    I32,
    I64,
    U32,
    U64,
    Arena,
    Bool,
    Column,
    Fading,
    Mask,
    Newness,
    Postings,
    WordVectors,
    Workers,
)

_Value = TypeVar("_Value")

# --- rankings, and the scores of what they find
def product_scores(
    slots: I64, cosines: F64, importance: F64, since_us: I64, now_us: int, unit_us: int, rate: float
) -> tuple[F64, F64, F64, F64]: ...

_Bounded: TypeAlias = tuple[I64, F64, F64 | None, F64, F64 | None, F64, F64]

class Bounded:
    def __init__(
        self,
        postings: Postings,
        terms: U64,
        k1: float,
        b: float,
        slots: I64,
        bm25: F64,
        named: U64,
        mask: Bool,
        reached: I64,
        activation: F64,
        importance: F64,
        strength: F64,
        intensity: F64,
        since_us: I64,
        newness: I64,
        now_us: int,
        unit_us: int,
        stability: float,
        exponent: float,
        lexical: float,
        idf: float,
        cascade: float,
        floor: float,
        weight: float,
        most: int,
        among: int,
        near: float,
        past: bool,
        k: int,
    ) -> None: ...
    def best(self) -> _Bounded: ...

def best_bounded(
    questions: Iterable[Bounded], threads: int, workers: Workers | None = ...
) -> list[_Bounded]: ...

class FoundProducts:
    def __init__(self, args: Never, kwargs: Never) -> None: ...  # made by Products alone
    def __len__(self) -> int: ...
    def values_of(self, by_slot: dict[int, _Value]) -> tuple[_Value, ...] | None: ...
    @property
    def slots(self) -> I64: ...
    @property
    def cosines(self) -> F64: ...
    @property
    def nearness(self) -> F64: ...
    @property
    def importance(self) -> F64: ...
    @property
    def retained(self) -> F64: ...
    @property
    def slot_list(self) -> list[int]: ...
    @property
    def scores(self) -> list[float]: ...

class Products:
    def __init__(
        self,
        vectors: WordVectors,
        fading: Fading,
        importance: F64,
        created_us: I64,
        mask: Mask,
        unit_us: int,
    ) -> None: ...
    def best(
        self, buckets: U32, counts: I32, now_us: int, rate: float, k: int
    ) -> FoundProducts: ...

def best_products(
    questions: Iterable[tuple[Products, U32, I32]],
    now_us: int,
    rate: float,
    k: int,
    threads: int,
    workers: Workers | None = ...,
) -> list[FoundProducts]: ...

class Searches:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def bm25(
        self,
        postings: Postings,
        terms: U64,
        k1: float,
        b: float,
        newness: Newness,
        mask: Mask,
        k: int,
        limit: int | None,
        count: int,
        share: float,
        spare: float,
    ) -> None: ...
    def words_affine(
        self,
        vectors: WordVectors,
        buckets: U32,
        counts: I32,
        mul: Column,
        add: Column,
        newness: Newness,
        mask: Mask,
        k: int,
    ) -> None: ...
    def affine(
        self,
        arena: Arena,
        query: F32,
        mul: Column,
        add: Column,
        newness: Newness,
        mask: Mask,
        k: int,
    ) -> None: ...
    def faded(
        self,
        arena: Arena,
        fading: Fading,
        query: F32,
        now_us: int,
        rate: float,
        newness: Newness,
        mask: Mask,
        k: int,
    ) -> None: ...
    def run(self, threads: int, workers: Workers | None = ...) -> tuple[I64, F64, I64]: ...

# --- strengths, and hits
class Strengths:
    def __init__(
        self,
        row: I64,
        strength: F64,
        anchor: F64,
        intensity: F64,
        accessed: I64,
        accesses: I64,
        unit: float,
        rate: float,
    ) -> None: ...
    def succeed(
        self,
        slots: I64,
        similarity: F64,
        hits: int,
        now: int,
        gain: float,
        evidence: float | None = ...,
        refractory: int = ...,
    ) -> bytes: ...
    def succeed_products(
        self,
        found: FoundProducts,
        hits: int,
        now: int,
        gain: float,
        evidence: float | None = ...,
        refractory: int = ...,
    ) -> bytes: ...

def retold(
    recalls: tuple[tuple[bytes, int, float], ...],
) -> tuple[list[tuple[int, float, float, int, int]], list[tuple[int, bytes]]]: ...

class Maker(Generic[_Value]):
    def __init__(self, cls: type[_Value], names: tuple[str, ...]) -> None: ...
    def one(self, *args: Any) -> _Value: ...

class HitMaker(Generic[_Value]):
    def __init__(self, hit: type[_Value]) -> None: ...
    def made(
        self,
        source: Callable[[int, str], Any],
        rows: Iterable[tuple[Any, ...]],
        scores: Iterable[float],
    ) -> tuple[_Value, ...]: ...
