"""Memory for AI agents that behaves like memory."""

from __future__ import annotations

import os

from ebbmem import _core

_core.choose_isa(os.environ.get("EBBMEM_ISA", ""))
