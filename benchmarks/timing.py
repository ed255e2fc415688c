"""How a benchmark times a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True)
class Timed:
    """Times calls by the ``benchmark`` fixture and reports the median per unit."""

    benchmark: Any

    def __call__(
        self,
        call: Callable[[], Result],
        *,
        group: str,
        units: int,
        unit: str,
        rounds: int | None = None,
        setup: Callable[[], object] | None = None,
    ) -> Result:
        """Time a call whose answer was checked before.

        ``rounds`` fixes how often it runs; ``setup`` runs before each round and is not timed.
        """
        self.benchmark.group = group
        if setup is not None:
            result: Result = self.benchmark.pedantic(call, setup=setup, rounds=rounds or 10)
        elif rounds is None:
            result = self.benchmark(call)
        else:
            result = self.benchmark.pedantic(call, rounds=rounds)
        if self.benchmark.stats is not None:
            per_unit_ns = self.benchmark.stats.stats.median / units * 1e9
            self.benchmark.extra_info[f"ns_per_{unit}"] = round(per_unit_ns, 2)
        return result
