"""What time a cue asks about."""

import pytest

from ebbmem.tense import Tense, tense

BEFORE = (
    "Where did I live before Ghent?",
    "my previous employer",
    "two years ago",
    "what I used to drink",
    "Where was I ORIGINALLY from?",
)
ONCE = (
    "Where did I park the car?",
    "DIDN'T we meet?",
    "What was my first car?",
    "Where were the keys yesterday?",
)
NOW = (
    "Where do I live now?",
    "What is my car?",
    "Which gym do I train at?",
    "",
    "What is my last name?",
    "Which tool is used first?",
    "Has Rex been fed once?",
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
