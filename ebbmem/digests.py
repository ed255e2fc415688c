"""Keyed digests of texts: they tell equal texts, and tell nobody without the key what was said."""

from __future__ import annotations

import hashlib
import hmac
import os
import unicodedata

from ebbmem.records.store import RecordStore

STORE_KEY = "store_key"


def keyed_digest(key: bytes, scope: str, text: str) -> bytes:
    """Return the digest of a text of a scope: HMAC-SHA-256 over scope and NFC text."""
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    return hmac.digest(key, f"{scope}\0{plain}".encode(), hashlib.sha256)


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
