from __future__ import annotations

import pytest

from ebbmem.records import statements

DELETIONS = [*statements.DELETE_MEMORY, statements.DELETE_LINK]
NAMED = [
    value for name, value in vars(statements).items() if name.startswith(("SELECT_", "COUNT_"))
]
WHOLE_TABLE = {statements.SELECT_SCOPES, statements.SELECT_NEXT_SCOPE}


@pytest.mark.parametrize("statement", [*NAMED, *DELETIONS])
def test_no_statement_reads_a_whole_table(store, statement):
    if statement in WHOLE_TABLE:
        return
    marks = 1 if "?1" in statement else statement.count("?")
    plan = store._connection.rows("EXPLAIN QUERY PLAN " + statement, (1,) * marks)
    assert plan
    assert not [step[-1] for step in plan if step[-1].startswith("SCAN")]
    assert not [step[-1] for step in plan if "ORDER BY" in step[-1]]
