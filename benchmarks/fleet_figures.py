"""Print what a fleet on one file takes, in time and in RAM, and fail where a figure is missed.

    python benchmarks/fleet_figures.py                 # every row
    python benchmarks/fleet_figures.py --list
    python benchmarks/fleet_figures.py --only scopes --only remember
    python benchmarks/fleet_figures.py --markdown      # as in README.md beside this file
    python benchmarks/fleet_figures.py --quick         # tiny stores: does it run? nothing is judged
    python benchmarks/fleet_figures.py --folder DIR    # where stores are made: 5 GB of room

One thread unless the row says otherwise; medians. The exit status is 1 when a time or a rate falls
below 0.85 of its figure, or when bytes or an open against chromadb miss theirs.
"""

from __future__ import annotations

import argparse
import logging
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import apsw
import figures
import numpy as np
from figures_opening import opening
from figures_scopes import memory, scopes
from figures_writes import remember, remember_many, threads
from fleet_sizes import FULL, QUICK
from processor import processor_name

import ebbmem
from ebbmem import _core

ROWS = {
    "scopes": scopes,
    "memory": memory,
    "remember": remember,
    "threads": threads,
    "remember-many": remember_many,
    "open": opening,
}
"""By name, in the order in which they are run; chromadb comes last: its threads stay behind."""


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description="what a fleet on one file takes")
    parser.add_argument("--only", action="append", metavar="ROW", help="a row; may be repeated")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--quick", action="store_true", help="tiny stores; nothing is judged")
    parser.add_argument("--folder", help="where stores are made, and removed again")
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> int:
    """Do what the options ask for; return the exit status."""
    unknown = [name for name in chosen.only or [] if name not in ROWS]
    if unknown:
        raise SystemExit(f"no such row: {', '.join(unknown)} (--list names them)")
    if chosen.list:
        print("\n".join(ROWS))
        return 0
    logging.disable(logging.WARNING)  # chromadb tells every step
    for note in machine():
        print(f"# {note}")
    print(figures.markdown_head() if chosen.markdown else figures.plain_head(), flush=True)
    with tempfile.TemporaryDirectory(dir=chosen.folder, ignore_cleanup_errors=True) as folder:
        return judged(chosen, Path(folder))


def machine() -> list[str]:
    """Return what a reader needs to know of this run."""
    sqlite = apsw.sqlite_lib_version()
    return [
        f"{processor_name()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        f"ebbmem {ebbmem.__version__}, {_core.isa()}, numpy {np.__version__}, SQLite {sqlite}",
    ]


def judged(chosen: argparse.Namespace, folder: Path) -> int:
    """Measure the rows and print their figures; return the exit status."""
    show = figures.markdown if chosen.markdown else figures.plain
    sizes = QUICK if chosen.quick else FULL
    missed, started_s = 0, time.perf_counter()
    for name in chosen.only or ROWS:
        for measured in ROWS[name](sizes, folder):
            one = measured if sizes.judged else replace(measured, at_most=None, at_least=None)
            print(show(one), flush=True)
            missed += one.verdict == "MISSED"
    print(f"# {time.perf_counter() - started_s:.0f} s")
    print(f"# {missed} missed" if sizes.judged else "# nothing is judged")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(parsed(sys.argv[1:])))
