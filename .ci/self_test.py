"""Use the installed package, from outside the repository: remember, recall, reopen."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import ebbmem

REPOSITORY = Path(__file__).resolve().parents[1]


def main() -> None:
    """Fail with an assertion where the installed package does not work."""
    place = Path(ebbmem.__file__).resolve()
    assert REPOSITORY not in place.parents, f"{place} is the repository's copy"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with ebbmem.AgenticMemory(path) as memory:
            memory.remember("Adopted a puppy named Rex", keywords=["dog", "pet"])
            memory.remember("Bought a leash and kibble", related_to=["dog"])
            assert len(memory.recall("Rex").memories) == 2
        with ebbmem.AgenticMemory(path) as memory:
            assert memory.recall("puppy").memories[0].number == 1
            assert memory.consolidate().scopes == 1
    unwanted = {"scipy", "typer", "rich"} & sys.modules.keys()
    assert not unwanted, f"loaded without need: {sorted(unwanted)}"
    print(ebbmem.build_info())


if __name__ == "__main__":
    main()
