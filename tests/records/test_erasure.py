from __future__ import annotations

import os
from contextlib import closing

from records.samples import NOW, memory, turn

from ebbmem.records.base import HAS
from ebbmem.records.sqlite import SqliteRecords

CANARY = "canary-7f3a91"


def holders_of(folder, text):
    return [
        name for name in sorted(os.listdir(folder)) if text.encode() in (folder / name).read_bytes()
    ]


def write_canary(store, n=1):
    with store.write() as writer:
        scope_id = writer.open_scope("ann", NOW).scope_id
        rows = writer.insert_memories(
            scope_id,
            [
                memory(
                    f"{CANARY} {i}", detail=CANARY * 600, keywords=CANARY, metadata=f'"{CANARY}"'
                )
                for i in range(n)
            ],
        )
        writer.insert_keywords(scope_id, [(CANARY, HAS, row.row_id) for row in rows])
        writer.insert_turns(scope_id, [turn(CANARY, memory_row=row.row_id) for row in rows])
        writer.insert_memories(scope_id, [memory(f"other {i}") for i in range(n)])
    return scope_id, [row.row_id for row in rows]


def test_erased_text_is_in_no_file(store, tmp_path):
    scope_id, rows = write_canary(store)
    assert holders_of(tmp_path, CANARY) == ["store.db-wal"]
    with store.write() as writer:
        writer.erase_memories(scope_id, rows)
    assert holders_of(tmp_path, CANARY) == []


def test_erased_text_is_in_no_file_however_much_there_was(store, tmp_path):
    scope_id, rows = write_canary(store, 300)
    for start in range(0, 300, 7):
        with store.write() as writer:
            writer.erase_memories(scope_id, rows[start : start + 7])
    assert holders_of(tmp_path, CANARY) == []


def test_a_reader_elsewhere_holds_erased_text_back_only_while_it_reads(store, path, tmp_path):
    scope_id, rows = write_canary(store)
    store.close()
    with (
        closing(SqliteRecords(path, busy_wait_s=0.1)) as mine,
        closing(SqliteRecords(path)) as other,
    ):
        with other.read() as reader:
            reader.index_rows(scope_id)
            with mine.write() as writer:
                writer.erase_memories(scope_id, rows)
        with mine.write() as writer:
            writer.set_meta("anything", "else")
        assert holders_of(tmp_path, CANARY) == []
