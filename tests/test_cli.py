"""The command line: what it prints, where, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import ebbmem
from ebbmem import AgenticMemory, CallableEmbedder, Database
from ebbmem.cli import app

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that commands act on unless told otherwise."""
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("EBBMEM_DB", str(path))
    return path


@pytest.fixture
def puppy(db: Path) -> Path:
    """A store in which one memory brings up another."""
    with AgenticMemory(db) as memory:
        memory.remember("Adopted a puppy named Rex", keywords=["dog"])
        memory.remember("Bought a leash and kibble", related_to=["dog"])
    return db


def run(*arguments: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(app, list(arguments), input=stdin)


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``python -m ebbmem`` with text in and out."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)} | options.pop("env", {})
    command = [sys.executable, "-m", "ebbmem", *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False, **options
    )


# --- remember and recall ----------------------------------------------------------------


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


# --- import and export ------------------------------------------------------------------

CHAT = '{"role": "user", "name": "Ana", "content": "I like tea", "id": "m1", "created_at": 0}\n'


def test_import_reads_a_file_and_counts(db: Path, tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text(CHAT, "utf-8")

    first = run("import", str(tmp_path / "chat.jsonl"), "--as-memories")
    second = run("import", str(tmp_path / "chat.jsonl"), "--as-memories")

    assert (first.exit_code, first.stderr) == (0, "1 line: 1 imported, 0 bad\n")
    assert second.stderr == "1 line: 0 imported, 1 there already, 0 bad\n"
    assert "Ana: I like tea" in run("recall", "tea").stdout


def test_bad_lines_are_told_by_number_and_end_in_an_error(db: Path) -> None:
    result = run("import", "-", stdin=CHAT + "oops\n" + '{"summary": "\\ud800"}\n' + CHAT)

    told = result.stderr.splitlines()
    assert result.exit_code == 1
    assert told[0].startswith("line 2: line: not JSON")
    assert told[1].startswith("line 3: summary: expected text without lone surrogates")
    assert told[2:] == ["4 lines: 2 imported, 2 bad"]


def test_an_export_piped_into_an_import_loses_nothing(puppy: Path, tmp_path: Path) -> None:
    exported = run("export").stdout_bytes

    copied = run("import", "-", "--db", str(tmp_path / "copy.sqlite"), stdin=exported)

    assert copied.exit_code == 0
    assert run("export", "--db", str(tmp_path / "copy.sqlite")).stdout_bytes == exported
    assert exported.startswith(b'{"ebbmem_export": 1,')


def test_export_writes_one_scope_or_all(puppy: Path, tmp_path: Path) -> None:
    run("remember", "elsewhere", "--scope", "b")
    file = tmp_path / "all.jsonl"

    assert run("export", str(file), "--all-scopes").stdout == ""
    scopes = {json.loads(line).get("scope") for line in file.read_text("utf-8").splitlines()}
    assert scopes == {None, "default", "b"}
    assert '"scope": "b"' not in run("export").stdout
    assert run("export", "--scope", "typo").stderr == "ebbmem: scope 'typo' is empty\n"


# --- stats and version ------------------------------------------------------------------


def test_stats_count_and_name_the_build(puppy: Path) -> None:
    shown = run("stats").stdout
    counted = json.loads(run("stats", "--json").stdout)

    assert shown.splitlines()[2].split() == ["2", "0", "0", "0", "2", "0", "0", "default"]
    assert ebbmem.build_info().isa in shown
    assert counted["bytes"] > 0
    assert counted["scopes"][0]["memories"] == 2
    assert counted["build"]["isa"] == ebbmem.build_info().isa


def test_stats_need_no_embedder(db: Path) -> None:
    with Database(db) as database:
        embedder = CallableEmbedder(lambda texts: [[1.0, 0.0]] * len(texts), 2, "mine")
        AgenticMemory(database, embedder=embedder).remember("Rex")

    assert run("stats").exit_code == run("export").exit_code == 0
    refused = run("recall", "Rex")
    assert refused.exit_code == 1
    assert "mine" in refused.stderr


def test_the_version_is_printed() -> None:
    assert run("--version").stdout == f"ebbmem {ebbmem.__version__}\n"


# --- errors -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("remember", "x", "--importance", "99"), 1, "ebbmem: importance: expected a number"),
        (("recall", "x", "-k", "0"), 1, "ebbmem: top_k: expected"),
        (("recall", "x", "--scope", " "), 1, "ebbmem: scope: expected"),
        (("recall", "x", "--db", "absent.sqlite"), 1, "ebbmem: --db: expected a store that exists"),
        (("stats", "--db", "absent.sqlite"), 1, "ebbmem: --db: expected a store that exists"),
        (("import", "absent.jsonl"), 1, "ebbmem: [Errno 2] No such file"),
        (("remember", "x", "--db", "no/such/folder/db"), 1, "no/such/folder does not exist"),
        (("export", "no/such/folder/out"), 1, "ebbmem: [Errno 2] No such file"),
        (("recall", "x", "--recipe", "nope"), 2, "one of default, ebbinghaus"),
        (("remember", "x", "--importance", "much"), 2, "Invalid value for '--importance'"),
        (("remember",), 2, "Missing argument"),
        (("nope",), 2, "No such command"),
    ],
)
def test_a_mistake_is_one_line_and_an_exit_code(
    puppy: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    result = run(*arguments)

    assert (result.exit_code, result.stdout) == (code, "")
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert code == 2 or result.stderr.count("\n") == 1


def test_a_file_that_is_no_store_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes, not a store\n" * 100)

    result = run("remember", "x", "--db", str(path))

    assert result.exit_code == 1
    assert result.stderr.startswith("ebbmem: ")
    assert path.read_text() == "my notes, not a store\n" * 100


def test_arguments_that_are_no_text_are_refused(db: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable.encode(), b"-m", b"ebbmem", b"remember", b"\xff"]

    ended = subprocess.run(command, env=environment, capture_output=True, timeout=60, check=False)

    assert ended.returncode == 1
    assert ended.stderr.startswith(b"ebbmem: summary: expected text without lone surrogates")


# --- as a process -----------------------------------------------------------------------


def test_the_module_runs_as_a_program(puppy: Path) -> None:
    ended = process("recall", "Rex")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Bought a leash and kibble" in ended.stdout


def test_wrong_usage_ends_with_2() -> None:
    assert process("nope").returncode == 2


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_a_missing_package_is_told_with_the_extra_that_brings_it(
    package: str, tmp_path: Path
) -> None:
    (tmp_path / f"{package}.py").write_text(
        f"raise ModuleNotFoundError('gone', name={package!r})\n"
    )
    paths = os.pathsep.join([str(tmp_path), str(REPOSITORY)])

    ended = process("stats", env={"PYTHONPATH": paths})

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "ebbmem[cli]" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_reader_that_leaves_early_is_no_error(db: Path) -> None:
    with AgenticMemory(db) as memory:
        memory.remember_many([f"memory {n} " + "x" * 500 for n in range(2000)])
    command = [sys.executable, "-m", "ebbmem", "export"]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}

    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as left:
        assert left.stdout is not None
        assert left.stderr is not None
        left.stdout.readline()
        left.stdout.close()
        assert left.stderr.read() == b""


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


def test_ctrl_c_ends_with_a_line_and_keeps_what_was_committed(db: Path) -> None:
    command = [sys.executable, "-m", "ebbmem", "import", "-"]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    lines = "".join(json.dumps({"summary": f"memory {n}"}) + "\n" for n in range(600)).encode()

    # A shell's background job ignores the signal, and so would the child.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        busy = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )
    finally:
        signal.signal(signal.SIGINT, before)
    with busy:
        assert busy.stdin is not None
        assert busy.stderr is not None
        busy.stdin.write(lines)
        busy.stdin.flush()
        wait_for_memories(db, 500)
        busy.send_signal(signal.SIGINT)
        told = busy.stderr.read()

    assert (busy.returncode, told) == (130, b"ebbmem: interrupted\n")
    assert json.loads(process("stats", "--json").stdout)["scopes"][0]["memories"] == 500


def wait_for_memories(db: Path, count: int) -> None:
    """Wait until a store that another process writes holds some memories."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if db.exists():
            with Database(db) as database:
                if any(scope.memories >= count for scope in database.stats()):
                    return
        time.sleep(0.05)
    raise AssertionError(f"{db} never held {count} memories")


def test_an_encoding_without_the_characters_gets_escapes(db: Path) -> None:
    with AgenticMemory(db) as memory:
        memory.remember("Caffè → 茶")

    ended = process("recall", "caffè", env={"PYTHONIOENCODING": "ascii"})

    assert ended.returncode == 0
    assert "Caff\\xe8 \\u2192 \\u8336" in ended.stdout


# --- how things look --------------------------------------------------------------------


def test_stored_text_cannot_steer_the_terminal(db: Path) -> None:
    with AgenticMemory(db) as memory:
        memory.remember("Rex [red]\x1b[31m\x07\u202e :dog: \x9b1m\nnext")

    shown = run("recall", "Rex").stdout

    assert r"Rex [red]\x1b[31m\x07\u202e :dog: \x9b1m next" in shown


def test_a_closed_standard_output_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m ebbmem remember hello --db {tmp_path / 'store.sqlite'} >&-"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
