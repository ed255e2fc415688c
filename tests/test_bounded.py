"""Recall by words alone is ranked natively: the same bits as the general stages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import EpisodicMemoryStore, Fleet, ManualClock, recall, recipes
from ebbmem.decay import PowerForgetting, StorageStrength
from ebbmem.recipes import Precedence, SharedNames, Weights

NOW = 1_700_000_000
DAY = 86_400
WORDS = ("rex", "Rex", "Tom", "dog", "cat", "barks. Barks")
memories = st.fixed_dictionaries(
    {
        "summary": st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
        "importance": st.sampled_from([1.0, 5.0, 9.0]),
        "emotional_intensity": st.sampled_from([0.0, 0.7]),
        "now": st.sampled_from([NOW - 90 * DAY, NOW - DAY, NOW + DAY]) | st.integers(0, NOW),
    }
)
cues = st.lists(st.sampled_from([*WORDS, "zebra", "was"]), max_size=3).map(" ".join)
rules = st.builds(
    lambda lexical, floor, spread, law, others: replace(
        recipes.DEFAULT, lexical=lexical, retention_floor=floor, spread=spread, law=law, **others
    ),
    st.sampled_from([1.0, 0.3, 7.0]),
    st.sampled_from([0.0, 0.8, 1.0]),
    st.sampled_from([None, recipes.DEFAULT.spread]),
    st.sampled_from([PowerForgetting(), PowerForgetting(0.01, 2.0)]),
    st.sampled_from(
        [
            {},
            {"names": None},
            {"precedence": None},
            {"precedence": Precedence(0.3, 5), "names": SharedNames(1.0, 3)},
            {"weights": Weights(cascade=50.0)},
        ]
    ),
)


def told(result):
    return [
        (h.number, h.score, h.similarity, h.cascade_score, h.retrievability, h.explanation)
        for part in (result.memories, result.skipped)
        for h in part
    ], result.abstained


@settings(max_examples=80)
@given(
    st.lists(memories, max_size=20),
    st.lists(cues, min_size=1, max_size=5),
    rules,
    st.integers(1, 9),
    st.sampled_from([0.0, 0.3]),
    st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=8),
)
def test_it_is_what_the_general_stages_give(share, asked, recipe, top_k, min_score, links):
    kept = []
    for general in (False, True):
        with pytest.MonkeyPatch.context() as patch, Fleet(":memory:", clock=ManualClock(NOW)) as f:
            if general:
                patch.setattr(recall, "only_words_count", lambda one: False)
            store: EpisodicMemoryStore = f["a"]
            made = store.remember_many(share)
            for source, target in links:
                if source != target and max(source, target) < len(made):
                    store.link(made[source].id, made[target].id)
            options = {"recipe": recipe, "top_k": top_k, "min_score": min_score}
            found = [told(store.recall(cue, **options)) for cue in asked]
            strengths = [(h.number, h.memory.storage_strength) for h in store.recall("rex")]
            kept.append((found, strengths))
    assert kept[0] == kept[1]


def test_which_recalls_they_are(monkeypatch):
    calls = []
    ranked = recall.by_words
    monkeypatch.setattr(recall, "by_words", lambda *args: calls.append(1) or ranked(*args))

    class Steady(PowerForgetting):
        def retrievability(self, traces, now_us):
            return super().retrievability(traces, now_us) * 0.5

    with Fleet(":memory:", clock=ManualClock(NOW)) as fleet:
        store = fleet["a"]
        one, other = store.remember("rex"), store.remember("tom")

        def native(**changed):
            calls.clear()
            store.recall("rex", recipe=replace(recipes.DEFAULT, **changed))
            return len(calls) == 1

        assert native()
        assert native(spread=None)
        assert not native(dense=0.1)
        assert not native(law=StorageStrength())
        assert not native(law=Steady())
        store.link(one.id, other.id)
        assert native()
        store.correct(other.id, "tim")
        assert not native(spread=None)
