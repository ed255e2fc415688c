"""What this build is and what it runs on, for bug reports."""

from __future__ import annotations

import platform
from dataclasses import dataclass

import apsw
import numpy as np

from ebbmem import _core
from ebbmem._version import __version__


@dataclass(frozen=True, slots=True)
class BuildInfo:
    """Versions and the instruction set in use; ``isas`` are those this machine runs, best first."""

    version: str
    core_version: str
    compiler: str
    isa: str
    isas: tuple[str, ...]
    python: str
    numpy: str
    sqlite: str


def build_info() -> BuildInfo:
    """Return versions and the instruction set in use."""
    return BuildInfo(
        version=__version__,
        core_version=_core.__version__,
        compiler=_core.compiler,
        isa=_core.isa(),
        isas=tuple(_core.isas()),
        python=platform.python_version(),
        numpy=np.__version__,
        sqlite=apsw.sqlite_lib_version(),
    )
