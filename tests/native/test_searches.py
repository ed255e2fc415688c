"""Rankings made in one call are those made one by one."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from ebbmem import _core

U64 = np.uint64
WORKERS = _core.Workers(5)
EVERY = (0, 0.0, 0.0)


def postings(seed, count):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 6, count)
    made = _core.Postings()
    made.append(rng.integers(0, 12, lengths.sum()).astype(U64), np.cumsum(lengths))
    return made


def words(seed, count):
    made = _core.WordVectors(16)
    rng = np.random.default_rng(seed)
    buckets = [np.sort(rng.choice(16, 3, replace=False)) for _ in range(count)]
    counts = rng.integers(-3, 4, count * 3).astype(np.int32)
    made.append(np.concatenate(buckets).astype(np.uint32), counts, 3 * np.arange(1, count + 1))
    return made


def arena(seed, count):
    made = _core.Arena(5)
    made.append(np.random.default_rng(seed).standard_normal((count, 5)).astype(np.float32))
    return made


def fading(count):
    made = _core.Fading(1_000_000)
    made.append(np.linspace(1, 9, count), np.arange(count, dtype=np.int64) * 10**7)
    return made


def every(seed, count):
    """Return each kind of ranking of some indexes: how it is made alone, how added, of what."""
    rng = np.random.default_rng(seed)
    newness, mask = rng.integers(0, 9, count), rng.random(count) < 0.7
    terms, vector = np.arange(3, dtype=U64), rng.standard_normal(5).astype(np.float32)
    asked = (np.array([1, 4, 9], np.uint32), np.array([2, -1, 1], np.int32))
    mul, add = rng.random(count), rng.random(count)
    lines, moment = fading(count), (10**9, 0.01)
    among = (newness, mask, 4)
    bm25 = (postings(seed, count), terms, 0.9, 0.4, *among, None, *EVERY)
    return [
        (_core.Postings.top_bm25, _core.Searches.bm25, bm25),
        (
            _core.WordVectors.top_affine,
            _core.Searches.words_affine,
            (words(seed, count), *asked, mul, add, *among),
        ),
        (
            _core.top_affine,
            _core.Searches.affine,
            (arena(seed, count), vector, None, add, *among),
        ),
        (
            _core.top_faded,
            _core.Searches.faded,
            (arena(seed, count), lines, vector, *moment, *among),
        ),
    ]


@pytest.mark.parametrize("threads", [1, 2, 3, 64])
def test_together_is_one_by_one(threads):
    rankings = [one for seed in range(4) for one in every(seed, 5 + 20 * seed)]
    together = _core.Searches()
    for _, add, args in rankings:
        add(together, *args)
    assert len(together) == len(rankings)

    slots, values, ends = together.run(threads, WORKERS)

    first = 0
    for (alone, _, args), end in zip(rankings, ends.tolist(), strict=True):
        found = alone(*args)
        assert slots[first:end].tolist() == found[0].tolist()
        assert values[first:end].tolist() == found[-1].tolist()
        first = end
    assert first == len(slots) == len(values)
    assert len(together) == 0


def test_nothing_to_make():
    assert [part.tolist() for part in _core.Searches().run(2, WORKERS)] == [[], [], []]


def test_what_is_looked_at_stays_until_it_was_run():
    together = _core.Searches()
    for _, add, args in every(1, 500):
        add(together, *args)
    expected = [alone(*args)[0].tolist() for alone, _, args in every(1, 500)]
    del args
    gc.collect()

    slots, _, ends = together.run(2, WORKERS)

    assert slots.tolist() == [slot for one in expected for slot in one]
    assert ends.tolist() == np.cumsum([len(one) for one in expected]).tolist()


@pytest.mark.parametrize("at", range(4))
def test_a_column_of_another_length_is_refused_when_it_is_run(at):
    _, add, args = every(2, 20)[at]
    together = _core.Searches()
    short = [a[:-1] if isinstance(a, np.ndarray) and a.dtype == np.bool_ else a for a in args]
    add(together, *short)

    with pytest.raises(ValueError, match="mask"):
        together.run(2, WORKERS)
    assert len(together) == 0


@pytest.mark.parametrize("at", range(4))
def test_wrong_arguments_are_refused_at_once(at):
    _, add, args = every(2, 20)[at]
    together = _core.Searches()
    for place in range(len(args)):
        wrong = list(args)
        wrong[place] = "5"
        with pytest.raises((TypeError, ValueError)):
            add(together, *wrong)
    assert len(together) == 0


@pytest.mark.parametrize("threads", [0, -1, True, 1.0, None])
def test_wrong_threads(threads):
    together = _core.Searches()
    together.bm25(*every(3, 9)[0][2])
    with pytest.raises((TypeError, ValueError), match="threads"):
        together.run(threads)
    assert len(together) == 1
