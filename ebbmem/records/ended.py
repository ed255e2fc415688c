"""What stands in a reader or writer whose transaction is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ebbmem.errors import StoreError


class Ended:
    """Stands where a connection was once the transaction is over."""

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        raise StoreError("the transaction is over; a reader or writer is of use only inside it")
