"""The replay of long-horizon streams: what a reader answers, and how that is counted."""

import gzip
import json

from quality import streams

EVENTS = [
    {"t": 1.0, "kind": "memory", "id": 0, "text": "a", "importance": 5, "supersedes": []},
    {"t": 2.0, "kind": "memory", "id": 1, "text": "b", "importance": 9, "supersedes": [0]},
    {"t": 3.0, "kind": "query", "qtype": "current", "text": "x", "gold": [1], "stale": [0],
     "wrong": []},
    {"t": 4.0, "kind": "query", "qtype": "current", "text": "y", "gold": [0], "stale": [1],
     "wrong": []},
    {"t": 5.0, "kind": "query", "qtype": "past", "text": "z", "gold": [7], "stale": [],
     "wrong": []},
]  # fmt: skip


class Newest:
    """Brings back everything, the newest first."""

    def __init__(self):
        self.told = []

    def remember(self, one):
        self.told.append(one)

    def recall(self, text, top_k, at_s):
        assert all(one.at_s < at_s for one in self.told)
        return [one.number for one in reversed(self.told)][:top_k]


def test_a_reader_answers_with_the_first_memory_that_counts(tmp_path):
    path = tmp_path / "stream.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(event) + "\n" for event in EVENTS)

    system = Newest()
    given = streams.answers(system, streams.stream(path))

    assert given == {"current": ["gold", "stale"], "past": [""]}
    assert [(one.at_s, one.supersedes) for one in system.told] == [
        (1_600_003_600.0, ()),
        (1_600_007_200.0, (0,)),
    ]
    found = streams.accuracy(Newest, [path, path])
    assert (found.by_kind, found.macro, found.stale) == ({"current": 0.5, "past": 0.0}, 0.25, 0.5)
