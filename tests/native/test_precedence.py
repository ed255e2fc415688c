"""Which matches change places, and what a shared term brings up: as the plain rules say."""

from __future__ import annotations

import numpy as np
import precedence_oracle as plain
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from term_cases import ids, postings_of
from word_cases import i64

from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

few = st.sampled_from
some_texts = st.lists(st.lists(st.integers(1, 5), max_size=4), min_size=1, max_size=12)


def preceding(postings, cue, slots, scores, newness, **changed):
    rule = {"k": 10, "among": 12, "near": 0.7, "past": False} | changed
    found = postings.preceding(ids(cue), i64(slots), np.array(scores, float), i64(newness), **rule)
    return tuple(part.tolist() for part in found)


@settings(max_examples=200)
@given(some_texts, st.lists(st.integers(1, 6), max_size=4, unique=True), st.data())
def test_places_are_exchanged_as_the_rule_says(texts, cue, data):
    slots = data.draw(st.lists(st.sampled_from(range(len(texts))), unique=True))
    scores = [data.draw(few([0.0, 0.5, 0.7, 0.75, 1.0]) | st.floats(0, 1)) for _ in slots]
    newness = [data.draw(few([0, 1, 2, -(2**63)])) for _ in slots]
    rule = {
        "k": data.draw(few([1, 3, 20])),
        "among": data.draw(few([0, 1, 2, 5, 12])),
        "near": data.draw(few([1e-300, 0.5, 0.7, 1.0])),
        "past": data.draw(st.booleans()),
    }
    order = [at for at in range(len(slots)) if scores[at] > 0]
    order.sort(key=lambda at: (-scores[at], -newness[at], slots[at]))
    kinds = [
        sum(1 << bit for bit, term in enumerate(cue) if term in texts[slots[at]]) for at in order
    ]
    in_order = [[column[at] for at in order] for column in (scores, newness)]
    k = rule.pop("k")
    places = plain.exchanged(in_order[0], kinds, in_order[1], **rule)
    wanted = [order[at] for at in places[:k]], in_order[0][:k]
    assert preceding(postings_of(texts), cue, slots, scores, newness, k=k, **rule) == wanted


def test_a_group_exchanges_its_places_by_time():
    # 1.0 0.8 0.7 have the one term and are near; 0.9 has the other, 0.6 is too far behind.
    postings, newness = postings_of([[1], [2], [1], [1], [1]]), [10, 20, 30, 5, 40]
    asked = [1, 2], range(5), [1.0, 0.9, 0.8, 0.7, 0.6], newness
    assert preceding(postings, *asked) == ([2, 1, 0, 3, 4], [1.0, 0.9, 0.8, 0.7, 0.6])
    assert preceding(postings, *asked, past=True)[0] == [3, 1, 0, 2, 4]
    assert preceding(postings, *asked, among=2)[0] == [0, 1, 2, 3, 4]
    assert preceding(postings, *asked, k=2) == ([2, 1], [1.0, 0.9])


def test_what_is_behind_the_first_group_makes_a_second():
    found = preceding(postings_of([[7]] * 4), [7], range(4), [1.0, 0.8, 0.5, 0.4], [1, 2, 3, 4])
    assert found[0] == [1, 0, 3, 2]


def test_what_holds_no_term_of_the_cue_stays():
    assert preceding(postings_of([[], []]), [7], [0, 1], [0.9, 0.8], [1, 2])[0] == [0, 1]


def test_terms_beyond_the_first_64_do_not_tell_matches_apart():
    cue = list(range(1, 66))
    postings = postings_of([[1, 65], [1]])
    assert preceding(postings, cue, [0, 1], [1.0, 0.9], [1, 2])[0] == [1, 0]
    assert preceding(postings, cue[1:], [0, 1], [1.0, 0.9], [1, 2])[0] == [0, 1]


@settings(max_examples=200)
@given(some_texts, st.lists(st.integers(1, 6), max_size=4), st.lists(st.integers(1, 5)), st.data())
def test_ties_are_those_of_the_rule(texts, names, said, data):
    dead = data.draw(st.lists(st.sampled_from(range(len(texts))), unique=True))
    allowed = [data.draw(st.booleans()) for _ in texts]
    seed = data.draw(st.sampled_from(range(len(texts))))
    activation, weight = data.draw(st.floats(0, 1)), data.draw(few([0.0, 0.6, 1.0, 9.0]))
    most = data.draw(few([0, 1, 2, 3, 32]))
    postings = postings_of(texts)
    postings.tombstone(i64(dead))
    slots, much = postings.tied(
        seed, activation, ids(names), ids(said), np.array(allowed), weight, most
    )
    live = [at not in dead for at in range(len(texts))]
    rule = {"weight": weight, "most": most}
    wanted = plain.tied(texts, live, allowed, (seed, activation, names), said, **rule)
    assert dict(zip(slots.tolist(), much.tolist(), strict=True)) == wanted
    assert slots.tolist() == sorted(wanted)


def test_ties_across_blocks():
    texts = [[1] if at % 9_000 == 5 else [2] for at in range(20_000)]
    slots, much = postings_of(texts).tied(5, 0.5, ids([1]), ids([]), np.ones(20_000, bool), 0.6, 32)
    assert (slots.tolist(), much.tolist()) == ([9_005, 18_005], [0.5 * (0.6 * 2 / 3)] * 2)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"near": 0.0}, InvalidArgument),
        ({"near": 1.5}, InvalidArgument),
        ({"near": float("nan")}, InvalidArgument),
        ({"k": 0}, InvalidArgument),
        ({"among": -1}, InvalidArgument),
        ({"among": 1.0}, InvalidType),
    ],
)
def test_what_is_no_rule_is_refused(changed, error):
    with pytest.raises(error, match=next(iter(changed))):
        preceding(postings_of([[1]]), [1], [0], [1.0], [0], **changed)


def test_shapes_and_slots_are_checked():
    postings = postings_of([[1]])
    with pytest.raises(ShapeMismatch, match="scores"):
        preceding(postings, [1], [0], [], [0])
    with pytest.raises(ShapeMismatch, match="newness"):
        preceding(postings, [1], [0], [1.0], [])
    with pytest.raises(InvalidArgument, match="slots"):
        preceding(postings, [1], [1], [1.0], [0])
    for slot, mask, error in [(1, [True], InvalidArgument), (0, [True] * 2, ShapeMismatch)]:
        with pytest.raises(error):
            postings.tied(slot, 1.0, ids([]), ids([]), np.array(mask), 0.6, 32)
