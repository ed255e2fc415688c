"""What a repair takes out of a store: rows kept in a file beside it, one JSON object a line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, TextIO

from ebbmem.reports import Finding


class Quarantine:
    """Rows taken out, with the reason, and everything else that a repair did.

    Parameters
    ----------
    file : text file
        Where rows go.  A blob, or a text that is not UTF-8, is written as ``{"hex": "..."}``.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.rows = 0
        self.done: list[Finding] = []

    def put(self, what: Finding, row: Mapping[str, Any]) -> None:
        """Keep a row, as far as it could be read."""
        line = {
            "table": what.table,
            "scope": what.scope,
            "name": what.row,
            "problem": what.problem,
            "row": {column: _shown(value) for column, value in row.items()},
        }
        self._file.write(json.dumps(line) + "\n")
        self.rows += 1
        self.done.append(what)

    def sync(self) -> None:
        """Wait until all rows have reached the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def note(self, table: str, scope: str | None, row: str, done: str) -> None:
        """Note what was done besides."""
        self.done.append(Finding(table, scope, row, done))


def _shown(value: Any) -> Any:
    return {"hex": value.hex()} if isinstance(value, bytes) else value
