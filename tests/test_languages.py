"""The language of a store: kept in its file from the first opening on."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest
from commands import run

import ebbmem
from ebbmem import AgenticMemory, Database, EpisodicMemoryStore, Fleet
from ebbmem.errors import InvalidArgument, LanguageMismatch
from ebbmem.languages import LANGUAGE

LANGUAGES = ("english", "german", None)


def language_of(path):
    """Return the language that a file is opened in when none is named."""
    with Database(path) as db:
        return db.language


def forget(path):
    """Make a file as those were that kept no language."""
    with Database(path) as db, db.engine.records.write() as writer:
        writer._connection.run("DELETE FROM meta WHERE key = ?", (LANGUAGE,))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_store_keeps_the_language_it_is_made_with(path, language):
    with Database(path, language=language) as db:
        assert db.language == language

    assert language_of(path) == language
    with Database(path, language=language), Fleet(path, language=language) as fleet:
        assert fleet.database.language == language
    with AgenticMemory(path, language=language) as memory:
        assert memory.database.language == language


def test_english_is_the_language_of_a_new_store(path):
    assert language_of(path) == "english"
    with Database(":memory:") as db:
        assert db.language == "english"


def test_cues_are_analysed_as_the_texts_were_when_the_store_was_made(path):
    with AgenticMemory(path, language="german") as memory:
        memory.remember("Die Katzen schliefen")
    with AgenticMemory(path) as memory:
        assert len(memory.recall("Katze")) == 1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("other", [*LANGUAGES, "spanish"])
def test_another_language_is_refused(path, language, other):
    if other == language:
        return
    with Database(path, language=language) as db:
        EpisodicMemoryStore(db).remember("x")
    before = path.read_bytes()
    for make in (Database, Fleet, AgenticMemory):
        with pytest.raises(LanguageMismatch) as refused:
            make(path, language=other)
        assert str(refused.value) == (
            f"language: expected {language!r}, the language of {path}, got {other!r}"
        )
    assert path.read_bytes() == before
    assert language_of(path) == language


def test_one_that_is_open_in_this_process_is_refused_too(path):
    with Database(path, language="german") as db:
        for make in (Database, Fleet, AgenticMemory):
            with pytest.raises(LanguageMismatch, match=r"'german', .*'english'"):
                make(path, language="english")
        with pytest.raises(LanguageMismatch):
            AgenticMemory(db, language="english")
        with Database(path) as same, AgenticMemory(db, language="german") as memory:
            assert same.engine is db.engine is memory.database.engine
    # What was refused holds the engine no longer.
    with pytest.raises(ebbmem.errors.StoreClosed):
        db.language  # noqa: B018
    with Database(path, durability="power") as db:
        assert db.language == "german"


def test_an_unknown_one_makes_no_file(path):
    for make in (Database, Fleet, AgenticMemory):
        with pytest.raises(InvalidArgument, match="klingon"):
            make(path, language="klingon")
    assert not path.exists()


class TestOldStores:
    """Those made before the language was kept."""

    def test_they_are_english_and_stay_open_to_another(self, path):
        forget(path)
        assert language_of(path) == "english"
        with Database(path, language="german") as db:
            assert db.language == "german"
        assert language_of(path) == "german"

    def test_they_keep_the_first_that_is_named(self, path):
        forget(path)
        Database(path, language="english").close()
        with pytest.raises(LanguageMismatch):
            Database(path, language="german")

    def test_one_that_this_process_has_open_in_english_cannot_be_opened_in_another(self, path):
        forget(path)
        with Database(path), pytest.raises(LanguageMismatch, match=r"'english', .*'german'"):
            Database(path, language="german")


def test_copies_keep_it(path, tmp_path):
    with Database(path, language="german") as db:
        db.backup(tmp_path / "copy.db")
    assert language_of(tmp_path / "copy.db") == "german"
    ebbmem.repair(path)
    assert language_of(path) == "german"


def test_an_export_goes_into_a_store_of_another_language(path, tmp_path):
    with AgenticMemory(path) as memory:
        made = memory.remember("Die Katzen schliefen")
        memory.database.export(tmp_path / "all.jsonl")
    with AgenticMemory(tmp_path / "new.db", language="german") as memory:
        memory.database.import_(tmp_path / "all.jsonl")
        assert [hit.id for hit in memory.recall("Katze")] == [made.id]


def test_a_damaged_one_is_found_and_mended(path):
    with AgenticMemory(path, language="german") as memory:
        memory.remember("Die Katzen schliefen")
    with Database(path) as db, db.engine.records.write() as writer:
        writer._connection.run("UPDATE meta SET value = 'spanish' WHERE key = ?", (LANGUAGE,))

    found = ebbmem.verify(path)
    assert [(one.table, one.row) for one in found.findings] == [("meta", "'language'")]
    with pytest.raises(ebbmem.errors.CorruptStore, match="meta"):
        Database(path)
    ebbmem.repair(path)
    with AgenticMemory(path, language="german") as memory:
        assert len(memory.recall("Katze")) == 1


def _make(path, language, told):
    try:
        with Database(path, language=language) as db:
            told.put(db.language)
    except LanguageMismatch as exc:
        told.put(str(exc))


def test_processes_that_make_one_at_once_agree(path):
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    named = ["german", "french", "german", "kept"]
    processes = [context.Process(target=_make, args=(path, one, told)) for one in named]
    for one in processes:
        one.start()
    answers = [told.get(timeout=120) for _ in processes]
    for one in processes:
        one.join()

    kept = language_of(path)
    assert kept in ("german", "french", "english")
    assert all(one == kept or one.startswith(f"language: expected {kept!r}") for one in answers)
    assert kept in answers


def test_a_store_is_made_in_a_language_and_keeps_it(db: Path) -> None:
    assert run("remember", "Die Katzen schliefen", "--language", "german").exit_code == 0
    assert "Katzen" in run("recall", "Katze").stdout
    assert run("remember", "Ein Hund bellte").exit_code == 0

    refused = run("remember", "x", "--language", "none")

    assert refused.exit_code == 1
    assert (
        refused.stderr == f"ebbmem: language: expected 'german', the language of {db}, got None\n"
    )


def test_an_import_makes_a_store_in_a_language(db: Path) -> None:
    line = json.dumps({"summary": "Die Katzen schliefen"})
    assert run("import", "-", "--language", "none", stdin=line).exit_code == 0
    with Database(db) as database:
        assert database.language is None
    assert run("import", "-", "--language", "klingon", stdin=line).exit_code == 1
