"""The command line: what it prints, where, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import REPOSITORY, environment, process, run

import ebbmem
from ebbmem import AgenticMemory, CallableEmbedder, Database


def test_stats_count_and_name_the_build(puppy: Path) -> None:
    shown = run("stats").stdout
    counted = json.loads(run("stats", "--json").stdout)

    assert shown.splitlines()[2].split() == ["2", "0", "0", "0", "2", "0", "0", "default"]
    assert ebbmem.build_info().isa in shown
    assert counted["bytes"] > 0
    assert counted["scopes"][0]["memories"] == 2
    assert counted["build"]["isa"] == ebbmem.build_info().isa


def test_stats_need_no_embedder(db: Path) -> None:
    with Database(db) as database:
        embedder = CallableEmbedder(lambda texts: [[1.0, 0.0]] * len(texts), 2, "mine")
        AgenticMemory(database, embedder=embedder).remember("Rex")

    assert run("stats").exit_code == run("export").exit_code == 0
    refused = run("recall", "Rex")
    assert refused.exit_code == 1
    assert "mine" in refused.stderr


def test_the_version_is_printed() -> None:
    assert run("--version").stdout == f"ebbmem {ebbmem.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("remember", "x", "--importance", "99"), 1, "ebbmem: importance: expected a number"),
        (("recall", "x", "-k", "0"), 1, "ebbmem: top_k: expected"),
        (("recall", "x", "--scope", " "), 1, "ebbmem: scope: expected"),
        (("recall", "x", "--db", "absent.sqlite"), 1, "ebbmem: --db: expected a store that exists"),
        (("stats", "--db", "absent.sqlite"), 1, "ebbmem: --db: expected a store that exists"),
        (("import", "absent.jsonl"), 1, "ebbmem: [Errno 2] No such file"),
        (("remember", "x", "--db", "no/such/folder/db"), 1, "no/such/folder does not exist"),
        (("export", "/no/folder/x"), 1, "No such file or directory: '/no/folder/x'\n"),
        (
            ("erase", "notanid"),
            1,
            "ebbmem: id: expected an id, or a number that recall shows, such",
        ),
        (("recall", "x", "--recipe", "nope"), 2, "one of default, ebbinghaus"),
        (("remember", "x", "--importance", "much"), 2, "Invalid value for '--importance'"),
        (("remember",), 2, "Missing argument"),
        (("nope",), 2, "No such command"),
    ],
)
def test_a_mistake_is_one_line_and_an_exit_code(
    puppy: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    result = run(*arguments)

    assert (result.exit_code, result.stdout) == (code, "")
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert code == 2 or result.stderr.count("\n") == 1


def test_a_file_that_is_no_store_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes, not a store\n" * 100)

    result = run("remember", "x", "--db", str(path))

    assert result.exit_code == 1
    assert result.stderr.startswith("ebbmem: ")
    assert path.read_text() == "my notes, not a store\n" * 100


def test_arguments_that_are_no_text_are_refused(db: Path) -> None:
    command = [sys.executable.encode(), b"-m", b"ebbmem", b"remember", b"\xff"]

    ended = subprocess.run(command, env=environment(), capture_output=True, timeout=60, check=False)

    assert ended.returncode == 1
    assert ended.stderr.startswith(b"ebbmem: summary: expected text without lone surrogates")


def test_the_module_runs_as_a_program(puppy: Path) -> None:
    ended = process("recall", "Rex")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Bought a leash and kibble" in ended.stdout


def test_wrong_usage_ends_with_2() -> None:
    assert process("nope").returncode == 2


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_a_missing_package_is_told_with_the_extra_that_brings_it(
    package: str, tmp_path: Path
) -> None:
    (tmp_path / f"{package}.py").write_text(
        f"raise ModuleNotFoundError('gone', name={package!r})\n"
    )
    paths = os.pathsep.join([str(tmp_path), str(REPOSITORY)])

    ended = process("stats", env={"PYTHONPATH": paths})

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "ebbmem[cli]" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_an_encoding_without_the_characters_gets_escapes(db: Path) -> None:
    with AgenticMemory(db) as memory:
        memory.remember("Caffè → 茶")

    ended = process("recall", "caffè", env={"PYTHONIOENCODING": "ascii"})

    assert ended.returncode == 0
    assert "Caff\\xe8 \\u2192 \\u8336" in ended.stdout


def test_stored_text_cannot_steer_the_terminal(db: Path) -> None:
    with AgenticMemory(db) as memory:
        memory.remember("Rex [red]\x1b[31m\x07\u202e :dog: \x9b1m\nnext")

    shown = run("recall", "Rex").stdout

    assert r"Rex [red]\x1b[31m\x07\u202e :dog: \x9b1m next" in shown


def test_a_closed_standard_output_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m ebbmem remember hello --db {tmp_path / 'store.sqlite'} >&-"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
