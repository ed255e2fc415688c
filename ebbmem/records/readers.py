"""Connections for reading, beside the one that writes: who reads waits for no writer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from ebbmem.errors import StoreClosed
from ebbmem.records.connection import Connection

MOST: Final = 4
"""Connections that transactions read from, at most; more than so many wait for one another."""


class _Place:
    """A connection, opened when it is first needed, and who holds it."""

    __slots__ = ("connection", "lock")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.connection: Connection | None = None


class Readers:
    """The connections of one store that read.

    Parameters
    ----------
    opened : callable
        Opens one more.
    """

    def __init__(self, opened: Callable[[], Connection]) -> None:
        self._opened = opened
        self._places = [_Place() for _ in range(MOST)]
        # One of its own: the data version that a connection tells only means something beside
        # others of the same one, and must wait for no long transaction.
        self._looking = _Place()
        self._moving = _Place()
        self._closed = False

    @contextmanager
    def one(self) -> Iterator[Connection]:
        """Hold a connection for a transaction."""
        free = (place for place in self._places if not place.lock.locked())
        place = next(free, self._places[threading.get_ident() % MOST])
        with place.lock:
            yield self._of(place)

    @contextmanager
    def mover(self) -> Iterator[Connection]:
        """Hold the connection that moves the log into the database: for that it may write."""
        with self._moving.lock:
            yield self._of(self._moving)

    def data_version(self) -> int:
        """Return a number that changes when any other connection commits."""
        looking = self._looking
        with looking.lock:
            return (looking.connection or self._of(looking)).data_version()

    def close(self) -> None:
        """Close them all, each once the transaction it is held for has ended; open no more."""
        self._closed = True
        for place in (*self._places, self._looking, self._moving):
            with place.lock:
                if place.connection is not None:
                    place.connection.close()

    def _of(self, place: _Place) -> Connection:
        if place.connection is None:
            if self._closed:
                # By another thread, since this one saw that the store was open.
                raise StoreClosed("the store was closed")
            place.connection = self._opened()
        return place.connection
