"""Faults that are planted in a harness's own workers, to see that the harness catches them.

Chosen by an environment variable that nothing else reads.  Where the fault is one of SQL or of the
operating system, it is planted there: what ebbmem does above it stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import uuid4

import apsw

from ebbmem import Database, EpisodicMemoryStore
from ebbmem.errors import UnknownMemory
from ebbmem.models import Remembered

VARIABLE = "EBBMEM_PLANTED_FAULT"
Rewrite = Callable[[str], "str | None"]


def plant_chosen() -> None:
    """Plant the fault that the environment names, if it names one."""
    name = os.environ.get(VARIABLE)
    if name:
        PLANTS[name]()


def planted() -> str:
    """Return the name of the fault that the environment names, or an empty string."""
    return os.environ.get(VARIABLE, "")


def _rewriting(rewrite: Rewrite) -> None:
    """Let connections that are opened from now on rewrite statements; to None: run another one."""

    class Cursor(apsw.Cursor):
        def execute(self, sql: str, *rest: Any, **options: Any) -> Any:
            changed = rewrite(sql)
            if changed is None:
                return super().execute("SELECT 0, 0, 0")
            return super().execute(changed, *rest, **options)

    class Connection(apsw.Connection):
        def __init__(self, *rest: Any, **options: Any) -> None:
            super().__init__(*rest, **options)
            self.cursor_factory = Cursor

    apsw.Connection = Connection


def _upper(sql: str) -> str:
    return " ".join(sql.upper().split())


def acknowledge_before_commit() -> None:
    """Let ``remember_many`` return before its commit: that comes with the next such call."""
    remember_many, late = EpisodicMemoryStore.remember_many, []

    def early(self: EpisodicMemoryStore, memories: Any, **options: Any) -> list[Remembered]:
        while late:
            late.pop()()
        drafts = list(memories)
        late.append(lambda: remember_many(self, drafts, **options))
        return [Remembered(uuid4().hex, 0, True, "") for _ in drafts]

    EpisodicMemoryStore.remember_many = early


def wait_for_no_lock() -> None:
    """Let every store give up at once where another process holds the lock."""
    made = Database.__init__

    def impatient(self: Database, path: Any, **options: Any) -> None:
        made(self, path, **{**options, "busy_wait_s": 0.0})

    Database.__init__ = impatient


def lose_locks_at_fork() -> None:
    """Open and close the store's file in the parent after a fork, which drops its locks."""
    made, paths = Database.__init__, set()

    def noted(self: Database, path: Any, **options: Any) -> None:
        made(self, path, **options)
        paths.add(self.path)

    def lose() -> None:
        for path in paths:
            for name in (path, f"{path}-shm"):
                with suppress(FileNotFoundError):
                    os.close(os.open(name, os.O_RDONLY))

    Database.__init__ = noted
    os.register_at_fork(after_in_parent=lose)


def match_scopes_by_prefix() -> None:
    """Let a recall also bring what scopes hold whose names begin with the one asked."""
    recall = EpisodicMemoryStore.recall

    def wide(self: EpisodicMemoryStore, cue: str, **options: Any) -> Any:
        for scope in self._db.scopes():
            if scope != self.scope and scope.startswith(self.scope):
                other = EpisodicMemoryStore(self._db, scope=scope)
                found = recall(other, cue, **options)
                if found.memories:
                    return found
        return recall(self, cue, **options)

    EpisodicMemoryStore.recall = wide


def erase_without_index() -> None:
    """Let a recall bring what it brought once, erased meanwhile or not."""
    recall, kept = EpisodicMemoryStore.recall, {}

    def stale(self: EpisodicMemoryStore, cue: str, **options: Any) -> Any:
        found = recall(self, cue, **options)
        return kept.setdefault((self.scope, cue), found)

    EpisodicMemoryStore.recall = stale


def erase_without_pages() -> None:
    """Leave what was erased in free pages and in the write-ahead log."""

    def rewrite(sql: str) -> str | None:
        text = _upper(sql)
        if "SECURE_DELETE" in text:
            return "PRAGMA secure_delete = OFF"
        return None if "WAL_CHECKPOINT" in text else sql

    _rewriting(rewrite)


def commit_on_cancel() -> None:
    """Commit what a transaction had done when it was cancelled."""
    _rewriting(lambda sql: "COMMIT" if _upper(sql).startswith("ROLLBACK") else sql)


def stay_open_on_cancel() -> None:
    """Leave a transaction that was cancelled open, with its lock."""
    _rewriting(lambda sql: None if _upper(sql).startswith("ROLLBACK") else sql)


def overlook_other_processes() -> None:
    """Never notice that another connection committed."""

    def rewrite(sql: str) -> str:
        return "SELECT 1" if _upper(sql) == "PRAGMA DATA_VERSION" else sql

    _rewriting(rewrite)


def never_checkpoint() -> None:
    """Let the write-ahead log grow."""

    def rewrite(sql: str) -> str | None:
        return None if "WAL_CHECKPOINT" in _upper(sql) else sql

    _rewriting(rewrite)
    apsw.connection_hooks.append(lambda connection: connection.wal_autocheckpoint(0))


def sync_seldom() -> None:
    """Let commits of ``durability="power"`` return before they are synced, as by default."""

    def rewrite(sql: str) -> str:
        return "PRAGMA synchronous = NORMAL" if _upper(sql) == "PRAGMA SYNCHRONOUS = FULL" else sql

    _rewriting(rewrite)


def sync_never() -> None:
    """Let nothing be synced, not even before the log is moved into the database."""

    def rewrite(sql: str) -> str:
        return "PRAGMA synchronous = OFF" if "SYNCHRONOUS =" in _upper(sql) else sql

    _rewriting(rewrite)


def begin_without_lock() -> None:
    """Begin writing without the write lock: what was looked at may change before it is written."""
    _rewriting(lambda sql: "BEGIN" if _upper(sql) == "BEGIN IMMEDIATE" else sql)


def commit_each_statement() -> None:
    """Begin no transaction, so that every statement commits by itself."""

    def rewrite(sql: str) -> str | None:
        text = _upper(sql)
        return None if text.startswith(("BEGIN", "COMMIT", "ROLLBACK")) else sql

    _rewriting(rewrite)
    # ebbmem asks whether its transaction is open before it commits.
    apsw.Connection.in_transaction = property(lambda self: True)


def leak_a_file() -> None:
    """Open a file with every store and close it never."""
    made = Database.__init__

    def leaking(self: Database, path: Any, **options: Any) -> None:
        made(self, path, **options)
        os.open(os.devnull, os.O_RDONLY)

    Database.__init__ = leaking


def get_from_any_scope() -> None:
    """Let ``get`` return a memory of another scope."""
    get = EpisodicMemoryStore.get

    def anywhere(self: EpisodicMemoryStore, id: str) -> Any:
        try:
            return get(self, id)
        except UnknownMemory:
            for scope in self._db.scopes():
                with suppress(UnknownMemory):
                    return get(EpisodicMemoryStore(self._db, scope=scope), id)
            raise

    EpisodicMemoryStore.get = anywhere


PLANTS: dict[str, Callable[[], None]] = {
    "ack before commit": acknowledge_before_commit,
    "no busy wait": wait_for_no_lock,
    "locks lost at fork": lose_locks_at_fork,
    "scope matched by prefix": match_scopes_by_prefix,
    "id of any scope": get_from_any_scope,
    "erase misses the index": erase_without_index,
    "erase misses the pages": erase_without_pages,
    "commit on cancel": commit_on_cancel,
    "lock kept on cancel": stay_open_on_cancel,
    "other processes overlooked": overlook_other_processes,
    "log never checkpointed": never_checkpoint,
    "synced seldom": sync_seldom,
    "synced never": sync_never,
    "no lock before writing": begin_without_lock,
    "every statement commits": commit_each_statement,
    "a file left open": leak_a_file,
}
