"""The command line: what it takes in and gives out as lines."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from commands import environment, process, run

from ebbmem import AgenticMemory, Database

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


def test_an_export_to_a_folder_names_it_and_leaves_nothing(puppy: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()

    refused = run("export", str(folder))

    assert (refused.exit_code, refused.stderr.count(".part")) == (1, 0)
    assert refused.stderr.endswith(f"'{folder}'\n")
    assert not list(tmp_path.glob("*.part"))


def test_a_reader_that_leaves_early_is_no_error(db: Path) -> None:
    with AgenticMemory(db) as memory:
        memory.remember_many([f"memory {n} " + "x" * 500 for n in range(2000)])
    command = [sys.executable, "-m", "ebbmem", "export"]

    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as left:
        assert left.stdout is not None
        assert left.stderr is not None
        left.stdout.readline()
        left.stdout.close()
        assert left.stderr.read() == b""


def test_ctrl_c_ends_with_a_line_and_keeps_what_was_committed(db: Path) -> None:
    command = [sys.executable, "-m", "ebbmem", "import", "-"]
    lines = "".join(json.dumps({"summary": f"memory {n}"}) + "\n" for n in range(600)).encode()

    # A shell's background job ignores the signal, and so would the child.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        busy = subprocess.Popen(
            command, env=environment(), stdin=subprocess.PIPE, stderr=subprocess.PIPE
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
