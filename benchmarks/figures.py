"""A measured figure beside the one it has to reach, and how both are shown."""

from __future__ import annotations

import math
from dataclasses import dataclass

from contest import ENOUGH
from table import duration, factor

HEADINGS = ("work", "what", "measured", "figure", "verdict")


@dataclass(frozen=True)
class Figure:
    """One measured quantity.

    ``unit`` is ``"s"`` (seconds), ``"/s"`` (calls or memories a second), ``"B"`` (bytes),
    ``"x"`` (a ratio) or ``""`` (a count).  It has to be ``at_most`` or ``at_least`` a figure, or
    is information only where neither is given.  An ``exact`` one does not depend on how busy the
    machine is, and is given no allowance.
    """

    work: str
    what: str
    measured: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    exact: bool = False

    @property
    def verdict(self) -> str:
        """Return what was measured means for the figure."""
        if math.isnan(self.measured):
            return "not installed"
        if self.at_most is None and self.at_least is None:
            return "information"
        if self.share >= 1:
            return "reached"
        return "within 15 %" if self.share >= ENOUGH and not self.exact else "MISSED"

    @property
    def share(self) -> float:
        """Return which part of the figure is reached: 1 or more is all of it."""
        if self.at_least is not None:
            return self.measured / self.at_least
        return math.inf if self.measured <= 0 else (self.at_most or 0.0) / self.measured


def amount(value: float, unit: str) -> str:
    """Return a quantity with its unit."""
    if math.isnan(value):
        return "-"
    if unit == "s":
        return duration(value)
    if unit == "/s":
        return f"{value:,.0f}/s"
    if unit == "x":
        return f"{value:.3g}" if value < 10 else factor(value)
    if unit == "":
        return f"{value:,.0f}"
    return f"{value / 2**20:.1f} MiB" if value >= 1 << 20 else f"{value:.0f} B"


def cells(one: Figure) -> tuple[str, ...]:
    """Return the cells of one figure, in the order of `HEADINGS`."""
    wanted = "-"
    if one.at_least is not None:
        wanted = f"at least {amount(one.at_least, one.unit)}"
    elif one.at_most is not None:
        wanted = f"at most {amount(one.at_most, one.unit)}"
    return one.work, one.what, amount(one.measured, one.unit), wanted, one.verdict


def plain(one: Figure) -> str:
    """Return one line for a terminal."""
    work, what, measured, wanted, verdict = cells(one)
    return f"{work[:52]:52} {what[:44]:44} {measured:>12} {wanted:>20}  {verdict}"


def plain_head() -> str:
    """Return the head of the terminal's table."""
    return f"{'work':52} {'what':44} {'measured':>12} {'figure':>20}  verdict"


def markdown(one: Figure) -> str:
    """Return one row of a Markdown table."""
    return "| " + " | ".join(cells(one)) + " |"


def markdown_head() -> str:
    """Return the head of the Markdown table."""
    return "| " + " | ".join(HEADINGS) + " |\n" + "|---" * len(HEADINGS) + "|"
