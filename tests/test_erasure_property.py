"""After erasures a store is what it would be had it never held what was erased."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from dumps import values
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbmem import AgenticMemory, Database, ManualClock
from ebbmem.buffer import BufferLimits

NOW = 1_700_000_000
CANARY = "c\u00e4nary"
WORDS = st.lists(st.sampled_from(["rex", "dog", "rain", "guitar", "leash"]), min_size=1, max_size=3)
LONG = 9_000
"""Words, so that a text takes several pages."""

# (what, words, keyword, whether it is to be erased, whether it is long)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["remember", "remember", "related", "correct", "turn", "key"]),
        WORDS,
        st.sampled_from(["k1", "k2", ""]),
        st.booleans(),
        st.sampled_from([False] * 9 + [True]),
    ),
    max_size=25,
)


class Course:
    """One store that takes steps, with what is to be erased or without."""

    def __init__(self, path, *, whole):
        self.clock = ManualClock(NOW)
        self.db = Database(path, clock=self.clock)
        self.memory = AgenticMemory(
            self.db, limits=BufferLimits(4, 2), clock=self.clock, run_id="run"
        )
        self.whole = whole
        self.plain: list[str] = []
        self.canaries: list[str] = []

    def take(self, n, step):
        what, words, keyword, erased, long = step
        self.clock.advance(hours=1)
        if erased and not self.whole:
            return
        text = f"{' '.join(words)} step{n}"
        if erased:
            text = f"{text} {CANARY}" + f" {CANARY}{n}" * (LONG if long else 0)
        made = self._made(what, n, text, keyword, erased)
        (self.canaries if erased else self.plain).append(made)

    def _made(self, what, n, text, keyword, erased):
        memory, named = self.memory, {"keywords": [keyword] if keyword else []}
        mark = f"{CANARY}{n}" if erased else f"plain{n}"
        if what == "turn":
            run = CANARY if erased else "run"
            return memory.add_turn("user", text, run_id=run).memory_id
        if what == "correct" and erased and self.plain:
            return memory.correct(self.plain[n % len(self.plain)], text, **named).id
        if what == "related":
            named["related_to"] = ["k1", mark]
        if what == "key":
            named |= {"key": mark, "source": mark, "run_id": mark, "metadata": {mark: [mark]}}
            named["detail"] = text
            named["memory_type"] = mark
        return memory.remember(text, **named).id

    def told(self):
        """Return everything that public calls tell, without ids and numbers."""
        texts = {}
        for one in self.plain:
            found = self.memory.get(one)
            near = sorted(
                (link.kind, link.weight, self.memory.get(link.target).summary)
                for link in self.memory.neighbors(one)
            )
            texts[found.summary] = (found.keywords, found.superseded_by is None, near)
        recalled = [
            [
                (hit.summary, hit.score, hit.cascade_score, dict(hit.explanation.terms))
                for hit in self.memory.recall(cue, top_k=50, reinforce=False)
            ]
            for cue in ("rex", "dog rain", "k1 guitar", f"leash {CANARY}", "step3 k2")
        ]
        lines = [json.loads(line) for line in list(self.db.export_lines())[1:]]
        for line in lines:
            for name in ("id", "number", "memory_id", "source", "target", "superseded_by"):
                line.pop(name, None)
        stats = self.memory.stats()
        counts = (stats.by_type, stats.by_tier, stats.superseded, stats.links, stats.turns)
        exported = sorted(json.dumps(line, sort_keys=True) for line in lines)
        return texts, recalled, exported, counts, self.memory.summary(), self.memory.turns() == []


@settings(max_examples=30)
@given(steps=STEPS, order=st.randoms(use_true_random=False), together=st.booleans())
def test_what_is_left_is_as_if_it_had_never_been_there(steps, order, together):
    with tempfile.TemporaryDirectory() as folder:
        had, never = (Course(Path(folder) / name, whole=name == "had") for name in ("had", "never"))
        for n, step in enumerate(steps):
            had.take(n, step)
            never.take(n, step)
        had.memory.recall("rex dog", reinforce=False)
        order.shuffle(had.canaries)
        for some in [had.canaries] if together else [[one] for one in had.canaries]:
            assert had.memory.erase(some).count == len(some)
        assert had.told() == never.told()
        had.db.engine._indexes.clear()
        assert had.told() == never.told()
        assert not any(CANARY in one for one in values(had.db.path) if isinstance(one, str))
        raw = [file.read_bytes() for file in Path(folder).glob("had*")]
        assert not any(CANARY.encode() in one for one in raw)
        for one in (had, never):
            one.db.close()
