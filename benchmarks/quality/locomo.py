"""The development conversations: as chat lines to import, and as questions with evidence."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

ANSWERABLE = (1, 2, 3, 4)
TURN = timedelta(seconds=30)
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D(\d+):0*(\d+)")


@dataclass(frozen=True)
class Question:
    """A question and the ids of the turns that answer it."""

    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Conversation:
    """One conversation; ``end_s`` lies just after its last turn, in epoch seconds."""

    name: str
    lines: tuple[dict[str, str], ...]
    questions: tuple[Question, ...]
    end_s: float


@dataclass(frozen=True)
class Quality:
    """Means over questions: evidence in the first 5 and 10, any of it in 10, 1 / first place."""

    questions: int
    recall_at_5: float
    recall_at_10: float
    hit_at_10: float
    mrr: float


def conversations(path: Path) -> list[Conversation]:
    """Read the file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [_conversation(sample) for sample in json.load(file)]


def evidence(written: list[str]) -> tuple[str, ...]:
    """Return the turn ids of evidence strings, of which some hold several, some zeros."""
    found = (match for text in written for match in _EVIDENCE.finditer(text))
    return tuple(dict.fromkeys(f"D{match[1]}:{match[2]}" for match in found))


def quality(answers: list[tuple[Question, list[str]]]) -> Quality:
    """Return how well ranked turn ids answer their questions."""
    shares = dict.fromkeys((5, 10), 0.0)
    hits = reciprocal = 0.0
    for question, ranked in answers:
        wanted = set(question.evidence)
        for k in shares:
            shares[k] += len(wanted.intersection(ranked[:k])) / len(wanted)
        hits += not wanted.isdisjoint(ranked[:10])
        places = [place for place, turn in enumerate(ranked, 1) if turn in wanted]
        reciprocal += 1 / places[0] if places else 0.0
    n = len(answers)
    return Quality(n, shares[5] / n, shares[10] / n, hits / n, reciprocal / n)


def shown(found: Quality) -> str:
    """Return the figures on one line."""
    return "  ".join(f"{name} {value:.4g}" for name, value in asdict(found).items())


def _conversation(sample: dict[str, Any]) -> Conversation:
    talk = sample["conversation"]
    sessions = sorted(int(m[1]) for name in talk if (m := _SESSION.fullmatch(name)))
    lines, end = [], datetime.min.replace(tzinfo=timezone.utc)
    for number in sessions:
        said_at = _moment(talk[f"session_{number}_date_time"])
        for turn in talk[f"session_{number}"]:
            lines.append(_line(turn, talk["speaker_a"], number, said_at))
            said_at += TURN
        end = max(end, said_at)
    questions = [
        Question(qa["question"], evidence(qa["evidence"]))
        for qa in sample["qa"]
        if qa["category"] in ANSWERABLE
    ]
    answered = tuple(question for question in questions if question.evidence)
    return Conversation(sample["sample_id"], tuple(lines), answered, end.timestamp())


def _line(turn: dict[str, str], first: str, session: int, said_at: datetime) -> dict[str, str]:
    return {
        "role": "user" if turn["speaker"] == first else "assistant",
        "name": turn["speaker"],
        "content": turn["text"],
        "run_id": f"session-{session}",
        "created_at": said_at.isoformat(),
        "id": turn["dia_id"],
    }


def _moment(written: str) -> datetime:
    return datetime.strptime(written, "%I:%M %p on %d %B, %Y").replace(tzinfo=timezone.utc)
