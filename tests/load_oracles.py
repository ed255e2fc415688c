"""The slow, obvious way to build an index: row by row, in Python."""

from __future__ import annotations

from ebbmem.analysis import Analyzer
from ebbmem.index import ScopeIndex
from ebbmem.records import memory_rows, rows
from ebbmem.records.base import Reader, ScopeRow


def loaded_slowly(reader: Reader, scope: ScopeRow, analyzer: Analyzer) -> ScopeIndex:
    """Return the index of a scope, whose rows and texts are read and checked one by one."""
    index = ScopeIndex(scope, analyzer)
    index.columns.append(reader.index_rows(scope.scope_id))
    texts = reader.texts(None, scope.scope_id)
    index._append_terms([f"{summary}\n{keywords}" for _, summary, keywords in texts])
    index.shelf.fit(len(index))
    index.add_links(reader.links(scope.scope_id))
    return index


def is_index_row(row: tuple) -> bool:
    """Return whether a row of SELECT_NEW agrees with the upper half of its checksum."""
    try:
        return memory_rows.index_checksum(row[:18]) == memory_rows.index_half(row[18])
    except rows.UNFIT:
        return False


def has_its_text(row: tuple) -> bool:
    """Return whether the text of a row of SELECT_NEW agrees with its checksum."""
    return rows.agrees(memory_rows.text_checksum, (row[0], *row[19:]))


def is_link(row: tuple) -> bool:
    """Return whether a row of SELECT_LINKS agrees with its checksum."""
    return rows.agrees(memory_rows.link_checksum, row)
