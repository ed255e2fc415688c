"""The README runs as it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from codebase import ROOT

README = ROOT / "README.md"
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
FIRST_CODE_WITHIN_LINES = 25
SHELLS = {"bash", "console", "sh", "shell"}


@dataclass(frozen=True)
class Block:
    """One fenced block; ``line`` is that of its first line of code."""

    language: str
    code: str
    line: int


def blocks(*languages: str) -> list[Block]:
    """Return the README's fenced blocks of some languages, in order."""
    text = README.read_text("utf-8") if README.is_file() else ""
    return [
        Block(match[1], match[2], text.count("\n", 0, match.start()) + 2)
        for match in FENCE.finditer(text)
        if match[1] in languages
    ]


def test_python_stands_at_the_beginning() -> None:
    found = blocks("python")

    assert found, "README.md has no ```python block: begin with one"
    assert found[0].line <= FIRST_CODE_WITHIN_LINES, "README.md shows code too late"


def test_every_python_block_runs_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}

    for block in blocks("python"):
        # Line numbers in a traceback are then those of the README.
        padded = "\n" * (block.line - 1) + block.code
        exec(compile(padded, str(README), "exec"), namespace)


def spoken_commands() -> list[tuple[int, str]]:
    """Return the sub-commands of ``ebbmem`` that shell blocks call, with their lines."""
    found = []
    for block in blocks(*SHELLS):
        for offset, line in enumerate(block.code.splitlines()):
            called = re.match(r"^\s*(?:\$\s+)?(?:\S*/)?(?:python -m )?ebbmem\s+([a-z][\w-]*)", line)
            if called:
                found.append((block.line + offset, called[1]))
    return found


def test_every_command_that_is_shown_exists() -> None:
    spoken = spoken_commands()
    if not spoken:
        pytest.skip("README.md shows no ebbmem command")
    known = command_names()

    assert [(line, name) for line, name in spoken if name not in known] == []


def command_names() -> set[str]:
    """Return the sub-commands of the command line."""
    cli = pytest.importorskip("ebbmem.cli", reason="the extra ebbmem[cli] is not installed")
    typer = pytest.importorskip("typer")
    group = typer.main.get_command(cli.app)
    return set(group.commands)
