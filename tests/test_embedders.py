"""Embedders: one protocol, the word hash and any callable."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import oracles
import pytest

from ebbmem.embedders import CallableEmbedder, Embedder, HashingEmbedder
from ebbmem.errors import EmbedderFailed, InvalidArgument, InvalidType

SPLITS = {"words": oracles.words, "lower_split": oracles.lower_split}
TEXTS = ["Rex", "", "Adopted a puppy named Rex", "Ärger, ÄRGER! 漢字", "no no no"]


def constant(rows) -> CallableEmbedder:
    """An embedder whose function returns the same rows whatever it is asked."""
    return CallableEmbedder(lambda texts: rows, 2, "constant")


# --- the word hash ----------------------------------------------------------------------


@pytest.mark.parametrize("split", ["words", "lower_split"])
@pytest.mark.parametrize("sign", [None, "seed", "independent"])
def test_hashing_embedder_equals_the_oracle(sign, split):
    embedder = HashingEmbedder(384, sign=sign, split=split)

    rows = embedder.embed_many(TEXTS)

    assert rows.tobytes() == b"".join(
        oracles.embed(text, 384, sign, SPLITS[split]).tobytes() for text in TEXTS
    )
    assert rows.shape == (5, 384)
    assert rows.flags.c_contiguous


def test_default_is_the_plain_word_hash_in_1024_buckets():
    row = HashingEmbedder().embed("Rex")

    # int(md5(b"Rex").hexdigest(), 16) % 1024, and one word of one.
    assert np.flatnonzero(row).tolist() == [oracles.word_hash("Rex") % 1024]
    assert row.max() == 1.0
    assert row.shape == (1024,)


@pytest.mark.parametrize("text", TEXTS)
def test_one_text_is_a_batch_of_one(text):
    embedder = HashingEmbedder(100, sign="independent")

    assert (embedder.embed(text) == embedder.embed_many([text])[0]).all()


@pytest.mark.parametrize("split", ["words", "lower_split"])
@pytest.mark.parametrize("sign", [None, "seed", "independent"])
def test_counts_are_the_vector_before_it_is_scaled(sign, split):
    embedder = HashingEmbedder(384, sign=sign, split=split)

    for text in TEXTS:
        pairs = zip(*(part.tolist() for part in embedder.counts(text)), strict=True)
        assert list(pairs) == oracles.bucket_counts(text, 384, sign, SPLITS[split])


def test_counts_of_many_texts_stand_back_to_back():
    embedder = HashingEmbedder(1024, sign="independent")

    buckets, counts, ends = embedder.counts_many(TEXTS)

    singles = [embedder.counts(text) for text in TEXTS]
    assert buckets.tolist() == [b for single in singles for b in single[0].tolist()]
    assert counts.tolist() == [c for single in singles for c in single[1].tolist()]
    assert np.diff(ends, prepend=0).tolist() == [len(single[0]) for single in singles]


@pytest.mark.parametrize("method", ["embed", "counts"])
def test_one_text_must_be_a_str(method):
    with pytest.raises(InvalidType, match="text: expected str"):
        getattr(HashingEmbedder(8), method)(b"Rex")


@pytest.mark.parametrize("method", ["embed_many", "counts_many"])
def test_texts_with_a_lone_surrogate_are_refused_by_position(method):
    with pytest.raises(InvalidArgument, match=r"texts\[1\]: expected text without lone surrogates"):
        getattr(HashingEmbedder(8), method)(["a", "b \ud800"])


def test_any_sequence_of_texts_is_a_batch():
    class Pages(Sequence):
        def __len__(self):
            return len(TEXTS)

        def __getitem__(self, i):
            return TEXTS[i]

    embedder = HashingEmbedder(16)

    assert (embedder.embed_many(Pages()) == embedder.embed_many(TEXTS)).all()
    assert (embedder.embed_many(tuple(TEXTS)) == embedder.embed_many(TEXTS)).all()


def test_no_texts_give_no_rows():
    assert HashingEmbedder(16).embed_many([]).shape == (0, 16)


def test_names_differ_where_vectors_do():
    embedders = [
        HashingEmbedder(dim, sign=sign, split=split)
        for dim in (16, 32)
        for sign in (None, "seed", "independent")
        for split in ("words", "lower_split")
    ]

    assert len({e.name for e in embedders}) == len(embedders)
    assert HashingEmbedder().name == "word-hash:words:unsigned:1024"


def test_embedder_is_a_value():
    assert HashingEmbedder(np.int64(16)) == HashingEmbedder(16)
    assert type(HashingEmbedder(np.int64(16)).dim) is int
    with pytest.raises(AttributeError):
        HashingEmbedder().dim = 3


def test_embedder_survives_pickling():
    embedder = HashingEmbedder(32, sign="seed", split="lower_split")

    again = pickle.loads(pickle.dumps(embedder))

    assert again == embedder
    assert (again.embed_many(TEXTS) == embedder.embed_many(TEXTS)).all()


def test_vectors_do_not_depend_on_the_hash_seed_of_the_process():
    program = (
        "import sys, zlib; from ebbmem.embedders import HashingEmbedder;"
        "print(zlib.crc32(HashingEmbedder(sign='seed').embed_many(['a b', '漢字 Rex']).tobytes()))"
    )

    def run(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}
        root = Path(__file__).parents[1]
        command = [sys.executable, "-c", program]
        return subprocess.run(
            command, env=environment, cwd=root, check=True, capture_output=True, text=True
        ).stdout

    assert run("0") == run("1") != ""


@pytest.mark.parametrize("dim", [0, -1, 2**24 + 1])
def test_dim_out_of_range_is_refused(dim):
    with pytest.raises(InvalidArgument, match="dim: expected an integer from 1 to 16777216"):
        HashingEmbedder(dim)


@pytest.mark.parametrize("dim", [True, 1024.0, "1024", None, np.float32(8), np.True_])
def test_dim_that_is_no_integer_is_refused(dim):
    with pytest.raises(InvalidType, match="dim: expected an integer"):
        HashingEmbedder(dim)


@pytest.mark.parametrize("choice", [{"sign": "none"}, {"sign": ""}, {"split": "Words"}])
def test_unknown_choice_is_refused(choice):
    with pytest.raises(InvalidArgument, match="expected '"):
        HashingEmbedder(**choice)


@pytest.mark.parametrize("choice", [{"sign": 8}, {"sign": True}, {"split": None}])
def test_choice_of_the_wrong_type_is_refused(choice):
    with pytest.raises(InvalidType, match="expected '"):
        HashingEmbedder(**choice)


# --- rules for texts, the same for every embedder -------------------------------------------

EMBEDDERS = [
    HashingEmbedder(2),
    HashingEmbedder(2, split="lower_split"),
    CallableEmbedder(lambda texts: np.ones((len(texts), 2)), 2, "ones"),
]


@pytest.mark.parametrize("embedder", EMBEDDERS, ids=lambda e: e.name)
def test_embedder_meets_the_protocol(embedder):
    assert isinstance(embedder, Embedder)
    assert embedder.embed_many(["a", "b"]).dtype == np.float32
    assert embedder.embed_many(["a", "b"]).shape == (2, embedder.dim)


@pytest.mark.parametrize("embedder", EMBEDDERS, ids=lambda e: e.name)
@pytest.mark.parametrize("texts", ["one text", b"bytes", None, 3, {"a"}, iter(["a"])])
def test_one_text_is_no_batch(embedder, texts):
    with pytest.raises(InvalidType, match="texts: expected a sequence of str"):
        embedder.embed_many(texts)


@pytest.mark.parametrize("embedder", EMBEDDERS, ids=lambda e: e.name)
def test_item_that_is_no_str_is_named(embedder):
    with pytest.raises(InvalidType, match=r"texts\[1\]: expected str"):
        embedder.embed_many(["a", None])


@pytest.mark.parametrize("embedder", EMBEDDERS, ids=lambda e: e.name)
def test_lone_surrogate_is_refused(embedder):
    with pytest.raises(InvalidArgument, match=r"texts\[1\]: expected text without lone surrogates"):
        embedder.embed_many(["a", "b\ud800"])


@pytest.mark.parametrize("text", [None, 3, b"a", ["a"]])
def test_embed_takes_one_str(text):
    with pytest.raises(InvalidType, match="text: expected str"):
        HashingEmbedder().embed(text)


# --- any callable -----------------------------------------------------------------------


def test_rows_are_scaled_to_unit_length():
    rows = constant([[3, 4], [0, -2]]).embed_many(["a", "b"])

    assert rows.dtype == np.float32
    assert rows.tolist() == [[np.float32(0.6), np.float32(0.8)], [0.0, -1.0]]


def test_zero_rows_stay_zero():
    assert constant([[0.0, 0.0]]).embed_many(["a"]).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e-40, 1e200, 1.7e308])
def test_length_neither_overflows_nor_vanishes(size):
    row = constant([[size, size]]).embed_many(["a"])[0]

    assert row == pytest.approx([0.5**0.5, 0.5**0.5], rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint64])
def test_real_dtypes_are_taken(dtype):
    rows = constant(np.array([[1, 0]], dtype=dtype)).embed_many(["a"])

    assert rows.tolist() == [[1.0, 0.0]]


def test_result_is_not_the_memory_of_the_function():
    kept = np.array([[1.0, 0.0]], dtype=np.float32)

    constant(kept).embed_many(["a"])[0, 0] = 5

    assert kept.tolist() == [[1.0, 0.0]]


def test_strided_rows_come_back_contiguous():
    wide = np.arange(1, 9, dtype=np.float32).reshape(2, 4)

    rows = constant(wide[:, ::2]).embed_many(["a", "b"])

    assert rows.flags.c_contiguous
    assert rows[0] == pytest.approx(np.array([1, 3]) / 10**0.5)


def test_function_gets_a_list_of_its_own():
    seen: list[object] = []
    texts = ["a", "b"]

    CallableEmbedder(lambda t: seen.append(t) or [[1], [1]], 1, "spy").embed_many(tuple(texts))

    assert seen == [texts]
    assert type(seen[0]) is list


def test_function_is_not_asked_about_nothing():
    embedder = CallableEmbedder(lambda texts: 1 / 0, 3, "never")

    assert embedder.embed_many([]).shape == (0, 3)


def test_error_of_the_function_is_the_cause():
    boom = ConnectionError("no route")

    def fn(texts):
        raise boom

    with pytest.raises(EmbedderFailed, match=r"embedder 'remote' raised .*no route") as info:
        CallableEmbedder(fn, 2, "remote").embed_many(["a"])
    assert info.value.__cause__ is boom


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_wish_to_stop_passes_through(stop):
    def fn(texts):
        raise stop

    with pytest.raises(stop):
        CallableEmbedder(fn, 2, "slow").embed_many(["a"])


@pytest.mark.parametrize("rows", [[[1, 2]], [[1], [2]], [1, 2], [[1, 2]] * 3, [[[1, 2]]] * 2, 7])
def test_wrong_shape_is_refused(rows):
    with pytest.raises(EmbedderFailed, match=r"expected \(2, 2\) finite real numbers, got shape"):
        constant(rows).embed_many(["a", "b"])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_row_with_nan_or_infinity_is_named(bad):
    with pytest.raises(EmbedderFailed, match="got NaN or infinity in row 1"):
        constant([[1, 2], [3, bad]]).embed_many(["a", "b"])


@pytest.mark.parametrize("rows", [[["1", "2"]], [[1j, 2]], [[True, False]], [[None, 1]]])
def test_what_is_no_real_number_is_refused(rows):
    with pytest.raises(EmbedderFailed, match="got dtype"):
        constant(rows).embed_many(["a"])


def test_ragged_rows_are_refused():
    with pytest.raises(EmbedderFailed, match="embedder 'constant' raised ValueError"):
        constant([[1, 2], [3]]).embed_many(["a", "b"])


@pytest.mark.parametrize("name", ["", "  ", "\t\n", "\ud800"])
def test_name_that_says_nothing_is_refused(name):
    with pytest.raises(InvalidArgument, match="name: expected"):
        CallableEmbedder(len, 2, name)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((None, 2, "n"), "fn"),
        ((len, 2.0, "n"), "dim"),
        ((len, True, "n"), "dim"),
        ((len, 2, None), "name"),
    ],
)
def test_argument_of_the_wrong_type_is_named(arguments, named):
    with pytest.raises(InvalidType, match=f"^{named}: expected"):
        CallableEmbedder(*arguments)


@pytest.mark.parametrize("dim", [0, 2**24 + 1])
def test_callable_embedder_checks_dim(dim):
    with pytest.raises(InvalidArgument, match="dim: expected an integer from 1 to 16777216"):
        CallableEmbedder(len, dim, "n")
