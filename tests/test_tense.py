"""What time a cue asks about."""

import pytest

from ebbmem.tense import Tense, tense

BEFORE = (
    "Where did I live before Ghent?",
    "my previous employer",
    "two years ago",
    "what I used to drink",
    "Where was I ORIGINALLY from?",
    # "use to" as people write "used to", and as grammar has it after "did".
    "Where did I use to live?",
    "where did Ann's eldest sister use to park the car",
    "Did I use to have a dog?",
    "Rex, didn\u2019t we use to walk here?",
    "What did I use to drink?",
    "Which gym did I USE TO go to?",
    "Where I use to live",
    "the one who use to be my boss",
)
ONCE = (
    "Where did I park the car?",
    "DIDN'T we meet?",
    "What was my first car?",
    "Where were the keys yesterday?",
    # What a thing is for: "use" is the verb, and "to" the purpose.
    "What ingredient did Nate use to make the ice cream?",
    "Which technique did Tim use to prepare for exams?",
    "What did I use to clean the carpet?",
    "Did I use tomatoes?",
)
NOW = (
    "Where do I live now?",
    "What is my car?",
    "Which gym do I train at?",
    "",
    "What is my last name?",
    "Which tool is used first?",
    "Has Rex been fed once?",
    "what do I use to cook",
    "Where do I use to-do lists?",
    "What does Joanna use to remember her dog?",
    "the tool I use to drive nails",
    "a useful wash",  # "used" and "was" only as parts of words
    # What points to the present goes before what points back.
    "Where did I park the car today?",
    "When did I last park the car?",
    "What was decided for the latest deploy?",
    "Where did Ann work most recently?",
    "Where does Ann currently work, not before?",
    "Where will Ann work before Christmas?",
)


@pytest.mark.parametrize(
    ("cue", "time"),
    [
        (cue, time)
        for cues, time in ((BEFORE, Tense.BEFORE), (ONCE, Tense.ONCE), (NOW, Tense.NOW))
        for cue in cues
    ],
)
def test_words_tell_it(cue, time):
    assert tense(cue, "english") is time


@pytest.mark.parametrize("language", ["german", None])
def test_a_language_without_such_words_has_a_present_alone(language):
    assert tense("Where did I live before?", language) is Tense.NOW
