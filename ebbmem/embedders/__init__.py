"""Texts into vectors: one protocol and its implementations."""

from __future__ import annotations

from ebbmem.embedders.base import Embedder
from ebbmem.embedders.callable import CallableEmbedder
from ebbmem.embedders.hashing import HashingEmbedder

__all__ = ["CallableEmbedder", "Embedder", "HashingEmbedder"]
