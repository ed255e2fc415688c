"""How measured ratios are shown: as a table for a terminal, or for a Markdown page."""

from __future__ import annotations

import math

from contest import Fact, Line

HEADINGS = ("work", "against", "ebbmem", "rival", "ratio", "spread", "wall", "at least", "verdict")


def duration(seconds: float) -> str:
    """Return seconds with three digits in the unit that suits them."""
    if math.isnan(seconds):
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def factor(ratio: float) -> str:
    """Return a ratio with two or three digits; a bare number from 100 up."""
    if math.isnan(ratio):
        return "-"
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.2g}" if ratio < 10 else f"{ratio:.3g}"


def cells(line: Line) -> tuple[str, ...]:
    """Return the cells of one line, in the order of `HEADINGS`."""
    spread = f"{factor(min(line.ratios))}-{factor(max(line.ratios))}" if line.ratios else "-"
    at_least = "-" if line.at_least is None else factor(line.at_least)
    return (
        line.work,
        line.rival,
        duration(line.ours_s),
        duration(line.rival_s),
        factor(line.ratio),
        spread,
        factor(line.wall_ratio),
        at_least,
        line.verdict,
    )


def plain(line: Line) -> str:
    """Return one line for a terminal."""
    work, rival, ours, theirs, ratio, spread, wall, at_least, verdict = cells(line)
    figures = f"{ours:>9} {theirs:>9} {ratio:>7} {spread:>13} {wall:>7} {at_least:>8}"
    return f"{work[:66]:66} {rival[:44]:44} {figures}  {verdict}"


def plain_head() -> str:
    """Return the head of the terminal's table."""
    figures = f"{'ebbmem':>9} {'rival':>9} {'ratio':>7} {'spread':>13} {'wall':>7} {'at least':>8}"
    return f"{'work':66} {'against':44} {figures}  verdict"


def markdown(line: Line) -> str:
    """Return one row of a Markdown table."""
    return "| " + " | ".join(cells(line)) + " |"


def markdown_head() -> str:
    """Return the head of the Markdown table."""
    return "| " + " | ".join(HEADINGS) + " |\n" + "|---" * len(HEADINGS) + "|"


def fact(one: Fact) -> str:
    """Return a fact as a sentence."""
    state = "" if one.holds is None else " (holds)" if one.holds else " (MISSED)"
    return f"{one.what}{state}"
