"""Many agents on one store."""

from __future__ import annotations

import pytest
from apart import opened_apart
from dumps import dump

from ebbmem import AgenticMemory, CallableEmbedder, Fleet, ManualClock, recipes
from ebbmem.errors import EbbmemError, EmbedderMismatch, StorageFailed, StoreClosed
from ebbmem.records.writing import SqliteWriter

NOW = 1_700_000_000
SCOPES = ["a", "b", "c"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fleet.db"


@pytest.fixture
def fleet(path):
    with Fleet(path, clock=ManualClock(NOW)) as opened:
        yield opened


def test_a_scope_is_made_by_its_first_write(fleet, path):
    before = dump(path)
    memory = fleet["researcher-7"]
    assert (memory.scope, len(memory.recall("x"))) == ("researcher-7", 0)
    assert dump(path) == before
    memory.remember("x")
    assert fleet.database.scopes() == ["researcher-7"]


def test_handles_on_one_scope_see_each_other(fleet):
    made = fleet["a"].remember("rex")
    assert fleet["a"].recall("rex").memories[0].id == made.id


def test_a_handle_shows_its_store_and_scope(fleet, path):
    assert repr(fleet["a"]) == f"AgenticMemory({str(path)!r}, scope='a')"
    assert repr(fleet.database) == f"Database({str(path)!r})"


def test_batches_answer_in_the_order_given(fleet):
    pairs = [(scope, f"rex {n} {scope}") for n in range(3) for scope in SCOPES]
    made = fleet.remember_many(pairs)
    assert [one.number for one in made] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    for (scope, text), one in zip(pairs, made, strict=True):
        assert fleet[scope].get(one.id).summary == text
    found = fleet.recall_many([(scope, "rex 1") for scope in "cab"], top_k=1)
    assert [result.memories[0].scope for result in found] == ["c", "a", "b"]


def test_batches_equal_single_calls(fleet):
    fleet.remember_many([("a", {"summary": "rex", "importance": 9}), ("a", "dog"), ("b", "rex")])
    (batch,) = fleet.recall_many([("a", "rex dog")], now=NOW)
    single = fleet["a"].recall("rex dog", now=NOW)
    assert [(h.id, h.score) for h in batch] == [(h.id, h.score) for h in single]


def test_empty_batches(fleet):
    assert fleet.remember_many([]) == []
    assert fleet.recall_many([]) == []
    assert fleet.remember_many(iter(())) == []


def test_moments_of_a_batch(fleet):
    (made,) = fleet.remember_many([("a", "rex")], now=NOW - 60)
    assert fleet["a"].get(made.id).created_at.timestamp() == NOW - 60


@pytest.mark.parametrize(
    "pairs",
    [
        [("a", "fine"), ("b", 5)],
        [("a", "fine"), ("b", {"summary": "x", "importance": 99})],
        [("a", "fine"), ("", "x")],
        [("a", "fine"), (5, "x")],
        [("a", "fine"), (["b"], "x")],
        [("a", "fine"), "bx"],
        [("a", "fine"), ("b",)],
        [("a", "fine"), ("b", "x", "y")],
        [("a", "fine"), None],
        "ab",
        5,
        None,
        {"a": "fine"},
    ],
)
def test_a_mistake_anywhere_in_a_batch_stores_nothing(fleet, path, pairs):
    fleet["a"].remember("there")
    before = dump(path)
    with pytest.raises(EbbmemError):
        fleet.remember_many(pairs)
    assert dump(path) == before


@pytest.mark.parametrize(
    ("cues", "options"),
    [
        ([("a", "rex"), ("b", 5)], {}),
        ([("a", "rex"), ("b", "\ud800")], {}),
        ([("a", "rex"), ("", "x")], {}),
        ([("a", "rex"), "bx"], {}),
        ("ab", {}),
        (None, {}),
        ([("a", "rex")], {"top_k": 0}),
        ([("a", "rex")], {"now": "today"}),
    ],
)
def test_a_mistake_anywhere_in_a_batch_of_cues_strengthens_nothing(fleet, path, cues, options):
    fleet["a"].remember("rex", now=NOW - 86_400)
    fleet["b"].remember("rex", now=NOW - 86_400)
    before = dump(path)
    with pytest.raises(EbbmemError):
        fleet.recall_many(cues, **options)
    assert dump(path) == before


def test_metrics(fleet):
    fleet.remember_many([(scope, "x") for scope in SCOPES])
    assert fleet.metrics().loaded_scopes == 0
    for scope, cue in (("a", "x"), ("b", "x"), ("b", "zebra")):
        fleet[scope].recall(cue)
    metrics = fleet.metrics()
    assert (metrics.scopes, metrics.loaded_scopes) == (3, 2)
    assert (metrics.hits, metrics.misses, metrics.evictions) == (1, 2, 0)
    assert (metrics.total.recall.calls, metrics.total.remember.calls) == (3, 1)
    assert metrics.total.recall.p99_us >= metrics.total.recall.p50_us > 0
    assert [metrics.by_scope[scope].abstained for scope in SCOPES] == [0, 1, 0]
    assert metrics.by_scope["c"].index_bytes == 0 < metrics.by_scope["a"].index_bytes
    assert metrics.index_bytes == sum(one.index_bytes for one in metrics.by_scope.values())


def test_every_look_at_an_index_is_a_hit_or_a_miss(fleet, path):
    fleet.remember_many([(scope, "tea") for scope in ("a", "b")])
    looks = 0
    for _ in range(2):
        fleet["a"].remember("more tea")  # own commits, after which an index proves current
        with opened_apart(path) as other:
            AgenticMemory(other, scope="b").remember("tea from elsewhere")
        fleet["a"].recall("tea")
        fleet["b"].recall("tea", also=["a"])
        fleet.recall_many([("a", "tea"), ("b", "tea"), ("a", "more")])
        fleet["nobody"].recall("tea")
        looks += 1 + 2 + 2
        metrics = fleet.metrics()
        assert metrics.hits + metrics.misses == looks
    assert metrics.hits >= looks / 2


def test_a_fleet_knows_its_scopes(fleet):
    fleet.remember_many([("b", "x"), ("a", "x")])
    assert list(fleet) == ["b", "a"]
    assert len(fleet) == 2
    assert "a" in fleet
    assert "c" not in fleet
    assert 0 not in fleet
    assert fleet


def test_metrics_write_and_load_nothing(fleet, path):
    fleet["a"].remember("rex", now=NOW - 86_400)
    fleet["a"].recall("rex")
    before = dump(path)
    metrics = fleet.metrics()
    assert dump(path) == before
    assert fleet.metrics() == metrics


def test_a_batch_of_memories_is_one_transaction(fleet, path, monkeypatch):
    fleet["b"].remember("there")
    before = dump(path)
    insert = SqliteWriter._insert_births

    def failing(writer, scope_id, rows, kind):
        if any(row.summary == "bad" for row in rows):
            raise StorageFailed("disk full")
        return insert(writer, scope_id, rows, kind)

    monkeypatch.setattr(SqliteWriter, "_insert_births", failing)
    with pytest.raises(StorageFailed):
        fleet.remember_many([("a", "fine"), ("b", "fine"), ("c", "bad"), ("a", "fine")])
    assert dump(path) == before
    assert fleet.recall_many([("a", "fine"), ("b", "fine")])[1].memories == ()
    fleet.remember_many([("a", "fine"), ("b", "fine")])
    assert [len(one) for one in fleet.recall_many([("a", "fine"), ("b", "fine")])] == [1, 1]


def test_the_budget_of_indexes_drops_the_least_recently_used(path):
    with Fleet(path, index_budget="64KiB") as fleet:
        fleet.remember_many([(f"s{n}", f"text {n}") for n in range(40)])
        for n in range(40):
            assert fleet[f"s{n}"].recall("text").memories[0].summary == f"text {n}"
        metrics = fleet.metrics()
        assert metrics.loaded_scopes < 40
        assert metrics.index_bytes <= 64 * 1024
        assert fleet["s0"].recall("text").memories[0].summary == "text 0"


def test_a_budget_below_one_index_still_answers(path):
    with Fleet(path, index_budget=1) as fleet:
        for scope in SCOPES:
            fleet[scope].remember(f"rex {scope}")
        for scope in SCOPES * 2:
            assert fleet[scope].recall("rex").memories[0].summary == f"rex {scope}"
        assert fleet.metrics().loaded_scopes == 1


def test_recipe_and_embedder_hold_for_every_handle(path):
    with Fleet(path, recipe=recipes.EBBINGHAUS) as fleet:
        fleet["a"].remember("x")
        assert fleet["a"].recall("x").memories[0].explanation.recipe == "ebbinghaus"


def test_a_wrong_embedder_is_refused_at_once(path):
    with Fleet(path, embedder=CallableEmbedder(lambda t: [[1.0, 0.0]] * len(t), 2, "m")) as fleet:
        fleet["a"].remember("x")
    with pytest.raises(EmbedderMismatch, match="m"):
        Fleet(path, embedder=CallableEmbedder(lambda t: [[1.0]] * len(t), 1, "n"))


def test_closing_ends_every_handle(fleet):
    memory = fleet["a"]
    fleet.close()
    fleet.close()
    for call in (lambda: memory.remember("x"), lambda: memory.recall("x"), fleet.metrics):
        with pytest.raises(StoreClosed):
            call()
    with pytest.raises(StoreClosed):
        fleet["b"]


@pytest.mark.parametrize("scope", ["", " ", 5, None, ("a",), b"a", "\ud800"])
def test_wrong_scopes(fleet, scope):
    with pytest.raises(EbbmemError, match="scope"):
        fleet[scope]


@pytest.mark.parametrize("recipe", [recipes.DEFAULT, recipes.ASSOCIATIVE, recipes.EBBINGHAUS])
def test_many_recalls_are_those_of_one_by_one(tmp_path, recipe):
    texts = [f"{a} {b} {a}{b}" for a in ("rex", "tom", "dog") for b in ("barks", "sleeps", "runs")]
    cues = ["rex", "tom sleeps", "", "zebra", "rex runs dog", "rex", "barks barks"]
    pairs = [(scope, cue) for cue in cues for scope in ("a", "b", "nobody")]
    clock = ManualClock(1_700_000_000)
    kept = []
    for many in (True, False):
        with Fleet(tmp_path / f"{many}.db", recipe=recipe, clock=clock) as fleet:
            for scope, start in (("a", 0), ("b", 3)):
                for number, text in enumerate(texts[start:]):
                    keywords = [f"k{number % 3}"]
                    fleet[scope].remember(text, keywords=keywords, now=1_699_000_000 + number)
            fleet["a"].correct(fleet["a"].recall("tom", reinforce=False).memories[0].id, "tom cat")
            if many:
                found = fleet.recall_many(pairs, top_k=4)
            else:
                in_order = {scope: [c for s, c in pairs if s == scope] for scope, _ in pairs}
                each = {
                    scope: iter([fleet[scope].recall(cue, top_k=4) for cue in share])
                    for scope, share in in_order.items()
                }
                found = [next(each[scope]) for scope, _ in pairs]
            kept.append([[(h.number, h.score, h.explanation) for h in one] for one in found])
            fleet.flush()
            states = [fleet[s].get(h.id) for s in "ab" for h in fleet[s].recall("rex tom dog")]
            kept[-1].append([(m.number, m.storage_strength, m.access_count) for m in states])
    assert kept[0] == kept[1]


def test_what_is_told_again_in_a_scope_that_was_erased_leaves_the_store_sound() -> None:
    with Fleet(":memory:") as fleet:
        db, store = fleet.database, fleet["ann"]
        for _ in range(3):
            store.remember("likes tea")
            db.erase_scope("ann")
            assert db.verify().findings == ()
        store.remember("likes tea")
        assert db.verify().findings == ()
