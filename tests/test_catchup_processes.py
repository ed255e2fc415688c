"""An index that follows a real second process equals one from scratch after every single step."""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from records.samples import python
from test_catchup import EMBEDDERS, LONG, NOW, Process, checked, verb

from ebbmem import Database, ManualClock, recipes

OTHER = """
import json, sys, traceback
from test_catchup_processes import opened
from test_catchup import checked

process = None
for line in sys.stdin:
    action, *values = json.loads(line)
    try:
        if action == "open":
            process = opened(*values)
        elif action == "close":
            process.memory.database.close()
        elif action == "check":
            checked(process)
        else:
            getattr(process, action)(*values)
        print(json.dumps(None), flush=True)
    except BaseException:
        print(json.dumps(traceback.format_exc()), flush=True)
"""


def opened(path, embedder, recipe):
    """Return this process's part in a store that another has open too."""
    database = Database(path, clock=ManualClock(NOW), pending_s=LONG)
    return Process(database, EMBEDDERS[embedder](), getattr(recipes, recipe))


class Other:
    """A second process that does what it is told, one action at a time."""

    def __init__(self):
        self._process = python(OTHER)

    def do(self, action, *values):
        print(json.dumps([action, *values]), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, self._process.stderr.read()
        assert json.loads(answer) is None, json.loads(answer)

    def end(self):
        _, told = self._process.communicate(timeout=60)
        assert self._process.returncode == 0, told


@pytest.fixture(scope="module")
def other():
    other = Other()
    yield other
    other.end()


@contextmanager
def pair(other, embedder, recipe):
    """Let this process and the other one have a new store, with one memory, open."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "x.db")
        own = opened(path, embedder, recipe)
        with own.memory.database:
            own.remember("rex barks", ["pet"], [], None, None)
            other.do("open", path, embedder, recipe)
            try:
                yield own
            finally:
                other.do("close")


steps = st.lists(st.tuples(verb, st.booleans()), min_size=1, max_size=10)


@pytest.mark.parametrize("embedder", EMBEDDERS)
@pytest.mark.parametrize("recipe", ["DEFAULT", "ASSOCIATIVE"])
def test_every_second_action_is_of_another_process(other, embedder, recipe):
    @settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(steps, st.booleans())
    def holds(steps, own_first):
        with pair(other, embedder, recipe) as own:
            for number, ((action, *values), flushed) in enumerate(steps):
                if action == "wait" or number % 2 == own_first:
                    other.do(action, *values)
                    if flushed:
                        other.do("flush")
                if action == "wait" or number % 2 != own_first:
                    getattr(own, action)(*values)
                checked(own)
            other.do("check")

    holds()


@pytest.mark.parametrize("embedder", EMBEDDERS)
def test_the_comparison_sees_what_is_not_followed(other, embedder, monkeypatch):
    with pair(other, embedder, "ASSOCIATIVE") as own:
        own.recall("rex")
        checked(own)
        monkeypatch.setattr(type(own.engine), "is_current", lambda *_: True)
        other.do("erase", 0, 1)
        other.do("remember", "dog leash", ["pet"], [], None, None)
        with pytest.raises(AssertionError):
            checked(own)
