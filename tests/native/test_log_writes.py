"""Frames of a log are written commit by commit, and nobody can tell but by counting the writes."""

from __future__ import annotations

import ctypes

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbmem import _core
from ebbmem.records.handles import log_address

Close = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
Piece = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
)
Truncate = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)
Sync = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
Size = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))
LOG_HEADER, FRAME_HEADER, MOST_BYTES = 32, 24, (1 << 17) - 1
PAGE = 512
FRAME = FRAME_HEADER + PAGE
OK, FULL, SHORT_READ = 0, 13, 522
UNDONE = ("SAVEPOINT s", "UPDATE t SET b = b || 'x'", "ROLLBACK TO s", "RELEASE s")


class Methods(ctypes.Structure):
    """sqlite3_io_methods, as far as it is used here."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("close", Close),
        ("read", Piece),
        ("write", Piece),
        ("truncate", Truncate),
        ("sync", Sync),
        ("size", Size),
        ("others", ctypes.c_void_p * 12),
    )


class File(ctypes.Structure):
    _fields_ = (("methods", ctypes.POINTER(Methods)),)


class Fake:
    """A log in the memory of this test, used as SQLite uses one."""

    def __init__(self, page_size: int = PAGE, gathers: bool = True) -> None:
        self.bytes = bytearray()
        self.writes: list[tuple[int, int]] = []
        """(offset, length) of each write that reached the file."""
        self.steps: list[str] = []
        self.refused = OK
        self._functions = (
            Close(self._close),
            Piece(self._read),
            Piece(self._write),
            Truncate(self._truncate),
            Sync(self._sync),
            Size(self._size),
        )
        self._methods = Methods(3, *self._functions)
        self._file = File(ctypes.pointer(self._methods))
        self.address = ctypes.addressof(self._file)
        if gathers:
            assert _core.gather_frames(self.address, page_size)
            assert _core.let_frames_wait(self.address, True)

    # What the file does.

    def _close(self, _file: int) -> int:
        self.steps.append("close")
        return OK

    def _read(self, _file: int, into: int, size: int, offset: int) -> int:
        found = bytes(self.bytes[offset : offset + size])
        ctypes.memmove(into, found.ljust(size, b"\0"), size)
        return OK if len(found) == size else SHORT_READ

    def _write(self, _file: int, at: int, size: int, offset: int) -> int:
        assert size <= MOST_BYTES
        if self.refused:
            return self.refused
        self.writes.append((offset, size))
        self.bytes.extend(bytes(max(offset + size - len(self.bytes), 0)))
        self.bytes[offset : offset + size] = ctypes.string_at(at, size)
        return OK

    def _truncate(self, _file: int, size: int) -> int:
        del self.bytes[size:]
        return OK

    def _sync(self, _file: int, how: int) -> int:
        self.steps.append(f"sync {how} of {len(self.bytes)}")
        return OK

    def _size(self, _file: int, into: ctypes.Array[ctypes.c_int64]) -> int:
        into[0] = len(self.bytes)
        return OK

    # What SQLite asks of it.

    @property
    def _asked(self) -> Methods:
        return self._file.methods.contents

    def write(self, piece: bytes, offset: int) -> int:
        at = ctypes.cast(piece, ctypes.c_void_p)
        return int(self._asked.write(self.address, at, len(piece), offset))

    def frame(self, number: int, fill: int, commits: bool = False) -> list[int]:
        """Write a frame as SQLite does; return what its two pieces came to."""
        at = LOG_HEADER + number * FRAME
        pieces = header(fill, commits), bytes([fill]) * PAGE
        return [self.write(pieces[0], at), self.write(pieces[1], at + FRAME_HEADER)]

    def read(self, offset: int, size: int) -> tuple[int, bytes]:
        into = ctypes.create_string_buffer(size)
        found = self._asked.read(self.address, ctypes.addressof(into), size, offset)
        return found, into.raw

    def let_wait(self, may_wait: bool) -> bool:
        return _core.let_frames_wait(self.address, may_wait)

    def truncate(self, size: int) -> int:
        return int(self._asked.truncate(self.address, size))

    def sync(self, how: int = 2) -> int:
        return int(self._asked.sync(self.address, how))

    def size(self) -> tuple[int, int]:
        size = ctypes.c_int64(-1)
        return self._asked.size(self.address, ctypes.byref(size)), size.value

    def close(self) -> int:
        return int(self._asked.close(self.address))


def header(fill: int, commits: bool) -> bytes:
    """Return the header of a frame: page number, size of the database where it commits, rest."""
    size = 0x0001_0000 if commits else 0  # a byte other than the last
    return fill.to_bytes(4, "big") + size.to_bytes(4, "big") + bytes([fill]) * 16


def test_a_commit_is_one_write_and_there_when_it_returns() -> None:
    fake = Fake()
    for number in range(9):
        assert fake.frame(number, number + 1, commits=number == 8) == [OK, OK]
        assert len(fake.writes) == (number == 8)
    assert fake.writes == [(LOG_HEADER, 9 * FRAME)]
    for number in range(9):
        at = LOG_HEADER + number * FRAME
        assert fake.bytes[at : at + FRAME_HEADER] == header(number + 1, number == 8)
        assert set(fake.bytes[at + FRAME_HEADER : at + FRAME]) == {number + 1}
    fake.frame(9, 5, commits=True)
    assert fake.writes[1:] == [(LOG_HEADER + 9 * FRAME, FRAME)]
    fake.close()


@pytest.mark.parametrize("page_size", [512, 4_096, 32_768, 65_536])
def test_no_write_is_longer_than_sqlite_writes_at_once(page_size: int) -> None:
    fake = Fake(page_size)
    frame = FRAME_HEADER + page_size
    for number in range(600):
        at = LOG_HEADER + number * frame
        fake.write(header(1, False), at)
        fake.write(bytes(page_size), at + FRAME_HEADER)
    full = MOST_BYTES // frame * frame
    assert {size for _, size in fake.writes} == {full}
    assert len(fake.writes) == 600 * frame // full
    fake.close()


@pytest.mark.parametrize("ask", ["read", "truncate", "sync", "size"])
def test_what_waits_is_written_before_anything_else_is_asked(ask: str) -> None:
    fake = Fake()
    fake.frame(0, 7)
    assert not fake.writes
    whole = LOG_HEADER + FRAME
    if ask == "read":
        assert fake.read(whole - 5, 5) == (OK, b"\7" * 5)
    elif ask == "truncate":
        assert fake.truncate(whole - 5) == OK
        assert len(fake.bytes) == whole - 5
    elif ask == "sync":
        assert fake.sync(3) == OK
        assert fake.steps == [f"sync 3 of {whole}"]
    else:
        assert fake.size() == (OK, whole)
    assert fake.writes == [(LOG_HEADER, FRAME)]
    fake.close()


def test_what_was_not_committed_is_not_written_when_the_file_is_closed() -> None:
    fake = Fake()
    fake.frame(0, 7)
    assert fake.close() == OK
    assert (fake.writes, fake.steps) == ([], ["close"])
    fake.write(b"x", 3)  # the table is the file's own again
    assert fake.writes == [(3, 1)]


def test_a_refused_write_fails_the_commit_and_nothing_of_it_waits_on() -> None:
    fake = Fake()
    fake.frame(0, 1)
    fake.refused = FULL
    assert fake.frame(1, 2, commits=True) == [OK, FULL]
    fake.refused = OK
    assert fake.size() == (OK, 0)
    assert fake.frame(0, 3, commits=True) == [OK, OK]
    assert fake.writes == [(LOG_HEADER, FRAME)]
    assert set(fake.bytes[LOG_HEADER + FRAME_HEADER :]) == {3}
    fake.close()


def test_a_refused_write_fails_also_what_is_asked_next_but_the_frames_wait_on() -> None:
    fake = Fake()
    fake.frame(0, 1)
    fake.refused = FULL
    assert fake.read(0, 5)[0] == FULL
    assert fake.truncate(0) == FULL
    assert fake.sync() == FULL
    assert fake.size()[0] == FULL
    fake.refused = OK
    assert fake.read(LOG_HEADER + FRAME - 2, 2) == (OK, b"\1\1")
    fake.refused = FULL
    fake.frame(1, 2)
    assert fake.write(b"elsewhere", 0) == FULL
    fake.refused = OK
    assert fake.size() == (OK, LOG_HEADER + FRAME)
    fake.close()


def test_what_is_written_before_the_commit_does_not_wait() -> None:
    fake = Fake()
    assert fake.let_wait(False)
    fake.frame(0, 1)
    fake.frame(1, 2, commits=True)
    assert len(fake.writes) == 4
    assert fake.let_wait(True)
    fake.frame(2, 3)
    assert len(fake.writes) == 4
    fake.close()


def test_what_waits_is_forgotten_and_never_written_over_the_frames_of_others() -> None:
    fake = Fake()
    fake.frame(0, 1)
    assert fake.let_wait(False)
    fake.bytes[:] = bytes([9]) * (LOG_HEADER + FRAME)  # another process appends
    assert fake.read(LOG_HEADER, FRAME) == (OK, bytes([9]) * FRAME)
    assert fake.sync() == OK
    assert not fake.writes
    fake.close()


def test_a_corrected_checksum_does_not_wait_for_a_page() -> None:
    """SQLite reads a frame and writes its header anew; the last of them has no page behind it."""
    fake = Fake()
    fake.frame(0, 1)
    fake.frame(1, 2, commits=True)
    for number in (0, 1):
        at = LOG_HEADER + number * FRAME
        assert fake.read(at, FRAME)[0] == OK
        assert fake.write(header(7, number == 1), at) == OK
        assert fake.bytes[at : at + FRAME_HEADER] == header(7, number == 1)
    fake.frame(2, 3)
    assert len(fake.writes) == 3
    fake.close()


ACTIONS = st.one_of(
    st.tuples(st.just("let"), st.just(0), st.booleans()),
    st.tuples(st.just("reread"), st.integers(0, 5), st.booleans()),
    st.tuples(st.just("frame"), st.integers(0, 5), st.booleans()),
    st.tuples(st.just("next"), st.just(0), st.booleans()),
    st.tuples(st.just("piece"), st.integers(0, 3 * FRAME), st.integers(1, 2 * PAGE)),
    st.tuples(st.just("header"), st.integers(0, 3 * FRAME), st.booleans()),
    st.tuples(st.just("read"), st.integers(0, 6 * FRAME), st.integers(1, FRAME)),
    st.tuples(st.just("truncate"), st.integers(0, 6 * FRAME), st.just(0)),
    st.tuples(st.just("size"), st.just(0), st.just(0)),
)


@given(st.lists(ACTIONS, max_size=40))
def test_a_log_holds_what_a_plain_one_does(actions: list[tuple[str, int, int]]) -> None:
    """Whatever is asked in whatever order; and after every commit the file itself does."""
    fake, plain, end = Fake(), Fake(gathers=False), 0
    for fill, (action, at, more) in enumerate(actions, start=1):
        answers = []
        for one in (fake, plain):
            if action in ("frame", "next"):
                number = end if action == "next" else at
                answers.append(one.frame(number, fill, commits=bool(more)))
            elif action == "piece":
                answers.append(one.write(bytes([fill]) * more, at))
            elif action == "header":
                answers.append(one.write(header(fill, bool(more)), at))
            elif action == "read":
                answers.append(one.read(at, more))
            elif action == "reread":
                answers.append(one.read(LOG_HEADER + at * FRAME, FRAME))
                answers.append(one.write(header(fill, bool(more)), LOG_HEADER + at * FRAME))
            elif action == "truncate":
                answers.append(one.truncate(at))
            elif action == "let":
                one.size()  # else it forgets what waits
                one.let_wait(bool(more))
            else:
                answers.append(one.size())
        half = len(answers) // 2
        assert answers[:half] == answers[half:]
        if action in ("frame", "next"):
            end = (at if action == "frame" else end) + 1
            assert not more or fake.bytes == plain.bytes
        assert action != "reread" or fake.bytes == plain.bytes
    assert fake.size() == plain.size()
    assert fake.bytes == plain.bytes
    fake.close()


def test_a_file_that_is_not_open_gathers_nothing() -> None:
    never_open = File()  # held: an address holds nothing
    unopened = ctypes.addressof(never_open)
    assert not _core.gather_frames(0, 4_096)
    assert not _core.gather_frames(unopened, 4_096)
    fake = Fake(gathers=False)
    assert not _core.gather_frames(fake.address, 65_537)
    fake.frame(0, 1)
    assert len(fake.writes) == 2
    for address in (0, unopened, fake.address):
        assert not _core.let_frames_wait(address, True)


def test_gathering_twice_is_gathering_once() -> None:
    fake = Fake()
    assert _core.gather_frames(fake.address, PAGE)
    fake.frame(0, 1, commits=True)
    assert fake.writes == [(LOG_HEADER, FRAME)]
    assert fake.close() == OK
    assert fake.steps == ["close"]


@pytest.mark.parametrize("synchronous", ["NORMAL", "FULL"])
def test_sqlite_writes_the_log_it_would_write(tmp_path, synchronous: str) -> None:
    """Large transactions that spill, savepoints rolled back, checkpoints: all as without."""
    contents = []
    for gathers in (False, True):
        path = tmp_path / f"{gathers}.db"
        with_log = apsw.Connection(str(path))
        for setting in (
            "page_size = 1024",
            "journal_mode = WAL",
            f"synchronous = {synchronous}",
            "cache_size = 10",
            "wal_autocheckpoint = 0",
            "data_version",
        ):
            with_log.execute(f"PRAGMA {setting}").fetchall()
        if gathers:
            assert _core.gather_frames(log_address(with_log), 1_024)
            assert _core.let_frames_wait(log_address(with_log), True)
        with_log.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b)").fetchall()
        for round_ in range(6):
            with with_log:
                for n in range(300):
                    with_log.execute("INSERT INTO t (b) VALUES (?)", (f"{round_} {n} " * 30,))
                for statement in UNDONE:
                    with_log.execute(statement).fetchall()
                with_log.execute("DELETE FROM t WHERE a % 7 = ?", (round_,)).fetchall()
            if round_ % 3 == 2:
                with_log.execute("PRAGMA wal_checkpoint(FULL)").fetchall()
        other = apsw.Connection(str(path))
        assert other.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        contents.append(other.execute("SELECT a, b FROM t ORDER BY a").fetchall())
        other.close()
        with_log.close()
    assert contents[0] == contents[1]
    assert len(contents[0]) == 900
