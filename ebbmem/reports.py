"""What operations on a store as a whole tell: frozen values, without behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong in a store, or that was done about it.

    ``table`` is a table's name, ``"file"`` for pages and schema, or ``"index"`` for what is kept
    in RAM; ``scope`` is None for what belongs to the store as a whole; ``row`` names the row, a
    memory by its id and number; it is empty where the problem is not one row's.
    """

    table: str
    scope: str | None
    row: str
    problem: str

    def __str__(self) -> str:
        place = [self.table] + ([] if self.scope is None else [f"of {self.scope!r}"])
        return f"{' '.join([*place, self.row]).strip()}: {self.problem}"


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What `Database.verify` looked at and found.

    ``rows`` counts the rows of each table that could be read; ``findings`` are the first
    10,000 of ``problems``.
    """

    path: str
    rows: Mapping[str, int]
    scopes: int
    problems: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Return whether nothing is wrong."""
        return self.problems == 0


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What a repair found wrong and what it did.

    ``problems`` and ``findings`` are those of `VerifyReport`, before; ``done`` has every row that
    was taken out, changed, or could not be read; ``rows`` counts what the store has now, by table.
    ``quarantine`` is the file of the ``quarantined`` rows (JSON, one a line), and ``damaged`` the
    copy of the file as it was; both None where nothing was wrong.
    """

    path: str
    problems: int
    findings: tuple[Finding, ...]
    done: tuple[Finding, ...]
    rows: Mapping[str, int]
    quarantined: int
    quarantine: str | None
    damaged: str | None


@dataclass(frozen=True, slots=True)
class ReembedReport:
    """What a change of embedder did.

    ``memories`` have a vector of the new embedder now; ``embedded`` of these got it in this call,
    the others in one that was cut short.  ``changed`` tells whether the store had another
    embedder before.
    """

    memories: int
    embedded: int
    changed: bool


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that an import could not take, and why."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did.

    ``lines`` counts the lines that held something; of these ``imported`` were taken, ``existing``
    were there already, ``erased`` name something that was erased here, and ``bad`` could not be
    taken.  ``memories turns links intentions`` count what was made.
    """

    lines: int
    imported: int
    existing: int
    erased: int
    bad: tuple[BadLine, ...]
    memories: int
    turns: int
    links: int
    intentions: int
