"""The repository as data: its files, its modules, and who imports whom."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "ebbmem"


@dataclass(frozen=True)
class Import:
    """One imported module: its full name, and whether importing the importer runs it."""

    importer: str
    imported: str
    line: int
    at_import: bool

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported}"


def files(folder: str, *suffixes: str) -> list[Path]:
    """Return the files of a top-level folder by suffix, build products left out."""
    found = (ROOT / folder).rglob("*")
    return sorted(p for p in found if p.suffix in suffixes and "__pycache__" not in p.parts)


def shown(path: Path) -> str:
    """Return a path as seen from the top of the repository."""
    return path.relative_to(ROOT).as_posix()


def module_name(path: Path) -> str:
    """Return the name of a module below the package: ``records.base``, or ``__init__``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    if len(parts) > 1 and parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts)


@cache
def modules() -> dict[str, Path]:
    """Return every module of the package by name, native ones included."""
    sources = {module_name(path): path for path in files("ebbmem", ".py", ".pyx")}
    return {"_core": PACKAGE / "_core.pyi", **sources}


def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of every Python module of the package."""
    return {name: parsed(path) for name, path in modules().items() if path.suffix == ".py"}


@cache
def imports() -> tuple[Import, ...]:
    """Return every import of every Python module of the package."""
    return tuple(one for name, tree in trees().items() for one in _imports_of(name, tree))


def inner_imports() -> list[Import]:
    """Return the imports between modules of the package, without its name in front."""
    inner = []
    for one in imports():
        top, _, rest = one.imported.partition(".")
        if top == "ebbmem":
            inner.append(Import(one.importer, rest or "__init__", one.line, one.at_import))
    return inner


def _imports_of(name: str, tree: ast.Module) -> Iterator[Import]:
    outside = {id(node) for node in _run_at_import(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            targets = [_target(node.module or "", alias.name) for alias in node.names]
        else:
            continue
        for target in dict.fromkeys(targets):
            yield Import(name, target, node.lineno, id(node) in outside)


def _target(module: str, name: str) -> str:
    """Return what ``from module import name`` imports: the submodule, where that is one."""
    top, _, rest = module.partition(".")
    if top != "ebbmem":
        return module
    below = f"{rest}.{name}" if rest else name
    return f"ebbmem.{below}" if below in modules() else module


def _run_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run when the module is imported: not functions, not type checking."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from _run_at_import(child)
