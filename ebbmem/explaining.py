"""Why one memory came back, or did not: the same recall, looked at for that one alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ebbmem.clock import to_datetime
from ebbmem.embedders.base import Embedder
from ebbmem.engine import Engine
from ebbmem.errors import EmbedderFailed, UnknownMemory
from ebbmem.filters import Indexed
from ebbmem.hits import OVER_BUDGET, Answer, budgeted
from ebbmem.index import ScopeIndex
from ebbmem.models import Explained, Tier
from ebbmem.options import Options
from ebbmem.questions import Cue
from ebbmem.reading import row_of
from ebbmem.recall import answer
from ebbmem.retrieval import analyse, known_in, put, shown, sizes, without_vectors


def explain(
    engine: Engine, scope: str, embedder: Embedder, memory_id: str, cue: str, options: Options
) -> Explained:
    """Return where a memory is among all that a cue calls up, and what keeps it from coming.

    Nothing is strengthened.
    """
    try:
        return _explained(engine, scope, embedder, (memory_id, cue), options)
    except EmbedderFailed as exc:
        words = without_vectors(options, exc)
    told = _explained(engine, scope, embedder, (memory_id, cue), words)
    return replace(told, degraded=True)


def _explained(
    engine: Engine, scope: str, embedder: Embedder, which: tuple[str, str], options: Options
) -> Explained:
    """Return it for an id and a cue, with the vectors that the recipe needs."""
    memory_id, cue = which
    (asked,) = analyse(engine.analyzer, embedder, (cue,), options.recipe)
    with engine.read(scope) as reader:
        row = row_of(reader, reader.scope(scope), memory_id)
    with engine.alone(scope, write=False):
        index = engine.current(scope)
        engine.binding.fit(embedder)
        slot = None if index is None else index.columns.slot(row)
        if index is not None and slot is not None:
            hidden = tuple(_hidden(engine, index, slot, options))
            if hidden:
                return Explained(returned=False, place=None, hit=None, reasons=hidden)
            told = _placed(engine, index, slot, (embedder, asked), options)
            if told is not None:
                return told
    raise UnknownMemory(f"id: expected a memory of this scope, got {memory_id!r}")


def _hidden(engine: Engine, index: ScopeIndex, slot: int, options: Options) -> Iterator[str]:
    """Yield what keeps a memory from being looked at, whatever the cue."""
    columns, now_us, as_of_us = index.columns, options.now_us, options.as_of_us
    moment_us = now_us if as_of_us is None else as_of_us
    if columns.tier[slot] == Tier.ARCHIVE and not options.archive:
        yield "it is in the archive"
    if columns.expires_us[slot] <= now_us:
        yield f"it expired at {to_datetime(int(columns.expires_us[slot]))}"
    if columns.valid_from_us[slot] > moment_us:
        yield f"it is valid from {to_datetime(int(columns.valid_from_us[slot]))}"
    if columns.valid_to_us[slot] <= moment_us:
        yield f"it was valid until {to_datetime(int(columns.valid_to_us[slot]))}"
    if as_of_us is not None and columns.created_us[slot] > as_of_us:
        yield f"it was made at {to_datetime(int(columns.created_us[slot]))}"
    if options.run_id is not None and columns.run[slot] != columns.names.get(options.run_id, -2):
        yield "it is of another run"
    if options.filters is not None:
        met = options.filters.chosen(Indexed(index, engine.memories))
        if not met[slot]:
            yield "it does not meet the filters"


def _placed(
    engine: Engine, index: ScopeIndex, slot: int, asked: tuple[Embedder, Cue], options: Options
) -> Explained | None:
    """Return the place of a memory that is looked at; None where it was erased meanwhile."""
    every = len(index)
    wide = options._replace(recipe=replace(options.recipe, candidates=every), top_k=every)
    whole = _answered(engine, index, asked, wide)
    place = _place(whole, slot)
    if place is None:
        reasons: tuple[str, ...] = ("nothing of the cue leads to it",)
        return Explained(returned=False, place=None, hit=None, reasons=reasons)
    found = _answered(engine, index, asked, options)
    at = _place(found, slot)
    if at is None:
        found, at = whole, place
        reasons = tuple(_behind(place + 1, options))
    elif at in found.hits:
        reasons = ()
    else:
        reasons = tuple(_skipped(found, slot, found.ranked.scores[at], options))
    rows = engine.rows_now(index, [slot])
    if not rows:
        return None
    hit = shown(index, found, at, rows, options)
    return Explained(returned=not reasons, place=place + 1, hit=hit, reasons=reasons)


def _answered(
    engine: Engine, index: ScopeIndex, asked: tuple[Embedder, Cue], options: Options
) -> Answer:
    """Return what an index answers, within the budget."""
    found = answer(put(engine, index, *asked, options))
    if options.token_budget is None:
        return found
    rows = engine.rows_now(index, found.slots.tolist())
    return budgeted(known_in(index, found, rows)[1], sizes(rows), options.token_budget)


def _place(found: Answer, slot: int) -> int | None:
    """Return where a memory is in an answer, from 0, or None."""
    places = np.flatnonzero(found.ranked.slots == slot)
    return int(places[0]) if len(places) else None


def _behind(place: int, options: Options) -> Iterator[str]:
    """Yield why the best, or the candidates of every lane, are without a memory."""
    if place > options.top_k:
        yield f"it comes in place {place}, and top_k is {options.top_k}"
    else:
        yield f"it is behind the {options.recipe.candidates} candidates of every lane"


def _skipped(found: Answer, slot: int, score: float, options: Options) -> Iterator[str]:
    """Yield why one of the best is not among the hits."""
    if score < options.min_score:
        yield f"its score {score:.3f} is below min_score {options.min_score:.3f}"
    if found.ranked.notes.get(slot) == OVER_BUDGET:
        yield f"it is over the token budget of {options.token_budget}"
