"""The demonstration: the same every time, true to the formulas, and readable anywhere."""

from __future__ import annotations

import io
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from ebbmem import charts
from ebbmem.demo import play

REPOSITORY = Path(__file__).resolve().parents[1]


def played(width: int) -> str:
    out = io.StringIO()
    play(Console(file=out, width=width, markup=False, emoji=False, highlight=False))
    return out.getvalue()


@pytest.fixture(scope="module")
def shown() -> str:
    return played(100)


def row(shown: str, head: str) -> list[str]:
    """Return the words of the line that begins with some words, without those."""
    line = next(line for line in shown.splitlines() if line.startswith(head))
    return line.removeprefix(head).split()


def test_it_is_the_same_every_time(shown: str) -> None:
    assert played(100) == shown


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(len(line.rstrip()) for line in played(width).splitlines()) <= width


@pytest.mark.parametrize("width", [80, 100])
def test_tables_keep_a_row_on_a_line(width: int) -> None:
    words = [line.split() for line in played(width).splitlines()]

    assert ["+400", "days", "7", "0", "0", "3", "0", "0", "/", "3", "/", "4"] in words


def test_the_leash_comes_back_by_spreading(shown: str) -> None:
    after = shown[shown.index("recall('Rex')") :].splitlines()
    line = next(line for line in after if "Bought a leash and kibble" in line)

    number, score, match, cascade = line.split()[:4]
    assert (number, match) == ("2", "0")
    assert float(score) > 0
    assert float(cascade) > 0


def test_scores_fall_as_the_ebbinghaus_law_says(shown: str) -> None:
    start = (1 / math.sqrt(5) + 1) / 2 * 8  # one of five words in common, importance 8

    assert row(shown, "at once")[0] == f"{start:.3f}"
    assert row(shown, "30 seconds")[0] == f"{start * math.exp(-0.05 * 30):.3f}"
    assert row(shown, "10 minutes")[0] == f"{start * math.exp(-0.05 * 600):.1e}"
    assert row(shown, "20 days")[0] == "0"


def test_recall_reverses_decay_as_the_formulas_say(shown: str) -> None:
    s, r = 0.1, 0.55
    r *= math.exp(-0.01 * (1 - 0.75 * s) * 480)
    assert row(shown, "20 days without access") == [f"{r:.3f}", "0.100", "1"]

    for count, hours in enumerate((0, 24, 24), 1):
        before = r * math.exp(-0.01 * (1 - 0.75 * s) * hours)
        s += 0.1 * (1 - before) * (1 - s)
        r = 0.5 + 0.5 * s
        figures = [f"{before:.3f}", f"{r:.3f}", f"{s:.3f}", str(count + 1)]
        assert row(shown, f"recall #{count}") == figures


def test_an_intention_waits_is_due_and_expires(shown: str) -> None:
    lines = shown.splitlines()

    assert row(shown, "  0 ")[0] == row(shown, " 31")[0] == "Book"
    assert row(shown, "  8 ") == ["Take", "Rex", "to", "the", "vet"]
    assert sum("Take Rex to the vet" in line for line in lines) == 1


def test_the_corrected_memory_ranks_below_and_is_kept(shown: str) -> None:
    lines = shown.splitlines()
    new = next(n for n, line in enumerate(lines) if "turned out to be a kitten" in line)

    assert "Adopted a puppy named Rex (superseded)" in lines[new + 1]


def test_charts_stand_below_each_other_where_there_is_no_room() -> None:
    lines = played(60).splitlines()
    heads = [n for n, line in enumerate(lines) if line.startswith("R, ")]

    assert len(heads) == 2
    assert "per second" in lines[heads[0]]
    assert "per hour" in lines[heads[1]]


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_a_pipe_gets_plain_text(encoding: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": encoding}

    ended = subprocess.run(
        [sys.executable, "-m", "ebbmem", "demo"],
        env=environment,
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"\x1b" not in ended.stdout
    assert b"\\u" not in ended.stdout
    ended.stdout.decode(encoding)


# --- charts -----------------------------------------------------------------------------


def test_an_area_is_filled_up_to_the_curve() -> None:
    lines = charts.area(
        lambda x: 1 - x, 1.0, title="t", unit="u", ticks=(0, 1), width=13, height=2, blocks=" #"
    )

    assert lines == [
        "t",
        "   1|##",
        " 0.5|######",
        "   0+--------",
        "     0      1",
        "     u",
    ]


@pytest.mark.parametrize("level", [0.0, 0.5, 1.0])
def test_a_level_curve_fills_its_share(level: float) -> None:
    lines = charts.area(
        lambda _: level, 1.0, title="", unit="", ticks=(), width=15, height=4, blocks=" #"
    )

    assert sum(line.count("#") for line in lines) == 10 * 4 * level


def test_blocks_stand_side_by_side() -> None:
    assert charts.beside(["a", "b"], ["1"], 4) == ["a   1", "b"]
