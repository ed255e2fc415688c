"""A handle that looks at single memories: one by its id, and why one comes back for a cue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbmem import arguments, explaining, reading
from ebbmem.clock import Moment
from ebbmem.handle import ScopeHandle, checked_recipe
from ebbmem.models import Explained, Memory
from ebbmem.options import checked_options
from ebbmem.recipes import Recipe


class Recaller(ScopeHandle):
    """What tells of single memories of a scope."""

    def get(self, id: str) -> Memory:
        """Return one memory.

        Raises
        ------
        UnknownMemory
            If the scope has no memory with that id.
        LockTimeout
            If recalls wait and another process keeps them from being written.
        """
        return reading.get(self._engine, self._scope, id)

    def explain(
        self,
        id: str,
        cue: str,
        *,
        top_k: int = 10,
        token_budget: int | None = None,
        min_score: float | None = None,
        recipe: Recipe | None = None,
        run_id: str | None = None,
        as_of: Moment | None = None,
        include_archive: bool = False,
        filters: Mapping[str, Any] | None = None,
        now: Moment | None = None,
    ) -> Explained:
        """Say why a memory comes back for a cue, or does not.  Nothing is strengthened.

        Parameters
        ----------
        id : str
            Which memory.
        cue, top_k, token_budget, min_score, recipe, run_id, as_of, include_archive, filters, now
            As for `EpisodicMemoryStore.recall`.

        Returns
        -------
        Explained
            Its place among all that the cue calls up, its score, and what kept it away.

        Raises
        ------
        UnknownMemory
            If the scope has no memory with that id.
        CorruptStore
            If a memory of the scope does not match its checksum.
        """
        options = checked_options(
            self._recipe if recipe is None else checked_recipe(recipe),
            self._now(now),
            top_k=top_k,
            token_budget=token_budget,
            min_score=min_score,
            run_id=run_id,
            as_of=as_of,
            include_archive=include_archive,
            also=(),
            filters=filters,
            reinforce=False,
        )
        text = arguments.text(cue, "cue")
        return explaining.explain(
            self._engine, self._scope, self._embedder, arguments.text(id, "id"), text, options
        )
