"""Keyed digests: which text of which scope it was, and nothing else."""

from __future__ import annotations

import hashlib
import hmac

from hypothesis import example, given
from hypothesis import strategies as st

from ebbmem.records.digests import keyed_digest

KEY = bytes(range(32))
part = st.text(st.sampled_from("ab\0\u00ff"), min_size=1, max_size=4)


def test_it_is_the_hmac_over_scope_and_composed_text():
    told = b"ann\0caf\xc3\xa9"
    expected = hmac.new(KEY, told, hashlib.sha256).digest()
    assert (
        keyed_digest(KEY, "ann", "cafe\u0301") == keyed_digest(KEY, "ann", "caf\u00e9") == expected
    )


@given(part, part, part, part)
@example("a", "b\0c", "a\0b", "c")
def test_two_scopes_or_texts_never_share_one(scope, text, other_scope, other_text):
    same = keyed_digest(KEY, scope, text) == keyed_digest(KEY, other_scope, other_text)
    assert same == ((scope, text) == (other_scope, other_text))
