"""The reply to a recall: counted, and made but for its id, which is made when it is read."""

from __future__ import annotations

import time
from typing import Final, NamedTuple

from ebbmem import _core
from ebbmem.metering import Meter
from ebbmem.models import Recalled, RecallResult
from ebbmem.options import Options
from ebbmem.records.identity import id_text, new_id

NS_PER_US = 1_000
# What a result is made with; its id is made when it is read.
_RESULT: Final = _core.Maker(
    RecallResult,
    ("_source", "_key", "cue", "memories", "skipped", "abstained", "degraded", "took_us"),
)


class Call(NamedTuple):
    """One recall under way; ``started_ns`` by the performance counter."""

    scope: str
    cue: str
    started_ns: int


def reply(
    meter: Meter,
    call: Call,
    parts: tuple[tuple[Recalled, ...], tuple[Recalled, ...]],
    options: Options,
) -> RecallResult:
    """Return the result of a recall, hits and skipped, and count it."""
    hits, skipped = parts
    abstained = not hits and all(one.score < options.min_score for one in skipped)
    took_ns = time.perf_counter_ns() - call.started_ns
    degraded = options.degraded
    meter.recalled(call.scope, took_ns, abstained=abstained, degraded=degraded)
    key: tuple[int, dict[str, str]] = (options.now_us, {})
    told = (call.cue, hits, skipped, abstained, degraded, took_ns // NS_PER_US)
    return _RESULT.one(_id_told, key, *told)


def _id_told(key: tuple[int, dict[str, str]], name: str) -> str:
    """Return the id of a recall, made for the first who reads it."""
    now_us, told = key
    return told.get(name) or told.setdefault(name, id_text(new_id(now_us)))
