"""Print how well recall finds the right thing, and fail where a gate is not passed.

    python benchmarks/quality --data FOLDER              # both tables, ebbmem beside others
    python benchmarks/quality --data FOLDER --without    # DEFAULT with each part off in turn
    python benchmarks/quality --data FOLDER --gate       # DEFAULT alone; exit status 1 below a gate

FOLDER holds locomo_dev.json.gz, minilm_locomo_dev.npz, longhorizon/stream-*.jsonl.gz and
review_logs.csv.  The
figures are the same on every run and every machine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import locomo
import streams
from reviews import reviews
from systems import (
    RECIPES,
    WITHOUT,
    WITHOUT_WORDS,
    Agent,
    Bm25,
    model,
    ranked_by,
    ranked_by_bm25,
    without_words,
)

from ebbmem import calibrate, recipes

GATES = {
    "R@10": 0.69,
    "hit@10": 0.76,
    "MRR": 0.50,
    "R@10 with a model's vectors": 0.72,
    "macro": 0.69,
    "permanent": 0.98,
    "past": 0.45,
    "macro, capped": 0.55,
    "permanent, capped": 0.93,
}
AT_MOST = {
    "stale answers": 0.33,
    "R@10 that forgetting costs": 0.01,
    "log loss of reviews": 0.47,
    "RMSE of reviews": 0.05,
}
CAPACITY = 400
"""Memories out of the archive, where streams are capped."""

Ranked = Callable[[locomo.Conversation], list[list[str]]]


def conversations_answered(ranked: Ranked, told: Sequence[locomo.Conversation]) -> locomo.Quality:
    """Return how well a system finds the evidence of every question."""
    return locomo.quality(
        [pair for one in told for pair in zip(one.questions, ranked(one), strict=True)]
    )


def print_conversations(rows: Mapping[str, Ranked], told: Sequence[locomo.Conversation]) -> None:
    """Print a line for each system."""
    print("| conversations | R@5 | R@10 | hit@10 | MRR |\n|---|---|---|---|---|")
    for name, ranked in rows.items():
        found = conversations_answered(ranked, told)
        figures = (found.recall_at_5, found.recall_at_10, found.hit_at_10, found.mrr)
        print(f"| {name} | {' | '.join(f'{one:.3f}' for one in figures)} |", flush=True)


def print_streams(rows: Mapping[str, Callable[[], streams.System]], paths: Sequence[Path]) -> None:
    """Print a line for each system."""
    print(f"\n| streams | {' | '.join(streams.KINDS)} | macro | stale answers |")
    print("|---" * (len(streams.KINDS) + 3) + "|")
    for name, make in rows.items():
        found = streams.accuracy(make, paths)
        figures = [*(found.by_kind[kind] for kind in streams.KINDS), found.macro, found.stale]
        print(f"| {name} | {' | '.join(f'{one:.3f}' for one in figures)} |", flush=True)


def measured(data: Path) -> dict[str, float]:
    """Return the figures that gates are for."""
    told = locomo.conversations(data / "locomo_dev.json.gz")
    plain = conversations_answered(ranked_by(recipes.DEFAULT), told)
    with_model = ranked_by(recipes.DEFAULT, model(data / "minilm_locomo_dev.npz"))
    unfading = conversations_answered(ranked_by(WITHOUT["forgetting"]), told)
    replayed = streams.accuracy(lambda: Agent(recipes.DEFAULT), stream_paths(data))
    capped = streams.accuracy(lambda: Agent(recipes.DEFAULT, CAPACITY), stream_paths(data))
    fitted = calibrate.fit(reviews(data / "review_logs.csv"))
    return {
        "R@10": plain.recall_at_10,
        "hit@10": plain.hit_at_10,
        "MRR": plain.mrr,
        "R@10 with a model's vectors": conversations_answered(with_model, told).recall_at_10,
        "R@10 that forgetting costs": unfading.recall_at_10 - plain.recall_at_10,
        "macro": replayed.macro,
        "permanent": replayed.by_kind["permanent"],
        "past": replayed.by_kind["past"],
        "stale answers": replayed.stale,
        "macro, capped": capped.macro,
        "permanent, capped": capped.by_kind["permanent"],
        "log loss of reviews": fitted.log_loss,
        "RMSE of reviews": fitted.rmse,
    }


def gate(data: Path) -> int:
    """Print each gated figure beside its gate; return 1 where one is not passed."""
    failed = 0
    for name, value in measured(data).items():
        passed = value >= GATES[name] if name in GATES else value <= AT_MOST[name]
        bound = f"at least {GATES[name]}" if name in GATES else f"at most {AT_MOST[name]}"
        print(f"{name}: {value:.4f} ({bound}){'' if passed else '  NOT PASSED'}")
        failed |= not passed
    return int(failed)


def stream_paths(data: Path) -> list[Path]:
    """Return the files of the streams, in order."""
    return sorted((data / "longhorizon").glob("stream-*.jsonl.gz"))


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks/quality", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    parser.add_argument("--gate", action="store_true", help="DEFAULT alone, beside the gates")
    parser.add_argument("--without", action="store_true", help="DEFAULT with a part off")
    asked = parser.parse_args(arguments)
    if asked.gate:
        return gate(asked.data)
    told = locomo.conversations(asked.data / "locomo_dev.json.gz")
    chosen = {"DEFAULT": recipes.DEFAULT, **WITHOUT} if asked.without else RECIPES
    rows = {name: ranked_by(recipe) for name, recipe in chosen.items()}
    systems: dict[str, Callable[[], streams.System]] = {
        name: lambda recipe=recipe: Agent(recipe) for name, recipe in chosen.items()
    }
    for part in WITHOUT_WORDS if asked.without else ():
        rows[part] = without_words(part, ranked_by(recipes.DEFAULT))
        systems[part] = without_words(part, lambda: Agent(recipes.DEFAULT))
    if not asked.without:
        vectors = model(asked.data / "minilm_locomo_dev.npz")
        rows["DEFAULT, a model's vectors"] = ranked_by(recipes.DEFAULT, vectors)
        rows["BM25 alone (bm25s)"] = ranked_by_bm25
        systems["BM25 alone (bm25s)"] = Bm25
    print_conversations(rows, told)
    print_streams(systems, stream_paths(asked.data))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
