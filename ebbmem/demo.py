"""One run through everything, on a store in RAM and a clock that moves when told to."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from ebbmem import charts, recipes
from ebbmem.agentic import AgenticMemory
from ebbmem.clock import ManualClock
from ebbmem.decay import Ebbinghaus, StorageStrength
from ebbmem.models import RecallResult, Tier
from ebbmem.reinforcement import NEW_RETRIEVABILITY, NEW_STRENGTH
from ebbmem.sharing import MEMORY
from ebbmem.terminal import figure, path, table

START = 1_767_600_000
"""Monday, 5 January 2026, 08:00 UTC."""
NARROWEST = 60
PAIR = 72
"""From this width on two charts stand side by side."""

PUPPY = "Adopted a puppy named Rex"
LEASH = "Bought a leash and kibble"
GUITAR = "Started learning classical guitar"
ROUTINE = "Practices every morning for 30 min"
PASSPORT = "Renewed the passport at the town hall"


def play(out: Console) -> None:
    """Show every part, one after the other; nothing outside the process changes.

    Parameters
    ----------
    out : Console
        Where to print; colour is not needed to read it.
    """
    clock = ManualClock(START)
    with AgenticMemory(MEMORY, clock=clock) as memory:
        ids = _remember(out, memory)
        _recall(out, memory)
        _time_passes(out, memory, clock)
        _recall_reverses(out, memory, clock, ids[PUPPY])
        _intend(out, memory, clock)
        _correct(out, memory, clock, ids[PUPPY])
        _sleep(out, memory, clock, ids[GUITAR])


def _remember(out: Console, memory: AgenticMemory) -> dict[str, str]:
    """Remember some things, and show how they are linked."""
    _head(out, 1, "Remember: keywords and related_to make links")
    made = [
        memory.remember(PUPPY, keywords=["dog", "pet"], importance=8),
        memory.remember(LEASH, keywords=["supplies"], related_to=["dog"]),
        memory.remember(
            GUITAR,
            keywords=["guitar", "hobby"],
            emotional_valence=0.6,
            emotional_intensity=0.5,
        ),
        memory.remember(
            ROUTINE,
            keywords=["routine"],
            related_to=["guitar", "hobby"],
            memory_type="procedural",
        ),
        memory.remember(PASSPORT, keywords=["travel"]),
    ]
    numbers = {one.id: one.number for one in made}
    shown = table("#", "linked to", "keywords", "memory", right=("#",))
    for one in made:
        kept = memory.get(one.id)
        linked = ", ".join(f"#{numbers[link.target]}" for link in memory.neighbors(one.id))
        shown.add_row(str(one.number), linked or "-", ", ".join(kept.keywords), kept.summary)
    out.print(shown)
    return {memory.get(one.id).summary: one.id for one in made}


def _recall(out: Console, memory: AgenticMemory) -> None:
    """Let one memory bring up another."""
    _head(out, 2, "Recall: one thing brings up another")
    for cue in ("Rex", "morning guitar practice"):
        out.print(f"recall({cue!r})")
        out.print(_hits(memory.recall(cue, reinforce=False)))
        out.print()
    _say(out, "match is familiarity with the cue; cascade is activation that came along links.")
    _say(out, f"{LEASH!r} has no word in common with 'Rex': it came along its link alone.")


def _time_passes(out: Console, memory: AgenticMemory, clock: ManualClock) -> None:
    """Let time pass, and show what it does under each law."""
    _head(out, 3, "Time passes: the forgetting curves")
    for line in _curves(_width(out), charts.BLOCKS if _has_blocks(out) else charts.PLAIN):
        out.print(line)
    out.print()
    shown = table(
        "after",
        "EBBINGHAUS score",
        "R, per second",
        "R, per hour",
        "DEFAULT score",
        right=("EBBINGHAUS score", "R, per second", "R, per hour", "DEFAULT score"),
    )
    steps = (("at once", 0.0), ("30 seconds", 30.0), ("10 minutes", 600.0), ("20 days", 1728e3))
    for name, seconds in steps:
        clock.set(START + seconds)
        product, added, bounded = (
            memory.recall("Rex", recipe=recipe, top_k=1, reinforce=False).memories[0]
            for recipe in (recipes.EBBINGHAUS, recipes.ASSOCIATIVE, recipes.DEFAULT)
        )
        values = (product.score, product.retrievability, added.retrievability, bounded.score)
        shown.add_row(name, *map(figure, values))
    out.print(f"recall('Rex'), best hit: {PUPPY!r}, importance 8")
    out.print(shown)
    out.print()
    _say(
        out,
        "EBBINGHAUS is ((cos + 1) / 2) * importance * exp(-0.05 * seconds). Its score is 0 after"
        " a few hours, so memories are ranked by its logarithm and the order stays. DEFAULT bounds"
        " what forgetting may take: old things can still be found.",
    )


def _recall_reverses(out: Console, memory: AgenticMemory, clock: ManualClock, puppy: str) -> None:
    """Recall what has faded, and show that it comes back stronger."""
    _head(out, 4, "Recall reverses decay")
    shown = table(
        "recipe ASSOCIATIVE",
        "R before",
        "R",
        "S",
        "access_count",
        right=("R before", "R", "S", "access_count"),
    )
    before = _retrievability(memory)
    kept = memory.get(puppy)
    idle = ("20 days without access", "", before, kept.storage_strength, kept.access_count)
    shown.add_row(*_cells(*idle))
    for count in (1, 2, 3):
        before = _retrievability(memory)
        memory.recall("Rex", recipe=recipes.ASSOCIATIVE, top_k=1)
        kept = memory.get(puppy)
        row = (before, kept.retrievability, kept.storage_strength, kept.access_count)
        shown.add_row(*_cells(f"recall #{count}", *row))
        clock.advance(days=1)
    out.print(shown)
    out.print()
    clock.advance(days=19)
    faded = StorageStrength().effective(NEW_RETRIEVABILITY, NEW_STRENGTH, 0.0, 480.0)
    _say(
        out,
        "A recall first adds to S: 0.1 * (1 - R) * (1 - S), the more the fainter it was; then R"
        f" becomes 0.5 + 0.5 * S. Another 20 idle days leave R at {_retrievability(memory):.3f},"
        f" where the first 20 left {faded:.3f}.",
    )


def _intend(out: Console, memory: AgenticMemory, clock: ManualClock) -> None:
    """Keep intentions, and ask for what is due as time passes."""
    _head(out, 5, "Intentions: kept apart from facts")
    start_s = clock.now_us() / 1e6
    memory.remember_intention("Take Rex to the vet", due_at=start_s + 7 * 86_400, expires_in="30d")
    memory.remember_intention("Book a guitar setup", trigger="when strings buzz")
    shown = table("day", "due", right=("day",))
    for day in (0, 8, 31):
        due = memory.due(now=start_s + day * 86_400)
        named = [one.action + (f" ({one.trigger})" if one.trigger else "") for one in due]
        shown.add_row(str(day), "\n".join(named))
    _say(out, "The vet is due from day 7 and expires on day 30; the setup waits for its trigger.")
    out.print(shown)


def _correct(out: Console, memory: AgenticMemory, clock: ManualClock, puppy: str) -> None:
    """Correct a memory, and show that the old one is demoted and still there."""
    _head(out, 6, "A correction supersedes, and deletes nothing")
    clock.advance(hours=1)
    made = memory.correct(puppy, "Rex turned out to be a kitten", keywords=["cat", "pet"])
    out.print("recall('Rex')")
    out.print(_hits(memory.recall("Rex", reinforce=False)))
    out.print()
    old = memory.get(puppy)
    _say(
        out,
        f"#{old.number} is still stored, word for word ({old.summary!r}); it names #{made.number}"
        " as its successor and ranks below it.",
    )


def _sleep(out: Console, memory: AgenticMemory, clock: ManualClock, guitar: str) -> None:
    """Run the sleep pass after some use, after two months, and after more than a year."""
    _head(out, 7, "Sleep: episodes mature, what is idle cools, nothing is deleted")
    memory.remember("Parking spot B12 until Friday", expires_in="5d")
    for _ in range(4):
        clock.advance(days=7)
        memory.feedback(used=[guitar])
    counted = ("visited", "matured", "cooled", "archived", "expired")
    shown = table("pass", *counted, "warm / cold / archive", right=counted)
    for name, days in (("now", 0), ("+60 days", 60), ("+400 days", 400)):
        clock.advance(days=days)
        report = memory.consolidate()
        counts = (report.visited, report.matured, report.cooled, report.archived, report.expired)
        held = memory.stats().by_tier
        tiers = " / ".join(str(held.get(tier.name.lower(), 0)) for tier in Tier)
        shown.add_row(name, *map(str, counts), tiers)
    out.print(shown)
    out.print()
    kept = memory.get(guitar)
    _say(
        out,
        f"{kept.summary!r} was of use once a week for four weeks: with S = "
        f"{kept.storage_strength:.3f} it became {kept.memory_type}. All {memory.stats().memories}"
        " memories are still there; recall searches the archive when asked to.",
    )


def _head(out: Console, number: int, title: str) -> None:
    """Print the head of a part."""
    width = _width(out)
    if number > 1:
        out.print()
    out.print(f"{number}. {title}", style="bold")
    out.print("-" * min(width, len(title) + 3))


def _say(out: Console, text: str) -> None:
    """Print a sentence or two, broken into lines between words."""
    out.print(text, width=min(_width(out), 88))


def _hits(result: RecallResult) -> object:
    """Return the table of what a recall brought back."""
    shown = table(
        "#", "score", "match", "cascade", "path", "memory", right=("#", "score", "match", "cascade")
    )
    for hit in result:
        way = path(hit.explanation.path) if hit.cascade_score > 0 else ""
        figures = map(figure, (hit.score, hit.similarity, hit.cascade_score))
        note = f" ({hit.explanation.note})" if hit.explanation.note else ""
        shown.add_row(str(hit.number), *figures, way, hit.summary + note)
    return shown


def _curves(width: int, blocks: str) -> Iterable[str]:
    """Return the charts of both laws that fade to nothing."""
    side = width // 2 if width >= PAIR else width
    fast, slow = Ebbinghaus(), StorageStrength()
    left = charts.area(
        fast.retention,
        60.0,
        title="R, Ebbinghaus law (per second)",
        unit="seconds since it was made",
        ticks=(0, 15, 30, 45, 60),
        width=side - 2,
        blocks=blocks,
    )
    right = charts.area(
        lambda day: slow.effective(NEW_RETRIEVABILITY, NEW_STRENGTH, 0.0, day * 24.0),
        20.0,
        title="R, storage-strength law (per hour)",
        unit="days since the last access",
        ticks=(0, 5, 10, 15, 20),
        width=side - 2,
        blocks=blocks,
    )
    return charts.beside(left, right, side) if width >= PAIR else [*left, "", *right]


def _retrievability(memory: AgenticMemory) -> float:
    """Return R of the puppy as it is now."""
    hits = memory.recall("Rex", recipe=recipes.ASSOCIATIVE, top_k=1, reinforce=False)
    return hits.memories[0].retrievability


def _cells(*values: str | float) -> list[str]:
    """Return values as a table shows them."""
    return [figure(value) if isinstance(value, float) else str(value) for value in values]


def _width(out: Console) -> int:
    """Return the columns to fill: those of the terminal, up to what is easy to read."""
    return max(min(out.width, 100), NARROWEST)


def _has_blocks(out: Console) -> bool:
    """Return whether the output can hold block characters."""
    return "utf" in out.encoding.lower()
