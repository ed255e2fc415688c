"""Use the installed package, from outside the repository: remember, recall, reopen."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import ebbmem

REPOSITORY = Path(__file__).resolve().parents[1]


def main() -> None:
    """Fail with an assertion where the installed package does not work."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--isa", help="the kernels that the package must have chosen")
    expected_isa = parser.parse_args().isa
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
    built = ebbmem.build_info()
    assert expected_isa in (None, built.isa), f"runs the {built.isa} kernels, not {expected_isa}"
    print(built)


if __name__ == "__main__":
    main()
