"""Stores damaged at random: whatever the bytes, nothing hangs, crashes, or answers wrongly."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from damage import PAGE
from exchanges import lived_in

import ebbmem
from ebbmem import Database, EpisodicMemoryStore
from ebbmem.errors import CorruptStore, NotAStore, StoreTooNew

MUTANTS = 40
LOOSE = ("scope", "related_to", "superseded_by", "superseded_at")
"""What other rows say of one, and may have lost."""


def flip(raw: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 3, 20])):
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)


def zero(raw: bytearray, rng: random.Random) -> None:
    start, size = rng.randrange(len(raw)), rng.choice([1, 16, PAGE])
    end = min(start + size, len(raw))
    raw[start:end] = bytes(end - start)


def cut(raw: bytearray, rng: random.Random) -> None:
    del raw[rng.randrange(100, len(raw)) :]


def swap(raw: bytearray, rng: random.Random) -> None:
    a, b = (PAGE * rng.randrange(1, len(raw) // PAGE) for _ in range(2))
    raw[a : a + PAGE], raw[b : b + PAGE] = raw[b : b + PAGE], raw[a : a + PAGE]


def noise(raw: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(raw))
    end = min(start + 100, len(raw))
    raw[start:end] = rng.randbytes(end - start)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("sound") / "store.db"
    with Database(path) as db:
        lived_in(db)
        store = EpisodicMemoryStore(db=db, scope="second")
        store.remember_many([f"fact {n} " + "x" * 300 for n in range(60)])
    return path.read_bytes()


def facts(path: Path) -> set[str]:
    """Return what memories, links and intentions say, each by itself."""
    with Database(path) as db:
        lines = [json.loads(line) for line in db.export_lines()][1:]
    kept = [one for one in lines if one["record"] in ("memory", "link", "intention")]
    return {
        json.dumps({name: value for name, value in one.items() if name not in LOOSE})
        for one in kept
    }


@pytest.mark.parametrize("mutate", [flip, zero, cut, swap, noise])
def test_any_damage_is_told_or_mended_and_never_makes_up_a_fact(
    sound: bytes, tmp_path: Path, mutate: Callable[[bytearray, random.Random], None]
) -> None:
    rng = random.Random(f"20261130 {mutate.__name__}")
    path = tmp_path / "store.db"
    path.write_bytes(sound)
    known = facts(path)
    for number in range(MUTANTS):
        for left in tmp_path.iterdir():
            left.unlink()
        raw = bytearray(sound)
        mutate(raw, rng)
        path.write_bytes(raw)
        try:
            problems = ebbmem.verify(path).problems
            assert path.read_bytes() == raw, number
            report = ebbmem.repair(path)
        except (NotAStore, StoreTooNew, CorruptStore):
            assert path.read_bytes() == raw, number
            continue
        assert (report.problems == 0) == (problems == 0), number
        assert ebbmem.verify(path).ok, number
        assert facts(path) <= known, number
