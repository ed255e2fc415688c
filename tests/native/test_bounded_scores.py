"""A bounded ranking of what words and names bring up: the formula, every step rounded once."""

from __future__ import annotations

import gc

import numpy as np
import oracles
import precedence_oracle as plain
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from term_cases import ids, postings_of
from word_cases import i64

from ebbmem import _core
from ebbmem.errors import InvalidArgument, InvalidType, ShapeMismatch

H = 3_600_000_000
few = st.sampled_from
rows = st.lists(
    st.tuples(
        few([1.0, 5.0, 10.0]),  # importance
        few([0.0, 0.1, 1.0]),  # strength
        few([0.0, 0.5]),  # intensity
        few([0, H, -(10**15), 10**17, -(10**17)]),  # last access
        few([0, 1, -(2**63)]),  # newness
    ),
    min_size=1,
    max_size=40,
)


def columns_of(found):
    types = (np.float64, np.float64, np.float64, np.int64, np.int64)
    return [np.array(c, t) for c, t in zip(zip(*found, strict=True), types, strict=True)]


RULE = {
    "now_us": 0, "unit_us": H, "stability": 720.0, "exponent": 0.1542, "lexical": 1.0, "idf": 7.0,
    "cascade": 0.9, "floor": 0.8, "weight": 0.6, "most": 32, "among": 0, "near": 1.0,
    "past": False, "k": 3,
}  # fmt: skip


def asked(slots, bm25, columns, *, texts=None, cue=(), named=(), mask=None, through=None, **much):
    """Return a ranking to be made; where no texts are given, all are without terms."""
    postings = postings_of([[]] * len(columns[4]) if texts is None else texts)
    return _core.Bounded(
        postings, ids(cue), 1.2, 0.75, i64(slots), np.array(bm25, float), ids(named),
        np.ones(len(columns[4]), bool) if mask is None else np.array(mask),
        i64(list(through or {})), np.array(list((through or {}).values()), float), *columns,
        **(RULE | much),
    )  # fmt: skip


def top(slots, bm25, columns, **much):
    """Rank."""
    return asked(slots, bm25, columns, **much).best()


def told(found):
    """Return what a ranking says, written out."""
    slots, scores, own, familiarity, activation, r, retention = found
    own = scores if own is None else own
    activation = np.zeros(len(slots)) if activation is None else activation
    return [c.tolist() for c in (slots, scores, own, familiarity, activation, r, retention)]


def expected(matched, columns, texts, cue, named, mask, through, rule):
    """Return the ranking by plain Python, from R as the law's own column gives it."""
    importance, strength, intensity, since, newness = (column.tolist() for column in columns)
    law = (rule["now_us"], H, 720.0, 0.1542)
    r = _core.power_of_strength(*columns[:4], *law).tolist()

    def familiar(bm25):
        return rule["lexical"] * bm25 / rule["idf"] / rule["lexical"]

    activation = {}
    if matched and familiar(matched[0][1]) > 0:
        seed = matched[0][0], familiar(matched[0][1]), named
        tie = {"weight": rule["weight"], "most": rule["most"]}
        activation = plain.tied(texts, [True] * len(texts), mask, seed, cue, **tie)
    for slot, much in through.items():
        activation[slot] = min(activation.get(slot, 0.0) + much, 1.0)
    by_slot = dict(matched)
    others = i64([slot for slot in activation if slot not in by_slot])
    own_words = postings_of(texts).bm25(ids(cue), 1.2, 0.75, others).tolist()
    scored = []
    for slot, bm25 in {**by_slot, **dict(zip(others.tolist(), own_words, strict=True))}.items():
        retention = rule["floor"] + (1.0 - rule["floor"]) * r[slot]
        brought_up = min(rule["cascade"] * activation.get(slot, 0.0), 1.0)
        score = (1.0 - (1.0 - familiar(bm25)) * (1.0 - brought_up)) * retention
        if score > 0:
            scored.append((slot, score, familiar(bm25), activation.get(slot, 0.0), retention))
        stability = 720.0 * (1 + 2 * strength[slot]) * (1 + 2 * intensity[slot])
        stability *= 1 + 2 * (importance[slot] - 1) / 9
        wanted = oracles.power_retention((law[0] - since[slot]) / H, stability)
        assert r[slot] == pytest.approx(wanted, rel=1e-9)
    scored.sort(key=lambda one: (-one[1], -newness[one[0]], one[0]))
    kinds = [sum(1 << at for at, t in enumerate(cue) if t in texts[one[0]]) for one in scored]
    at = plain.exchanged(
        [one[1] for one in scored], kinds, [newness[one[0]] for one in scored],
        among=rule["among"], near=rule["near"], past=rule["past"],
    )  # fmt: skip
    rows = [
        (slot, scored[place][1], own, similar, much, r[slot], retention)
        for place, (slot, own, similar, much, retention) in enumerate(scored[n] for n in at)
    ]
    return [list(part) for part in zip(*rows[: rule["k"]], strict=True)] or [[]] * 7


@settings(max_examples=200)
@given(rows, st.lists(st.integers(1, 5), max_size=3, unique=True), st.data())
def test_it_is_the_formula(found, cue, data):
    columns = columns_of(found)
    slots = data.draw(st.lists(st.sampled_from(range(len(found))), unique=True))
    bm25 = [data.draw(few([0.0, 1e-300, 0.5, 1.0, 6.999]) | st.floats(0, 7)) for _ in slots]
    bm25[:1] = [max(bm25, default=0.0)][: len(bm25)]  # the best match comes first
    texts = [data.draw(st.lists(st.integers(1, 9), max_size=3)) for _ in found]
    named = data.draw(st.lists(st.integers(1, 9), max_size=3))
    mask = [data.draw(st.booleans()) or at in slots for at in range(len(found))]
    rule = RULE | {
        "now_us": data.draw(few([0, 10**15, 10**17, -(10**17)])),
        "lexical": data.draw(few([1.0, 0.3, 7.0])),
        "idf": data.draw(few([7.0, 9.1])),
        "cascade": data.draw(few([0.0, 0.9, 50.0])),
        "floor": data.draw(few([0.0, 0.8, 1.0])),
        "most": data.draw(few([2, 32])),
        "among": data.draw(few([0, 2, 12])),
        "near": data.draw(few([0.5, 1.0])),
        "past": data.draw(st.booleans()),
        "k": data.draw(few([1, 3, 100])),
    }
    reached = data.draw(st.lists(st.sampled_from(range(len(found))), unique=True))
    through = {slot: data.draw(few([0.25, 0.5, 1.0])) for slot in reached}
    asked = {"texts": texts, "cue": cue, "named": named, "mask": mask, "through": through}
    wanted = expected(list(zip(slots, bm25, strict=True)), columns, *asked.values(), rule)
    before = _core.isa()
    for isa in _core.isas():
        _core.choose_isa(isa)
        got = told(top(slots, bm25, columns, **asked, **rule))
        _core.choose_isa(before)
        assert got == wanted


def test_by_hand():
    # Slot 0 was just accessed: R = 1, so 3.5 / 7 = 0.5 counts in full.  Slot 1 was accessed its
    # stability ago (720 h, importance 1): R = 0.9, retention 0.8 + 0.2 * 0.9 = 0.98, and of
    # 5.25 / 7 = 0.75 that leaves 0.735.  Slot 2 matches with 0 and is no match.
    columns = columns_of(
        [(1.0, 0.0, 0.0, 0, 5), (1.0, 0.0, 0.0, -720 * H, 4), (1.0, 0.0, 0.0, 0, 3)]
    )
    slots, scores, own, familiarity, activation, r, retention = top(
        [1, 2, 0], [5.25, 0.0, 3.5], columns
    )
    assert own is None
    assert activation is None
    assert slots.tolist() == [1, 0]
    assert scores.tolist() == pytest.approx([0.735, 0.5], abs=1e-12)
    assert familiarity.tolist() == [0.75, 0.5]
    assert r.tolist() == pytest.approx([0.9, 1.0], abs=1e-12)
    assert retention.tolist() == pytest.approx([0.98, 1.0], abs=1e-12)


def test_a_name_by_hand():
    # Slot 0 matches with 3.5 / 7 = 0.5 and shares name 9 with slots 1 and 2, three texts in all:
    # 0.5 * (0.6 * 2 / 3) = 0.2 activates each, and 0.9 of that counts.  Slot 1 matches with
    # 1.75 / 7 = 0.25: 1 - 0.75 * 0.82 = 0.385.  Slot 2 matches nothing: 0.18.
    columns = columns_of([(1.0, 0.0, 0.0, 0, 0)] * 4)
    texts = [[1, 9], [1, 9], [9], [8]]
    found = told(top([0, 1], [3.5, 1.75], columns, texts=texts, cue=[1], named=[9, 8, 1]))
    assert found[0] == [0, 1, 2]
    assert found[1] == pytest.approx([0.5, 0.385, 0.18], abs=1e-12)
    assert found[4] == pytest.approx([0.0, 0.2, 0.2], abs=1e-12)


def test_matches_alike_change_places():
    columns = columns_of([(1.0, 0.0, 0.0, 0, newness) for newness in (1, 2, 3)])
    asked = {"texts": [[1], [1], [1, 2]], "cue": [1, 2], "among": 3, "near": 0.7, "k": 2}
    found = told(top([2, 0, 1], [7.0, 3.5, 2.8], columns, **asked))
    assert found[:3] == [[2, 1], [1.0, 0.5], [1.0, pytest.approx(0.4)]]
    assert told(top([2, 0, 1], [7.0, 3.5, 2.8], columns, past=True, **asked))[0] == [2, 0]


def test_equal_scores_are_newer_first_then_lower_slot_first():
    columns = columns_of([(1.0, 0.0, 0.0, 0, newness) for newness in (1, 2, 1, 2)])
    assert top([3, 2, 1, 0], [1.0] * 4, columns, k=4)[0].tolist() == [1, 3, 0, 2]
    assert top([3, 2, 1, 0], [1.0] * 4, columns, k=2)[0].tolist() == [1, 3]


def test_nothing_matches_nothing():
    columns = columns_of([(1.0, 0.0, 0.0, 0, 0)])
    assert told(top([], [], columns)) == [[]] * 7


@pytest.mark.parametrize("slot", [-1, 1, 2**62])
def test_a_slot_that_is_not_there_is_refused(slot):
    with pytest.raises(InvalidArgument, match="slots"):
        top([slot], [1.0], columns_of([(1.0, 0.0, 0.0, 0, 0)]))


@pytest.mark.parametrize(
    ("name", "wrong", "error"),
    [
        ("k", 0, InvalidArgument),
        ("k", 1.0, InvalidType),
        ("exponent", 0.0, InvalidArgument),
        ("stability", 0.0, InvalidArgument),
        ("idf", "1", InvalidType),
        ("floor", None, InvalidType),
        ("unit_us", 0, InvalidArgument),
        ("now_us", 2**63, InvalidArgument),
        ("near", 0.0, InvalidArgument),
        ("near", 1.1, InvalidArgument),
        ("among", -1, InvalidArgument),
        ("most", 1.5, InvalidType),
        ("weight", "1", InvalidType),
        ("cascade", None, InvalidType),
    ],
)
def test_what_is_no_rule_is_refused(name, wrong, error):
    with pytest.raises(error, match=name):
        top([0], [1.0], columns_of([(1.0, 0.0, 0.0, 0, 0)]), **{name: wrong})


def test_columns_have_one_length():
    columns = columns_of([(1.0, 0.0, 0.0, 0, 0)] * 2)
    texts = [[]] * 2
    for at, name in enumerate(["strength", "intensity", "since_us", "newness"], 1):
        short = [c[:1] if n == at else c for n, c in enumerate(columns)]
        with pytest.raises(ShapeMismatch, match=name):
            top([0], [1.0], short, texts=texts)
    with pytest.raises(ShapeMismatch, match="bm25"):
        top([0, 1], [1.0], columns)
    with pytest.raises(ShapeMismatch, match="newness"):
        top([0], [1.0], columns, texts=[[]] * 3)
    with pytest.raises(InvalidArgument, match="slots"):
        top([0], [1.0], columns, through={2: 0.5})
    with pytest.raises(ShapeMismatch, match="mask"):
        top([0], [1.0], columns, mask=[True])


def test_many_are_each_alone():
    columns = columns_of([(1.0 + n, 0.1, 0.0, -n * H, n) for n in range(6)])
    questions = [asked([n, 5 - n], [3.0, 2.0], columns, k=1 + n) for n in range(3)]
    alone = [told(one.best()) for one in questions]
    for threads in (1, 2, 5):
        several = _core.best_bounded(iter(questions), threads, _core.Workers(3))
        assert [told(one) for one in several] == alone
    assert _core.best_bounded([], 1) == []


def test_what_is_asked_stays_until_it_is_made():
    columns = columns_of([(1.0 + n, 0.1, 0.0, -n * H, n) for n in range(6)])
    wanted = told(asked([1, 4], [3.0, 2.0], columns).best())
    question = asked([1, 4], [3.0, 2.0], [column.copy() for column in columns])
    gc.collect()
    assert told(question.best()) == wanted


def test_questions_that_are_none_are_refused():
    for wrong in ([None], ["asked"], [5]):
        with pytest.raises(InvalidType, match="questions: expected Bounded"):
            _core.best_bounded(wrong, 1)
    with pytest.raises(TypeError):
        _core.best_bounded(5, 1)
    with pytest.raises(InvalidType, match="threads"):
        _core.best_bounded([], "2")
