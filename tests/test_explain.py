"""Why a memory comes back or does not, and how good the evidence of a recall is."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.quality import locomo
from ebbmem import AgenticMemory, Fleet, explaining, recipes
from ebbmem.clock import ManualClock
from ebbmem.errors import UnknownMemory

NOW = 1_700_000_000
DAY = 86_400


@pytest.fixture
def memory():
    with AgenticMemory(":memory:", clock=ManualClock(NOW)) as made:
        yield made


def reasons(memory: AgenticMemory, id: str, cue: str = "rex", **options: object) -> str:
    """Return what kept a memory away, after checking that recall does not bring it back."""
    found = memory.recall(cue, reinforce=False, **options)  # type: ignore[arg-type]
    why = memory.explain(id, cue, **options)  # type: ignore[arg-type]
    assert not why.returned
    assert id not in [hit.id for hit in found]
    return "; ".join(why.reasons)


class TestWhatComesBack:
    @pytest.mark.parametrize("recipe", [recipes.DEFAULT, recipes.ASSOCIATIVE, recipes.EBBINGHAUS])
    def test_is_told_as_recall_tells_it(self, memory, recipe):
        for n in range(20):
            memory.remember(f"rex number {n}", keywords=["dog"] if n % 3 else (), now=NOW - n * DAY)
        found = memory.recall("rex 7", recipe=recipe, reinforce=False)
        assert len(found) == 10
        for place, hit in enumerate(found, 1):
            why = memory.explain(hit.id, "rex 7", recipe=recipe)
            assert (why.returned, why.place, why.reasons) == (True, place, ())
            assert why.hit is not None
            assert (why.hit.score, why.hit.explanation) == (hit.score, hit.explanation)

    def test_nothing_is_strengthened(self, memory):
        one = memory.remember("rex", now=NOW - DAY)
        memory.explain(one.id, "rex")
        assert memory.get(one.id).access_count == 1


class TestWhatDoesNot:
    def test_behind_the_best(self, memory):
        ids = [memory.remember(f"rex {'barks ' * n}").id for n in range(6)]
        last = memory.recall("rex", top_k=6).memories[-1].id
        assert last in ids
        assert reasons(memory, last, top_k=4) == "it comes in place 6, and top_k is 4"

    def test_no_word_in_common(self, memory):
        one = memory.remember("the cat sleeps")
        memory.remember("rex")
        assert reasons(memory, one.id) == "nothing of the cue leads to it"
        assert memory.explain(one.id, "rex").place is None

    def test_below_the_least_score(self, memory):
        one = memory.remember("rex and a lot of other words", now=NOW - 900 * DAY)
        why = memory.explain(one.id, "rex", min_score=0.9)
        assert reasons(memory, one.id, min_score=0.9).startswith("its score 0.")
        assert why.place == 1

    def test_over_the_budget(self, memory):
        one = memory.remember("rex " * 30)
        assert reasons(memory, one.id, token_budget=3) == "it is over the token budget of 3"

    def test_in_the_archive(self, memory):
        one = memory.remember("rex")
        memory.archive(one.id)
        assert reasons(memory, one.id) == "it is in the archive"
        assert memory.explain(one.id, "rex", include_archive=True).returned

    def test_out_of_its_time(self, memory):
        gone = memory.remember("rex", expires_in="1h", now=NOW - DAY)
        assert reasons(memory, gone.id).startswith("it expired at 2023-11-13 23:13:20")
        later = memory.remember("rex", valid_from=NOW + DAY)
        assert reasons(memory, later.id).startswith("it is valid from 2023-11-15")
        before = memory.remember("rex", valid_to=NOW - DAY)
        assert reasons(memory, before.id).startswith("it was valid until 2023-11-13")
        young = memory.remember("rex")
        assert "it was made at" in reasons(memory, young.id, as_of=NOW - DAY)

    def test_of_another_run_or_filtered_out_both_told(self, memory):
        one = memory.remember("rex", run_id="a", importance=3)
        options = {"run_id": "b", "filters": {"importance": {"gt": 5}}}
        told = reasons(memory, one.id, **options)
        assert told == "it is of another run; it does not meet the filters"

    def test_behind_the_candidates_of_every_lane(self, memory):
        for n in range(4):
            memory.remember(f"rex barks {n}", importance=10)
        worst = memory.recall("rex barks 2").memories[-1].id
        few = recipes.Recipe(
            "few", recipes.DEFAULT.law, recipes.Ranking.BOUNDED, lexical=1, dense=0, candidates=1
        )
        assert "candidates of every lane" in reasons(memory, worst, "rex barks 2", recipe=few)

    def test_unknown_or_of_another_scope(self):
        with Fleet(":memory:", clock=ManualClock(NOW)) as fleet:
            one = fleet["one"].remember("rex")
            for scope in ("two", "one"):
                if scope == "one":
                    fleet["one"].erase(one.id)
                with pytest.raises(UnknownMemory, match="a memory of this scope"):
                    fleet[scope].explain(one.id, "rex")

    @pytest.mark.parametrize("budget", [None, 9])
    def test_erased_by_another_process_meanwhile(self, memory, monkeypatch, budget):
        one = memory.remember("rex")
        ranked = explaining.answer

        def and_erased(asked):
            found = ranked(asked)
            if asked.request.top_k == 7:  # the last of them
                memory.erase(one.id)
            return found

        monkeypatch.setattr(explaining, "answer", and_erased)
        with pytest.raises(UnknownMemory, match="a memory of this scope"):
            memory.explain(one.id, "rex", top_k=7, token_budget=budget)


class TestEvidence:
    def test_none_weak_strong(self, memory):
        assert memory.recall("rex").evidence == "none"
        memory.remember("rex sleeps")
        for text in ("the cat", "a house", "red shoes", "cold tea"):
            memory.remember(text)
        assert memory.recall("rex sleeps").evidence == "strong"
        assert memory.recall("rex goes shopping for many green things").evidence == "weak"
        assert memory.recall("rex sleeps", min_score=2.0).evidence == "none"

    def test_cues_about_another_life_are_hardly_ever_strong(self, data_dir: Path):
        talks = locomo.conversations(data_dir / "locomo_dev.json.gz")
        own = other = asked = 0
        with Fleet(":memory:") as fleet:
            for talk in talks:
                texts = [f"{line['name']}: {line['content']}" for line in talk.lines]
                fleet[talk.name].remember_many(texts)
            for talk, next_talk in zip(talks, [*talks[1:], talks[0]], strict=True):
                for question in talk.questions:
                    for name in (talk.name, next_talk.name):
                        found = fleet[name].recall(question.text, top_k=1, reinforce=False)
                        strong = found.evidence == "strong"
                        own += strong and name == talk.name
                        other += strong and name != talk.name
                    asked += 1
        assert own / asked > 0.5
        assert other / asked < 0.02
