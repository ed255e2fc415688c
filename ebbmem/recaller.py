"""A handle that looks: recall by cues, one memory by its id, and why one comes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ebbmem import arguments, batches, explaining, reading, retrieval
from ebbmem.clock import Moment
from ebbmem.errors import InvalidType
from ebbmem.handle import ScopeHandle, checked_recipe
from ebbmem.models import Explained, Memory, RecallResult
from ebbmem.options import Reinforce, beside, checked_options
from ebbmem.recipes import Recipe


class Recaller(ScopeHandle):
    """What a handle on a scope brings back."""

    def recall(
        self,
        cue: str,
        *,
        top_k: int = 10,
        token_budget: int | None = None,
        min_score: float | None = None,
        recipe: Recipe | None = None,
        run_id: str | None = None,
        as_of: Moment | None = None,
        include_archive: bool = False,
        also: Iterable[str] = (),
        filters: Mapping[str, Any] | None = None,
        reinforce: Reinforce = "recall",
        now: Moment | None = None,
    ) -> RecallResult:
        """Bring back what the cue calls up, best first.

        Parameters
        ----------
        cue : str
            Any text.  One without words brings nothing back under `DEFAULT`; the recipes that rank
            every memory by its vector rank them by the rest.
        top_k : int
            Memories to look at, at most.
        token_budget : int, optional
            Size of all summaries together, at four characters a token; hits are taken greedily.
        min_score : float, optional
            Hits below it go to ``skipped``; by default the recipe's.
        recipe : Recipe, optional
            How to rank, instead of the handle's.
        run_id : str, optional
            Only memories of this run.
        as_of : datetime or int or float, optional
            Only what existed and held at that moment (valid time); default: now.
        include_archive : bool
            Search the archive as well.
        also : iterable of str
            Scopes to read beside this one, such as ``["team"]``.  Each is ranked by itself, with
            its own statistics, and every other argument applies to it too; ``top_k`` and
            ``token_budget`` to the hits of all together.  `Recalled.scope` says whose a hit is.
            Nothing is written to them, so their hits are not strengthened; one to which nothing
            was ever written is empty.
        filters : mapping, optional
            What a hit must have, looked at before the best are taken; see `ebbmem.conditions`.
        reinforce : {"recall", "use", False}
            ``"recall"``: hits are strengthened by being recalled, within the recipe's guard.
            ``"use"``: only `feedback` strengthens.  ``False``: the same, and said so.  Neither
            writes what earlier recalls left waiting.
        now : datetime or int or float, optional
            The moment of recall; by default the clock's.

        Returns
        -------
        RecallResult
            Ties: higher score, then newer (of matches alike the older, where `DEFAULT` is asked
            about the past), then this scope before the others in the order given, then lower
            number.

        Raises
        ------
        EmbedderFailed
            If the embedder raises or returns unusable vectors and the recipe ranks by vectors
            alone; where it ranks by words too, these answer, and the result is ``degraded``.
        LockTimeout
            If too many recalls wait and another process keeps them from being written; then this
            one strengthens nothing.
        CorruptStore
            If a memory of the scope does not match its checksum.
        """
        options = checked_options(
            self._recipe if recipe is None else checked_recipe(recipe, self._embedder),
            self._now(now),
            top_k=top_k,
            token_budget=token_budget,
            min_score=min_score,
            run_id=run_id,
            as_of=as_of,
            include_archive=include_archive,
            also=also,
            filters=filters,
            reinforce=reinforce,
        )
        text, options = arguments.text(cue, "cue"), beside(options, self._scope)
        return retrieval.recall(self._engine, self._scope, self._embedder, text, options)

    def recall_many(
        self,
        cues: Sequence[str],
        *,
        top_k: int = 10,
        token_budget: int | None = None,
        min_score: float | None = None,
        recipe: Recipe | None = None,
        run_id: str | None = None,
        as_of: Moment | None = None,
        include_archive: bool = False,
        also: Iterable[str] = (),
        filters: Mapping[str, Any] | None = None,
        reinforce: Reinforce = "recall",
        threads: int = 1,
        now: Moment | None = None,
    ) -> list[RecallResult]:
        """Answer several cues in order, as `recall` does one; what they look up, in one call.

        Parameters
        ----------
        cues : sequence of str
            Texts; each may strengthen what the next one finds.
        threads : int
            Threads to look up with; the results do not depend on it.
        top_k, token_budget, min_score, recipe, run_id, as_of, include_archive, also, filters,
        reinforce, now
            As for `recall`, for every cue.

        Returns
        -------
        list of RecallResult
            One per cue.

        Raises
        ------
        EmbedderFailed
            As `recall`; the cues are embedded together, and a failure degrades all of them.
        PartlyAnswered
            If a memory that a cue calls up does not match its checksum: once the other cues were
            answered, as far as they can be, and with their answers.
        LockTimeout
            As `recall`; the cues before it were answered, and strengthened what they hit.
        """
        if isinstance(cues, (str, bytes)) or not isinstance(cues, Sequence):
            raise InvalidType.of("cues", "a sequence of str", cues)
        options = checked_options(
            self._recipe if recipe is None else checked_recipe(recipe, self._embedder),
            self._now(now),
            top_k=top_k,
            token_budget=token_budget,
            min_score=min_score,
            run_id=run_id,
            as_of=as_of,
            include_archive=include_archive,
            also=also,
            filters=filters,
            reinforce=reinforce,
        )
        pairs = [(self._scope, arguments.text(cue, "cue")) for cue in cues]
        most = arguments.count(threads, "threads")
        return batches.recall_many(self._engine, self._embedder, pairs, options, most)

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

    def id_of(self, number: int) -> str:
        """Return the id of the memory that has a number: the 6 of ``#6``.

        Raises
        ------
        UnknownMemory
            If the scope has none with that number; none is given twice.
        """
        return reading.id_of(self._engine, self._scope, arguments.count(number, "number"))

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
        EmbedderFailed
            As `recall`.
        CorruptStore
            If a memory of the scope does not match its checksum.
        """
        options = checked_options(
            self._recipe if recipe is None else checked_recipe(recipe, self._embedder),
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
