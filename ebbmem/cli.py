"""The command line: parse, call, print.  Needs ``typer`` and ``rich`` (``ebbmem[cli]``)."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from ebbmem import maintenance, recipes
from ebbmem._version import __version__
from ebbmem.agentic import AgenticMemory
from ebbmem.build import build_info
from ebbmem.database import Database
from ebbmem.demo import play
from ebbmem.errors import EbbmemError, InvalidArgument
from ebbmem.handle import DEFAULT_SCOPE
from ebbmem.languages import KEPT
from ebbmem.records.identity import id_text, parse_id
from ebbmem.reports import ImportReport
from ebbmem.sharing import MEMORY
from ebbmem.terminal import (
    console,
    counts,
    erased,
    print_recall,
    print_repair,
    print_verify,
    recall_json,
    visible,
    watched,
)

INTERRUPTED: Final = 130
RECIPES: Final = {
    recipe.name: recipe
    for recipe in (
        recipes.DEFAULT,
        recipes.EBBINGHAUS,
        recipes.ASSOCIATIVE,
        recipes.GENERATIVE,
        recipes.SIMILARITY,
    )
}


class _Group(TyperGroup):
    """Commands whose errors are one line on stderr."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            typer.echo("ebbmem: interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from error
        except BrokenPipeError:
            raise
        except (EbbmemError, OSError) as error:
            typer.echo(f"ebbmem: {visible(str(error))}", err=True)
            raise typer.Exit(1) from error


app = typer.Typer(
    cls=_Group,
    help="Memory for AI agents: facts fade, recall strengthens them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

DbOption = Annotated[
    str, typer.Option("--db", metavar="PATH", envvar="EBBMEM_DB", help="The store's file.")
]
ScopeOption = Annotated[str, typer.Option("--scope", metavar="NAME", help="The scope to act in.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
LanguageOption = Annotated[
    str,
    typer.Option(
        "--language",
        metavar="NAME",
        help="Of the words of a new store, such as german, or none; a store keeps it.",
    ),
]
DB: Final = "memory.sqlite"
_NUMBER: Final = re.compile("#?([0-9]{1,10})")
"""An id has more digits."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    if sys.stdout is None:  # closed by whoever started the process
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character gets its escape, not an error.
            stream.reconfigure(errors="backslashreplace")
    try:
        app(args=list(arguments), prog_name="ebbmem")
    except SystemExit as ended:
        return _flushed(ended.code if isinstance(ended.code, int) else 1)
    except BrokenPipeError:
        return _flushed(1)
    return _flushed(0)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ebbmem {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


@app.command()
def demo() -> None:
    """Show everything once, on a store in RAM and a clock of its own."""
    play(console())


@app.command()
def remember(
    text: Annotated[str, typer.Argument(help="What to remember.")],
    keyword: Annotated[
        list[str] | None, typer.Option("--keyword", help="Links what shares it; may repeat.")
    ] = None,
    related_to: Annotated[
        list[str] | None, typer.Option("--related-to", help="A keyword to link to; may repeat.")
    ] = None,
    importance: Annotated[float, typer.Option("--importance", help="From 1 to 10.")] = 5.0,
    detail: Annotated[str | None, typer.Option("--detail", help="More text.")] = None,
    memory_type: Annotated[str, typer.Option("--type", help="Such as semantic.")] = "episodic",
    language: LanguageOption = KEPT,
    db: DbOption = DB,
    scope: ScopeOption = DEFAULT_SCOPE,
) -> None:
    """Remember one thing and print its number and id."""
    with AgenticMemory(db, scope=scope, language=_language(language)) as memory:
        made = memory.remember(
            text,
            detail=detail,
            keywords=keyword or (),
            related_to=related_to or (),
            memory_type=memory_type,
            importance=importance,
        )
    typer.echo(f"#{made.number} {made.id}")


@app.command()
def recall(
    cue: Annotated[str, typer.Argument(help="What to recall by.")],
    top_k: Annotated[int, typer.Option("-k", help="How many at most.")] = 10,
    recipe: Annotated[
        str, typer.Option("--recipe", metavar="NAME", help=f"One of {', '.join(RECIPES)}.")
    ] = recipes.DEFAULT.name,
    min_score: Annotated[
        float | None, typer.Option("--min-score", help="Leave out what scores less.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each one came.")] = False,
    as_json: JsonOption = False,
    no_reinforce: Annotated[
        bool, typer.Option("--no-reinforce", help="Only look: strengthen nothing.")
    ] = False,
    db: DbOption = DB,
    scope: ScopeOption = DEFAULT_SCOPE,
) -> None:
    """Recall what a cue brings up, best first."""
    if recipe not in RECIPES:
        raise typer.BadParameter(f"--recipe: expected one of {', '.join(RECIPES)}, got {recipe!r}")
    _require_store(db)
    with AgenticMemory(db, scope=scope, recipe=RECIPES[recipe]) as memory:
        result = memory.recall(
            cue,
            top_k=top_k,
            min_score=min_score,
            reinforce=False if no_reinforce else "recall",
        )
    if as_json:
        typer.echo(json.dumps(recall_json(result, scope)))
    else:
        print_recall(console(), result, explain=explain)


@app.command("import")
def import_(
    file: Annotated[str, typer.Argument(help="JSON, one object a line; - for standard input.")],
    as_memories: Annotated[
        bool, typer.Option("--as-memories", help="Make chat messages memories as well.")
    ] = False,
    scope: Annotated[
        str | None,
        typer.Option(
            "--scope", metavar="NAME", help="Where to; else as each line says, else default."
        ),
    ] = None,
    on_conflict: Annotated[
        str,
        typer.Option("--on-conflict", metavar="HOW", help="skip, error or new: of what is there."),
    ] = "skip",
    language: LanguageOption = KEPT,
    db: DbOption = DB,
) -> None:
    """Take in chat messages, memories, or what export wrote."""
    with _lines(file) as lines, Database(db, language=_language(language)) as database:
        report = database.import_(
            lines, scope=scope, as_memories=as_memories, on_conflict=on_conflict
        )
    for bad in report.bad:
        typer.echo(f"line {bad.number}: {visible(bad.reason)}", err=True)
    typer.echo(_told(report), err=True)
    if report.bad:
        raise typer.Exit(1)


@app.command()
def export(
    file: Annotated[str, typer.Argument(help="Where to; - for standard output.")] = "-",
    all_scopes: Annotated[bool, typer.Option("--all-scopes", help="Not only one.")] = False,
    db: DbOption = DB,
    scope: ScopeOption = DEFAULT_SCOPE,
) -> None:
    """Write memories, links, intentions and turns as JSON, one object a line."""
    _require_store(db)
    with Database(db) as database:
        if not all_scopes and scope not in database.scopes():
            typer.echo(f"ebbmem: scope {scope!r} is empty", err=True)
        chosen = None if all_scopes else [scope]
        if file != "-":
            database.export(file, scopes=chosen)
            return
        for line in database.export_lines(scopes=chosen):
            sys.stdout.buffer.write(line.encode())


@app.command()
def erase(
    ids: Annotated[
        list[str] | None,
        typer.Argument(help="Ids, or the numbers that recall shows.", show_default=False),
    ] = None,
    whole_scope: Annotated[
        bool, typer.Option("--whole-scope", help="All that is in the scope, instead of ids.")
    ] = False,
    db: DbOption = DB,
    scope: ScopeOption = DEFAULT_SCOPE,
) -> None:
    """Erase for good; ends with 1 while a file may still hold something of it."""
    if bool(ids) == whole_scope:
        raise typer.BadParameter("expected ids, or --whole-scope instead of them")
    _require_store(db)
    with AgenticMemory(db, scope=scope) as memory:
        if whole_scope:
            receipt = memory.database.erase_scope(scope)
        else:
            receipt = memory.erase([_id(memory, one) for one in ids or ()])
        pending = receipt.pending
    typer.echo(erased(receipt))
    if pending:
        typer.echo("ebbmem: a reader keeps older pages; they go with the next write", err=True)
        raise typer.Exit(1)


@app.command()
def verify(as_json: JsonOption = False, db: DbOption = DB) -> None:
    """Check a store, also one that does not open; ends with 1 where anything is wrong."""
    report = maintenance.verify(db)
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(report) | {"ok": report.ok}))
    else:
        print_verify(console(), report)
    if not report.ok:
        raise typer.Exit(1)


@app.command()
def repair(as_json: JsonOption = False, db: DbOption = DB) -> None:
    """Mend a damaged store that nobody has open: keep what is sound, put the rest aside."""
    report = maintenance.repair(db)
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(report)))
    else:
        print_repair(console(), report)


@app.command()
def backup(
    target: Annotated[
        str, typer.Argument(metavar="TO", help="The copy; an older one is replaced.")
    ],
    db: DbOption = DB,
) -> None:
    """Copy a store to another file, whole and of one moment, while it is in use."""
    _require_store(db)
    with Database(db) as database:
        size = database.backup(target)
    typer.echo(visible(f"{target}: {size:,} bytes"))


@app.command()
def stats(as_json: JsonOption = False, db: DbOption = DB) -> None:
    """Count what each scope holds, and tell what this build is."""
    _require_store(db)
    with Database(db) as database:
        scopes = database.stats()
        # With the store's write-ahead log, which holds the newest changes.
        size = sum(os.path.getsize(name) for name in (db, f"{db}-wal") if os.path.exists(name))
    build = build_info()
    if as_json:
        counted = [dataclasses.asdict(one) for one in scopes]
        whole = {"path": db, "bytes": size, "scopes": counted}
        typer.echo(json.dumps({**whole, "build": dataclasses.asdict(build)}))
        return
    out = console()
    out.print(counts(scopes))
    out.print(visible(f"{db}: {size:,} bytes"))
    out.print(f"ebbmem {build.version}, {build.isa}, Python {build.python}, SQLite {build.sqlite}")


def _language(name: str) -> str | None:
    """Return a language as `Database` takes it."""
    return None if name == "none" else name


def _id(memory: AgenticMemory, name: str) -> str:
    """Return the id of what is named by its id, or by its number: ``6`` or ``#6``."""
    number = _NUMBER.fullmatch(name)
    if number:
        return memory.id_of(int(number[1]))
    try:
        return id_text(parse_id(name))
    except InvalidArgument as error:
        expected = "an id, or a number that recall shows, such as 6 or #6"
        raise InvalidArgument.of("id", expected, name) from error


def _require_store(db: str) -> None:
    """Refuse to make a store only to read it."""
    if db != MEMORY and not os.path.exists(db):
        raise InvalidArgument.of("--db", "a store that exists (or set EBBMEM_DB)", db)


@contextmanager
def _lines(file: str) -> Iterator[Iterator[bytes]]:
    """Open a file or standard input; a person who waits sees how far it is."""
    if file == "-":
        with watched(sys.stdin.buffer, None) as lines:
            yield lines
        return
    with open(file, "rb") as opened, watched(opened, os.path.getsize(file)) as lines:
        yield lines


def _told(report: ImportReport) -> str:
    """Return what an import did, on one line."""
    parts = [f"{report.imported} imported"]
    parts += [f"{report.existing} there already"] if report.existing else []
    parts += [f"{report.erased} erased here before"] if report.erased else []
    parts.append(f"{len(report.bad)} bad")
    lines = "1 line" if report.lines == 1 else f"{report.lines} lines"
    return f"{lines}: {', '.join(parts)}"


def _flushed(code: int) -> int:
    """Return an exit code once all is written; a reader that went away is no error to tell."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or 1
    return code
