"""Engines of one file that know nothing of each other, as those of two processes do not."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np

from ebbmem import Database, sharing
from ebbmem.index import ScopeIndex
from ebbmem.pending import replay
from ebbmem.questions import Request, question
from ebbmem.recall import answer
from ebbmem.retrieval import analyse
from ebbmem.spaces import queries

PARTS = ("similarity", "cascade_score", "retrievability")
FIELDS = (
    "created_us", "anchored_us", "valid_from_us", "valid_to_us", "expires_us", "successor",
    "access_count", "importance", "intensity", "valence", "strength", "anchor", "tier", "pinned",
)  # fmt: skip


@contextmanager
def opened_apart(path, **options):
    """Open a store whose engine is not shared with others of this process."""
    others = dict(sharing._shared)
    sharing._shared.clear()
    database = Database(path, **options)
    sharing._shared.clear()
    sharing._shared.update(others)
    try:
        yield database
    finally:
        database.close()


def from_scratch(engine, scope, index):
    """Return the index that loading the scope now would give, lanes as in another."""
    with engine.records.read() as reader:
        fresh = ScopeIndex.load(reader, reader.scope(scope), engine.analyzer)
    waiting, since = engine._pending.waiting(scope), engine._pending.since(scope, fresh.seq)
    replay(fresh.columns, fresh.seq, waiting, since)
    for lane in list(index._lanes.values()):
        engine.lane(fresh, lane.embedder)
    return fresh


def told(index, recipes, cues, now_us):
    """Return everything that an index answers, in terms of row ids: equal for equal indexes."""
    analyzer, columns = index._analyzer, index.columns
    slots = np.flatnonzero(columns.alive)
    rows = columns.row
    names = {code: name for name, code in columns._names.items()} | {-1: None}
    memories = {
        int(rows[slot]): (
            *(getattr(columns, field)[slot].item() for field in FIELDS),
            names[int(columns.kind[slot])],
            names[int(columns.run[slot])],
        )
        for slot in slots
    }
    links = {
        int(rows[slot]): sorted(
            (int(rows[target]), kind, weight)
            for target, kind, weight in index.links.graph.links(int(slot))
        )
        for slot in slots
    }
    terms = {cue: analyzer.terms((cue,))[0] for cue in cues}
    lexical = {
        cue: (index.postings.idf(ids).tolist(), _by_row(index, ids)) for cue, ids in terms.items()
    }
    lanes = {
        name: [lane.asked(query).cosines(slots).tolist() for query in queries(lane.embedder, cues)]
        for name, lane in index._lanes.items()
    }
    masks = [
        rows[columns.mask(now_us, as_of_us=as_of, run=run, archive=archive)].tolist()
        for as_of in (None, now_us - 5_000_000)
        for run in (None, "a")
        for archive in (False, True)
    ]
    answers = [
        _answered(index, recipe, cue, now_us) for recipe in recipes for cue in cues if len(slots)
    ]
    return {
        "seq": index.seq,
        "memories": memories,
        "links": links,
        "lexical": lexical,
        "lanes": lanes,
        "masks": masks,
        "answers": answers,
    }


def _by_row(index, terms):
    if len(index) == 0 or len(terms) == 0:
        return []
    newness = index.columns.created_us
    slots, scores = index.postings.top_bm25(
        terms, 1.2, 0.75, newness, np.array(index.columns.alive), len(index)
    )
    return list(zip(index.columns.row[slots].tolist(), scores.tolist(), strict=True))


def _answered(index, recipe, cue, now_us):
    embedder = next((lane.embedder for lane in index._lanes.values()), None)
    if recipe.uses_vectors and embedder is None:
        return None
    (asked,) = analyse(index._analyzer, embedder, [cue], recipe)
    lane = None if asked.query is None else index._lanes[embedder.name].asked(asked.query)
    mask = index.columns.mask(now_us, as_of_us=None, run=None, archive=False)
    one = question(index, asked, Request(recipe, 5, 0.0, now_us, mask, mask), lane)
    ranked = answer(one).ranked
    rows = index.columns.row
    return (
        [int(rows[slot]) for slot in ranked.slots],
        np.asarray(ranked.scores).tolist(),
        *([ranked.part(at, name) for at in range(len(ranked.slots))] for name in PARTS),
        {int(rows[slot]): path for slot, path in ranked.paths.items()},
        {int(rows[slot]): note for slot, note in ranked.notes.items()},
    )
