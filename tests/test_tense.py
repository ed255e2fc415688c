"""Whether a cue asks about the past."""

import pytest

from ebbmem.tense import about_the_past

PAST = (
    "Where did I live before Ghent?",
    "What was my first car?",
    "DIDN'T we meet?",
    "my previous employer",
    "two years ago",
    "what I used to drink",
    "the talk last Friday",
)
PRESENT = (
    "Where do I live now?",
    "What is my car?",
    "Which gym do I train at?",
    "",
    "What is my last name?",
    "Which tool is used first?",
    "Has Rex been fed once?",
    "a useful wash",  # "used" and "was" only as parts of words
)


@pytest.mark.parametrize("cue", PAST)
def test_words_of_the_past_tell_it(cue):
    assert about_the_past(cue, "english")


@pytest.mark.parametrize("cue", PRESENT)
def test_other_cues_ask_about_the_present(cue):
    assert not about_the_past(cue, "english")


@pytest.mark.parametrize("language", ["german", None])
def test_a_language_without_such_words_has_no_past(language):
    assert not about_the_past("Where did I live?", language)
