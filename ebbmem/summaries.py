"""The rolling summary of a run, made without a model."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ebbmem.records.base import TurnRow

LINE_CHARACTERS = 160
SUMMARY_LINES = 40
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")


def folded(summary: str, turns: Iterable[TurnRow]) -> str:
    """Return a summary with some more turns in it, one line a turn.

    A line holds the role and the turn's longest sentence, which tends to be the one that says
    something.  The newest 40 lines stay; the turns themselves are kept elsewhere, whole.
    """
    lines = summary.splitlines() + [
        f"{' '.join(turn.role.split())}: {_essence(turn.content)}" for turn in turns
    ]
    return "\n".join(lines[-SUMMARY_LINES:])


def _essence(content: str) -> str:
    """Return the longest sentence of a text, cut to the length of a line."""
    sentence = max(_SENTENCE_END.split(content), key=len, default="")
    line = " ".join(sentence.split())
    return line if len(line) <= LINE_CHARACTERS else f"{line[: LINE_CHARACTERS - 3]}..."
