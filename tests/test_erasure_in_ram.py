"""What was erased is told by nothing that a store keeps in RAM."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import pytest

from ebbmem import AgenticMemory, ConflictRule, Fleet

SECRET = "zqxkv"
MAPPINGS = (dict, OrderedDict, WeakKeyDictionary, WeakValueDictionary)


def parts(value: Any) -> Iterator[Any]:
    """Yield what a value of the package, or a container, holds."""
    if isinstance(value, MAPPINGS):
        yield from value.items()
    elif isinstance(value, (list, tuple, set, frozenset, deque)):
        yield from value
    elif type(value).__module__.startswith("ebbmem"):
        names = [name for one in type(value).__mro__ for name in getattr(one, "__slots__", ())]
        yield from (
            getattr(value, name, None) for name in [*names, *getattr(value, "__dict__", ())]
        )


def secrets(root: object) -> set[str]:
    """Return the texts with the secret that can be reached from an object."""
    found: set[str] = set()
    seen: dict[int, object] = {}
    waiting: list[object] = [root]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if isinstance(value, str):
            found |= {value} if SECRET in value.casefold() else set()
        else:
            waiting += parts(value)
    return found


def secret(name: str) -> str:
    """Return a text that no constant of this module is."""
    return "-".join([SECRET, name])


def told() -> Mapping[str, Any]:
    """Return a memory that has the secret wherever there is a text."""
    names = ("detail", "source", "run_id", "memory_type", "key")
    fields = {name: secret(name) for name in names}
    return {**fields, "keywords": [secret("word")], "metadata": {"k": secret("value")}}


ASKED = {"metadata": {"k": "*"}, "source": "*", "keywords": "*", "key": "*", "verified": True}


@pytest.mark.parametrize("others", [0, 40])
def test_a_memory(path, others):
    with AgenticMemory(path, conflicts=ConflictRule(), extract=lambda text: text.split()) as memory:
        for n in range(others):
            memory.remember(f"filler {n}", run_id="other", metadata={"k": n})
        one = memory.remember(f"rex {secret('text')}", **told())
        memory.remember("rex barks", run_id="other")
        assert len(memory.recall("rex", filters=ASKED)) == 1
        assert memory.explain(one.id, secret("text"), filters=ASKED).returned
        engine = memory.database.engine
        assert secrets(engine) >= {secret("run_id"), secret("memory_type"), secret("source")}
        memory.erase(one.id)
        assert secrets(engine) == set()
        assert [hit.summary for hit in memory.recall("rex", run_id="other")] == ["rex barks"]
        again = memory.remember("rex again", run_id=secret("run_id"))
        (hit,) = memory.recall("rex", run_id=secret("run_id"))
        assert hit.id == again.id


def test_a_scope(path):
    with Fleet(path) as fleet:
        fleet["other"].remember("rex")
        scope = secret("scope")
        fleet[scope].remember("rex", **told())
        fleet[scope].recall("rex")
        fleet.recall_many([(scope, "rex")])
        engine = fleet.database.engine
        assert secrets(engine) >= {scope}
        fleet.database.erase_scope(scope)
        assert secrets(engine) == set()
        assert fleet[scope].remember("rex").number == 1
