from __future__ import annotations

import threading
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.records import identity
from ebbmem.records.identity import id_text, new_id, parse_id


@pytest.fixture(autouse=True)
def _fresh_sequence(monkeypatch):
    monkeypatch.setattr(identity, "_sequence", identity._Sequence())


def test_layout_is_that_of_version_7():
    parsed = uuid.UUID(bytes=new_id(0x0123_4567_89AB * 1000))
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert parsed.int >> 80 == 0x0123_4567_89AB


def test_the_fraction_of_the_millisecond_follows_the_version():
    # 500 of 1000 microseconds are 2048 of 4096 parts.
    assert new_id(1_000_500)[6:8] == bytes([0x78, 0x00])


@pytest.mark.parametrize("step_us", [0, 1, -1, -10_000_000, 1_000])
def test_ids_grow_whatever_the_clock_does(step_us):
    now_us = 1_700_000_000_000_000
    ids = [new_id(now_us + i * step_us) for i in range(1000)]
    assert ids == sorted(set(ids))


def test_ids_grow_across_threads():
    found: list[list[bytes]] = [[] for _ in range(4)]
    threads = [
        threading.Thread(target=lambda ids=ids: ids.extend(new_id(5) for _ in range(500)))
        for ids in found
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert all(ids == sorted(ids) for ids in found)
    assert len(set().union(*found)) == 2000


@pytest.mark.parametrize("now_us", [-1, -(10**18), 0, 253_402_300_799_999_999])
def test_any_moment_has_an_id(now_us):
    assert uuid.UUID(bytes=new_id(now_us)).int >> 80 == max(now_us, 0) // 1000


def test_the_last_id_is_followed_by_no_other_version():
    identity._sequence._last = (1 << 122) - 1
    assert uuid.UUID(bytes=new_id(0)).version == 7


@given(st.binary(min_size=16, max_size=16))
def test_text_is_that_of_uuid_and_comes_back(value):
    assert id_text(value) == str(uuid.UUID(bytes=value))
    assert parse_id(id_text(value)) == parse_id(value.hex().upper()) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "0" * 31,
        "0" * 33,
        "g" * 32,
        " " + "0" * 31,
        "0" * 32 + "\n",
        "٣" * 32,
        "_" * 32,
        "00000000-0000-0000-0000-00000000000",
        "00000000-000000000000000000000000",
    ],
)
def test_text_that_is_no_id_is_refused(text):
    with pytest.raises(InvalidArgument, match="id: expected"):
        parse_id(text)


@pytest.mark.parametrize("value", [None, 5, b"0" * 32, uuid.UUID(int=0)])
def test_an_id_that_is_no_text_is_refused(value):
    with pytest.raises(InvalidType, match="id: expected"):
        parse_id(value)


def test_a_forked_child_makes_ids_although_a_thread_of_its_parent_held_the_lock():
    sequence = identity._Sequence()
    sequence._lock.acquire()
    sequence.renew()
    assert sequence.next(5) > 0
