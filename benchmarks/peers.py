"""Other people's libraries, each with the settings that are best for it, on one thread.

A function returns what answers, or None where the package is not installed: its row then cannot
be judged. Nothing here is imported before it is used.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from data import F32, F64, I64, Graph

WORDS = re.compile(r"\w+")
TopOne = Callable[[F32], I64]
TopMany = Callable[[F32], I64]
Spread = Callable[[I64], tuple[I64, Any]]

FAISS_BATCH_THRESHOLD = 20
HNSW_LINKS, HNSW_BUILD_EF = 16, 200
PACKAGES = (
    "faiss",
    "hnswlib",
    "usearch",
    "simsimd",
    "sklearn",
    "graphblas",
    "bm25s",
    "chromadb",
    "nano_vectordb",
    "sqlite_vec",
)


def load(name: str) -> Any:
    """Return a module, or None where its package is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def hold_to_avx2() -> None:
    """Make the libraries that choose instructions while running choose AVX2."""
    faiss, simsimd = load("faiss"), load("simsimd")
    if faiss is not None and hasattr(faiss, "SIMDConfig"):
        faiss.SIMDConfig.set_level(faiss.SIMDLevel_AVX2)
    if simsimd is not None:
        for newer in ("skylake", "ice", "genoa", "sapphire", "turin"):
            simsimd.disable_capability(newer)


def notes() -> list[str]:
    """Return what has to be said about peers beside the table."""
    missing = [name for name in PACKAGES if load(name) is None]
    said = [f"not installed: {', '.join(missing)}"] if missing else []
    faiss = load("faiss")
    if faiss is not None:
        default = faiss.cvar.distance_compute_blas_threshold
        said.append(
            f"faiss {faiss.__version__}: distance_compute_blas_threshold is {default} as it comes,"
            f" so for one query; batches are measured with {FAISS_BATCH_THRESHOLD}, which lets them"
            " use BLAS"
        )
    return said


# --- nearest rows -----------------------------------------------------------------------


def best_of(scores: F32, k: int) -> I64:
    """Return the k best rows by score, best first."""
    likely = np.argpartition(scores, -k)[-k:]
    return likely[np.argsort(-scores[likely])]


def faiss_flat(rows: F32, k: int) -> tuple[TopMany, TopMany] | None:
    """Return faiss's exact search as it comes, and as is best for batches: through BLAS.

    Both search one copy of the rows. For one query the first is more than twice as fast.
    """
    faiss = load("faiss")
    if faiss is None:
        return None
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(rows.shape[1])
    index.add(rows)
    default = faiss.cvar.distance_compute_blas_threshold

    def as_it_comes(queries: F32) -> I64:
        found: I64 = index.search(np.atleast_2d(queries), k)[1]
        return found

    def by_blas(queries: F32) -> I64:
        faiss.cvar.distance_compute_blas_threshold = FAISS_BATCH_THRESHOLD
        try:
            return as_it_comes(queries)
        finally:
            faiss.cvar.distance_compute_blas_threshold = default

    return as_it_comes, by_blas


def simsimd_top(rows: F32, k: int) -> TopOne | None:
    """Return simsimd's dot products and numpy's partial sort."""
    simsimd = load("simsimd")
    if simsimd is None:
        return None
    return lambda query: best_of(np.asarray(simsimd.dot(query, rows)), k)


def simsimd_dots(rows: F32) -> Callable[[F32], F64] | None:
    """Return simsimd's dot products of one query with every row."""
    simsimd = load("simsimd")
    if simsimd is None:
        return None
    return lambda query: np.asarray(simsimd.dot(query, rows))


def usearch_exact(rows: F32, k: int) -> TopOne | None:
    """Return usearch's exact search."""
    usearch = load("usearch.index")
    if usearch is None:
        return None
    metric = usearch.MetricKind.IP

    def search(query: F32) -> I64:
        found: I64 = usearch.search(rows, query, k, metric, exact=True, threads=1).keys
        return found.astype(np.int64)

    return search


def nano(rows: F32, k: int, folder: Path) -> TopOne | None:
    """Return nano-vectordb's search."""
    package = load("nano_vectordb")
    if package is None:
        return None
    base = package.NanoVectorDB(rows.shape[1], storage_file=str(folder / "nano.json"))
    base.upsert([{"__id__": str(at), "__vector__": row} for at, row in enumerate(rows)])
    return lambda query: np.array([int(one["__id__"]) for one in base.query(query, top_k=k)])


def sqlite_vec(rows: F32, k: int) -> TopOne | None:
    """Return sqlite-vec's search of a table in RAM, through apsw."""
    package, apsw = load("sqlite_vec"), load("apsw")
    if package is None or apsw is None:
        return None
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(package.loadable_path())
    cosine = f"embedding float[{rows.shape[1]}] distance_metric=cosine"
    connection.execute(f"CREATE VIRTUAL TABLE vectors USING vec0({cosine})")
    connection.executemany(
        "INSERT INTO vectors (rowid, embedding) VALUES (?, ?)",
        ((at, row.tobytes()) for at, row in enumerate(rows)),
    )
    nearest = "SELECT rowid FROM vectors WHERE embedding MATCH ? AND k = ? ORDER BY distance"
    return lambda query: np.array(
        [at for (at,) in connection.execute(nearest, (query.tobytes(), k))], dtype=np.int64
    )


def sklearn_brute(rows: F32, k: int) -> TopOne | None:
    """Return scikit-learn's exact neighbours by Euclidean distance: the same for unit rows."""
    neighbours = load("sklearn.neighbors")
    if neighbours is None:
        return None
    model = neighbours.NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=1).fit(rows)

    def search(query: F32) -> I64:
        found: I64 = model.kneighbors(query[None], return_distance=False)[0]
        return found

    return search


def hnsw(rows: F32) -> Any:
    """Return a built hnswlib index of unit rows (M = 16, ef_construction = 200)."""
    package = load("hnswlib")
    if package is None:
        return None
    index = package.Index(space="ip", dim=rows.shape[1])
    index.init_index(len(rows), ef_construction=HNSW_BUILD_EF, M=HNSW_LINKS)
    index.set_num_threads(1)
    index.add_items(rows, np.arange(len(rows)), num_threads=1)
    return index


# --- texts ------------------------------------------------------------------------------


def hashing_vectorizer(dim: int) -> Callable[[Sequence[str]], Any] | None:
    """Return scikit-learn's word hashing with the same words, counts and norm; sparse rows."""
    text = load("sklearn.feature_extraction.text")
    if text is None:
        return None
    model = text.HashingVectorizer(
        n_features=dim,
        lowercase=False,
        token_pattern=r"\w+",
        alternate_sign=False,
        norm="l2",
        dtype=np.float32,
    )
    return lambda texts: model.transform(texts)  # noqa: PLW0108 - a plain function for the caller


def fts5(
    texts: Sequence[str], k: int, stop_words: Collection[str]
) -> Callable[[str], list[int]] | None:
    """Return SQLite's full-text search (porter stems, bm25) in RAM, for any word of a cue.

    It knows no stop words: the cue is asked without them.
    """
    apsw = load("apsw")
    if apsw is None:
        return None
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE memories USING fts5(text, tokenize='porter ascii')")
    connection.executemany("INSERT INTO memories (rowid, text) VALUES (?, ?)", enumerate(texts))
    connection.execute("INSERT INTO memories (memories) VALUES ('optimize')")
    matching = "SELECT rowid FROM memories WHERE memories MATCH ? ORDER BY rank LIMIT ?"

    def search(cue: str) -> list[int]:
        words = " OR ".join(word for word in WORDS.findall(cue.lower()) if word not in stop_words)
        return [slot for (slot,) in connection.execute(matching, (words, k))]

    return search


def bm25s_top(
    texts: Sequence[str], k: int, rule: tuple[float, float], stop_words: Collection[str]
) -> Callable[[str], tuple[I64, F32]] | None:
    """Return bm25s's search from a cue's text to slots and scores.

    Its numba backend, with words by `re` and Snowball's stems, is over three times as fast as its
    numpy backend with its own tokeniser.
    """
    package, stemmer = load("bm25s"), load("Stemmer")
    if package is None or stemmer is None or load("numba") is None:
        return None
    stem = stemmer.Stemmer("english")

    def terms(text: str) -> list[str]:
        stems: list[str] = stem.stemWords(
            [word for word in WORDS.findall(text.lower()) if word not in stop_words]
        )
        return stems

    model = package.BM25(k1=rule[0], b=rule[1], method="lucene", backend="numba")
    model.index([terms(text) for text in texts], show_progress=False)

    def search(cue: str) -> tuple[I64, F32]:
        found = model.retrieve(
            [list(dict.fromkeys(terms(cue)))], k=k, show_progress=False, n_threads=1
        )
        return found.documents[0], found.scores[0]

    return search


# --- spreading --------------------------------------------------------------------------


def graphblas_spread(graph: Graph, depth: int, hop_decay: float, threshold: float) -> Spread | None:
    """Return python-graphblas's spreading, by sparse vectors; float32 in and out."""
    gb = load("graphblas")
    if gb is None:
        return None
    gb.ss.config["nthreads"] = 1
    nodes = len(graph.indptr) - 1
    matrix = gb.Matrix.ss.import_csr(
        nrows=nodes,
        ncols=nodes,
        indptr=graph.indptr.astype(np.uint64),
        col_indices=graph.indices.astype(np.uint64),
        values=graph.weights * np.float32(hop_decay),
    )
    least = np.float32(threshold)

    def spread(seeds: I64) -> tuple[I64, F32]:
        frontier = gb.Vector.from_coo(seeds, np.ones(len(seeds), np.float32), size=nodes)
        total = gb.Vector(np.float32, size=nodes)
        for _ in range(depth):
            passing = frontier.select(">=", least).new()
            frontier = gb.semiring.plus_times(passing @ matrix).new()
            total(gb.binary.plus) << frontier
        reached, activation = total.to_coo()
        return reached.astype(np.int64), np.minimum(activation, np.float32(1))

    return spread


# --- a whole memory ---------------------------------------------------------------------


class Chroma:
    """A persistent chromadb collection, new or there already; a given embedder, cosine distance."""

    def __init__(self, folder: Path, embed: Callable[[Sequence[str]], F32]) -> None:
        os.environ["ANONYMIZED_TELEMETRY"] = "False"
        chromadb = load("chromadb")

        class Embedding(chromadb.EmbeddingFunction):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                pass

            def __call__(self, input: Sequence[str]) -> list[F32]:
                return list(embed(input))

        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder), settings=settings)
        self._collection = self._client.get_or_create_collection(
            "memories",
            embedding_function=Embedding(),
            configuration={"hnsw": {"space": "cosine", "num_threads": 1}},
        )

    def remember_many(self, texts: Sequence[str], batch: int = 5_000) -> None:
        """Keep texts under their numbers."""
        for first in range(0, len(texts), batch):
            part = list(texts[first : first + batch])
            self._collection.add(ids=[str(first + at) for at in range(len(part))], documents=part)

    def recall(self, cue: str, k: int) -> list[str]:
        """Return the nearest texts."""
        found = self._collection.query(query_texts=[cue], n_results=k)
        documents: list[str] = found["documents"][0]
        return documents
