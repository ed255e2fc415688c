"""Count the instructions of kernels and core calls on fixed inputs, and compare with those kept.

    python benchmarks/instructions.py                      # compare with instructions.json
    python benchmarks/instructions.py --only scan          # the cases with this in their name
    python benchmarks/instructions.py --write              # keep what is counted now

Counts do not depend on how busy a machine is. They do depend on the compiler: another one than
that of the kept counts is only reported. The exit status is 1 when a count has risen by more than
2 %. Needs a C++ compiler and valgrind, which knows scalar and AVX2 code but not AVX-512.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEPT = Path(__file__).with_suffix(".json")
CASES = Path(__file__).with_suffix("")
ISAS = ("scalar", "avx2")
TOLERANCE = 0.02
FLAGS = ("-std=c++17", "-O3", "-ffp-contract=off", "-fvisibility=hidden")

Counts = dict[str, int]


def compiler() -> list[str]:
    """Return the compiler's command, as the build uses it."""
    return shlex.split(os.environ.get("CXX", "c++"))


def compiler_version() -> str:
    """Return the first line of what the compiler says of itself."""
    said = subprocess.run([*compiler(), "--version"], capture_output=True, text=True, check=True)
    return said.stdout.splitlines()[0]


def build(folder: Path) -> Path:
    """Compile the core, the kernels and the cases without Python; return the program."""
    sources = [*(ROOT / "csrc").glob("core/*.cpp"), *(ROOT / "csrc").glob("kernels/*.cpp")]
    sources += CASES.glob("*.cpp")
    objects = [folder / f"{source.parent.name}_{source.stem}.o" for source in sources]

    def compile_one(source: Path, made: Path) -> None:
        includes = (f"-I{ROOT / 'csrc'}", f"-I{CASES}")
        command = [*compiler(), *FLAGS, *includes, "-c", str(source), "-o", str(made)]
        subprocess.run(command, check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, sources, objects))
    program = folder / "count"
    subprocess.run([*compiler(), *map(str, objects), "-o", str(program)], check=True)
    return program


def names(program: Path) -> list[str]:
    """Return the names of the cases."""
    listed = subprocess.run([program, ISAS[0]], capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


def count(program: Path, isa: str, case: str) -> int:
    """Return how many instructions one call of a case takes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        options = [
            "--tool=callgrind",
            "--toggle-collect=counted_call",
            f"--callgrind-out-file={out}",
        ]
        command = ["valgrind", "-q", *options, str(program), isa, case]
        subprocess.run(command, check=True)
        summary = [line for line in out.read_text().splitlines() if line.startswith("summary:")]
    return int(summary[0].split()[1])


def counted(program: Path, isa: str, wanted: str) -> Counts:
    """Return the counts of the cases that have ``wanted`` in their name."""
    cases = [name for name in names(program) if wanted in name]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(
            zip(cases, pool.map(lambda name: count(program, isa, name), cases), strict=True)
        )


def compared(now: Counts, before: Counts) -> tuple[list[str], int]:
    """Return a line per case, and how many have risen beyond the tolerance."""
    lines, risen = [], 0
    for name, value in now.items():
        change = value / before[name] - 1 if before.get(name) else 0.0
        verdict = "" if name in before else "new"
        if change > TOLERANCE:
            verdict, risen = "RISEN", risen + 1
        elif change < -TOLERANCE:
            verdict = "fallen: keep it with --write"
        lines.append(
            f"{name:44} {before.get(name, 0):>12,} {value:>12,} {change:>+8.1%}  {verdict}"
        )
    return lines, risen


def kept() -> tuple[str, dict[str, Counts]]:
    """Return the compiler and the counts that were kept."""
    if not KEPT.is_file():
        return "", {}
    read = json.loads(KEPT.read_text("utf-8"))
    return read["compiler"], read["counts"]


def main(arguments: Sequence[str]) -> int:
    """Do what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(description="instruction counts of kernels and core calls")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with TEXT in their name")
    parser.add_argument("--write", action="store_true", help="keep the counts")
    chosen = parser.parse_args(arguments)
    version, (kept_version, counts) = compiler_version(), kept()
    risen = 0
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        for isa in ISAS:
            now = counted(program, isa, chosen.only)
            lines, more = compared(now, counts.get(isa, {}))
            print(f"{isa:44} {'kept':>12} {'now':>12} {'change':>8}", *lines, sep="\n", flush=True)
            risen += more
            counts[isa] = {**counts.get(isa, {}), **now} if chosen.only else now
    if chosen.write:
        said = {"compiler": version, "counts": counts}
        KEPT.write_text(json.dumps(said, indent=1) + "\n", "utf-8")
        return 0
    if version != kept_version:
        print(f"not judged: this is {version}, the counts are of {kept_version or 'nobody'}")
        return 0
    print(f"{risen} risen")
    return 1 if risen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
