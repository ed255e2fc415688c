"""The repository itself: what lies where, how long files are, how the build is set."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from codebase import ROOT, files, parsed, shown

TOP_LEVEL = {
    "ebbmem",
    "csrc",
    "benchmarks",
    "tests",
    "setup.py",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
}
FOLDERS = ("ebbmem", "csrc", "benchmarks", "tests")
SOURCES = (".py", ".pyi", ".pyx", ".pxd", ".cpp", ".h", ".inl", ".sql")
MOST_LINES = 400
MOST_STATEMENT_LINES = 40
FORBIDDEN_FLAGS = ("-march=native", "-mtune=native", "-ffast-math", "-Ofast", "/fp:fast")
GENERATED = {".c", ".cc", ".so", ".o", ".pyc", ".sqlite", ".whl"}
MARKERS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def tracked() -> list[str]:
    """Return what git tracks, or skip where this is no clone."""
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git clone")
    return [name for name in listed.stdout.split("\0") if name]


def sources() -> list[Path]:
    """Return every source file written by hand."""
    return [path for folder in FOLDERS for path in files(folder, *SOURCES)] + [ROOT / "setup.py"]


def test_the_top_level_holds_what_the_design_names() -> None:
    entries = {name.partition("/")[0] for name in tracked()}

    assert {name for name in entries if not name.startswith(".")} <= TOP_LEVEL


def test_nothing_generated_is_tracked() -> None:
    assert [name for name in tracked() if Path(name).suffix in GENERATED] == []


def test_no_file_is_longer_than_the_cap() -> None:
    lengths = {shown(path): path.read_text("utf-8").count("\n") for path in sources()}

    assert {name: n for name, n in lengths.items() if n > MOST_LINES} == {}


def statement_lines(function: Function) -> int:
    """Return how many lines the statements of a function span, its docstring left out."""
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:]
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("path", files("ebbmem", ".py"), ids=shown)
def test_no_function_is_longer_than_the_cap(path: Path) -> None:
    functions = [node for node in ast.walk(parsed(path)) if isinstance(node, Function)]
    lengths = {function.name: statement_lines(function) for function in functions}

    assert {name: n for name, n in lengths.items() if n > MOST_STATEMENT_LINES} == {}


def test_open_ends_are_issues_and_not_comments() -> None:
    written = [path for path in sources() if path != Path(__file__)]
    found = [shown(path) for path in written if MARKERS.search(path.read_text("utf-8"))]

    assert found == []


def test_the_build_asks_for_no_flag_that_changes_bits_or_machines() -> None:
    written = "".join((ROOT / name).read_text("utf-8") for name in ("setup.py", "pyproject.toml"))

    assert [flag for flag in FORBIDDEN_FLAGS if flag in written] == []
    assert "-ffp-contract=off" in written


def test_every_folder_with_modules_is_packaged() -> None:
    configured = (ROOT / "pyproject.toml").read_text("utf-8")
    folders = {path.parent for path in files("ebbmem", ".py", ".sql")}
    packages = {shown(folder).replace("/", ".") for folder in folders}
    listed = set(re.findall(r'^\s*"(ebbmem[\w.]*)",$', configured, flags=re.MULTILINE))

    assert packages - {"ebbmem.records.migrations"} == listed
    assert (ROOT / "ebbmem/py.typed").is_file()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_the_core_needs_few_packages_and_tells_no_upper_bound() -> None:
    import tomllib  # noqa: PLC0415 - not in Python 3.10

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {re.split(r"[<>=!~\[ ]", need)[0] for need in project["dependencies"]}

    assert names == {"numpy", "scipy", "apsw", "PyStemmer"}
    assert [need for need in project["dependencies"] if "<" in need or "==" in need] == []
