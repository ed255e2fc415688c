"""The command line: what it prints of memories remembered, recalled and erased."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone
from pathlib import Path

from commands import run

from ebbmem import AgenticMemory, Database

DAY = timedelta(days=1)


def test_remember_prints_the_number_and_the_id(db: Path) -> None:
    options = "--keyword pet --keyword dog --related-to vet --importance 8 --detail more"
    result = run("remember", "Rex is a dog", *options.split(), "--type", "semantic")

    number, memory_id = result.stdout.split()
    with AgenticMemory(db) as memory:
        kept = memory.get(memory_id)
    assert (result.exit_code, number) == (0, "#1")
    assert (kept.summary, kept.keywords, kept.importance) == ("Rex is a dog", ("pet", "dog"), 8)
    assert (kept.detail, kept.memory_type) == ("more", "semantic")


def test_scopes_are_kept_apart(db: Path) -> None:
    run("remember", "Rex is a dog", "--scope", "a")

    assert "Rex" in run("recall", "Rex", "--scope", "a").stdout
    assert run("recall", "Rex").stdout == "Nothing relevant.\n"


def test_recall_prints_a_line_per_hit_best_first(puppy: Path) -> None:
    lines = run("recall", "Rex").stdout.splitlines()

    assert lines[0].split() == ["#", "score", "memory"]
    assert [line.split()[0] for line in lines[2:]] == ["1", "2"]
    assert lines[3].endswith("Bought a leash and kibble")


def test_explain_tells_terms_places_and_the_path(puppy: Path) -> None:
    shown = run("recall", "Rex", "--explain").stdout

    assert "terms   familiarity" in shown
    assert "place   lexical 1" in shown
    assert "path    #1 > #2" in shown
    assert "Evidence: strong." in shown


def test_json_holds_the_whole_result(puppy: Path) -> None:
    result = json.loads(run("recall", "Rex", "-k", "1", "--json").stdout)

    (hit,) = result["memories"]
    assert hit["summary"] == "Adopted a puppy named Rex"
    assert hit["explanation"]["terms"].keys() == {"familiarity", "cascade", "retention"}
    told = (result["cue"], result["abstained"], result["evidence"], result["skipped"])
    assert told == ("Rex", False, "strong", [])


def test_recall_strengthens_unless_told_not_to(puppy: Path) -> None:
    def accesses() -> int:
        with AgenticMemory(puppy) as memory:
            hit = memory.recall("Rex", top_k=1, reinforce=False).memories[0]
            return hit.memory.access_count

    run("recall", "Rex", "--recipe", "associative", "--no-reinforce")
    before = accesses()
    run("recall", "Rex", "--recipe", "associative")

    assert (before, accesses()) == (1, 2)


def test_an_abstention_names_the_nearest_miss(puppy: Path) -> None:
    shown = run("recall", "Rex", "--recipe", "similarity", "--min-score", "0.9").stdout

    assert shown.splitlines() == [
        "Nothing relevant.",
        "Nearest miss: #1 (0.447) Adopted a puppy named Rex",
    ]


def test_what_has_nothing_of_the_cue_is_no_near_miss(puppy: Path) -> None:
    assert run("recall", "zebra", "--recipe", "similarity").stdout == "Nothing relevant.\n"


def test_a_near_miss_that_has_faded_to_nothing_tells_its_similarity(db: Path) -> None:
    with AgenticMemory(db) as memory:
        # The seed's law halves a score every 13.9 s: after a day a float64 has none of it left.
        memory.remember("Adopted a puppy named Rex", now=datetime.now(timezone.utc) - DAY)

    shown = run("recall", "Rex", "--recipe", "ebbinghaus", "--min-score", "1").stdout

    near = "Nearest miss: #1 (0, similarity 0.447) Adopted a puppy named Rex"
    assert shown.splitlines() == ["Nothing relevant.", near]


def test_erase_takes_the_numbers_that_recall_shows(puppy: Path) -> None:
    assert {"1", "2"} <= set(run("recall", "Rex").stdout.split())
    for number in ("1", "#2"):
        assert run("erase", number).stdout == "erased 1 memory\n"

    for number in ("1", "#2", "3", "0", "9" * 10):
        gone = run("erase", number)
        said = f"ebbmem: number: expected .*, got {int(number.removeprefix('#'))}\n"
        assert (gone.exit_code, bool(re.fullmatch(said, gone.stderr))) == (1, True)
    with Database(puppy) as database:
        assert database.stats()[0].memories == 0


def test_erase_of_a_number_and_what_is_none_erases_nothing(puppy: Path) -> None:
    for other in ("7", "x", "#", "1" * 11):
        refused = run("erase", "1", other)
        assert (refused.exit_code, refused.stdout) == (1, "")
    with Database(puppy) as database:
        assert database.stats()[0].memories == 2


def test_erase_takes_ids_or_the_whole_scope(puppy: Path) -> None:
    with AgenticMemory(puppy) as memory:
        rex = memory.recall("Rex", top_k=1, reinforce=False).memories[0].id
    one = run("erase", rex)
    unknown, neither = run("erase", rex), run("erase")
    both = run("erase", rex, "--whole-scope")
    rest = run("erase", "--whole-scope")
    nothing = run("erase", "--whole-scope")

    assert (one.exit_code, one.stdout) == (0, "erased 1 memory\n")
    assert (unknown.exit_code, unknown.stderr.startswith("ebbmem: id: expected")) == (1, True)
    assert (neither.exit_code, both.exit_code) == (2, 2)
    assert (rest.stdout, nothing.stdout) == ("erased 1 memory\n", "erased nothing\n")
    assert b"kibble" not in puppy.read_bytes()
