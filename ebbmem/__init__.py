"""Memory for AI agents that behaves like memory.

Facts fade on the forgetting curve, recall strengthens them, one thing brings up another,
intentions wait for their moment, and a sleep pass tidies up.
"""

# ruff: noqa: E402 - the core is looked for first, to say what to do when it is missing.
from __future__ import annotations

import os

try:
    from ebbmem import _core
except ImportError:
    from ebbmem.errors import MissingExtra

    # The folder's sources come before an installed ebbmem on the path.
    raise MissingExtra(
        f"ebbmem: expected the compiled module ebbmem._core in {os.path.dirname(__file__)}; where "
        "that is a source tree, run Python in another folder, or compile it there with "
        "`pip install -e .`"
    ) from None

# Before any other module can compute with it.
_core.choose_isa(os.environ.get("EBBMEM_ISA", ""))

from ebbmem import errors, recipes
from ebbmem._version import __version__
from ebbmem.agentic import AgenticMemory
from ebbmem.buffer import BufferLimits
from ebbmem.build import BuildInfo, build_info
from ebbmem.clock import Clock, ManualClock, SystemClock
from ebbmem.conflicts import ConflictRule
from ebbmem.consolidation import SleepPolicy
from ebbmem.database import Database, run_consolidation
from ebbmem.decay import Ebbinghaus, NoForgetting, PowerForgetting, StorageStrength, WeightedSum
from ebbmem.embedders import CallableEmbedder, Embedder, HashingEmbedder
from ebbmem.fleet import Fleet
from ebbmem.maintenance import repair, verify
from ebbmem.models import (
    CallMetrics,
    ConsolidationReport,
    ErasureReceipt,
    Explained,
    Explanation,
    FleetMetrics,
    Intention,
    Link,
    Memory,
    Recalled,
    RecallResult,
    Remembered,
    ScopeMetrics,
    StoreStats,
    Tier,
    Turn,
)
from ebbmem.recipes import Recipe
from ebbmem.reinforcement import Reinforcement
from ebbmem.reports import (
    BadLine,
    Finding,
    ImportReport,
    ReembedReport,
    RepairReport,
    VerifyReport,
)
from ebbmem.spreading import SpreadConfig
from ebbmem.store import EpisodicMemoryStore
from ebbmem.vectorstores import InMemoryVectorStore, VectorHit, VectorStore

__all__ = [
    "AgenticMemory",
    "BadLine",
    "BufferLimits",
    "BuildInfo",
    "CallMetrics",
    "CallableEmbedder",
    "Clock",
    "ConflictRule",
    "ConsolidationReport",
    "Database",
    "Ebbinghaus",
    "Embedder",
    "EpisodicMemoryStore",
    "ErasureReceipt",
    "Explained",
    "Explanation",
    "Finding",
    "Fleet",
    "FleetMetrics",
    "HashingEmbedder",
    "ImportReport",
    "InMemoryVectorStore",
    "Intention",
    "Link",
    "ManualClock",
    "Memory",
    "NoForgetting",
    "PowerForgetting",
    "RecallResult",
    "Recalled",
    "Recipe",
    "ReembedReport",
    "Reinforcement",
    "Remembered",
    "RepairReport",
    "ScopeMetrics",
    "SleepPolicy",
    "SpreadConfig",
    "StorageStrength",
    "StoreStats",
    "SystemClock",
    "Tier",
    "Turn",
    "VectorHit",
    "VectorStore",
    "VerifyReport",
    "WeightedSum",
    "__version__",
    "build_info",
    "errors",
    "recipes",
    "repair",
    "run_consolidation",
    "verify",
]
