"""What counts as another value or a contradiction, and how it is recorded."""

from __future__ import annotations

from typing import Any

import pytest

from ebbmem import AgenticMemory, ConflictRule, Fleet, recipes
from ebbmem.clock import ManualClock
from ebbmem.errors import InvalidArgument, InvalidType

NOW = 1_700_000_000
DAY = 86_400


def conflicts(memory: AgenticMemory, id: str) -> dict[str, float]:
    """Return the texts that a memory is linked to as in conflict, and how surely."""
    links = [one for one in memory.neighbors(id) if one.kind == "conflicts" and one.source == id]
    return {memory.get(one.target).summary: one.weight for one in links}


def told(*texts: str, rule: ConflictRule | None = None) -> dict[str, float]:
    """Return what the last of several texts, remembered in order, is in conflict with."""
    with AgenticMemory(":memory:", conflicts=rule or ConflictRule(least=0.01)) as memory:
        made = [memory.remember(text, now=NOW + n) for n, text in enumerate(texts)]
        found = conflicts(memory, made[-1].id)
        back = {text: conflicts(memory, one.id) for text, one in zip(texts, made, strict=True)}
        # Each knows of the other.
        assert all(back[text][texts[-1]] == sure for text, sure in found.items())
        return found


class TestAnotherValue:
    @pytest.mark.parametrize(
        ("old", "new", "sure"),
        [
            # Equal words by hand: 4 of 5 and 5; 3 of 4 and 4; 3 and 1 of 5 and 6.
            ("The vet opens at nine", "The vet opens at eight", 8 / 10),
            ("Anna lives in Porto", "Anna lives in Lisbon", 6 / 8),
            ("I follow a keto diet.", "I follow a low carb diet", 8 / 11),
            # An event: halved.
            ("Bought milk on Monday", "Bought milk on Tuesday", 6 / 8 / 2),
        ],
    )
    def test_is_as_sure_as_the_share_of_equal_words(self, old, new, sure):
        assert told(old, new) == {old: pytest.approx(sure, rel=1e-6)}
        assert told(new, old) == {new: pytest.approx(sure, rel=1e-6)}

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("Hugo likes tea", "Anna likes tea"),  # of somebody else
            ("Anna likes tea", "Anna likes tea"),
            ("Anna likes tea", "Anna likes green tea"),  # says more
            (
                "Anna likes tea in the garden",
                "Anna likes tea in four big old cups",
            ),  # says much more
            ("Rex is brown", "My house is brown"),
            ("tea", "coffee"),
        ],
    )
    def test_is_not_what_only_looks_like_it(self, old, new):
        assert told(old, new) == {}


class TestChange:
    def test_is_as_sure_as_the_lesser_text_is_told_by_both(self):
        assert told("Anna lives in Porto", "Anna no longer lives in Porto") == {
            "Anna lives in Porto": 1.0
        }
        old = "I live in Turin."
        assert told(old, "Correction: I moved, home is Ghent now, not Turin") == {
            # Of "live" and "turin" the new one has one; each is in one text of one: idf is equal.
            old: pytest.approx(0.5)
        }

    def test_both_ways_and_with_either_apostrophe(self):
        for text in ("Carl doesn't like tea", "Carl doesn\u2019t like tea"):
            assert told("Carl likes tea", text) == {"Carl likes tea": 1.0}
            assert told(text, "Carl likes tea") == {text: 1.0}

    def test_needs_something_in_common(self):
        assert told("Anna lives in Porto", "The cat is not here") == {}


class TestWhatIsRecorded:
    def test_nothing_below_the_least_confidence(self):
        assert told("Bought milk on Monday", "Bought milk on Tuesday", rule=ConflictRule()) == {}

    def test_nothing_of_what_was_replaced_or_is_out_of_sight(self):
        with AgenticMemory(":memory:", conflicts=ConflictRule()) as memory:
            old = memory.remember("Anna lives in Porto")
            new = memory.correct(old.id, "Anna lives in Lisbon")
            gone = memory.remember("Anna lives in Rome")
            assert conflicts(memory, gone.id).keys() == {"Anna lives in Lisbon"}
            memory.archive(gone.id)
            last = memory.remember("Anna lives in Oslo")
            assert conflicts(memory, last.id).keys() == {"Anna lives in Lisbon"}
            assert new.created

    def test_contexts_apart_are_each_true(self):
        with AgenticMemory(":memory:", conflicts=ConflictRule()) as memory:
            memory.remember("The editor is vim", keywords=["home"])
            work = memory.remember("The editor is emacs", keywords=["work"])
            assert conflicts(memory, work.id) == {}
            both = memory.remember("The editor is nano", keywords=["work", "home"])
            assert len(conflicts(memory, both.id)) == 2
            free = memory.remember("The editor is ed")
            assert len(conflicts(memory, free.id)) == 3

    def test_nothing_of_what_it_takes_the_place_of(self):
        with AgenticMemory(":memory:", conflicts=ConflictRule()) as memory:
            old = memory.remember("Anna lives in Porto")
            new = memory.remember("Anna lives in Lisbon", supersedes=old.id)
            assert conflicts(memory, new.id) == {}

    def test_off_unless_asked_for(self):
        with AgenticMemory(":memory:") as memory:
            memory.remember("Anna lives in Porto")
            one = memory.remember("Anna lives in Lisbon")
            assert conflicts(memory, one.id) == {}

    def test_every_call_that_remembers_looks(self):
        with Fleet(":memory:", conflicts=ConflictRule(), clock=ManualClock(NOW)) as fleet:
            memory = fleet["one"]
            memory.remember_many(["Anna lives in Porto", "The vet opens at nine"])
            (one,) = memory.remember_many(["Anna lives in Lisbon"])
            assert conflicts(memory, one.id).keys() == {"Anna lives in Porto"}
            (two, other) = fleet.remember_many(
                [("one", "The vet opens at eight"), ("two", "The vet opens at ten")]
            )
            assert conflicts(memory, two.id).keys() == {"The vet opens at nine"}
            assert conflicts(fleet["two"], other.id) == {}

    def test_it_stays_and_nothing_is_demoted_or_lost(self, path):
        with AgenticMemory(path, conflicts=ConflictRule()) as memory:
            memory.remember("Anna lives in Porto")
            new = memory.remember("Anna lives in Lisbon")
        with AgenticMemory(path) as memory:
            assert conflicts(memory, new.id).keys() == {"Anna lives in Porto"}
            assert len(memory.recall("Where does Anna live?")) == 2
            assert memory.database.verify().ok


class TestJudge:
    def test_says_how_sure_where_the_rule_is_half_as_sure(self):
        asked = []

        def judge(new: str, old: str) -> float:
            asked.append((new, old))
            return 0.9

        rule = ConflictRule(judge=judge)
        found = told("Bought milk on Monday", "Rex is brown", "Bought milk on Tuesday", rule=rule)
        assert found == {"Bought milk on Monday": pytest.approx(0.9)}
        assert asked == [("Bought milk on Tuesday", "Bought milk on Monday")]

    def test_that_is_sure_of_nothing_leaves_no_link(self):
        rule = ConflictRule(judge=lambda new, old: 0.0)
        assert told("Anna lives in Porto", "Anna lives in Lisbon", rule=rule) == {}

    @pytest.mark.parametrize("answer", [2, -0.1, "yes", None, float("nan")])
    def test_that_answers_anything_else_is_told_and_nothing_is_stored(self, answer):
        with AgenticMemory(":memory:", conflicts=ConflictRule(judge=lambda a, b: answer)) as memory:
            memory.remember("Anna lives in Porto")
            with pytest.raises((InvalidArgument, InvalidType), match="judge"):
                memory.remember("Anna lives in Lisbon")
            assert memory.stats().memories == 1

    @pytest.mark.parametrize("answer", [True, False])
    def test_that_answers_yes_or_no_is_told_what_to_answer(self, answer):
        with AgenticMemory(":memory:", conflicts=ConflictRule(judge=lambda a, b: answer)) as memory:
            memory.remember("Anna lives in Porto")
            with pytest.raises(InvalidType) as refused:
                memory.remember("Anna lives in Lisbon")
            said = f"a confidence, such as {float(answer)} instead of {answer}, got bool {answer}"
            assert str(refused.value) == f"judge: expected {said}"

    def test_that_fails_stores_nothing(self):
        def judge(new: str, old: str) -> float:
            raise ConnectionError("away")

        with AgenticMemory(":memory:", conflicts=ConflictRule(judge=judge)) as memory:
            memory.remember("Anna lives in Porto")
            with pytest.raises(ConnectionError):
                memory.remember("Anna lives in Lisbon")
            assert memory.stats().memories == 1

    def test_may_use_the_memory_itself(self):
        def judge(new: str, old: str) -> float:
            return 1.0 if len(memory.recall(old, reinforce=False)) else 0.0

        with AgenticMemory(":memory:", conflicts=ConflictRule(judge=judge)) as memory:
            memory.remember("Anna lives in Porto")
            one = memory.remember("Anna lives in Lisbon")
            assert conflicts(memory, one.id) == {"Anna lives in Porto": 1.0}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"least": 0}, InvalidArgument),
        ({"least": 1.5}, InvalidArgument),
        ({"least": "much"}, InvalidType),
        ({"looked_at": 0}, InvalidArgument),
        ({"judge": "gpt"}, InvalidType),
    ],
)
def test_a_rule_that_is_none_is_refused(arguments, error):
    with pytest.raises(error):
        ConflictRule(**arguments)


def test_a_handle_takes_a_rule_or_nothing():
    with pytest.raises(InvalidType, match="conflicts"):
        AgenticMemory(":memory:", conflicts=True)  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="conflicts"):
        Fleet(":memory:", conflicts=0.5)  # type: ignore[arg-type]


class TestWhatRecallTells:
    def test_both_say_what_they_are_in_conflict_with(self, path):
        with AgenticMemory(path, conflicts=ConflictRule(), clock=ManualClock(NOW)) as memory:
            memory.remember("Anna lives in Porto")
            memory.remember("Anna lives in Lisbon")
            memory.remember("Anna has a cat")
        for conflicts in (ConflictRule(), None):
            with AgenticMemory(path, conflicts=conflicts, clock=ManualClock(NOW)) as memory:
                found = memory.recall("Where does Anna live?", reinforce=False)
                notes = {hit.number: hit.explanation.note for hit in found}
                assert notes[1].endswith("in conflict with #2")
                assert notes[2].endswith("in conflict with #1")
                assert notes[3] == ""

    def test_the_newer_comes_first_and_for_the_past_the_older(self):
        with AgenticMemory(":memory:", conflicts=ConflictRule()) as memory:
            memory.remember("Anna lives in Porto", now=NOW)
            memory.remember("Anna lives in Lisbon", now=NOW + 9)
            now = [hit.number for hit in memory.recall("Where does Anna live?", now=NOW + 10)]
            before = memory.recall("Where did Anna live before?", now=NOW + 10)
            assert (now, [hit.number for hit in before]) == ([2, 1], [1, 2])

    @pytest.mark.parametrize(
        "recipe", [recipes.EBBINGHAUS, recipes.ASSOCIATIVE, recipes.GENERATIVE, recipes.SIMILARITY]
    )
    def test_whatever_the_recipe(self, recipe):
        with AgenticMemory(":memory:", conflicts=ConflictRule(), recipe=recipe) as memory:
            memory.remember("Anna lives in Porto")
            memory.remember("Anna lives in Lisbon")
            for found in (memory.recall("Anna lives"), *memory.recall_many(["Anna lives"])):
                notes = {hit.number: hit.explanation.note for hit in found}
                assert notes == {1: "in conflict with #2", 2: "in conflict with #1"}

    def test_what_is_settled_or_out_of_sight_is_not_named(self):
        with AgenticMemory(":memory:", conflicts=ConflictRule()) as memory:
            old = memory.remember("Anna lives in Porto", now=NOW, run_id="a")
            new = memory.remember("Anna lives in Lisbon", now=NOW + 9, expires_in="9d", run_id="b")

            def notes(now: int = NOW + 10, **options: Any) -> dict[int, str]:
                found = memory.recall("Anna lives", now=now, reinforce=False, **options)
                return {hit.number: hit.explanation.note.split("; ")[-1] for hit in found}

            told = {1: "in conflict with #2", 2: "in conflict with #1"}
            assert notes() == told
            assert notes(run_id="a") == notes(filters={"run_id": "a"}) == {1: told[1]}
            assert notes(as_of=NOW + 5) == {1: ""}
            assert notes(now=NOW + 10 * DAY) == {1: ""}
            memory.correct(old.id, "Anna came from Porto", now=NOW + 20)
            assert notes(now=NOW + 30)[new.number] == ""
            assert notes(now=NOW + 30, as_of=NOW + 10)[new.number] == told[2]
            memory.archive(new.id)
            assert "in conflict" not in str(notes(now=NOW + 30))
            assert notes(now=NOW + 30, include_archive=True)[old.number] == told[1]

    def test_an_erased_one_is_not_named(self):
        with AgenticMemory(":memory:", conflicts=ConflictRule()) as memory:
            old = memory.remember("Anna lives in Porto")
            memory.remember("Anna lives in Lisbon")
            memory.erase(old.id)
            (hit,) = memory.recall("Where does Anna live?")
            assert hit.explanation.note == ""
