"""The harness of benchmarks/instructions.py, and that the native programs beside the core build."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import instructions
import pytest
from codebase import ROOT, files, shown

PROGRAMS = [*files("benchmarks", ".cpp"), *files("tests/stress", ".cpp")]
COMPILER = shlex.split(os.environ.get("CXX", "")) or [shutil.which("c++") or ""]


def test_a_count_that_rises_beyond_the_tolerance_is_told() -> None:
    lines, risen = instructions.compared({"a": 1021, "b": 1019}, {"a": 1000, "b": 1000})

    assert risen == 1
    assert "RISEN" in lines[0]
    assert "RISEN" not in lines[1]


def test_a_count_that_falls_is_to_be_kept_and_a_new_one_is_no_fault() -> None:
    lines, risen = instructions.compared({"a": 900, "b": 5}, {"a": 1000})

    assert risen == 0
    assert "--write" in lines[0]
    assert lines[1].endswith("new")


def test_counts_are_kept_for_scalar_and_avx2() -> None:
    compiler, counts = instructions.kept()

    assert compiler
    assert set(counts) == {"scalar", "avx2"}
    assert counts["scalar"].keys() == counts["avx2"].keys()


@pytest.mark.skipif(not COMPILER[0], reason="no C++ compiler on the PATH")
@pytest.mark.parametrize("source", PROGRAMS, ids=shown)
def test_native_programs_follow_the_core(source: Path) -> None:
    includes = ["-Icsrc", "-Itests", "-Ibenchmarks/instructions"]
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *includes]
    command = [*COMPILER, *flags, str(source)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
