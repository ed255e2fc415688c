"""What a harness counted."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field

MOST_EXAMPLES = 8
MOST_OF_AN_EXAMPLE = 1_500


@dataclass
class Result:
    """Trials, failures by kind, and figures that were measured on the way.

    ``failures`` names every kind that was looked for, also those that did not occur.
    """

    figure: str
    unit: str
    seed: int
    trials: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    measured: dict[str, float] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    took_s: float = 0.0

    @classmethod
    def looking_for(cls, figure: str, unit: str, seed: int, *kinds: str) -> Result:
        """Return a result without trials, with every kind of failure at 0."""
        return cls(figure, unit, seed, failures=dict.fromkeys(kinds, 0))

    def fail(self, kind: str, example: str, count: int = 1) -> None:
        """Count failures and keep the first examples."""
        if kind not in self.failures:
            raise KeyError(f"{self.figure} does not look for {kind!r}")
        self.failures[kind] += count
        if len(self.examples) < MOST_EXAMPLES:
            self.examples.append(f"{kind}: {example[-MOST_OF_AN_EXAMPLE:]}")

    @property
    def failed(self) -> int:
        """Return the number of failures of all kinds."""
        return sum(self.failures.values())

    def require_none(self) -> None:
        """Raise AssertionError unless something was tried and nothing failed."""
        assert self.trials > 0, f"{self.figure}: nothing was tried"
        assert self.failed == 0, "\n".join([f"{self.figure} {dict(self.failures)}", *self.examples])

    def to_json(self) -> str:
        """Return the result as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Result:
        """Return what `to_json` wrote."""
        return cls(**json.loads(line))


class Course:
    """The rounds of a measurement: as many as asked for, within the time that is given."""

    def __init__(self, rounds: int, seconds: float) -> None:
        self._rounds = rounds
        self._started = time.monotonic()
        self._end = self._started + seconds

    def __iter__(self) -> Course:
        self._next = 0
        return self

    def __next__(self) -> int:
        if self._next >= self._rounds or time.monotonic() >= self._end:
            raise StopIteration
        self._next += 1
        return self._next - 1

    @property
    def took_s(self) -> float:
        """Return the seconds since the beginning."""
        return time.monotonic() - self._started


def quantile(values: list[float], share: float) -> float:
    """Return the smallest value that at least ``share`` of all values do not exceed; 0 of none."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0
