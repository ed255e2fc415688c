"""Vectors by id: one protocol and what implements it."""

from __future__ import annotations

from ebbmem.vectorstores.base import VectorHit, VectorStore
from ebbmem.vectorstores.native import InMemoryVectorStore

__all__ = ["InMemoryVectorStore", "VectorHit", "VectorStore"]
