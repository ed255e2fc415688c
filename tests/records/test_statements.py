from __future__ import annotations

import re

import pytest

from ebbmem.records import statements

DELETIONS = [
    *statements.DELETE_MEMORY,
    *statements.DELETE_TURN,
    *statements.DELETE_ROWS_OF_SCOPE,
    *statements.DELETE_OF_SCOPE,
    statements.DELETE_LINK,
    statements.DELETE_EVENT,
    statements.DELETE_INTENTION,
    statements.DELETE_SUMMARY,
]
NAMED = [
    value for name, value in vars(statements).items() if name.startswith(("SELECT_", "COUNT_"))
]
WHOLE_TABLE = {statements.SELECT_SCOPES, statements.SELECT_NEXT_SCOPE}


@pytest.mark.parametrize("statement", [*NAMED, *DELETIONS])
def test_no_statement_reads_a_whole_table(store, statement):
    if statement in WHOLE_TABLE:
        return
    numbered = [int(mark) for mark in re.findall(r"\?(\d+)", statement)]
    marks = max(numbered) if numbered else statement.count("?")
    plan = store._connection.rows("EXPLAIN QUERY PLAN " + statement, (1,) * marks)
    assert plan
    assert not [step[-1] for step in plan if step[-1].startswith("SCAN")]
    assert not [step[-1] for step in plan if "ORDER BY" in step[-1]]
