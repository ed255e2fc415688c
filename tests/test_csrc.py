"""What native code may include and do, by folder; and what the built modules export."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from codebase import ROOT, files, shown

CORE = files("csrc/core", ".cpp", ".h", ".inl")
KERNELS = files("csrc/kernels", ".cpp", ".h", ".inl")
FILES = files("csrc/files", ".cpp", ".h")  # what reads or writes a file
BINDINGS = files("csrc/bindings", ".cpp", ".h")
SOURCES = [*CORE, *KERNELS, *FILES, *BINDINGS]

INTRINSICS = {"immintrin.h", "x86intrin.h", "emmintrin.h", "arm_neon.h", "arm_sve.h", "intrin.h"}
TALKATIVE = {"iostream", "fstream", "cstdio", "stdio.h", "print", "filesystem"}
# Meetings that would tie algorithms together: they meet in Python, through arrays.
STRANGERS = {
    "scan": {"decay", "spread", "postings"},
    "decay": {"arena", "scan", "spread", "postings"},
    "spread": {"arena", "scan", "decay", "postings"},
    "fading": {"arena", "scan", "decay", "spread", "postings"},
    "postings": {"arena", "scan", "decay", "spread"},
}
TARGET_REGION = re.compile(r"EBB_TARGET_BEGIN|#\s*pragma\s+GCC\s+target|__attribute__\(\(target")
LIBM_TRANSCENDENTAL = re.compile(r"\bstd::(exp|exp2|expm1|log|log2|log10|log1p|pow)\b")
RAW_NEW = re.compile(r"\bnew\b(?!\s*>)")

# CXX may be a command with arguments, such as "ccache g++".
COMPILER = shlex.split(os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++") or "")
needs_compiler = pytest.mark.skipif(not COMPILER, reason="no C++ compiler on the PATH")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads ELF symbols")


def code(path: Path) -> str:
    """Return a file's text without comments and string literals."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', re.sub(r"//.*", "", text))


def includes(path: Path) -> list[str]:
    """Return what a file includes."""
    return re.findall(r'#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(encoding="utf-8"))


def including(paths: list[Path], forbidden: re.Pattern[str] | set[str]) -> list[str]:
    """Return which of the files include what they must not."""
    hit = forbidden.__contains__ if isinstance(forbidden, set) else forbidden.search
    return [f"{shown(path)}: {name}" for path in paths for name in includes(path) if hit(name)]


def matching(paths: list[Path], pattern: re.Pattern[str]) -> list[str]:
    """Return where the code of the files matches."""
    return [
        f"{shown(path)}: {match.group()}"
        for path in paths
        for match in pattern.finditer(code(path))
    ]


def test_there_is_native_code_to_check() -> None:
    assert len(CORE) > 10
    assert len(KERNELS) > 3
    assert len(FILES) > 1
    assert len(BINDINGS) > 5


def test_the_bindings_alone_know_python() -> None:
    assert (
        including([*CORE, *KERNELS, *FILES], re.compile(r"Python\.h|pybind11|numpy|bindings/"))
        == []
    )


def test_core_includes_core_and_the_standard_library_alone() -> None:
    platform_seams = {"csrc/core/huge_pages.cpp: sys/mman.h"}

    assert set(including(CORE, re.compile(r"^(?!core/).*/"))) == platform_seams
    assert including(CORE, INTRINSICS | TALKATIVE) == []


def test_core_calls_nobody_through_a_pointer_it_was_given_as_bytes() -> None:
    # That is how a database's files are read and written: work of csrc/files.
    assert matching(CORE, re.compile(r"reinterpret_cast<\w*Function>|\bsqlite3?_")) == []


def test_files_include_core_and_the_standard_library_alone() -> None:
    assert including(FILES, re.compile(r"^(?!(core|files)/).*/")) == []


def test_kernels_include_the_table_and_each_other_alone() -> None:
    # Core texts are compiled once for the core, one lane at a time, and once per table.
    inside = re.compile(r"^(?!kernels/|core/kernel_table\.h$|core/\w+\.inl$).*/")
    standard = {"vector", "string", "map", "unordered_map", "memory", "functional", "algorithm"}

    assert including(KERNELS, inside) == []
    assert including(KERNELS, standard | TALKATIVE) == []


def test_what_stands_inside_a_target_region_includes_kernel_texts_alone() -> None:
    inside = [p for p in KERNELS if p.suffix != ".cpp" and p.name != "target_region.h"]

    assert including(inside, re.compile(r"^(?!(kernels|core)/\w+\.inl$)")) == []


def test_only_kernel_sources_include_intrinsics_or_open_a_target_region() -> None:
    tables = [p for p in KERNELS if p.suffix == ".cpp"]
    others = [p for p in SOURCES if p not in tables and p.name != "target_region.h"]

    assert including(others, INTRINSICS) == []
    assert matching(others, TARGET_REGION) == []


def test_a_system_header_never_stands_inside_a_target_region() -> None:
    for path in KERNELS:
        _, begun, region = path.read_text(encoding="utf-8").partition("EBB_TARGET_BEGIN(")
        inside = region.partition("EBB_TARGET_END")[0]
        if begun and path.name != "target_region.h":
            assert re.findall(r"#\s*include\s*<.*", inside) == [], shown(path)


@pytest.mark.parametrize("noun", STRANGERS)
def test_algorithms_do_not_know_each_other(noun: str) -> None:
    own = [path for path in CORE if path.stem == noun]
    forbidden = {f"core/{stranger}.h" for stranger in STRANGERS[noun]}

    assert len(own) == 2
    assert including(own, forbidden) == []


def test_core_ranks_by_its_own_elementary_functions() -> None:
    # libm's results differ by machine; the core's do not.
    assert matching([*CORE, *KERNELS], LIBM_TRANSCENDENTAL) == []


def test_every_kernel_is_run_on_every_processor() -> None:
    kernels = re.findall(r"\(\*(\w+)\)\(", code(ROOT / "csrc/core/kernel_table.h"))
    digest = "".join(code(path) for path in (ROOT / "tests/native").glob("*_digest.cpp"))

    assert len(kernels) > 10
    assert [name for name in kernels if f"kernels.{name}(" not in digest] == []


def test_kernels_neither_throw_nor_hold_containers() -> None:
    assert matching(KERNELS, re.compile(r"\bthrow\b|std::(vector|string|map|function)\b")) == []


def test_nothing_is_made_by_raw_new() -> None:
    assert matching(SOURCES, RAW_NEW) == []


def test_every_header_is_included_once_and_says_its_contract() -> None:
    headers = [path for path in SOURCES if path.suffix == ".h"]

    assert [shown(p) for p in headers if "#pragma once" not in p.read_text("utf-8")] == []
    assert [shown(p) for p in headers if not p.read_text("utf-8").startswith("//")] == []


@needs_compiler
def test_all_but_the_bindings_compiles_without_python_headers() -> None:
    sources = [str(path) for path in [*CORE, *KERNELS, *FILES] if path.suffix == ".cpp"]

    done = syntax_check(sources)

    assert done.returncode == 0, done.stderr


@needs_compiler
def test_each_header_of_core_and_files_compiles_on_its_own(tmp_path: Path) -> None:
    probes = []
    for header in (p for p in [*CORE, *FILES] if p.suffix == ".h"):
        probe = tmp_path / f"{header.stem}.cpp"
        probe.write_text(f'#include "{header.parent.name}/{header.name}"\n', encoding="utf-8")
        probes.append(str(probe))

    done = syntax_check(probes)

    assert done.returncode == 0, done.stderr


def syntax_check(sources: list[str]) -> subprocess.CompletedProcess[str]:
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Icsrc"]
    clean = {name: value for name, value in os.environ.items() if "INCLUDE" not in name}
    command = [*COMPILER, *flags, *sources]
    return subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, text=True, check=False)


@linux_only
@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm on the PATH")
@pytest.mark.parametrize("name", ["_core", "_tokenize"])
def test_a_built_module_exports_one_symbol(name: str) -> None:
    spec = find_spec(f"ebbmem.{name}")
    assert spec is not None
    assert spec.origin is not None

    command = ["nm", "-D", "--defined-only", spec.origin]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert [line.split()[-1] for line in listed.splitlines()] == [f"PyInit_{name}"]
