"""How things look in a terminal: text made harmless, numbers, tables.  Needs ``rich``."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from ebbmem.models import ErasureReceipt, Explanation, Recalled, RecallResult, StoreStats
from ebbmem.reports import RepairReport, VerifyReport

_INVISIBLE = ("Cc", "Cs", "Zl", "Zp")
_DIRECTIONS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def console(*, stderr: bool = False) -> Console:
    """Return a console that prints text as it is: no markup, no emoji codes, no guessing."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def visible(text: str) -> str:
    """Return a text on one line, without what would steer a terminal.

    Line ends become spaces; other control characters, surrogates and changes of direction are
    written as escapes.
    """
    return "".join(_shown(character) for character in " ".join(text.splitlines()))


def figure(value: float) -> str:
    """Return a number with three decimals, or in powers of ten where they would show nothing."""
    if value == 0 or abs(value) >= 0.0005:
        return f"{value:.3f}" if value else "0"
    return f"{value:.1e}"


def nearness(hit: Recalled) -> str:
    """Return a score; where it has faded to 0, also how much the memory resembles the cue."""
    shown = figure(hit.score)
    return shown if hit.score else f"{shown}, similarity {figure(hit.similarity)}"


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table; the last column takes the room that is left."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for name in columns:
        made.add_column(
            name,
            justify="right" if name in right else "left",
            overflow="fold",
            no_wrap=name in right,
            ratio=1 if name == columns[-1] and name not in right else None,
        )
    return made


def explained(explanation: Explanation) -> Iterable[str]:
    """Yield the lines that say why a memory came."""
    terms = "  ".join(f"{name} {figure(value)}" for name, value in explanation.terms.items())
    yield f"terms   {terms}"
    if explanation.ranks:
        lanes = "  ".join(f"{lane} {place}" for lane, place in explanation.ranks.items())
        yield f"place   {lanes}"
    if explanation.path:
        yield f"path    {path(explanation.path)}"
    if explanation.note:
        yield f"note    {explanation.note}"


def path(numbers: Iterable[int]) -> str:
    """Return the way that activation took: ``#1 > #4``."""
    return " > ".join(f"#{number}" for number in numbers)


def print_recall(out: Console, result: RecallResult, *, explain: bool) -> None:
    """Print what recall brought back, or that nothing was relevant and what came nearest."""
    if result.abstained:
        out.print("Nothing relevant.")
        near = result.nearest
        if near is not None and (near.score or near.similarity):
            out.print(f"Nearest miss: #{near.number} ({nearness(near)}) {visible(near.summary)}")
        return
    shown = table("#", "score", "memory", right=("#", "score"))
    for hit in result:
        why = "".join(f"\n{line}" for line in explained(hit.explanation)) if explain else ""
        shown.add_row(str(hit.number), figure(hit.score), visible(hit.summary) + why)
    out.print(shown)
    if explain:
        out.print(f"Evidence: {result.evidence}.")


def recall_json(result: RecallResult, scope: str) -> dict[str, Any]:
    """Return a result as JSON holds it."""
    return {
        "id": result.id,
        "scope": scope,
        "cue": result.cue,
        "abstained": result.abstained,
        "evidence": result.evidence,
        "degraded": result.degraded,
        "took_us": result.took_us,
        "memories": [_hit(hit) for hit in result.memories],
        "skipped": [_hit(hit) for hit in result.skipped],
    }


def _hit(hit: Recalled) -> dict[str, Any]:
    """Return a hit as JSON holds it."""
    return {
        "id": hit.id,
        "number": hit.number,
        "summary": hit.summary,
        "score": hit.score,
        "similarity": hit.similarity,
        "cascade_score": hit.cascade_score,
        "retrievability": hit.retrievability,
        "explanation": dataclasses.asdict(hit.explanation),
    }


def print_verify(out: Console, report: VerifyReport) -> None:
    """Print what a check looked at, then everything that is wrong, a line each."""
    rows = ", ".join(f"{count:,} {name}" for name, count in report.rows.items() if count)
    scopes = "1 scope" if report.scopes == 1 else f"{report.scopes:,} scopes"
    head = f"{report.path}: {scopes}; {rows or 'no rows read'}"
    out.print(visible(head), soft_wrap=True)
    for finding in report.findings:
        out.print(f"  {visible(str(finding))}", soft_wrap=True)
    more = report.problems - len(report.findings)
    if more:
        out.print(f"  and {more:,} more")
    out.print("Nothing is wrong." if report.ok else f"{_things(report.problems)} wrong.")


def print_repair(out: Console, report: RepairReport) -> None:
    """Print what a repair did, a line for each row that it did not leave as it was."""
    if not report.problems:
        unchanged = f"{report.path}: nothing is wrong, and nothing was changed."
        out.print(visible(unchanged), soft_wrap=True)
        return
    for one in report.done:
        out.print(f"  {visible(str(one))}", soft_wrap=True)
    rows = ", ".join(f"{count:,} {name}" for name, count in report.rows.items() if count)
    out.print(visible(f"{report.path}: mended; kept {rows}"), soft_wrap=True)
    if report.quarantine is not None:
        aside = f"{report.quarantined:,} rows put aside: {report.quarantine}"
        out.print(visible(aside), soft_wrap=True)
    out.print(visible(f"the file as it was: {report.damaged}"), soft_wrap=True)


def erased(receipt: ErasureReceipt) -> str:
    """Return what an erasure took away, on one line."""
    parts = [(receipt.count, "memory", "memories"), (receipt.turns, "turn", "turns")]
    parts.append((receipt.intentions, "intention", "intentions"))
    told = [f"{count:,} {one if count == 1 else many}" for count, one, many in parts if count]
    return f"erased {', '.join(told) or 'nothing'}"


def _things(count: int) -> str:
    return "1 thing is" if count == 1 else f"{count:,} things are"


def counts(scopes: Iterable[StoreStats]) -> Table:
    """Return the table of what scopes hold."""
    names = ("memories", "cold", "archived", "superseded", "links", "turns", "intentions")
    shown = table(*names, "scope", right=names)
    for one in scopes:
        tiers = [one.by_tier.get(tier, 0) for tier in ("cold", "archive")]
        figures = (one.memories, *tiers, one.superseded, one.links, one.turns, one.intentions)
        shown.add_row(*(f"{count:,}" for count in figures), visible(one.scope))
    return shown


@contextmanager
def watched(lines: Iterable[bytes], total: int | None) -> Iterator[Iterator[bytes]]:
    """Show a bar on a terminal's stderr while lines are taken; ``total`` is their size."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield iter(lines)
        return
    columns = (TextColumn("importing"), BarColumn(), TextColumn("{task.fields[lines]:,} lines"))
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("import", total=total, lines=0)

        def taken() -> Iterator[bytes]:
            for count, line in enumerate(lines, 1):
                yield line
                bar.update(task, advance=len(line), lines=count)

        yield taken()


def _shown(character: str) -> str:
    """Return a character, or its escape."""
    if character in _DIRECTIONS or unicodedata.category(character) in _INVISIBLE:
        return character.encode("unicode_escape").decode()
    return character
