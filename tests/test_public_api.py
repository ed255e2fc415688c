"""The public surface: what is exported, that it is documented, and what importing it costs."""

from __future__ import annotations

import builtins
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import docstrings
import pytest

import ebbmem
from ebbmem import _core, errors
from ebbmem.models import Remembered

# A verb with more parameters than this beyond self says in a section what they are.
MOST_UNDOCUMENTED = 4
UNWANTED_AT_IMPORT = ("scipy", "typer", "rich", "asyncio", "sqlite3", "ssl", "pickle", "logging")


def named_in(module: object, names: list[str]) -> list[tuple[str, object]]:
    return [(name, getattr(module, name)) for name in names]


def public_classes() -> dict[str, type]:
    exported = named_in(ebbmem, ebbmem.__all__)
    return {name: value for name, value in exported if inspect.isclass(value)}


def own_members(cls: type) -> Iterator[tuple[str, object]]:
    """Yield what a class or its bases in this package define under public names."""
    seen = set()
    for base in cls.__mro__:
        if not base.__module__.startswith("ebbmem"):
            continue
        for name, member in vars(base).items():
            if not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, member


def public_callables() -> dict[str, object]:
    """Return every public function, method and property by its dotted name."""
    exported = named_in(ebbmem, ebbmem.__all__)
    found = {name: value for name, value in exported if inspect.isfunction(value)}
    for name, cls in public_classes().items():
        for member_name, member in own_members(cls):
            plain = getattr(member, "__func__", member)
            if inspect.isfunction(plain) or isinstance(plain, property):
                found[f"{name}.{member_name}"] = plain
    return found


CALLABLES = public_callables()
FUNCTIONS = {name: value for name, value in CALLABLES.items() if inspect.isfunction(value)}


def parameters(function: object) -> list[str]:
    named = list(inspect.signature(function).parameters)  # type: ignore[arg-type]
    return [name for name in named if name not in {"self", "cls"}]


def test_exported_names_are_sorted_and_exist() -> None:
    assert ebbmem.__all__ == sorted(ebbmem.__all__)
    assert [name for name in ebbmem.__all__ if not hasattr(ebbmem, name)] == []


def test_every_public_name_is_exported() -> None:
    public = {
        name
        for name, value in vars(ebbmem).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }

    assert public - set(ebbmem.__all__) == {"annotations"} & public


@pytest.mark.parametrize("name", [n for n in ebbmem.__all__ if n != "__version__"])
def test_every_exported_name_is_documented(name: str) -> None:
    value = getattr(ebbmem, name)

    assert docstrings.summary(value).endswith((".", ":", "::")), name


@pytest.mark.parametrize("name", CALLABLES)
def test_every_function_and_method_is_documented(name: str) -> None:
    text = docstrings.summary(CALLABLES[name])

    assert text, name
    assert "." in text, name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_documented_parameters_are_those_of_the_signature(name: str) -> None:
    function = FUNCTIONS[name]
    lines = docstrings.sections(function).get("Parameters")

    if lines is None:
        assert len(parameters(function)) <= MOST_UNDOCUMENTED, f"{name}: no Parameters section"
    else:
        assert sorted(docstrings.entries(lines)) == sorted(parameters(function))


@pytest.mark.parametrize("name", public_classes())
def test_documented_constructor_parameters_are_real(name: str) -> None:
    cls = public_classes()[name]
    lines = docstrings.sections(cls).get("Parameters")

    if lines is not None:
        assert sorted(docstrings.entries(lines)) == sorted(parameters(cls))


@pytest.mark.parametrize("name", CALLABLES)
def test_documented_errors_exist(name: str) -> None:
    raised = docstrings.entries(docstrings.sections(CALLABLES[name]).get("Raises", []))
    known = vars(errors).keys() | vars(builtins).keys()

    assert [error for error in raised if error not in known] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_signature_is_annotated(name: str) -> None:
    signature = inspect.signature(FUNCTIONS[name])  # type: ignore[arg-type]
    bare = [p.name for p in signature.parameters.values() if p.annotation is p.empty]

    assert [parameter for parameter in bare if parameter not in {"self", "cls"}] == []
    assert signature.return_annotation is not signature.empty


@pytest.mark.parametrize("name", FUNCTIONS)
def test_options_are_given_by_name(name: str) -> None:
    kinds = [p.kind for p in inspect.signature(FUNCTIONS[name]).parameters.values()]  # type: ignore[arg-type]
    positional = [kind for kind in kinds if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    formula = FUNCTIONS[name].__qualname__.split(".")[0] in {  # type: ignore[attr-defined]
        "Ebbinghaus",
        "PowerForgetting",
        "Reinforcement",
        "StorageStrength",
        "WeightedSum",
    }

    assert formula or len(positional) <= 3, f"{name}: self and two more at most"


def tree_in_docstring() -> dict[str, tuple[str, ...]]:
    """Return the error tree that the module draws: name -> its bases."""
    drawn: dict[str, tuple[str, ...]] = {}
    above: list[str] = []
    block = (errors.__doc__ or "").partition("::\n\n")[2].split("\n\n")[0]
    for line in block.splitlines():
        name, *rest = line.strip(" │├└─").split()
        depth = line.index(name) // 4
        above[depth - 1 :] = [name]
        builtin = (rest[0].strip("()"),) if rest and rest[0].startswith("(") else ()
        drawn[name] = (*above[-2:-1], *builtin)
    return drawn


def test_errors_form_the_tree_that_is_drawn() -> None:
    real = {
        name: value
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, Exception) and not name.startswith("_")
    }
    drawn = tree_in_docstring()

    assert set(drawn) == set(real)
    for name, bases in drawn.items():
        for base in bases or ("Exception",):
            assert issubclass(real[name], real.get(base) or getattr(builtins, base)), name


def test_errors_with_a_builtin_parent_are_caught_as_such() -> None:
    with pytest.raises(ValueError, match=r"^k: expected an integer, got 'x'$"):
        raise errors.InvalidArgument.of("k", "an integer", "x")
    with pytest.raises(TypeError, match=r"^k: expected an integer, got str 'x'$"):
        raise errors.InvalidType.of("k", "an integer", "x")
    with pytest.raises(KeyError) as caught:
        raise errors.UnknownMemory("no memory 'x'")
    assert str(caught.value) == "no memory 'x'"


def test_the_version_is_the_one_compiled_in() -> None:
    build = ebbmem.build_info()

    assert ebbmem.__version__ == _core.__version__ == build.version == build.core_version
    assert build.isa in build.isas
    assert build.isas[-1] == "scalar"


def test_values_are_frozen_and_slotted() -> None:
    made = Remembered("id", 1, True, "text")

    with pytest.raises(AttributeError):
        made.number = 2  # type: ignore[misc]
    assert not hasattr(made, "__dict__")


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    given = {**os.environ, **environment}
    return subprocess.run(command, env=given, capture_output=True, text=True, check=False)


def test_importing_loads_nothing_heavy_optional_or_networked() -> None:
    asked = f"print(*[name for name in {UNWANTED_AT_IMPORT} if name in sys.modules])"
    alone = run(f"import sys, numpy, apsw, Stemmer; {asked}")
    after = run(f"import sys, numpy, apsw, Stemmer; import ebbmem; {asked}")

    assert after.returncode == 0, after.stderr
    # numpy may load some of them itself.
    assert set(after.stdout.split()) - set(alone.stdout.split()) == set()


def test_importing_prints_nothing_and_warns_of_nothing() -> None:
    done = run("import warnings; warnings.simplefilter('error'); import ebbmem")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("isa", _core.isas())
def test_ebbmem_isa_chooses_the_instruction_set(isa: str) -> None:
    done = run("import ebbmem; print(ebbmem.build_info().isa)", EBBMEM_ISA=isa)

    assert done.stdout.strip() == isa, done.stderr


def test_an_unknown_ebbmem_isa_is_refused_with_the_valid_names() -> None:
    code = """
import sys
try:
    import ebbmem
except ValueError as error:
    print(type(error).__module__, type(error).__name__, error)
"""
    done = run(code, EBBMEM_ISA="mmx")

    assert done.stdout.startswith("ebbmem.errors UnknownInstructionSet"), done.stderr
    assert "mmx" in done.stdout
    for isa in _core.isas():
        assert isa in done.stdout
