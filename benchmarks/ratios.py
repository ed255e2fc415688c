"""Print how many times as fast as its rivals ebbmem is, and fail where a promise is broken.

    python benchmarks/ratios.py                 # every row, one thread, AVX2
    python benchmarks/ratios.py --list
    python benchmarks/ratios.py --only embed --only bm25
    python benchmarks/ratios.py --markdown      # as in README.md beside this file
    python benchmarks/ratios.py --quick         # tiny inputs: does it run? nothing is judged

Each ratio is the median of five interleaved CPU-time ratios. The exit status is 1 when one falls
below 0.85 of the figure it must reach, or when a fact beside the table does not hold.
"""

from __future__ import annotations

import argparse
import logging
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from contest import ROUNDS, Contest, Line, held
from sizes import FULL, QUICK, Sizes
from table import fact, markdown, markdown_head, plain, plain_head

Row = Callable[[Sizes], Iterator[Contest]]

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
AVX2_ALONE = {
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
}


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description="ebbmem's speed against that of its rivals")
    parser.add_argument("--only", action="append", metavar="ROW", help="a row; may be repeated")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--quick", action="store_true", help="tiny inputs; nothing is judged")
    parser.add_argument(
        "--isa",
        default=os.environ.get("EBBMEM_ISA") or "avx2",
        help="ebbmem's instruction set: avx2 (default) holds the rivals to AVX2 too, where they"
        " can be held; best gives everyone all that the processor has",
    )
    return parser.parse_args(arguments)


def environment(isa: str) -> dict[str, str]:
    """Return the variables that libraries read when they are loaded."""
    return {**ONE_THREAD, **(AVX2_ALONE if isa == "avx2" else {})}


def main(chosen: argparse.Namespace) -> int:
    """Do what the options ask for; return the exit status."""
    from rows import ROWS  # noqa: PLC0415 - numpy comes with it, after the environment is set

    unknown = [name for name in chosen.only or [] if name not in ROWS]
    if unknown:
        raise SystemExit(f"no such row: {', '.join(unknown)} (--list names them)")
    if chosen.list:
        print("\n".join(ROWS))
        return 0
    logging.disable(logging.WARNING)  # some peers tell every step
    for note in machine(chosen.isa):
        print(f"# {note}")
    show, head = (markdown, markdown_head()) if chosen.markdown else (plain, plain_head())
    print(head, flush=True)
    wanted = {name: ROWS[name] for name in chosen.only or ROWS}
    return judged(wanted, QUICK if chosen.quick else FULL, show)


def machine(isa: str) -> list[str]:
    """Put the instruction set in use; return what a reader needs to know of this run."""
    import numpy as np  # noqa: PLC0415
    import peers  # noqa: PLC0415
    from processor import processor_name  # noqa: PLC0415

    import ebbmem  # noqa: PLC0415
    from ebbmem import _core  # noqa: PLC0415

    if isa == "best" or (isa == "avx2" and isa not in _core.isas()):
        _core.choose_isa("")
    else:
        _core.choose_isa(isa)
    if isa == "avx2":
        peers.hold_to_avx2()
    return [
        f"{processor_name()}, Python {platform.python_version()}, numpy {np.__version__}",
        f"ebbmem {ebbmem.__version__} with {_core.isa()}, one thread",
        *peers.notes(),
    ]


def judged(rows: dict[str, Row], sizes: Sizes, show: Callable[[Line], str]) -> int:
    """Hold every contest and print its lines; return the exit status."""
    facts, missed, started_s = [], 0, time.perf_counter()
    for row in rows.values():
        for contest in row(sizes):
            for measured in held(contest, ROUNDS if sizes.judged else 1):
                line = measured if sizes.judged else replace(measured, at_least=None)
                print(show(line), flush=True)
                missed += line.verdict == "MISSED"
            for one in contest.facts:
                found = one if sizes.judged else replace(one, holds=None)
                facts.append(f"{contest.work}: {fact(found)}")
                missed += found.holds is False
    print("\n".join(f"# {one}" for one in facts))
    minutes = (time.perf_counter() - started_s) / 60
    verdict = f"{missed} missed" if sizes.judged else "tiny inputs: nothing is judged"
    print(f"# {minutes:.1f} minutes; {verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    options = parsed(sys.argv[1:])
    variables = environment(options.isa)
    if any(os.environ.get(name) != value for name, value in variables.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **variables})
    sys.exit(main(options))
