"""What writers said they would write and had written, and how that compares with a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

from reliability.results import Result
from reliability.stored import NOTHING, Held

LOST, HALF, TWICE, CHANGED, BACK = "lost", "half", "twice", "changed", "erased but there"
KINDS = (LOST, HALF, TWICE, CHANGED, BACK)


@dataclass(frozen=True)
class Told:
    """One call that writes, as its writer told before it and, with ids, after it.

    ``kind`` is remember, batch, turn, correct, keyed or erase; ``target`` is the text of what is
    corrected or erased; ``key`` that of a keyed memory.
    """

    kind: str
    scope: str
    texts: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    target: str | None = None
    key: str | None = None
    ids: tuple[str, ...] | None = None
    """None before the call has returned."""


@dataclass
class Ledger:
    """The newest word on every call, by (writer, number of its call)."""

    calls: dict[tuple[str, int], Told] = field(default_factory=dict)

    def note(self, writer: str, number: int, told: Told) -> None:
        """Take down what a writer said."""
        self.calls[writer, number] = told

    def copy(self) -> Ledger:
        """Return what is known now."""
        return Ledger(dict(self.calls))


def compare(before: Ledger, scopes: dict[str, Held], after: Ledger, result: Result) -> None:
    """Count what a store lacks, or has in halves, twice, or although it was erased.

    Parameters
    ----------
    before, after : Ledger
        As known before the store was read, and after: writers may go on meanwhile.
    scopes : dict of Held
        What the store was read to hold.
    result : Result
        Where failures are counted.
    """
    leaving = {(t.scope, t.target) for t in after.calls.values() if t.kind == "erase"}
    gone = {
        (t.scope, t.target)
        for t in before.calls.values()
        if t.kind == "erase" and t.ids is not None
    }
    texts = {scope: held.by_text() for scope, held in scopes.items()}
    for told in before.calls.values():
        _compare_call(
            told, scopes.get(told.scope, NOTHING), texts.get(told.scope, {}), leaving, result
        )
    for scope, text in gone:
        if text in texts.get(scope, {}):
            result.fail(BACK, f"{scope}: {text}")
    for scope, held in scopes.items():
        _compare_scope(scope, held, texts[scope], result)


def _compare_call(
    told: Told,
    held: Held,
    texts: dict[str, list[str]],
    leaving: set[tuple[str, str | None]],
    result: Result,
) -> None:
    """Compare one call with what its scope holds."""
    if told.kind == "erase":
        return
    if told.kind == "keyed":
        _compare_keyed(told, held, result)
        return
    staying = [text for text in told.texts if (told.scope, text) not in leaving]
    missing = [text for text in staying if text not in texts]
    if missing and told.ids is not None:
        which = f"{told.kind} of {len(told.texts)} in {told.scope}: {missing[0]} {told.ids[:1]}"
        result.fail(LOST, which, len(missing))
    elif missing and len(missing) < len(staying):
        result.fail(HALF, f"{told.scope}: {len(missing)} of {len(staying)} of a {told.kind}")
    for text, memory_id in zip(told.texts, told.ids or (), strict=False):
        if text in texts and memory_id not in texts[text]:
            result.fail(CHANGED, f"{told.scope}: {text} has another id than was returned")
    there = [texts[text][0] for text in staying if text in texts]
    _compare_parts(told, held, there, result)
    if told.kind == "correct":
        _compare_correction(told, held, texts, there, leaving, result)


def _compare_keyed(told: Told, held: Held, result: Result) -> None:
    """Compare a call whose key other calls may have used before it."""
    if told.ids is None:
        return
    found = held.memories.get(told.ids[0])
    if found is None:
        result.fail(LOST, f"{told.scope}: key {told.key}")
    elif found["key"] != told.key:
        result.fail(CHANGED, f"{told.scope}: key {told.key} returned a memory of {found['key']}")


def _compare_parts(told: Told, held: Held, there: list[str], result: Result) -> None:
    """Look for memories without all of their keywords, or without the links these make."""
    for memory_id in there:
        if set(held.memories[memory_id]["keywords"]) != set(told.keywords):
            result.fail(HALF, f"{told.scope}: keywords of {held.memories[memory_id]['summary']}")
    if told.kind == "batch":
        for one, other in combinations(there, 2):
            if not {(one, other, "keyword"), (other, one, "keyword")} <= held.links:
                result.fail(HALF, f"{told.scope}: no links between the memories of a batch")


def _compare_correction(
    told: Told,
    held: Held,
    texts: dict[str, list[str]],
    there: list[str],
    leaving: set[tuple[str, str | None]],
    result: Result,
) -> None:
    """Look for a correction without its memory, or the other way round."""
    if (told.scope, told.target) in leaving or (told.scope, told.texts[0]) in leaving:
        return
    for old in texts.get(told.target or "", []):
        successor = held.memories[old]["superseded_by"]
        if (successor is not None) != bool(there) or (there and successor != there[0]):
            result.fail(HALF, f"{told.scope}: the correction of {told.target}")


def _compare_scope(scope: str, held: Held, texts: dict[str, list[str]], result: Result) -> None:
    """Look for what is twice, and for turns without their memories or memories without turns."""
    for text, ids in texts.items():
        if len(ids) > 1:
            result.fail(TWICE, f"{scope}: {text}")
    keys = [memory["key"] for memory in held.memories.values() if memory["key"] is not None]
    if len(keys) != len(set(keys)):
        result.fail(TWICE, f"{scope}: a key")
    for turn in held.turns:
        memory = held.memories.get(turn.memory_id or "")
        if memory is None or memory["summary"] != turn.content:
            result.fail(HALF, f"{scope}: the memory of turn {turn.content}")
    spoken = {turn.memory_id for turn in held.turns}
    for memory_id, memory in held.memories.items():
        if memory["memory_type"] == "turn" and memory_id not in spoken:
            result.fail(HALF, f"{scope}: the turn of memory {memory['summary']}")
