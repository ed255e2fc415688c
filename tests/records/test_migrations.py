from __future__ import annotations

from contextlib import closing

import pytest
from records.samples import NOW, intention, link, memory, plain_sql, turn

from ebbmem.clock import ManualClock
from ebbmem.records import migrate
from ebbmem.records.base import EventRow, IntentionRow, LinkRow, SummaryRow, TurnRow
from ebbmem.records.identity import id_text
from ebbmem.records.memory_rows import MEMORY_COLUMNS
from ebbmem.records.migrate import Migration, migrations
from ebbmem.records.sqlite import SqliteRecords

TABLES = {
    "staged",
    "meta", "scopes", "memories", "vectors", "keywords", "links", "intentions", "turns",
    "summaries", "events", "checkpoints", "sources", "erased",
}  # fmt: skip


def test_migrations_are_recorded_once_with_their_time(path):
    with closing(SqliteRecords(path, clock=ManualClock(5))) as store:
        assert store.migrate() == [one.name for one in migrations()]
        assert store.migrate() == []
    with closing(SqliteRecords(path, clock=ManualClock(9))) as store:
        assert store.migrate() == []
        with store.read() as reader:
            assert reader.meta("migration:0001_initial") == "5000000"


def test_the_tables_are_strict(store, path):
    store.close()
    found = plain_sql(path, "SELECT name, strict FROM pragma_table_list WHERE type = 'table'")
    assert {name for name, strict in found if strict} == TABLES


def test_a_later_migration_upgrades_an_old_store(store, path, monkeypatch):
    store.close()
    later = Migration(
        "9999_moods", "CREATE TABLE moods (at INTEGER) STRICT; CREATE INDEX m ON moods (at);"
    )
    every = (*migrations(), later)
    monkeypatch.setattr(migrate, "migrations", lambda: every)
    monkeypatch.setattr("ebbmem.records.sqlite.migrations", lambda: every)
    migrate._schema_of.cache_clear()
    with closing(SqliteRecords(path)) as upgraded:
        assert upgraded.migrate() == ["9999_moods"]
    migrate._schema_of.cache_clear()
    assert plain_sql(path, "PRAGMA user_version") == [(len(every),)]


def test_a_migration_that_fails_leaves_nothing(store, path, monkeypatch):
    store.close()
    broken = Migration(
        "9999_broken", "CREATE TABLE moods (at INTEGER) STRICT; CREATE TABLE links (x);"
    )
    every = (*migrations(), broken)
    monkeypatch.setattr(migrate, "migrations", lambda: every)
    monkeypatch.setattr("ebbmem.records.sqlite.migrations", lambda: every)
    with closing(SqliteRecords(path)) as half, pytest.raises(Exception, match="links"):
        half.migrate()
    assert plain_sql(path, "SELECT name FROM sqlite_schema WHERE name = 'moods'") == []
    assert plain_sql(path, "PRAGMA user_version") == [(len(every) - 1,)]


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("memories", MEMORY_COLUMNS),
        ("links", LinkRow._fields),
        ("intentions", IntentionRow._fields),
        ("turns", TurnRow._fields),
        ("summaries", SummaryRow._fields),
        ("events", EventRow._fields),
    ],
)
def test_every_field_of_a_row_has_its_column(store, path, table, columns):
    store.close()
    found = plain_sql(path, "SELECT name FROM pragma_table_xinfo(?)", (table,))
    assert {*columns, "checksum"} <= {name for (name,) in found}


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        (
            "SELECT scope, number, id, summary, keywords, created_at, tier FROM readable_memories",
            ("ann", 1, "{id}", "a", "dog, pet", "2023-11-14T22:13:20.000Z", "archive"),
        ),
        ("SELECT scope, source, target FROM readable_links", ("ann", 1, 1)),
        ("SELECT scope, content, memory FROM readable_turns", ("ann", "hello", 1)),
        ("SELECT scope, kind, memory FROM readable_events", ("ann", "archived", 1)),
        ("SELECT scope, action, due_at FROM readable_intentions", ("ann", "Book a setup", None)),
    ],
)
def test_views_show_something_to_read(store, path, query, shown):
    with store.write() as writer:
        scope_id = writer.open_scope("ann", NOW).scope_id
        (row,) = writer.insert_memories(scope_id, [memory("a", tier=2)])
        writer.insert_links(scope_id, [link(row.row_id, row.row_id)])
        writer.insert_turns(scope_id, [turn("hello", memory_row=row.row_id)])
        writer.insert_intention(intention(scope_id))
        writer.insert_event(scope_id, "archived", NOW, row.row_id)
    store.close()
    wanted = tuple(id_text(row.id) if value == "{id}" else value for value in shown)
    assert plain_sql(path, query) == [wanted]
