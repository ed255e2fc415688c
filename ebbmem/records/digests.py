"""Keyed digests of texts: they tell equal texts, and tell nobody without the key what was said."""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from typing import Final

STORE_KEY: Final = "store_key"
"""The meta key of the store's key, as hexadecimal digits."""


def keyed_digest(store_key: bytes, scope: str, text: str) -> bytes:
    """Return the digest of a text of a scope: HMAC-SHA-256 over scope and NFC text."""
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    if "\0" in scope:
        # A byte that no UTF-8 has: else this could be another scope's digest of a longer text.
        told = b"\xff".join((scope.encode(), plain.encode()))
    else:
        told = f"{scope}\0{plain}".encode()
    return hmac.digest(store_key, told, hashlib.sha256)
