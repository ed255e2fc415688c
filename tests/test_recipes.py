"""Whole recalls of every recipe equal the formulas, computed over every memory in float64."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import permutations

import numpy as np
import oracles
import pytest
import recall_oracles as right
from hypothesis import given, settings
from hypothesis import strategies as st
from recall_oracles import DAY, HOUR, Bounded, Fact, S, Spreading

from ebbmem import Database, EpisodicMemoryStore, HashingEmbedder, ManualClock, questions, recipes
from ebbmem.decay import Ebbinghaus, WeightedSum
from ebbmem.errors import InvalidType
from ebbmem.recipes import Precedence, Ranking, Recipe, SharedNames, Weights

NOW_S = 1_700_000_000
NOW = NOW_S * S
DIM = 64
PLAIN = HashingEmbedder(DIM)
SIGNED = HashingEmbedder(DIM, sign="seed", split="lower_split")
WORDS = ["rex", "Rex", "dog", "leash", "Ghent", "string", "rain. Rain"]

texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
ages_us = st.sampled_from(
    [0, 1, S, 10 * S, 600 * S, 5_000 * S, 16_000 * S, 30 * HOUR, 9 * DAY, 400 * DAY, -60 * S]
)
facts = st.builds(
    Fact,
    text=texts,
    importance=st.sampled_from([1.0, 5.0, 9.5]),
    created_us=ages_us.map(lambda age: NOW - age),
    intensity=st.sampled_from([0.0, 0.0, 0.7]),
    keywords=st.sampled_from(["", "", "rex", "rain\ndog"]),
)
stores = st.lists(facts, min_size=1, max_size=14)
links = st.lists(
    st.tuples(
        st.integers(0, 13),
        st.integers(0, 13),
        st.sampled_from(["related", "causes"]),
        st.sampled_from([0.25, 0.5, 1.0]),
    ),
    max_size=20,
)
corrections = st.lists(st.tuples(st.integers(0, 13), texts), max_size=3)
few = settings(max_examples=40)


@cache
def plain(text):
    return dict(oracles.bucket_counts(text, DIM))


@cache
def signed(text):
    return dict(oracles.bucket_counts(text, DIM, "seed", oracles.lower_split))


@contextmanager
def opened(embedder=PLAIN):
    with Database(":memory:", language=None, clock=ManualClock(NOW_S)) as db:
        yield EpisodicMemoryStore(db=db, embedder=embedder)


def told(store, memories):
    """Remember facts (keywords excepted: they would link); return ids by place."""
    return [
        store.remember(
            one.text,
            importance=one.importance,
            emotional_intensity=one.intensity,
            now=one.created_us / S,
        ).id
        for one in memories
    ]


def as_stored(store, ids):
    """Return facts with the strengths and successors that the store holds now."""
    found = [store.get(one) for one in ids]
    place = {one: at for at, one in enumerate(ids)}
    return [
        Fact(
            m.summary, m.importance, us(m.created_at), us(m.anchored_at), m.storage_strength,
            m.retrievability, m.emotional_intensity, "\n".join(m.keywords),
            successor=None if m.superseded_by is None else place[m.superseded_by],
        )
        for m in found
    ]  # fmt: skip


def us(moment):
    return round(moment.timestamp() * S)


def linked(store, ids, wanted, used=()):
    """Link memories; return the links as the oracle's edges: the greater weight stays.

    What will be ``used`` together, by place, is linked by that.
    """
    kept = {}
    for one, other, kind, weight in wanted:
        source, target = one % len(ids), other % len(ids)
        if source != target:
            store.link(ids[source], ids[target], kind=kind, weight=weight)
            kept[source, target, kind] = max(weight, kept.get((source, target, kind), 0.0))
    for source, target in permutations(used[:8], 2):
        kept.setdefault((source, target, "co_recall"), 0.5)
    edges = {}
    for (source, target, _), weight in sorted(kept.items()):
        edges.setdefault(source, []).append((target, weight))
    return edges


def corrected(store, ids, wanted):
    """Correct memories; return ids with those of the corrections at the end."""
    out = list(ids)
    for place, text in wanted:
        out.append(store.correct(out[place % len(ids)], text, now=NOW_S).id)
    return out


def hits(store, cue, recipe, k, **options):
    found = store.recall(cue, recipe=recipe, top_k=k, reinforce=False, **options)
    return [(hit.number - 1, hit.score) for hit in (*found.memories, *found.skipped)]


def spreading_of(recipe):
    rules = recipe.spread
    names = ("depth", "hop_decay", "threshold", "fan_cap", "node_cap", "fan_normalise")
    values = {name: getattr(rules, name) or None for name in names}
    values["fan_normalise"] = rules.fan_normalise
    values["threshold"] = rules.threshold
    values["seeds_receive"] = rules.seeds_receive
    return Spreading(recipe.spread_seeds, values, recipe.ranking is Ranking.SUM)


def bounded_of(recipe):
    law = recipe.law
    return Bounded(
        recipe.k1, recipe.b, recipe.weights.cascade, recipe.retention_floor, law.stability_days,
        law.exponent,
        recipe.tie if recipe.names else None,
        recipe.alike,
    )  # fmt: skip


ks = st.integers(1, 16)


@few
@given(stores, texts, ks)
def test_ebbinghaus_is_the_formula(memories, cue, k):
    with opened() as store:
        told(store, memories)
        got = hits(store, cue, recipes.EBBINGHAUS, k)
        expected = right.ebbinghaus(memories, cue, NOW, plain)
        assert right.disagreement(got, expected, k) == ""


@few
@given(stores, texts, ks)
def test_generative_is_the_formula(memories, cue, k):
    with opened() as store:
        told(store, memories)
        got = hits(store, cue, recipes.GENERATIVE, k)
        expected = right.generative(memories, cue, NOW, plain)
        assert right.disagreement(got, expected, k) == ""


@few
@given(stores, texts, ks)
def test_similarity_is_the_signed_cosine_exactly(memories, cue, k):
    with opened(SIGNED) as store:
        told(store, memories)
        got = hits(store, cue, recipes.SIMILARITY, k)
        expected = right.similarity(memories, cue, signed)
        assert right.disagreement(got, expected, k, rtol=0) == ""


@few
@given(stores, links, corrections, texts, ks, st.integers(1, 20))
def test_associative_is_the_formula(memories, wanted, changes, cue, k, seeds):
    recipe = replace(recipes.ASSOCIATIVE, spread_seeds=seeds)
    with opened() as store:
        ids = told(store, memories)
        edges = linked(store, ids, wanted, range(0, len(ids), 3))
        store.feedback(used=ids[::3], failed=ids[1::3], now=NOW_S)
        ids = corrected(store, ids, changes)
        got = hits(store, cue, recipe, k)
        how = spreading_of(recipe)
        expected = right.associative(as_stored(store, ids), cue, NOW, plain, edges, how)
        assert right.disagreement(got, expected, k) == ""


@settings(max_examples=120)
@given(
    stores,
    links,
    corrections,
    texts,
    ks,
    st.sampled_from(
        [
            {},
            {"weights": Weights(cascade=50.0)},
            {"precedence": None},
            {"precedence": Precedence(0.3, 4)},
        ]
    ),
    st.sampled_from([SharedNames(), SharedNames(most=3), None]),
)
def test_default_is_the_formula(memories, wanted, changes, cue, k, other, names):
    recipe = replace(recipes.DEFAULT, names=names, **other)
    with opened() as store:
        ids = told(store, memories)
        edges = linked(store, ids, wanted)
        ids = corrected(store, ids, changes)
        got = hits(store, cue, recipe, k)
        how, law = spreading_of(recipe), bounded_of(recipe)
        expected = right.bounded(as_stored(store, ids), cue, NOW, edges, how, law)
        assert right.disagreement(got, expected, k) == ""


@few
@given(stores, texts, st.sampled_from(["ebbinghaus", "generative", "similarity", "default"]))
def test_a_smaller_k_gives_the_head_of_a_larger_one(memories, cue, name):
    recipe = getattr(recipes, name.upper())
    with opened() as store:
        told(store, memories)
        everything = hits(store, cue, recipe, 20)
        assert hits(store, cue, recipe, 3) == everything[:3]


@few
@given(stores, links, texts)
def test_terms_of_the_explanation_make_the_score(memories, wanted, cue):
    with opened() as store:
        linked(store, told(store, memories), wanted)
        found = store.recall(cue, recipe=recipes.ASSOCIATIVE, reinforce=False)
        for hit in found:
            assert sum(hit.explanation.terms.values()) == pytest.approx(hit.score)


@few
@given(
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.5, 0.8, 1.0]),
    st.sampled_from([1, 3, 10]),
    st.sampled_from([1.2, 0.0, 1e300]),
    st.sampled_from([0, 30]),
)
def test_leaving_out_what_is_far_behind_changes_no_recall(seed, floor, k, k1, links):
    rng = np.random.default_rng(seed)
    recipe = replace(recipes.DEFAULT, retention_floor=floor, k1=k1, candidates=120, spread_seeds=5)
    lengths = rng.integers(1, 9, 120)
    said = [" ".join(f"w{n % 15}" for n in rng.zipf(1.3, length)) for length in lengths]
    cues = ["w1 w3", "w2 w7 w9 nowhere", "w5"]
    with opened() as store:
        ages_s = (rng.integers(0, 3, 120) * 400 * DAY // S).tolist()
        made = store.remember_many(
            {"summary": text, "importance": float(rng.integers(1, 10)), "now": NOW_S - age_s}
            for text, age_s in zip(said, ages_s, strict=True)
        )
        for source, target in rng.integers(0, 120, (links, 2)).tolist():
            if source != target:
                store.link(made[source].id, made[target].id)
        few = [store.recall(cue, top_k=k, recipe=recipe, reinforce=False) for cue in cues]
        many = store.recall_many(cues, top_k=k, recipe=recipe, reinforce=False)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(questions, "_near", lambda *_: (0, 0.0, 0.0))
            whole = [store.recall(cue, top_k=k, recipe=recipe, reinforce=False) for cue in cues]
        assert [explained(one) for one in few] == [explained(one) for one in whole]
        assert [explained(one) for one in many] == [explained(one) for one in whole]


def explained(result):
    """Return what a result says; not the rank, in a lane, of what was activated.

    A lane that leaves out what is far behind has not ranked it.
    """
    return [
        (h.id, h.score, replace(h.explanation, ranks={}) if h.explanation.path else h.explanation)
        for h in result
    ]


def test_keywords_are_searched_like_the_text():
    law, edges = bounded_of(recipes.DEFAULT), {}
    with opened() as store:
        store.remember("one", keywords=["dog"])
        store.remember("two three", keywords=["cat"])
        got = hits(store, "dog", recipes.DEFAULT, 5)
        known = as_stored(store, [h.id for h in store.recall("one two", reinforce=False)])
    known.sort(key=lambda fact: fact.text)
    expected = right.bounded(known, "dog", NOW, edges, spreading_of(recipes.DEFAULT), law)
    assert right.disagreement(got, expected, 5) == ""


def test_repeating_a_word_of_the_cue_changes_nothing():
    with opened() as store:
        told(store, [Fact("rex dog", created_us=NOW), Fact("guitar", created_us=NOW)])
        once = hits(store, "rex guitar", recipes.DEFAULT, 5)
        assert hits(store, "rex guitar rex rex", recipes.DEFAULT, 5) == once


def test_old_memories_keep_their_order_where_the_linear_score_is_zero():
    with opened() as store:
        told(store, [Fact("rex", created_us=NOW - age * S) for age in (90_000, 15_000, 40_000)])
        found = store.recall("rex", recipe=recipes.EBBINGHAUS)
        assert [hit.number for hit in found] == [2, 3, 1]
        assert [hit.score for hit in found] == [0, 0, 0]


def test_linear_score_is_shown_down_to_where_float64_ends():
    with opened() as store:
        told(store, [Fact("rex", created_us=NOW - 14_000 * S)])
        (hit,) = store.recall("rex", recipe=recipes.EBBINGHAUS)
        # (1 + 1)/2 * 5 * e^-700
        assert hit.score == pytest.approx(5 * 9.859676543759770e-305, rel=1e-6, abs=0)


@pytest.mark.parametrize("name", ["EBBINGHAUS", "ASSOCIATIVE", "GENERATIVE", "DEFAULT"])
def test_equals_come_newest_first_then_lower_number(name):
    with opened() as store:
        told(store, [Fact("rex", created_us=NOW + at) for at in (0, 2 * HOUR, HOUR, 2 * HOUR)])
        found = store.recall("rex", recipe=getattr(recipes, name), now=NOW_S, reinforce=False)
        assert [hit.number for hit in found] == [2, 4, 3, 1]


def test_trace_has_the_published_form():
    # 1/sqrt(6) = 0.408: one word asked for, six remembered; 1/sqrt(68) = 0.121.
    embedder = HashingEmbedder(1 << 20, sign="seed", split="lower_split")
    with opened(embedder) as store:
        store.remember(" ".join(["peanuts", *(f"w{n}" for n in range(67))]))
        store.remember("Devanshu is allergic to peanuts now")
        found = store.recall("peanuts", recipe=recipes.SIMILARITY)
        first, second = found.trace().splitlines()
    assert first == "[INJECT] #2 (0.408) Devanshu is allergic to peanuts now"
    assert second.startswith("[skip]   #1 (0.121) peanuts w0")


def test_threshold_is_inclusive():
    # cos = 1/sqrt(4) = 0.5 exactly
    with opened(HashingEmbedder(1 << 20)) as store:
        store.remember("a b c d")
        assert len(store.recall("a", recipe=recipes.SIMILARITY, min_score=0.5)) == 1
        assert store.recall("a", recipe=recipes.SIMILARITY, min_score=0.5000001).abstained


def test_a_product_needs_the_law_that_it_is_made_of():
    with pytest.raises(InvalidType, match="law"):
        Recipe("mine", WeightedSum(), Ranking.PRODUCT)
    assert Recipe("mine", Ebbinghaus(0.001), Ranking.PRODUCT).name == "mine"


@pytest.mark.parametrize("same", [True, False])
def test_superseded_stays_below_its_successor_whatever_the_sign_of_the_score(same):
    # Bit 8 of md5("a") is 0, of md5("b") 1; mod 1 they share the bucket: a.a = 1, a.b = -1.
    embedder = HashingEmbedder(1, sign="seed", split="lower_split")
    recipe = Recipe(
        "mine", WeightedSum(), Ranking.SUM, weights=Weights(similarity=1.0), demote_superseded=True
    )
    with opened(embedder) as store:
        old = store.remember("b" if same else "").id
        store.correct(old, "b")
        found = store.recall("a", recipe=recipe, min_score=-2.0)
        assert [hit.number for hit in found] == [2, 1]
        assert found.memories[0].score > found.memories[1].score


def test_the_newest_correction_of_a_day_stands_for_the_ones_before_it():
    with opened() as store:
        ids = [store.remember("rex is a dog", now=NOW_S - 900).id]
        for age, text in ((600, "rex is a cat"), (300, "rex is a bird")):
            ids.append(store.correct(ids[-1], text, now=NOW_S - age).id)
        found = store.recall("rex dog", as_of=NOW_S - 450, reinforce=False)
    assert [hit.id for hit in found] == [ids[1], ids[0]]


def test_what_replaced_a_strong_match_is_found_however_many_match_better_now():
    # The old one matches but has faded below the others; its correction is fresh.
    recipe = replace(recipes.ASSOCIATIVE, spread=None)
    with opened() as store:
        old = store.remember("rex", now=NOW_S - 400 * 86_400).id
        new = store.correct(old, "guitar").id
        for _ in range(5):
            store.remember("rex dog", now=NOW_S)
        found = store.recall("rex", recipe=recipe, top_k=1, reinforce=False)
    assert [hit.id for hit in found] == [new]
