"""An index that follows the commits of other processes equals one that was loaded from scratch."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import apsw
import numpy as np
import pytest
from apart import from_scratch, opened_apart, told
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import (
    AgenticMemory,
    CallableEmbedder,
    Database,
    HashingEmbedder,
    ManualClock,
    recipes,
)
from ebbmem.consolidation import SleepPolicy
from ebbmem.errors import CorruptStore
from ebbmem.index import ScopeIndex

NOW = 1_700_000_000
WORDS = ("rex", "dog", "leash", "kibble", "barks")
CUES = ("rex barks", "dog leash kibble")
RECIPES = (recipes.DEFAULT, recipes.ASSOCIATIVE, recipes.EBBINGHAUS, recipes.GENERATIVE)
KINDS = ("related", "next_turn", "supersedes", "causes")
LONG = 3_600.0
EAGER = SleepPolicy(
    mature_strength=0.0, mature_days=0.0, cold_days=0.0, archive_days=0.0, archive_strength=1.0
)


def stored(texts):
    """Return vectors that have to be kept, whatever the texts: one in five is zero."""
    rows = np.array([[len(text) % 5, text.count("e"), text.count("b")] for text in texts])
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.maximum(norms, 1)).astype(np.float32)


EMBEDDERS = {
    "words": lambda: HashingEmbedder(dim=64),
    "vectors": lambda: CallableEmbedder(stored, 3, "stored"),
}


@cache
def foreign_lines():
    """Return an export with keywords, links, a correction and a turn in it."""
    with Database(":memory:", clock=ManualClock(NOW)) as other:
        memory = AgenticMemory(other, embedder=HashingEmbedder(dim=8))
        old = memory.remember("rex was a dog", keywords=["pet"])
        memory.remember("kibble for a pet", keywords=["pet"])
        memory.correct(old.id, "rex is a cat")
        for text in ("barks", "leash"):
            memory.add_turn("user", text, run_id="a")
        return list(other.export_lines())


class Process:
    """One of the processes that share a store, as it acts on memories picked by number."""

    def __init__(self, database, embedder, recipe=recipes.ASSOCIATIVE):
        self.memory = AgenticMemory(database, embedder=embedder, recipe=recipe)
        self.embedder = embedder
        self.engine = database.engine
        self.clock = database.clock

    def ids(self):
        with self.engine.read() as reader:
            scope = reader.scope("default")
            if scope is None:
                return []
            rows = [row.row_id for row in reader.index_rows(scope.scope_id)]
            return [value.hex() for value in reader.ids(rows).values()]

    def pick(self, *places):
        ids = self.ids()
        return [ids[place % len(ids)] for place in places] if ids else []

    def remember(self, text, keyword, related, run, key):
        self.memory.remember(
            text, keywords=keyword, related_to=related, run_id=run, key=key,
            dedupe=key is None and run == "a", now=self.clock.now_us() / 1e6,
            expires_in="1s" if related and run else None,
        )  # fmt: skip

    def say(self, text, run):
        self.memory.add_turn("user", text, run_id=run)

    def correct(self, place, text):
        for one in self.pick(place):
            self.memory.correct(one, text)

    def link(self, a, b, kind, weight):
        ends = self.pick(a, b)
        if len(set(ends)) == 2:
            self.memory.link(*ends, kind=kind, weight=weight)

    def judge(self, place, other):
        ids = self.pick(place, other)
        if len(set(ids)) == 2:
            self.memory.feedback(used=ids[:1], failed=ids[1:])

    def archive(self, place):
        for one in self.pick(place):
            self.memory.archive(one)

    def erase(self, place, count):
        if ids := list(dict.fromkeys(self.pick(*range(place, place + count)))):
            self.memory.erase(ids)

    def sleep(self):
        self.memory.consolidate(policy=EAGER)

    def take(self, place):
        """Import what another store exported, of which some may be here already."""
        lines = foreign_lines()
        self.memory.database.import_(lines[: len(lines) - place], embedder=self.embedder)

    def recall(self, cue):
        self.memory.recall(cue)

    def recall_some(self):
        self.memory.recall_many(list(CUES))

    def flush(self):
        self.memory.flush()

    def wait(self, days):
        self.clock.advance(days=days)


word = st.sampled_from(WORDS)
text = st.lists(word, min_size=1, max_size=4).map(" ".join)
place = st.integers(0, 12)
some = st.lists(st.sampled_from(("pet", "toy")), max_size=1)
run = st.sampled_from((None, "a"))
verb = st.one_of(
    st.tuples(st.just("remember"), text, some, some, run, st.sampled_from((None, None, "k"))),
    st.tuples(st.just("say"), text, st.sampled_from(("a", "b"))),
    st.tuples(st.just("correct"), place, text),
    st.tuples(st.just("link"), place, place, st.sampled_from(KINDS), st.sampled_from((0.3, 0.9))),
    st.tuples(st.just("judge"), place, place),
    st.tuples(st.just("archive"), place),
    st.tuples(st.just("erase"), place, st.integers(1, 3)),
    st.tuples(st.just("recall"), text),
    st.sampled_from((("sleep",), ("recall_some",), ("flush",))),
    st.tuples(st.just("take"), st.integers(0, 2)),
    st.tuples(st.just("wait"), st.sampled_from((0.5, 40))),
)
steps = st.lists(st.tuples(st.integers(0, 1), verb, st.booleans()), max_size=14)


def checked(process):
    """Compare the index of a process, brought up to date, with one loaded from scratch."""
    with process.engine.use("default") as index:
        if index is None:
            return
        fresh = from_scratch(process.engine, "default", index)
        now_us = process.clock.now_us()
        assert told(index, RECIPES, CUES, now_us) == told(fresh, RECIPES, CUES, now_us)


@pytest.mark.parametrize("embedder", EMBEDDERS)
@pytest.mark.parametrize("recipe", [recipes.DEFAULT, recipes.ASSOCIATIVE], ids=lambda r: r.name)
def test_an_index_that_followed_equals_one_from_scratch(embedder, recipe):
    @settings(max_examples=60)
    @given(steps)
    def holds(steps):
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            clock = ManualClock(NOW)
            processes = [
                Process(
                    stack.enter_context(
                        opened_apart(Path(folder) / "x.db", clock=clock, pending_s=LONG)
                    ),
                    EMBEDDERS[embedder](),
                    recipe,
                )
                for _ in range(2)
            ]
            for process in processes:
                process.remember("rex barks", ["pet"], [], None, None)
            for who, (verb, *values), look in steps:
                getattr(processes[who], verb)(*values)
                if look:
                    checked(processes[1 - who])
            for process in processes:
                checked(process)

    holds()


# --- what is followed, and what is loaded anew ------------------------------------------------


@pytest.fixture
def pair(tmp_path):
    """Two processes on one file, each with its index of one scope in RAM."""
    with ExitStack() as stack:
        clock = ManualClock(NOW)
        pair = [
            Process(
                stack.enter_context(opened_apart(tmp_path / "x.db", clock=clock, pending_s=LONG)),
                EMBEDDERS["vectors"](),
            )
            for _ in range(2)
        ]
        for text in ("rex barks", "dog leash", "kibble"):
            pair[0].remember(text, ["pet"], [], None, None)
        for process in pair:
            process.recall("rex")
            process.flush()
        yield pair


@pytest.fixture
def loads(monkeypatch):
    """Count how often an index is loaded."""
    counted = []
    load = ScopeIndex.load
    monkeypatch.setattr(ScopeIndex, "load", lambda *given: counted.append(1) or load(*given))
    return counted


VERBS = {
    "remember": ("remember", "rex naps", ["pet"], ["toy"], None, None),
    "turn": ("say", "barks", "a"),
    "correct": ("correct", 0, "rex meows"),
    "link": ("link", 0, 1, "causes", 0.9),
    "judge": ("judge", 0, 1),
    "archive": ("archive", 1),
    "erase": ("erase", 0, 2),
    "sleep": ("sleep",),
    "take": ("take", 0),
    "recall": ("recall", "kibble"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_what_another_process_does_is_followed_without_loading(pair, loads, verb):
    name, *values = VERBS[verb]
    pair[0].wait(1)
    getattr(pair[0], name)(*values)
    pair[0].flush()
    with pair[1].engine.use("default") as index:
        pass
    assert loads == []
    with pair[1].engine.records.read() as reader:
        assert index.seq == reader.scope("default").last_seq
    checked(pair[1])


@pytest.mark.parametrize("verb", VERBS)
def test_what_this_process_does_is_followed_without_loading(pair, loads, verb):
    name, *values = VERBS[verb]
    getattr(pair[0], name)(*values)
    with pair[0].engine.use("default"):
        pass
    assert loads == []
    checked(pair[0])


def test_what_is_erased_leaves_every_part_of_the_index(pair, loads):
    with pair[1].engine.use("default") as index:
        pass
    pair[0].erase(0, 1)
    with pair[1].engine.use("default") as same:
        assert (same is index, loads) == (True, [])
        slots = index.columns.slots([index.columns.row[0]])
        assert slots.tolist() == [-1]
        assert (len(index.postings), index.postings.live) == (3, 2)
        assert index.links.graph.links(0) == []
        assert index.shelf.take([0]) == {}


def test_many_changes_are_loaded_and_not_followed(pair, loads):
    pair[0].memory.remember_many([f"rex {n}" for n in range(70)])
    checked(pair[1])
    assert len(loads) == 2  # one of them the comparison's


def test_a_damaged_row_is_told_and_not_taken_over(pair, tmp_path):
    pair[0].judge(0, 1)
    plain = apsw.Connection(str(tmp_path / "x.db"))
    plain.execute("UPDATE memories SET storage_strength = 0.9 WHERE number = 1")
    plain.close()
    for _ in range(2):
        with (
            pytest.raises(CorruptStore, match="#1 of scope 'default'"),
            pair[1].engine.use("default"),
        ):
            pass


def test_an_index_that_followed_half_way_is_not_used_again(pair, loads, monkeypatch):
    pair[0].remember("rex naps", [], [], None, None)

    def full(*given):
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(ScopeIndex, "add_links", full)
        patched.setattr(ScopeIndex, "replace_links", full)
        patched.setattr(ScopeIndex, "_load_links", full)
        with pytest.raises(MemoryError), pair[1].engine.use("default"):
            pass
    del loads[:]
    checked(pair[1])
    assert len(loads) == 2


def test_the_records_have_the_last_word_where_their_seq_is_behind(pair, monkeypatch):
    load = ScopeIndex.load
    left = iter(range(2))
    monkeypatch.setattr(ScopeIndex, "load", lambda *given: (next(left), load(*given))[1])
    engine = pair[0].engine
    with engine.use("default") as index:
        engine._desks.opened("default").owed = 10**9
    engine._desks.drop("default")
    with engine.use("default") as anew, engine.records.read() as reader:
        assert anew is not index
        assert anew.seq == reader.scope("default").last_seq


def test_a_vector_that_was_written_anew_is_read_anew(pair):
    with pair[1].engine.use("default") as index:
        lane = index._lanes.get(pair[1].embedder.name)
    (row,) = index.columns.row[:1].tolist()
    with pair[0].engine.records.write() as writer:
        writer.insert_vectors([(row, np.array([0, 0, 1], np.float32).tobytes())])
    with pair[1].engine.use("default") as same:
        assert same is index
        assert index._lanes.get(pair[1].embedder.name) is None
        assert pair[1].engine.lane(index, pair[1].embedder) is not lane
    checked(pair[1])
