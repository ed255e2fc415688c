"""Curves in a terminal: plain text, no colour needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

BLOCKS = " ▁▂▃▄▅▆▇█"
PLAIN = "  ..::####"[1:]
_LABEL = 4


def area(
    curve: Callable[[float], float],
    end: float,
    *,
    title: str,
    unit: str,
    ticks: Sequence[float],
    width: int,
    height: int = 8,
    blocks: str = BLOCKS,
) -> list[str]:
    """Return the lines of a chart of a curve from 0 to ``end``, filled below.

    Parameters
    ----------
    curve : callable
        Returns a height in [0, 1] for a place on the axis.
    end : float
        Where the axis ends.
    title, unit : str
        What stands above, and below the axis.
    ticks : sequence of float
        The places that are numbered.
    width, height : int
        Columns in all, and rows of the filled area.
    blocks : str
        Nine characters, from empty to full.
    """
    columns = width - _LABEL - 1
    heights = [curve(end * at / (columns - 1)) for at in range(columns)]
    rows = [_row(heights, level, height, blocks) for level in range(height - 1, -1, -1)]
    lines = [title]
    for at, row in enumerate(rows):
        lines.append(f"{_level(at, height):>{_LABEL}}|{row}".rstrip())
    lines.append(f"{0:>{_LABEL}}+" + "-" * columns)
    lines.append(_numbers(ticks, end, columns))
    lines.append(" " * (_LABEL + 1) + unit)
    return lines


def beside(left: Sequence[str], right: Sequence[str], width: int) -> list[str]:
    """Return two blocks of lines side by side, the left one ``width`` wide."""
    count = max(len(left), len(right))
    padded = [*left, *[""] * (count - len(left))], [*right, *[""] * (count - len(right))]
    return [f"{one:<{width}}{other}".rstrip() for one, other in zip(*padded, strict=True)]


def _row(heights: Sequence[float], level: int, height: int, blocks: str) -> str:
    """Return one row of the area: how much of it each column fills."""
    full = len(blocks) - 1
    filled = (round(value * height * full) - level * full for value in heights)
    return "".join(blocks[min(max(eighths, 0), full)] for eighths in filled)


def _level(at: int, height: int) -> str:
    """Return the label of a row: the value at its upper edge, at the top and half-way."""
    return {0: "1", height // 2: "0.5"}.get(at, "")


def _numbers(ticks: Sequence[float], end: float, columns: int) -> str:
    """Return the line of numbers below the axis."""
    line = [" "] * (_LABEL + 1 + columns)
    for tick in ticks:
        text = f"{tick:g}"
        place = _LABEL + 1 + round(tick / end * (columns - 1)) - len(text) // 2
        place = min(max(place, _LABEL + 1), len(line) - len(text))
        line[place : place + len(text)] = text
    return "".join(line).rstrip()
