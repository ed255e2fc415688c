"""Scopes are hard partitions, whatever they are called."""

from __future__ import annotations

import pytest
from dumps import dump

from ebbmem import (
    AgenticMemory,
    Database,
    EpisodicMemoryStore,
    HashingEmbedder,
    ManualClock,
    recipes,
)
from ebbmem.errors import InvalidArgument, InvalidType, UnknownMemory

NOW = 1_700_000_000
HOSTILE = [
    "..",
    "../../etc/passwd",
    "a') OR 1=1 --",
    "a%",
    "_",
    "*",
    "a\0b",
    "\0",
    "x" * 300,
    "default ",
    "DEFAULT",
    "user=a;agent=b",
    "\u202e\u200b",
    "\U0001f600",
    "-1",
    "NULL",
    "1",
]
RECIPES = [recipes.DEFAULT, recipes.ASSOCIATIVE, recipes.EBBINGHAUS, recipes.GENERATIVE]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "scopes.db"


@pytest.fixture
def db(path):
    with Database(path, clock=ManualClock(NOW)) as opened:
        yield opened


def of(db, scope):
    return EpisodicMemoryStore(db, scope=scope)


@pytest.mark.parametrize("scope", HOSTILE)
def test_any_name_is_its_own_scope(db, path, scope):
    neighbours = [of(db, name) for name in ("a", "default", "b")]
    for one in neighbours:
        one.remember("canary rex", keywords=["k"], key="key")
    mine = of(db, scope)
    made = mine.remember("mine rex", keywords=["k"], key="key", dedupe=True)
    assert (made.created, made.number, mine.scope) == (True, 1, scope)
    assert [hit.summary for hit in mine.recall("rex canary")] == ["mine rex"]
    assert mine.neighbors(made.id) == []
    assert scope in db.scopes()
    for one in neighbours:
        assert [hit.summary for hit in one.recall("rex mine")] == ["canary rex"]


def test_names_in_nfc_and_nfd_are_one_scope(db):
    of(db, "caf\u00e9").remember("rex")
    assert len(of(db, "cafe\u0301").recall("rex")) == 1
    assert db.scopes() == ["caf\u00e9"]


def test_names_that_differ_in_case_space_or_width_are_apart(db):
    names = ["a", "A", " a", "a ", "\uff41"]
    for name in names:
        of(db, name).remember("rex")
    assert db.scopes() == names


@pytest.mark.parametrize("recipe", RECIPES)
def test_scores_do_not_depend_on_other_scopes(db, recipe):
    mine = of(db, "mine")
    mine.remember_many(["rex the dog", "guitar", "rain and rex"])
    before = [(h.id, h.score) for h in mine.recall("rex rain", recipe=recipe, reinforce=False)]
    of(db, "other").remember_many(["rex rex rain"] * 50)
    assert [
        (h.id, h.score) for h in mine.recall("rex rain", recipe=recipe, reinforce=False)
    ] == before


class TestIds:
    @pytest.fixture
    def foreign(self, db):
        of(db, "mine").remember("mine")
        return of(db, "other").remember("secretword").id

    @pytest.mark.parametrize("verb", ["get", "archive", "erase", "neighbors", "fail"])
    def test_an_id_of_another_scope_is_unknown(self, db, path, foreign, verb):
        before = dump(path)
        with pytest.raises(UnknownMemory) as caught:
            getattr(of(db, "mine"), verb)(foreign)
        assert dump(path) == before
        assert "secretword" not in str(caught.value)
        assert "other" not in str(caught.value)

    def test_the_error_is_that_of_an_id_that_is_nowhere(self, db, foreign):
        messages = []
        for one in (foreign, "00000000-0000-7000-8000-000000000000"):
            with pytest.raises(UnknownMemory) as caught:
                of(db, "mine").get(one)
            messages.append(str(caught.value).replace(one, "ID"))
        assert messages[0] == messages[1]

    def test_neither_corrected_nor_linked_nor_judged(self, db, path, foreign):
        mine = of(db, "mine")
        own = mine.remember("own").id
        before = dump(path)
        for call in (
            lambda: mine.correct(foreign, "x"),
            lambda: mine.link(own, foreign),
            lambda: mine.link(foreign, own),
            lambda: mine.feedback(used=[own, foreign]),
            lambda: mine.feedback(failed=[foreign]),
            lambda: mine.erase([own, foreign]),
        ):
            with pytest.raises(UnknownMemory):
                call()
        assert dump(path) == before

    def test_a_scope_that_is_not_there_knows_nothing(self, db, path, foreign):
        before = dump(path)
        with pytest.raises(UnknownMemory):
            of(db, "nobody").get(foreign)
        with pytest.raises(UnknownMemory):
            of(db, "nobody").feedback(used=[foreign])
        assert dump(path) == before


def test_links_wait_within_their_scope(db):
    of(db, "a").remember("waits", related_to=["dog"])
    made = of(db, "b").remember("dog", keywords=["dog"])
    assert of(db, "b").neighbors(made.id) == []
    assert of(db, "a").stats().links == 0


def test_keys_and_equal_texts_are_looked_for_within_their_scope(db):
    first = of(db, "a").remember("same", key="k")
    second = of(db, "b").remember("same", key="k", dedupe=True)
    assert (second.created, second.id != first.id) == (True, True)


def test_erasing_in_one_scope_leaves_equal_text_in_another(db):
    made = of(db, "a").remember("rex")
    of(db, "b").remember("rex")
    of(db, "a").erase(made.id)
    assert len(of(db, "b").recall("rex")) == 1


def test_counts_and_numbers_are_the_scopes_own(db):
    a, b = of(db, "a"), of(db, "b")
    a.remember_many(["1", "2", "3"])
    assert b.remember("1").number == 1
    assert (a.stats().memories, b.stats().memories) == (3, 1)
    a.remember_intention("x")
    assert b.stats().intentions == 0


def test_runs_of_one_name_are_apart(db):
    a, b = AgenticMemory(db, scope="a"), AgenticMemory(db, scope="b")
    for n in range(12):
        a.add_turn("user", f"secret {n}")
    turn = b.add_turn("user", "mine")
    assert [one.content for one in b.turns()] == ["mine"]
    assert b.summary() == ""
    assert b.neighbors(turn.memory_id) == []


def test_user_and_agent_make_a_scope(db):
    names = {
        EpisodicMemoryStore(db, user_id=user, agent_id=agent).scope
        for user, agent in [
            ("a", "b"), ("a", None), (None, "a"), ("b", "a"), ("a;agent=b", None), ("a", "b;c"),
            ("a%3Bagent", "b"),
        ]
    }  # fmt: skip
    assert len(names) == 7
    assert EpisodicMemoryStore(db).scope == "default"
    assert EpisodicMemoryStore(db, user_id="e\u0301").scope == "user=%C3%A9"


def test_a_scope_is_named_in_one_way(db):
    with pytest.raises(InvalidArgument, match="scope"):
        EpisodicMemoryStore(db, scope="a", user_id="b")


def test_embedders_may_differ_by_handle_where_vectors_follow_from_text(db):
    of(db, "a").remember("rex barks")
    for embedder in (HashingEmbedder(64), HashingEmbedder(64, sign="seed"), HashingEmbedder(7)):
        store = EpisodicMemoryStore(db, scope="a", embedder=embedder)
        (hit,) = store.recall("rex", recipe=recipes.GENERATIVE, reinforce=False)
        assert hit.similarity == pytest.approx(0.7, abs=0.31)


def test_a_number_names_a_memory_of_its_scope_alone(db):
    one, other, third = (EpisodicMemoryStore(db, scope=name) for name in ("a", "b", "c"))
    made = [store.remember("x") for store in (one, other, third)]
    assert [store.id_of(1) for store in (one, other, third)] == [m.id for m in made]
    for number in (2, (1 << 32) | 1, 2 << 32, 10**30):
        for store in (one, other, EpisodicMemoryStore(db, scope="never written to")):
            with pytest.raises(UnknownMemory, match=f"number: expected .*, got {number}$"):
                store.id_of(number)
    for none in (0, -1, True, "1", 1.0, None):
        with pytest.raises((InvalidArgument, InvalidType), match="number"):
            one.id_of(none)
    one.erase(made[0].id)
    with pytest.raises(UnknownMemory):
        one.id_of(1)
