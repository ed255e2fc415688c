"""Memories that expire, and memories that are pinned."""

from __future__ import annotations


def summaries(store, cue="rex"):
    return sorted(hit.summary for hit in store.recall(cue, top_k=50, reinforce=False))


def test_an_expired_memory_is_found_by_nothing(store, clock):
    gone = store.remember("rex brief", keywords=["dog"], expires_in="1h").id
    clock.advance(hours=2)
    made = store.remember("rex brief", keywords=["dog"], dedupe=True)
    assert made.created
    assert store.neighbors(made.id) == []
    assert summaries(store) == ["rex brief"]
    assert store.recall("rex", include_archive=True).memories[0].id == made.id
    assert store.get(gone).expires_at is not None


def test_it_passes_no_activation(store, clock):
    middle = store.remember("tom", expires_in="1h").id
    store.link(store.remember("rex").id, middle, kind="causes")
    store.link(middle, store.remember("leash").id, kind="causes")
    assert summaries(store) == ["leash", "rex", "tom"]
    clock.advance(hours=2)
    assert summaries(store) == ["rex"]


def test_an_older_equal_text_that_is_live_is_found(store, clock):
    kept = store.remember("rex").id
    store.remember("rex", expires_in="1h")
    clock.advance(hours=2)
    assert store.remember("rex", dedupe=True).id == kept


def test_it_goes_to_the_archive_and_counts_until_it_is_purged(store, clock):
    gone = store.remember("rex", expires_in="1h").id
    clock.advance(days=1)
    report = store.consolidate()
    assert (report.expired, report.matured) == (1, 0)
    assert store.stats().by_tier == {"archive": 1}
    assert store.purge(older_than="1h").ids == (gone,)
    assert store.stats().memories == 0


def test_a_pinned_memory_is_left_as_it_is(store, clock):
    pinned = store.remember("rex", pinned=True, expires_in="1h").id
    store.feedback(used=[pinned])
    for _ in range(20):
        clock.advance(hours=1)
        store.feedback(used=[pinned])
    before = store.get(pinned)
    clock.advance(days=4000)
    report = store.consolidate()
    assert (report.matured, report.cooled, report.archived, report.expired) == (0, 0, 0, 0)
    assert store.get(pinned).tier == before.tier
    assert store.get(pinned).memory_type == "episodic"
    assert store.recall("rex").memories == ()
