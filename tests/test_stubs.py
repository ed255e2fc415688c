"""The stubs of the native modules name what the modules have."""

from __future__ import annotations

import ast
import inspect
import re

import pytest
from codebase import PACKAGE, parsed

from ebbmem import _core, _tokenize

MODULES = {"_core": _core, "_tokenize": _tokenize}
SPOKEN_DUNDERS = {"__init__", "__len__", "__getitem__", "__contains__", "__iter__"}

Function = ast.FunctionDef


def stub(name: str) -> ast.Module:
    """Return the stub of a module; parts of it may be in files of their own."""
    whole = parsed(PACKAGE / f"{name}.pyi")
    for part in sorted(PACKAGE.glob(f"{name}_*.pyi")):
        whole.body += parsed(part).body
    return whole


def declared(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    """Return what a stub's body declares; type aliases and imports are its own matter."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign) and "TypeAlias" not in ast.unparse(node.annotation):
            found[ast.unparse(node.target)] = node
    return found


def classes(name: str) -> dict[str, ast.ClassDef]:
    nodes = declared(stub(name).body)
    return {n: node for n, node in nodes.items() if isinstance(node, ast.ClassDef)}


def functions() -> dict[str, tuple[ast.FunctionDef, object]]:
    """Return every function and method that a stub declares, and the real one."""
    found: dict[str, tuple[ast.FunctionDef, object]] = {}
    for name, module in MODULES.items():
        holders = [(name, stub(name).body, module)]
        holders += [(f"{name}.{n}", c.body, getattr(module, n)) for n, c in classes(name).items()]
        for prefix, body, holder in holders:
            for below, node in declared(body).items():
                if isinstance(node, Function) and not node.decorator_list:
                    # Cython tells a constructor's parameters where it documents the class.
                    told = name == "_tokenize" and below == "__init__"
                    found[f"{prefix}.{below}"] = (node, holder if told else getattr(holder, below))
    return found


FUNCTIONS = functions()


@pytest.mark.parametrize("name", MODULES)
def test_the_stub_declares_the_names_of_the_module(name: str) -> None:
    real = {n for n, value in vars(MODULES[name]).items() if is_own(n, value, f"ebbmem.{name}")}

    assert set(declared(stub(name).body)) == real


def is_own(name: str, value: object, module: str) -> bool:
    """Return whether a module's name is one of its own and public."""
    if name == "__version__":
        return True
    return (
        not name.startswith("_")
        and not inspect.ismodule(value)
        and getattr(value, "__module__", module) in {module, None}
    )


@pytest.mark.parametrize("name", MODULES)
def test_the_stub_declares_the_members_of_each_class(name: str) -> None:
    for class_name, node in classes(name).items():
        real_class = getattr(MODULES[name], class_name)
        if issubclass(real_class, tuple):  # a NamedTuple: its fields are its members
            assert set(declared(node.body)) == set(real_class._fields)
            continue
        real = {n for n in vars(real_class) if not n.startswith("__") or n in SPOKEN_DUNDERS}
        assert set(declared(node.body)) == real - {"_pybind11_conduit_v1_"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_stub_names_parameters_as_the_module_does(name: str) -> None:
    node, real = FUNCTIONS[name]
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    stubbed = [a.arg for a in arguments if a.arg != "self"]
    stubbed += [f"*{node.args.vararg.arg}"] if node.args.vararg else []

    assert stubbed == real_parameters(real)


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n.startswith("_core.")])
def test_a_default_that_the_stub_tells_is_that_of_the_module(name: str) -> None:
    node, real = FUNCTIONS[name]
    arguments = node.args.args[len(node.args.args) - len(node.args.defaults) :]
    told = [
        (a.arg, ast.literal_eval(d)) for a, d in zip(arguments, node.args.defaults, strict=True)
    ]
    first = (inspect.getdoc(real) or "").partition("\n")[0]

    for argument, default in told:
        if default is not ...:
            assert re.search(rf"\b{argument}: [^=]* = {re.escape(repr(default))}[,)]", first), first


def real_parameters(function: object) -> list[str]:
    """Return the parameters of a native function.

    pybind11 and Cython tell them in its first line; without one the signature does, which has no
    names of a function that takes one argument by position.
    """
    first = (inspect.getdoc(function) or "").partition("\n")[0]
    if re.match(r"[\w.]+\(", first):
        inside = re.sub(r"\[[^\[\]]*\]", "", first.partition("(")[2].rpartition(")")[0])
        while "[" in inside:
            inside = re.sub(r"\[[^\[\]]*\]", "", inside)
        named = [re.split("[:=]", part)[0].strip() for part in inside.split(",") if part.strip()]
    else:
        named = list(inspect.signature(function).parameters)  # type: ignore[arg-type]
    return [name for name in named if name not in {"self", "/", "*"}]


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n.startswith("_core.")])
def test_every_native_argument_can_be_given_by_name(name: str) -> None:
    unnamed = [p for p in real_parameters(FUNCTIONS[name][1]) if re.fullmatch(r"arg\d+", p)]

    assert unnamed == []
