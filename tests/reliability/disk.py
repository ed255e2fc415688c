"""A disk that is cut off from power: what SQLite wrote and synced, and what may be left of it.

Everything that SQLite does to files is recorded, in order, beneath it.  At a cut, what was synced
before is there; of every later write all, nothing or some sectors; of every later change of a
folder (a file that was made or removed) all or nothing.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import apsw

SECTOR_BYTES = 512
KEPT = (0.0, 0.1, 0.5, 0.9, 1.0)
"""How likely it is that a write that was not synced is there: one of them for each cut."""
TORN = 0.25
"""Share of those kept of which only some sectors are."""
_LOGS = ("-wal", "-journal")


class Opened(NamedTuple):
    """A file, made where it was not there."""

    file: str


class Wrote(NamedTuple):
    """Bytes at an offset."""

    file: str
    offset: int
    content: bytes


class Resized(NamedTuple):
    """A file cut to a size, or lengthened."""

    file: str
    size: int


class Synced(NamedTuple):
    """All that was written to a file has reached the disk."""

    file: str


class Removed(NamedTuple):
    """A file that is no longer there; ``synced``: its folder has reached the disk."""

    file: str
    synced: bool


class Said(NamedTuple):
    """What the process that writes told of itself."""

    message: Any


Step = Opened | Wrote | Resized | Synced | Removed | Said


class Recording(apsw.VFS):
    """SQLite's files as they are, and every step that changes them; the default from then on."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._base = apsw.vfs_names()[0]
        super().__init__("recording", self._base, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        """Open a file."""
        return _RecordedFile(self._base, name, flags, self.steps)

    def xDelete(self, name: str, syncdir: bool) -> None:
        """Remove a file."""
        super().xDelete(name, syncdir)
        self.steps.append(Removed(os.path.basename(name), bool(syncdir)))


class _RecordedFile(apsw.VFSFile):
    def __init__(self, base: str, name: Any, flags: list[int], steps: list[Step]) -> None:
        super().__init__(base, name, flags)
        whole = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._name, self._steps = os.path.basename(whole or ""), steps
        steps.append(Opened(self._name))

    def xWrite(self, content: bytes, offset: int) -> None:
        super().xWrite(content, offset)
        self._steps.append(Wrote(self._name, offset, bytes(content)))

    def xTruncate(self, size: int) -> None:
        super().xTruncate(size)
        self._steps.append(Resized(self._name, size))

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._steps.append(Synced(self._name))


@dataclass
class _File:
    """A file on the disk, and what was done to it since its last sync."""

    there: bytearray = field(default_factory=bytearray)
    waiting: list[Wrote | Resized] = field(default_factory=list)
    named: bool = False
    """Whether its folder knows it for good."""

    def settle(self) -> None:
        """Let all that waits reach the disk."""
        for step in self.waiting:
            _do(self.there, step)
        self.waiting.clear()

    def left(self, kept: float, chosen: random.Random) -> bytes:
        """Return what may be left of it."""
        left = bytearray(self.there)
        for step in self.waiting:
            if chosen.random() < kept:
                torn = isinstance(step, Wrote) and chosen.random() < TORN
                for part in _sectors(step, chosen) if torn else [step]:
                    _do(left, part)
        return bytes(left)


class Disk:
    """The files of one folder, step by step."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._removed: dict[str, _File] = {}
        """What comes back where its folder has not reached the disk."""

    def do(self, step: Step) -> None:
        """Take a step."""
        if isinstance(step, Said):
            return
        if isinstance(step, Removed):
            gone = self._files.pop(step.file, None)
            if step.synced:
                self._sync_folder()
            elif gone is not None:
                self._removed[step.file] = gone
            return
        file = self._files.setdefault(step.file, _File())
        if isinstance(step, Synced):
            file.settle()
            # SQLite syncs the folder with the first sync of a journal or log that it made.
            if not file.named and step.file.endswith(_LOGS):
                self._sync_folder()
        elif not isinstance(step, Opened):
            file.waiting.append(step)

    def _sync_folder(self) -> None:
        self._removed.clear()
        for file in self._files.values():
            file.named = True

    def cut(self, chosen: random.Random) -> dict[str, bytes]:
        """Return the files as they may be after a power cut now."""
        kept = chosen.choice(KEPT)
        found = {name: file for name, file in self._removed.items() if chosen.random() < 0.5}
        known = self._files.items()
        found |= {name: file for name, file in known if file.named or chosen.random() < 0.5}
        return {name: file.left(kept, chosen) for name, file in found.items()}


def _do(content: bytearray, step: Wrote | Resized) -> None:
    """Write to bytes, or give them another size; what was never written is zero."""
    end = step.size if isinstance(step, Resized) else step.offset + len(step.content)
    content.extend(bytes(max(0, end - len(content))))
    if isinstance(step, Resized):
        del content[step.size :]
    else:
        content[step.offset : end] = step.content


def _sectors(step: Wrote, chosen: random.Random) -> list[Wrote]:
    """Return some of the sectors of a write."""
    parts, start = [], 0
    while start < len(step.content):
        end = start + SECTOR_BYTES - (step.offset + start) % SECTOR_BYTES
        if chosen.random() < 0.5:
            parts.append(Wrote(step.file, step.offset + start, step.content[start:end]))
        start = end
    return parts
