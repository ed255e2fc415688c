"""What is written of a page: zeros where nothing lies, and all else as it is."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbmem import _core

Close = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
Read = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
)
Write = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
)
Size = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))
GIB = 1 << 30


class Methods(ctypes.Structure):
    """sqlite3_io_methods, as far as it is used here."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("close", ctypes.c_void_p),
        ("read", Read),
        ("write", Write),
        ("truncate", ctypes.c_void_p),
        ("sync", ctypes.c_void_p),
        ("size", Size),
        ("others", ctypes.c_void_p * 12),
    )


class File(ctypes.Structure):
    _fields_ = (("methods", ctypes.POINTER(Methods)),)


class Fake:
    """A file that keeps what is written to it."""

    kept: list[Fake] = []  # noqa: RUF012 - their tables are never forgotten by the core

    def __init__(
        self, version: int = 3, length: int = 0, pointers_back: int = 0, unreadable: int = 0
    ) -> None:
        self.written: list[tuple[bytes, int]] = []
        self.length = length
        self.refused = 0

        def read(_file: int, into: int, size: int, offset: int) -> int:
            assert (size, offset) == (4, 52)  # where the first page tells of pointers back
            ctypes.memmove(into, pointers_back.to_bytes(4, "big"), size)
            return unreadable

        def write(_file: int, at: int, size: int, offset: int) -> int:
            self.written.append((ctypes.string_at(at, size), offset))
            return self.refused

        def size(_file: int, length: ctypes.Array[ctypes.c_int64]) -> int:
            length[0] = self.length
            return 0

        self._methods = Methods(
            version=version, read=Read(read), write=Write(write), size=Size(size)
        )
        self._file = File(ctypes.pointer(self._methods))
        self.kept.append(self)

    @property
    def address(self) -> int:
        return ctypes.addressof(self._file)

    def write(self, page: bytes, offset: int) -> int:
        table = self._file.methods.contents
        return table.write(self.address, ctypes.cast(page, ctypes.c_void_p), len(page), offset)


def wrapped(**options: int) -> Fake:
    fake = Fake(**options)
    assert _core.write_without_leftovers(fake.address)
    return fake


def page(kind: int, cells: int, content: int, size: int = 4096, header: int = 0) -> bytes:
    made = bytearray(b"\xee" * size)
    made[header] = kind
    made[header + 3 : header + 5] = cells.to_bytes(2, "big")
    made[header + 5 : header + 7] = (content % 65536).to_bytes(2, "big")
    return bytes(made)


def written(one: bytes, offset: int = 4096, **options: int) -> bytes:
    fake = wrapped(**options)
    assert fake.write(one, offset) == 0
    ((data, at),) = fake.written
    assert at == offset
    return data


def cleaned(one: bytes, begin: int, end: int) -> bytes:
    return one[:begin] + bytes(end - begin) + one[end:]


@pytest.mark.parametrize(("kind", "head"), [(2, 12), (5, 12), (10, 8), (13, 8)])
@pytest.mark.parametrize(("cells", "content"), [(0, 4096), (1, 4000), (50, 900), (300, 612 + 8)])
def test_the_room_between_pointers_and_cells_is_zeroed(kind, head, cells, content):
    one = page(kind, cells, content)
    begin = head + 2 * cells
    assert written(one) == cleaned(one, begin, max(begin, content))


def test_the_first_page_has_the_header_of_the_file_before_its_own():
    one = page(13, 3, 2000, header=100)
    assert written(one, 0) == cleaned(one, 114, 2000)


def test_the_greatest_pages_may_begin_their_cells_at_their_end():
    one = page(13, 0, 65536, size=65536)
    assert written(one, 65536) == cleaned(one, 8, 65536)


@pytest.mark.parametrize("kind", [0, 1, 3, 4, 6, 9, 11, 14, 255])
def test_other_pages_are_written_as_they_are(kind):
    one = page(kind, 3, 2000)
    assert written(one) == one


@pytest.mark.parametrize(
    ("one", "offset"),
    [
        (page(13, 3, 2000)[:100], 4096),
        (page(13, 3, 2000) + b"x", 4096),
        (page(13, 3, 2000), 4095),
        (page(13, 3, 4097), 4096),
        (page(13, 3, 5), 4096),
        (page(13, 60_000, 2000), 4096),
        (page(13, 3, 200, size=256), 256),
    ],
)
def test_what_is_no_whole_sound_page_is_written_as_it_is(one, offset):
    assert written(one, offset) == one


def test_files_in_which_other_pages_may_begin_alike_are_left_alone():
    one = page(2, 3, 2000)
    assert written(one, length=64 * GIB) == cleaned(one, 18, 2000)
    assert written(one, length=64 * GIB + 1) == one
    small = page(2, 3, 400, size=512)
    assert written(small, length=8 * GIB) == cleaned(small, 18, 400)
    assert written(small, length=8 * GIB + 1) == small
    assert written(one, pointers_back=7) == one
    assert written(one, unreadable=522) == one


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_what_the_file_answers_is_told(version):
    fake = wrapped(version=version)
    fake.refused = 778
    assert fake.write(page(13, 3, 2000), 4096) == 778
    assert fake._file.methods.contents.version == min(version, 3)


def test_twice_is_once():
    fake = wrapped()
    table = ctypes.addressof(fake._file.methods.contents)
    assert _core.write_without_leftovers(fake.address)
    assert ctypes.addressof(fake._file.methods.contents) == table


def test_a_file_that_is_not_open_is_refused():
    assert not _core.write_without_leftovers(0)
    never_open = File()  # held: an address holds nothing
    assert not _core.write_without_leftovers(ctypes.addressof(never_open))


@given(st.binary(min_size=512, max_size=512), st.sampled_from([0, 512, 1024]))
def test_nothing_but_zeros_is_ever_written_instead(data, offset):
    done = written(data, offset)
    assert len(done) == len(data)
    assert all(new in (old, 0) for old, new in zip(data, done, strict=True))
