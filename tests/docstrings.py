"""Numpydoc sections of a docstring, as far as the tests of the public surface read them."""

from __future__ import annotations

import inspect
import re


def sections(documented: object) -> dict[str, list[str]]:
    """Return the lines of each section of a docstring; the text before the first is ``""``."""
    lines = (inspect.getdoc(documented) or "").splitlines()
    found: dict[str, list[str]] = {"": []}
    name = ""
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch(r"-{3,}", below) and len(below) == len(line):
            name = line
            found[name] = []
        elif not (name and re.fullmatch(r"-{3,}", line)):
            found[name].append(line)
    return found


def entries(lines: list[str]) -> list[str]:
    """Return the names that a section lists: ``a, b : float`` lists a and b."""
    heads = [line for line in lines if line and not line.startswith(" ")]
    names = [name.strip(" *") for head in heads for name in head.split(" : ")[0].split(",")]
    return [name for name in names if name]


def summary(documented: object) -> str:
    """Return the paragraph a docstring begins with, on one line."""
    text = inspect.getdoc(documented) or ""
    return " ".join(text.split("\n\n")[0].split())
