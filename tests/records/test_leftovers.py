"""Nothing that was erased is left anywhere in the pages of a file, however rows moved in it."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from records.samples import NOW, memory, plain_sql

from ebbmem.records.base import HAS
from ebbmem.records.sqlite import SqliteRecords

CANARY = "canary"


def held(folder: Path, text: str = CANARY) -> int:
    """Return how often the files of a folder hold a text."""
    return sum(file.read_bytes().count(text.encode()) for file in folder.iterdir())


def made(random_: random.Random, word: str) -> str:
    letters = random_.choices("abcdefgh", k=random_.randrange(6, 40))
    return f"{''.join(letters[:4])}{word}{''.join(letters[4:])}"


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_moved_leave_nothing_behind(path, tmp_path, seed):
    # Some ten copies stayed in the file without `write_without_leftovers`; some in the log, while
    # pages in RAM were not let go.
    random_ = random.Random(seed)
    going, staying = [], []
    with closing(SqliteRecords(path)) as store:
        store.migrate()
        for _ in range(30):
            with store.write() as writer:
                scope_id = writer.open_scope("ann", NOW).scope_id
                words = [CANARY if random_.random() < 0.3 else "plain" for _ in range(60)]
                texts = [made(random_, word) for word in words]
                rows = writer.insert_memories(
                    scope_id,
                    [
                        memory(text * random_.choice((1, 2, 30, 200)), key=text, run_id=text)
                        for text in texts
                    ],
                )
                writer.insert_keywords(
                    scope_id, [(t, HAS, row.row_id) for t, row in zip(texts, rows, strict=True)]
                )
            for word, row in zip(words, rows, strict=True):
                (going if word == CANARY else staying).append(row.row_id)
            with store.write() as writer:
                gone = [staying.pop(random_.randrange(len(staying))) for _ in range(20)]
                writer.erase_memories(scope_id, gone)
        assert held(tmp_path) > 1000
        random_.shuffle(going)
        for start in range(0, len(going), 25):
            with store.write() as writer:
                writer.erase_memories(scope_id, going[start : start + 25])
        assert held(tmp_path) == 0
        with store.write() as writer:
            for row in random_.sample(staying, 100):
                writer.update_state(scope_id, row, memory_type="semantic" * random_.randrange(9))
        assert held(tmp_path) == 0
        with store.read() as reader:
            assert len(reader.index_rows(scope_id)) == len(staying)
    assert held(tmp_path) == 0
    assert plain_sql(path, "PRAGMA integrity_check") == [("ok",)]


def test_pages_of_pointers_back_are_not_taken_for_others(path):
    # Where other programs had SQLite keep them; free pages make them look like inner pages.
    with closing(SqliteRecords(path)) as store:
        store.migrate()
    with closing(apsw.Connection(str(path))) as other:
        for pragma in ("auto_vacuum = INCREMENTAL", "journal_mode = DELETE"):
            other.execute(f"PRAGMA {pragma}").fetchall()
        other.execute("VACUUM")
    with closing(SqliteRecords(path)) as store:
        with store.write() as writer:
            scope_id = writer.open_scope("ann", NOW).scope_id
            rows = writer.insert_memories(scope_id, [memory(f"{n} " * 5_000) for n in range(300)])
        with store.write() as writer:
            writer.erase_memories(scope_id, [row.row_id for row in rows])
        with store.write() as writer:
            writer.insert_memories(scope_id, [memory(f"{n} " * 5_000) for n in range(150)])
    assert plain_sql(path, "PRAGMA auto_vacuum") == [(2,)]
    assert plain_sql(path, "PRAGMA integrity_check") == [("ok",)]
