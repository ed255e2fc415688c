"""Every error ebbmem raises on purpose.

::

    EbbmemError
    ├── InvalidArgument      (ValueError)  a value that is not allowed
    │   ├── ShapeMismatch                  an array of the wrong length or dimension
    │   ├── NaiveDatetime                  a datetime without a time zone
    │   ├── LanguageMismatch               the store keeps its words in another language
    │   └── UnknownInstructionSet          EBBMEM_ISA names none that this machine runs
    ├── InvalidType          (TypeError)   a value of the wrong type
    ├── UnknownMemory        (KeyError)    no memory of this scope has that id
    ├── MissingExtra         (ImportError) an optional package is not installed
    ├── EmbedderMismatch                   the store's vectors come from another embedder
    ├── EmbedderFailed                     an embedder raised or returned unusable vectors
    └── StoreError
        ├── StoreClosed                    the store was closed
        ├── ForkedStore                    the store was opened before this process was forked
        ├── LockTimeout                    another process held the write lock for too long
        │   └── StoreInUse                 it has the store open, where only one process may
        ├── NotAStore                      the file is something else
        ├── StoreTooNew                    a newer ebbmem wrote the file
        ├── CorruptStore                   a checksum, count or page does not match
        │   └── PartlyAnswered             of a batch, some cues could not be answered for it
        └── StorageFailed                  the file could not be read or written

A message names the argument, what was expected and what came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class EbbmemError(Exception):
    """Base of every error that ebbmem raises on purpose."""


class InvalidArgument(EbbmemError, ValueError):
    """A value that is not allowed."""

    @classmethod
    def of(cls, argument: str, expected: str, got: object) -> InvalidArgument:
        """Return the error for ``argument``, in the one form every message has."""
        return cls(f"{argument}: expected {expected}, got {_shown(got)}")


class ShapeMismatch(InvalidArgument):
    """An array of the wrong length or dimension."""


class NaiveDatetime(InvalidArgument):
    """A datetime without a time zone: its moment is not known."""


class LanguageMismatch(InvalidArgument):
    """The store's words are of another language than the one named; both are told."""


class UnknownInstructionSet(InvalidArgument):
    """``EBBMEM_ISA`` names an instruction set that this machine cannot run."""


class InvalidType(EbbmemError, TypeError):
    """A value of the wrong type."""

    @classmethod
    def of(cls, argument: str, expected: str, got: object) -> InvalidType:
        """Return the error for ``argument``, in the one form every message has."""
        return cls(f"{argument}: expected {expected}, got {type(got).__name__} {_shown(got)}")


class _LookupFailed(EbbmemError, KeyError):
    def __str__(self) -> str:
        # KeyError would show the message in quotes.
        return Exception.__str__(self)


class UnknownMemory(_LookupFailed):
    """No memory of this scope has that id."""


class MissingExtra(EbbmemError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""


class EmbedderMismatch(EbbmemError):
    """The store holds vectors of another embedder; both are named."""


class EmbedderFailed(EbbmemError):
    """An embedder raised, or returned vectors of the wrong shape or with NaN or infinity."""


class StoreError(EbbmemError):
    """Something about the store's file."""


class StoreClosed(StoreError):
    """The store was closed."""


class ForkedStore(StoreError):
    """The store was opened before this process was forked; open it again in the child."""


class LockTimeout(StoreError):
    """Another process held the write lock for longer than the busy wait."""


class StoreInUse(LockTimeout):
    """The store is open elsewhere, on a file system where only one process at a time may have it.

    On NFS, SMB, 9p, FUSE and their like, processes cannot share memory, and caches lag behind.
    """


class NotAStore(StoreError):
    """The file is not an ebbmem store; it was left as it was."""


class StoreTooNew(StoreError):
    """A newer ebbmem wrote the store; it was left as it was."""


class CorruptStore(StoreError):
    """A checksum, a count or a page of the store does not match."""


class PartlyAnswered(CorruptStore):
    """Of a batch of cues some could not be answered, where something does not match.

    The other cues were answered, and what they hit is strengthened: asking them again would
    strengthen it once more.

    Parameters
    ----------
    results : sequence
        A result for each cue, in the order given; None for each that could not be answered.
    failures : mapping of int to CorruptStore
        Why not, by position.
    scopes : sequence of str
        The scope of each cue.
    """

    def __init__(
        self,
        results: Sequence[Any],
        failures: Mapping[int, CorruptStore],
        scopes: Sequence[str],
    ) -> None:
        super().__init__(results, failures, scopes)
        self.results = results
        self.failures = failures
        self.scopes = scopes

    def __str__(self) -> str:
        names = ", ".join(dict.fromkeys(repr(self.scopes[at]) for at in self.failures))
        first = next(iter(self.failures.values()))
        return (
            f"{len(self.failures)} of {len(self.results)} cues could not be answered, asked in"
            f" {names}: {first}"
        )


class StorageFailed(StoreError):
    """The operating system refused to read or write the store."""


def _shown(value: object) -> str:
    """Return ``repr(value)``, cut to a length that fits a message."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a value's own repr may raise anything
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= 80 else f"{text[:77]}..."
