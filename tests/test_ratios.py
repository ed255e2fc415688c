"""The harness of benchmarks/ratios.py: what it makes of times, and when it fails."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import ratios
import table
from contest import Contest, Fact, Line, Rival, Stopwatch, held
from sizes import FULL, QUICK, Sizes


class Clock:
    """Time that passes only while a call is made."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def takes(self, seconds: float) -> None:
        self.now_s += seconds

    @property
    def watch(self) -> Stopwatch:
        return Stopwatch(cpu=self, wall=self)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def contest(clock: Clock, *rivals: Rival, **more: object) -> Contest:
    return Contest("work", lambda: clock.takes(0.010), rivals, **more)  # type: ignore[arg-type]


def test_a_ratio_is_the_rivals_time_over_ours(clock: Clock) -> None:
    (line,) = held(contest(clock, Rival("slow", lambda: clock.takes(0.035), 3.0)), 5, clock.watch)

    assert line.ratio == pytest.approx(3.5)
    assert line.wall_ratio == pytest.approx(3.5)
    assert len(line.ratios) == 5
    assert line.verdict == "reached"


def test_times_are_per_unit_of_work(clock: Clock) -> None:
    few = Rival("does a tenth", lambda: clock.takes(0.020), units=10)
    (line,) = held(contest(clock, few, units=100), 3, clock.watch)

    assert line.ours_s == pytest.approx(0.0001)
    assert line.rival_s == pytest.approx(0.002)
    assert line.ratio == pytest.approx(20)


def test_short_calls_are_repeated_until_they_can_be_timed(clock: Clock) -> None:
    calls = 0

    def short() -> None:
        nonlocal calls
        calls += 1
        clock.takes(1e-6)

    (line,) = held(Contest("work", short, (Rival("same", short),)), 1, clock.watch)

    assert calls > 1000
    assert line.ratio == pytest.approx(1)


def test_the_median_of_the_rounds_counts() -> None:
    line = Line("work", "rival", 2.0, 1.0, 2.0, (1.0, 9.0, 2.0, 2.1, 1.9))

    assert line.ratio == 2.0
    assert "1-9" in table.plain(line)


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(10.0, "reached"), (9.9, "within 15 %"), (8.5, "within 15 %"), (8.4, "MISSED")],
)
def test_below_085_of_its_figure_a_ratio_has_missed(ratio: float, verdict: str) -> None:
    assert Line("work", "rival", 10.0, 1.0, ratio, (ratio,)).verdict == verdict


def test_what_is_not_installed_cannot_be_judged(clock: Clock) -> None:
    here = Rival("here", lambda: clock.takes(0.1), candidate=True)
    away = Rival("away", None, 5.0, candidate=True)
    _, absent, best = held(contest(clock, here, away, best_at_least=2.0), 1, clock.watch)

    assert absent.verdict == best.verdict == "not installed"
    assert math.isnan(absent.ratio)
    assert "not installed" in table.plain(absent)


def test_the_best_of_the_candidates_is_the_fastest(clock: Clock) -> None:
    slow = Rival("slow", lambda: clock.takes(0.090), candidate=True)
    fast = Rival("fast", lambda: clock.takes(0.030), candidate=True)
    other = Rival("no candidate", lambda: clock.takes(0.001))
    *_, best = held(contest(clock, slow, fast, other, best_at_least=2.0), 1, clock.watch)

    assert best.rival == "best of these (fast)"
    assert best.ratio == pytest.approx(3)


@pytest.mark.parametrize(
    ("sizes", "figure", "holds", "status"),
    [
        (FULL, 0.001, True, 0),
        (FULL, 1e9, True, 1),
        (FULL, None, False, 1),
        (FULL, None, None, 0),
        (QUICK, 1e9, False, 0),
    ],
)
def test_the_exit_status_says_whether_something_was_missed(
    sizes: Sizes,
    figure: float | None,
    holds: bool | None,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("contest.ROUND_S", 0.0)

    def row(_: Sizes) -> Iterator[Contest]:
        rival = Rival("rival", lambda: sum(range(1000)), figure)
        yield Contest("work", lambda: sum(range(1000)), (rival,), facts=(Fact("fact", holds),))

    assert ratios.judged({"row": row}, sizes, table.plain) == status


def test_a_table_line_has_a_cell_per_heading() -> None:
    line = Line("work", "rival", 2.0, 0.00000123, 0.5, (1.0, 3.0), 2.5)

    assert len(table.cells(line)) == len(table.HEADINGS)
    assert table.markdown(line).count("|") == table.markdown_head().splitlines()[0].count("|")
    assert "1.23 us" in table.plain(line)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(2.0, "2 s"), (0.0345, "34.5 ms"), (1e-8, "10 ns"), (math.nan, "-")]
)
def test_durations_are_shown_in_the_unit_that_suits_them(seconds: float, shown: str) -> None:
    assert table.duration(seconds) == shown
