"""What a recall may be given beside its cue, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from ebbmem import arguments
from ebbmem.clock import Moment, to_us
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.filters import Filter, checked_filter
from ebbmem.recipes import Recipe

Reinforce = Literal["recall", "use", False]


_PLAIN: Final = (None, None, False, None)
"""The usual ``as_of_us``, ``run_id``, ``archive`` and ``token_budget``."""


class Options(NamedTuple):
    """Everything about a recall but its cue; every field checked."""

    recipe: Recipe
    top_k: int
    min_score: float
    now_us: int
    as_of_us: int | None
    run_id: str | None
    archive: bool
    token_budget: int | None
    reinforce: bool
    """Whether hits are strengthened by being recalled."""
    also: tuple[str, ...] = ()
    """Scopes that are read beside the one asked."""
    filters: Filter | None = None
    degraded: bool = False
    """Whether the recipe is without its vectors, as the embedder failed."""

    @property
    def plain(self) -> bool:
        """Return whether nothing is asked but the best of one scope as it is now."""
        return self[4:8] == _PLAIN and not self.also and self.filters is None


def checked_options(
    recipe: Recipe,
    now_us: int,
    *,
    top_k: int,
    token_budget: int | None,
    min_score: float | None,
    run_id: str | None,
    as_of: Moment | None,
    include_archive: bool,
    also: Iterable[str],
    filters: Mapping[str, Any] | None,
    reinforce: Reinforce,
) -> Options:
    """Check everything about a recall but its cue, for any scope; see `beside`."""
    if reinforce is not False and reinforce not in ("recall", "use"):
        raise InvalidArgument.of("reinforce", '"recall", "use" or False', reinforce)
    options = (
        recipe,
        arguments.count(top_k, "top_k"),
        recipe.min_score if min_score is None else arguments.finite(min_score, "min_score"),
        now_us,
        None if as_of is None else to_us(as_of, "as_of"),
        None if run_id is None else arguments.name(run_id, "run_id"),
        arguments.flag(include_archive, "include_archive"),
        None if token_budget is None else arguments.count(token_budget, "token_budget"),
        reinforce == "recall",
        _scopes(also),
        None if filters is None else checked_filter(filters),
        False,
    )
    # Without the call that puts the names to the values: made for every recall.
    return tuple.__new__(Options, options)


def beside(options: Options, scope: str) -> Options:
    """Return options with the scopes to read beside one, which is not among them."""
    if scope not in options.also:
        return options
    return options._replace(also=tuple(one for one in options.also if one != scope))


def _scopes(also: Iterable[str]) -> tuple[str, ...]:
    """Return the names of scopes, each once."""
    if type(also) is tuple and not also:  # what it is nearly always
        return also
    if isinstance(also, (str, bytes)) or not isinstance(also, Iterable):
        raise InvalidType.of("also", "an iterable of str", also)
    return tuple(dict.fromkeys(arguments.name(one, "also") for one in also))
