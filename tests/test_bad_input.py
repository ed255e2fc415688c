"""Every mistake is one typed error that names the argument, and changes nothing."""

from __future__ import annotations

import math
from datetime import datetime

import pytest
from dumps import dump

from ebbmem import (
    Database,
    EpisodicMemoryStore,
    ManualClock,
    errors,
    run_consolidation,
)
from ebbmem.errors import EbbmemError
from ebbmem.recipes import Ranking

NOW = 1_700_000_000
NAIVE = datetime(2024, 1, 1)
HUGE = 10**400
NO_TEXT = [5, None, b"x", ["x"], "\ud800"]
NO_NAME = [5, b"x", "", " \n", "a\udc00"]
NO_NUMBER = ["5", None, True, [5], math.nan, math.inf, -math.inf, HUGE]
NO_FLAG = [0, 1, "yes", None]
NO_COUNT = [0, -1, True, 1.0, "1", math.nan]
NO_MOMENT = [NAIVE, "2024-01-01", True, math.nan, math.inf, HUGE, b"x", [0]]
NO_DURATION = [30, 1.5, True, "", "soon", "-1d", "0d", "30 days", b"30d"]
NO_NAMES = ["dog", b"dog", 5, None, [5], [""], ["ok", "\ud800"], [None]]
NO_METADATA = [
    5,
    "x",
    [1],
    {1: 2},
    {"\ud800": 1},
    {"a": "\udfff"},
    {"a": math.nan},
    {"a": object()},
]

FIELDS = {
    "summary": NO_TEXT,
    "detail": [5, b"x", "\ud800"],
    "keywords": NO_NAMES,
    "related_to": NO_NAMES,
    "memory_type": [*NO_NAME, None],
    "emotional_valence": [*NO_NUMBER, -1.01, 1.01],
    "emotional_intensity": [*NO_NUMBER, -0.01, 1.01],
    "importance": [*NO_NUMBER, 0.99, 10.01, 0, -5],
    "metadata": NO_METADATA,
    "valid_from": NO_MOMENT,
    "valid_to": NO_MOMENT,
    "expires_in": NO_DURATION,
    "pinned": NO_FLAG,
    "key": NO_NAME,
    "dedupe": NO_FLAG,
    "source": [5, b"x", "\ud800"],
    "run_id": NO_NAME,
    "now": NO_MOMENT,
}
RECALL = {
    "cue": NO_TEXT,
    "top_k": [*NO_COUNT, None],
    "token_budget": NO_COUNT,
    "min_score": [one for one in NO_NUMBER if one is not None],
    "recipe": ["default", 5, {}, Ranking.SUM],
    "run_id": NO_NAME,
    "as_of": NO_MOMENT,
    "include_archive": NO_FLAG,
    "reinforce": ["yes", True, None, 0, 1, []],
    "now": NO_MOMENT,
}
INTENTION = {
    "action": [5, None, b"x", "", "\ud800"],
    "trigger": [5, b"x", "\ud800"],
    "due_at": NO_MOMENT,
    "expires_in": NO_DURATION,
    "now": NO_MOMENT,
}
NO_IDS = [5, b"x", "", "x", "\ud800", "0" * 31, "g" * 32, "0" * 33]


def each(table):
    """One test per argument, which tries every value that is no good for it."""
    return pytest.mark.parametrize(
        ("name", "values"), [pytest.param(*one, id=one[0]) for one in table.items()]
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def store(path):
    with Database(path, clock=ManualClock(NOW)) as db:
        opened = EpisodicMemoryStore(db)
        opened.remember("rex", keywords=["dog"], key="there", now=NOW - 86_400)
        yield opened


@pytest.fixture
def known(store):
    return store.recall("rex", reinforce=False).memories[0].id


def refused(path, name, verb, *args, kind=EbbmemError, **options):
    """The verb raises one error of ours that names the argument, and changes nothing."""
    before = dump(path)
    with pytest.raises(kind, match=name) as caught:
        verb(*args, **options)
    assert type(caught.value).__module__ == errors.__name__
    assert dump(path) == before


class TestRemember:
    @each(FIELDS)
    def test_one_field(self, store, path, name, values):
        for value in values:
            refused(path, name, store.remember, **{"summary": "x", name: value})

    @each(FIELDS)
    def test_one_field_of_many(self, store, path, name, values):
        for value in values:
            many = ["fine", {"summary": "x", name: value}]
            refused(path, name, store.remember_many, many)

    @pytest.mark.parametrize(
        "many",
        [
            "x", b"x", 5, None, {"summary": "x"}, [5], [None], [b"x"], [["x"]], [{}],
            [{"summary": "x", "colour": 1}], [{"summary": "x", 5: 1}],
        ],
    )  # fmt: skip
    def test_no_memories(self, store, path, many):
        refused(path, "memories", store.remember_many, many)

    @pytest.mark.parametrize("end", [NOW, NOW - 1, -1e9])
    def test_validity_ends_after_it_begins(self, store, path, end):
        refused(path, "valid_to", store.remember, "x", valid_from=NOW, valid_to=end)

    @each({k: FIELDS[k] for k in ("summary", "detail", "keywords", "metadata", "source", "now")})
    def test_correction(self, store, path, known, name, values):
        for value in values:
            refused(path, name, store.correct, known, **{"summary": "x", name: value})


class TestRecall:
    @each(RECALL)
    def test_one_option(self, store, path, name, values):
        for value in values:
            refused(path, name, store.recall, **{"cue": "rex", name: value})

    @pytest.mark.parametrize("cues", ["rex", b"rex", 5, None, {"rex"}, iter(["rex"])])
    def test_no_cues(self, store, path, cues):
        refused(path, "cues", store.recall_many, cues)

    def test_one_bad_cue_of_many_strengthens_nothing(self, store, path):
        for bad in NO_TEXT:
            refused(path, "cue", store.recall_many, ["rex", bad])


class TestTheRest:
    @each(INTENTION)
    def test_intentions(self, store, path, name, values):
        for value in values:
            refused(path, name, store.remember_intention, **{"action": "x", name: value})

    @pytest.mark.parametrize("verb", ["get", "archive", "neighbors", "fail", "complete_intention"])
    def test_one_id(self, store, path, verb):
        for bad in NO_IDS:
            refused(path, "id|failed", getattr(store, verb), bad)

    def test_one_id_of_several(self, store, path, known):
        for bad in NO_IDS:
            refused(path, "id|used", store.feedback, used=[known, bad])
            refused(path, "id|failed", store.feedback, failed=[bad])
            refused(path, "id", store.erase, [known, bad])
            refused(path, "id", store.correct, bad, "x")
            refused(path, "id", store.link, bad, known)
            refused(path, "id", store.link, known, bad)

    @pytest.mark.parametrize("name", ["used", "failed"])
    def test_sequences_of_ids(self, store, path, name):
        for bad in (5, None, b"x", "0" * 32, [5], [None]):
            refused(path, name, store.feedback, **{name: bad})

    def test_ids_to_erase_and_of_a_recall(self, store, path):
        for bad in (5, None, b"x", [5]):
            refused(path, "ids", store.erase, bad)
        for bad in (5, b"x", "\ud800"):
            refused(path, "recall_id", store.feedback, recall_id=bad)

    @pytest.mark.parametrize(
        "call",
        [
            lambda s, known, now: s.due(now=now),
            lambda s, known, now: s.consolidate(now=now),
            lambda s, known, now: s.archive(known, now=now),
            lambda s, known, now: s.erase(known, now=now),
            lambda s, known, now: s.feedback(used=[known], now=now),
            lambda s, known, now: s.fail(known, now=now),
            lambda s, known, now: s.complete_intention(known, now=now),
            lambda s, known, now: run_consolidation(s._db, now=now),
        ],
    )
    def test_moments_everywhere(self, store, path, known, call):
        for bad in NO_MOMENT:
            refused(path, "now", call, store, known, bad)

    def test_flags_of_a_pass(self, store, path):
        for bad in NO_FLAG:
            refused(path, "dry_run", store.consolidate, dry_run=bad)
            refused(path, "dry_run", run_consolidation, store._db, dry_run=bad)

    def test_weights_of_links(self, store, path, known):
        other = store.remember("other").id
        for bad in [*NO_NUMBER, 0, -1, 1.01]:
            refused(path, "weight", store.link, known, other, weight=bad)
