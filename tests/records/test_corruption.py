from __future__ import annotations

from contextlib import closing

import pytest
from records.samples import NOW, intention, link, memory, plain_sql, turn

from ebbmem.errors import CorruptStore
from ebbmem.records.base import HAS, SummaryRow
from ebbmem.records.identity import id_text
from ebbmem.records.sqlite import SqliteRecords


@pytest.fixture
def rows(store):
    with store.write() as writer:
        scope_id = writer.open_scope("ann", NOW).scope_id
        rows = writer.insert_memories(scope_id, [memory(f"fact {i}", detail="d") for i in range(5)])
        a, b = (row.row_id for row in rows[:2])
        writer.insert_links(scope_id, [link(a, b)])
        writer.insert_keywords(scope_id, [("dog", HAS, a)])
        writer.insert_vectors([(a, b"\0" * 16)])
        writer.insert_turns(scope_id, [turn("hello")])
        writer.insert_intention(intention(scope_id))
        writer.insert_event(scope_id, "recalled", NOW, None, b"\1")
        writer.put_summary(scope_id, SummaryRow("run", "text", 1, NOW))
        writer.insert_erased(scope_id, [(b"i" * 16, b"d" * 32)], NOW)
    store.close()
    return rows


def ask(path, question):
    with closing(SqliteRecords(path)) as store, store.read() as reader:
        return question(reader)


def read_whole(reader):
    """Read a scope as the index and a recall do."""
    rows = [row.row_id for row in reader.index_rows(1)]
    return reader.texts(None, 1), reader.memories(rows)


INDEXED = ["importance", "tier", "anchored_at", "created_at", "access_count", "r_anchor", "pinned"]


@pytest.mark.parametrize("column", INDEXED)
def test_a_changed_number_is_seen_when_the_index_loads(path, rows, column):
    plain_sql(path, f"UPDATE memories SET {column} = {column} + 1 WHERE number = 3")
    with pytest.raises(CorruptStore, match=id_text(rows[2].id)):
        ask(path, lambda reader: reader.index_rows(1))


@pytest.mark.parametrize("column", ["summary", "keywords"])
def test_a_changed_text_is_seen_when_texts_load(path, rows, column):
    plain_sql(path, f"UPDATE memories SET {column} = {column} || 'x' WHERE number = 3")
    with pytest.raises(CorruptStore, match=id_text(rows[2].id)):
        ask(path, lambda reader: reader.texts(None, 1))


@pytest.mark.parametrize(
    "change",
    [
        "detail = 'e'",
        "detail = NULL",
        "metadata = '{}'",
        "key = 'k'",
        "id = zeroblob(16)",
        "digest = zeroblob(32)",
        "recorded_at = 0",
        "verified = 1",
        "due_at = 5",
        "source = 's'",
        "superseded_at = 5",
        "text_checksum = 5",
        "checksum = checksum + 1",
    ],
)
def test_any_other_change_is_seen_when_the_memory_is_read(path, rows, change):
    plain_sql(path, f"UPDATE memories SET {change} WHERE number = 3")
    with pytest.raises(CorruptStore, match="#3 of scope 'ann'"):
        ask(path, lambda reader: reader.memories([rows[2].row_id]))
    assert ask(path, lambda reader: reader.memories([rows[1].row_id])) == {rows[1].row_id: rows[1]}


@pytest.mark.parametrize(
    ("table", "change", "question"),
    [
        ("links", "weight = 0.9", lambda r: r.links(1)),
        ("links", "created_at = 0", lambda r: r.links(1)),
        ("keywords", "row_id = row_id + 1", lambda r: r.holders(1, "dog", HAS, NOW, 9)),
        ("vectors", "vector = zeroblob(15)", lambda r: r.vectors(1)),
        ("turns", "content = 'bye'", lambda r: r.turns(1, None, 0, 9)),
        ("intentions", "action = 'none'", lambda r: r.intentions(1)),
        ("events", "payload = x'02'", lambda r: r.events(1, 0, 9)),
        ("summaries", "text = 'other'", lambda r: r.summary(1, "run")),
        ("erased", "at = 0", lambda r: r.erased(1, b"d" * 32)),
        ("scopes", "next_number = 1", lambda r: r.scope("ann")),
        ("meta", "value = '1'", lambda r: r.meta("seq")),
    ],
)
def test_a_change_in_any_table_is_seen(path, rows, table, change, question):
    ask(path, question)
    plain_sql(path, f"UPDATE {table} SET {change}")
    with pytest.raises(CorruptStore, match=table):
        ask(path, question)


def test_a_lost_row_is_missed(path, rows):
    plain_sql(path, "DELETE FROM memories WHERE number = 5")
    with pytest.raises(CorruptStore, match="'ann' should have 5 memories, has 4"):
        ask(path, read_whole)


def test_a_lost_scope_is_missed(path, rows):
    plain_sql(path, "DELETE FROM scopes")
    with pytest.raises(CorruptStore, match="should have 0"):
        ask(path, read_whole)


def test_rows_that_changed_places_are_seen(path, rows):
    for old, new in ((3, 99), (4, 3), (99, 4)):
        plain_sql(path, f"UPDATE memories SET row_id = {1 << 32 | new} WHERE number = {old}")
    with pytest.raises(CorruptStore, match="#3 of scope 'ann'"):
        ask(path, read_whole)


def test_an_old_copy_of_a_row_is_seen(path, rows):
    (old,) = plain_sql(path, "SELECT r_anchor, seq, checksum FROM memories WHERE number = 3")
    with closing(SqliteRecords(path)) as store, store.write() as writer:
        writer.update_state(1, rows[2].row_id, tier=1)
    plain_sql(
        path,
        "UPDATE memories SET tier = 0, r_anchor = ?, seq = ?, checksum = ? WHERE number = 3",
        old,
    )
    with pytest.raises(CorruptStore, match="with other checksums"):
        ask(path, read_whole)


def test_a_change_refuses_to_seal_a_damaged_row(path, rows):
    plain_sql(path, "UPDATE memories SET detail = 'x' WHERE number = 3")
    with (
        closing(SqliteRecords(path)) as store,
        pytest.raises(CorruptStore),
        store.write() as writer,
    ):
        writer.update_state(1, rows[2].row_id, tier=1)


def test_a_flipped_byte_of_a_text_is_seen(path, rows):
    raw = path.read_bytes()
    assert raw.count(b"fact 2") == 1
    path.write_bytes(raw.replace(b"fact 2", b"facs 2"))
    with pytest.raises(CorruptStore, match=id_text(rows[2].id)):
        ask(path, read_whole)


def test_bytes_that_are_no_text_are_seen(path, rows):
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"fact 2", b"fact \xff"))
    with pytest.raises(CorruptStore, match="not UTF-8"):
        ask(path, read_whole)


def read_everything(reader):
    answers = (
        reader.links(1),
        reader.turns(1, None, 0, 9),
        reader.events(1, 0, 9),
        reader.scopes(),
    )
    return read_whole(reader), answers, reader.holders(1, "dog", HAS, NOW, 9), reader.vectors(1)


@pytest.mark.parametrize("page", range(1, 41))
def test_a_page_of_noise_gives_the_right_answer_or_our_error(path, rows, page):
    right = ask(path, read_everything)
    raw = bytearray(path.read_bytes())
    start, end = max((page - 1) * 4096, 100), min(page * 4096, len(raw))
    raw[start:end] = b"\xa5" * (end - start)
    path.write_bytes(raw)
    try:
        answer = ask(path, read_everything)
    except CorruptStore:
        return
    assert answer == right
