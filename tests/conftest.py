"""Fixtures that many test files share."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from ebbmem import AgenticMemory, Database, EpisodicMemoryStore, ManualClock, _core

NOW = 1_700_000_000
DAY = 86_400

# An example may take as long as it does: the machine is shared.
settings.register_profile("ebbmem", deadline=None)
settings.load_profile("ebbmem")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path, clock: ManualClock) -> Iterator[EpisodicMemoryStore]:
    """A store in a file, at a moment of its own."""
    with Database(path, clock=clock) as db:
        yield EpisodicMemoryStore(db=db)


@pytest.fixture
def database() -> Iterator[Database]:
    """A database in RAM, to export from and import into."""
    with Database(":memory:", clock=ManualClock(NOW)) as opened:
        yield opened


@pytest.fixture
def other() -> Iterator[Database]:
    """Another one in RAM, 400 days later."""
    with Database(":memory:", clock=ManualClock(NOW + 400 * DAY)) as opened:
        yield opened


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that commands act on unless told otherwise."""
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("EBBMEM_DB", str(path))
    return path


@pytest.fixture
def puppy(db: Path) -> Path:
    """A store in which one memory brings up another."""
    with AgenticMemory(db) as memory:
        memory.remember("Adopted a puppy named Rex", keywords=["dog"])
        memory.remember("Bought a leash and kibble", related_to=["dog"])
    return db


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of shared data sets: EBBMEM_DATA, or ../shared/data beside the repository."""
    named = os.environ.get("EBBMEM_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no data sets: EBBMEM_DATA is not set and ../shared/data does not exist")
    return folder


@pytest.fixture(scope="session")
def turn_texts(data_dir: Path) -> list[str]:
    """The text of every turn of the development conversations."""
    path = data_dir / "locomo_dev.json.gz"
    if not path.is_file():
        pytest.skip(f"no {path.name} among the data sets")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        samples = json.load(file)
    sessions = (value for s in samples for value in s["conversation"].values())
    return [turn["text"] for value in sessions if isinstance(value, list) for turn in value]


@pytest.fixture(params=_core.isas())
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the test once on every instruction set of this machine."""
    before = _core.isa()
    _core.choose_isa(request.param)
    yield request.param
    _core.choose_isa(before)


@pytest.fixture(scope="session")
def real_texts(turn_texts: list[str]) -> list[str]:
    """5,000 texts that people wrote: turns, and the sentences they consist of."""
    sentences = (s for text in turn_texts for s in text.split(". "))
    return [*turn_texts, *sentences][:5000]


@pytest.fixture(scope="session")
def random_texts() -> list[str]:
    """3,000 seeded strings over all planes of Unicode, without surrogates."""
    rng = random.Random(20240601)
    ranges = ((32, 126), (9, 13), (128, 591), (0x300, 0xD7FF), (0xE000, 0xFFFF), (0, 0x10FFFF))
    points = (rng.randint(*rng.choice(ranges)) for _ in itertools.count())
    usable = (chr(point) for point in points if not 0xD800 <= point <= 0xDFFF)
    letters = itertools.chain.from_iterable(
        zip(usable, itertools.cycle("aB _ \u3000é"), strict=False)
    )
    return ["".join(itertools.islice(letters, rng.randrange(60))) for _ in range(3000)]
