"""The key of a store's digests."""

from __future__ import annotations

import os

from ebbmem.records.digests import STORE_KEY
from ebbmem.records.store import RecordStore


def store_key(records: RecordStore) -> bytes:
    """Return the key of a store's digests, made when the store is new."""
    with records.read() as reader:
        known = reader.meta(STORE_KEY)
    if known is None:
        with records.write() as writer:
            # Another process may have been first since the look above.
            known = writer.meta(STORE_KEY)
            if known is None:
                known = os.urandom(32).hex()
                writer.set_meta(STORE_KEY, known)
    return bytes.fromhex(known)
