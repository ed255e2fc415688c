"""What the index of a write-ahead log says of the newest commit."""

from __future__ import annotations

import ctypes

import apsw
import pytest

from ebbmem import _core
from ebbmem.errors import InvalidArgument
from ebbmem.records.handles import file_address

Map = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_void_p),
)
HEADER_BYTES, VERSION = 48, 3_007_000


class Methods(ctypes.Structure):
    """sqlite3_io_methods, as far as it is used here."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("others", ctypes.c_void_p * 12),
        ("shared_memory", Map),
        ("rest", ctypes.c_void_p * 5),
    )


class File(ctypes.Structure):
    _fields_ = (("methods", ctypes.POINTER(Methods)),)


class Fake:
    """A file whose log's index is in the memory of this test."""

    def __init__(self, version: int = 3, refused: int = 0, mapped: bool = True) -> None:
        self.region = (ctypes.c_uint32 * 24)()

        def share(_file: int, region: int, size: int, extend: int, into: object) -> int:
            assert (region, size, extend) == (0, 32_768, 0)
            into[0] = ctypes.addressof(self.region) if mapped else None  # type: ignore[index]
            return refused

        self._methods = Methods(version=version, shared_memory=Map(share))
        self._file = File(ctypes.pointer(self._methods))
        self.address = ctypes.addressof(self._file)

    def write(self, *words: int, copies: tuple[int, ...] = (0, 1)) -> None:
        for copy in copies:
            self.region[12 * copy : 12 * copy + len(words)] = words


def test_the_header_is_told_as_it_lies_there() -> None:
    fake = Fake()
    fake.write(VERSION, 0, 7, 1, 20, 5, 1, 2, 3, 4, 5, 6)
    index = _core.LogIndex(fake.address)
    assert index.header() == bytes(fake.region)[:HEADER_BYTES]


def test_nothing_is_told_while_the_copies_differ() -> None:
    fake = Fake()
    fake.write(VERSION, 0, 7)
    index = _core.LogIndex(fake.address)
    fake.write(VERSION, 0, 8, copies=(1,))
    assert index.header() == b""
    fake.write(VERSION, 0, 8, copies=(0,))
    assert index.header() == bytes(fake.region)[:HEADER_BYTES]


@pytest.mark.parametrize("version", [0, VERSION - 1, VERSION + 1])
def test_nothing_is_told_of_another_version(version: int) -> None:
    fake = Fake()
    fake.write(version, 0, 7)
    assert _core.LogIndex(fake.address).header() == b""


@pytest.mark.parametrize(
    "fake", [Fake(version=1), Fake(refused=10, mapped=False), Fake(refused=10), Fake(mapped=False)]
)
def test_nothing_is_told_without_shared_memory(fake: Fake) -> None:
    fake.write(VERSION, 0, 7)
    assert _core.LogIndex(fake.address).header() == b""


def test_a_file_that_is_not_open_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="file"):
        _core.LogIndex(0)
    never_open = File()  # held: an address holds nothing
    assert _core.LogIndex(ctypes.addressof(never_open)).header() == b""


def test_every_commit_changes_the_header_of_sqlite(tmp_path) -> None:
    writes, reads = (apsw.Connection(str(tmp_path / "a.db")) for _ in range(2))
    writes.execute("PRAGMA journal_mode = WAL").fetchall()
    reads.execute("PRAGMA data_version").fetchall()
    index = _core.LogIndex(file_address(reads))
    seen = [index.header()]
    for n in range(50):
        writes.execute(f"CREATE TABLE t{n}(a)").fetchall()
        if n % 10 == 9:
            writes.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        seen.append(index.header())
        assert index.header() == seen[-1]
    assert b"" not in seen
    assert len(set(seen)) == 51
    with writes:
        writes.execute("INSERT INTO t0 VALUES (1)").fetchall()
        assert index.header() == seen[-1]
    assert index.header() != seen[-1]
    del index
    reads.close()
    writes.close()


def test_the_frames_of_the_log_are_told() -> None:
    fake = Fake()
    assert _core.LogIndex(fake.address).frames() == 0
    fake.write(VERSION, 0, 7, 1, 4_000_000_000, 5)
    index = _core.LogIndex(fake.address)
    assert index.frames() == 4_000_000_000
    fake.write(VERSION, 0, 8, 1, 20, copies=(1,))
    assert index.frames() == 0


def test_the_frames_that_sqlite_writes_are_counted(tmp_path) -> None:
    connection = apsw.Connection(str(tmp_path / "a.db"))
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA data_version").fetchall()
    index = _core.LogIndex(file_address(connection))
    told = [index.frames()]
    for n in range(5):
        connection.execute(f"CREATE TABLE t{n}(a)").fetchall()
        told.append(index.frames())
    assert told == [0, 2, 4, 6, 8, 10]
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert index.frames() == 0
    del index
    connection.close()
