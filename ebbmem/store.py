"""Long-term memory of one scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ebbmem import arguments, drafts, remembering, revision
from ebbmem.clock import Moment
from ebbmem.durations import Duration
from ebbmem.models import Remembered
from ebbmem.recaller import Recaller


class EpisodicMemoryStore(Recaller):
    """Long-term memory of one scope: facts that fade, strengthen and bring each other up.

    A context manager; a handle, cheap to make and safe to share between threads.

    Parameters
    ----------
    db : Database
        The store.  It stays open when the handle is closed.
    vector_store : InMemoryVectorStore, optional
        Where vectors are searched.  An `InMemoryVectorStore` says: in the scope's own native
        index, which is also what happens when none is named.
    embedder : Embedder, optional
        Makes the vectors of the dense lane; by default `HashingEmbedder`.
    scope : str, optional
        The partition to act in, ``"default"`` when none is named.
    user_id, agent_id : str, optional
        Together they name a scope, instead of ``scope``.
    recipe : Recipe
        How recall ranks; see `ebbmem.recipes`.
    conflicts : ConflictRule, optional
        Lets `remember` and `remember_many` look for older memories that say other things of the
        same, and link them as ``conflicts`` (of each memory the 64 surest, of these the newest);
        see `ebbmem.conflicts`.  None: they do not look.
    extract : callable, optional
        Called with the summary of what is remembered or corrected (turns are not); the names that
        it returns are keywords of it as well.  What it raises goes to the caller, and nothing is
        remembered.

    Raises
    ------
    EmbedderMismatch
        If the store holds vectors of another embedder.
    """

    # --- remembering --------------------------------------------------------------------

    def remember(
        self,
        summary: str,
        *,
        detail: str | None = None,
        keywords: Iterable[str] = (),
        related_to: Iterable[str] = (),
        memory_type: str = "episodic",
        emotional_valence: float = 0.0,
        emotional_intensity: float = 0.0,
        importance: float = 5.0,
        metadata: Mapping[str, Any] | None = None,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        expires_in: Duration | None = None,
        pinned: bool = False,
        key: str | None = None,
        dedupe: bool = False,
        source: str | None = None,
        run_id: str | None = None,
        supersedes: str | Iterable[str] = (),
        now: Moment | None = None,
    ) -> Remembered:
        """Remember one thing; it survives the process from the moment this returns.

        Parameters
        ----------
        summary : str
            The text that recall searches and returns.  May be empty or without words; lone
            surrogates are refused, NUL is kept.
        detail : str, optional
            More text, returned but not searched.
        keywords : iterable of str
            Searched with the summary; memories that share one are linked, up to the 32 newest.
        related_to : iterable of str
            Keywords of other memories, to which this one is linked in both directions: those
            that are there and those still to come.
        memory_type : str
            ``"episodic"``, ``"semantic"``, ``"procedural"`` or a name of your own.
        emotional_valence : float
            In [-1, 1].
        emotional_intensity : float
            In [0, 1]; intense memories fade more slowly.
        importance : float
            In [1, 10].
        metadata : mapping, optional
            Anything JSON can hold, with string keys.
        valid_from, valid_to : datetime or int or float, optional
            When the fact holds (aware datetime or epoch seconds).
        expires_in : timedelta or str, optional
            After which it is no longer recalled, linked to or passes activation, such as
            ``"30d"``; the next sleep pass moves it to the archive.
        pinned : bool
            Whether the sleep pass and `purge` leave it alone.
        key : str, optional
            Makes the call idempotent: the same key returns the memory that has it, as it is, also
            where that says something else (`Remembered.summary`).  To change it, use `correct`.
        dedupe : bool
            Return and strengthen a live memory of equal text (in NFC) instead of a new one.
        source : str, optional
            Where it comes from, in your words.
        run_id : str, optional
            The conversation or task it belongs to.
        supersedes : str or iterable of str
            Ids of memories that it takes the place of (of each, its newest correction): they are
            demoted, never deleted.  Nothing is where ``key`` or ``dedupe`` finds what is there.
        now : datetime or int or float, optional
            The moment it is remembered at; by default the clock's.

        Returns
        -------
        Remembered
            The id, the short number, whether a new memory was made, and what it says.

        Raises
        ------
        InvalidArgument, InvalidType
            If an argument is not allowed; nothing is stored.
        EmbedderFailed
            If the embedder raises or returns unusable vectors; nothing is stored.
        """
        one = drafts.draft(
            summary,
            now_us=self._now(now),
            detail=detail,
            keywords=keywords,
            related_to=related_to,
            memory_type=memory_type,
            emotional_valence=emotional_valence,
            emotional_intensity=emotional_intensity,
            importance=importance,
            metadata=metadata,
            valid_from=valid_from,
            valid_to=valid_to,
            expires_in=expires_in,
            pinned=pinned,
            key=key,
            dedupe=dedupe,
            source=source,
            run_id=run_id,
            supersedes=supersedes,
        )
        (made,) = remembering.remember(
            self._engine,
            self._scope,
            self._embedder,
            drafts.extracted([one], self._extract),
            self._conflicts,
        )
        return made

    save_fact = remember

    def remember_many(
        self,
        memories: Iterable[str | Mapping[str, Any]],
        *,
        threads: int = 1,
        now: Moment | None = None,
    ) -> list[Remembered]:
        """Remember several things in one transaction: all of them or none.

        Parameters
        ----------
        memories : iterable of str or mapping
            Texts, or the arguments of `remember` by name (``{"summary": ..., "importance": 8}``).
        threads : int
            Accepted as `recall_many` has it; the results do not depend on it, and nor does the
            time.  Five sixths of it go to rows, which SQLite writes one by one, and to objects
            made under Python's lock; only the rest, the words and the index, could be split.
        now : datetime or int or float, optional
            The moment of those that name none themselves.

        Returns
        -------
        list of Remembered
            In the order given.
        """
        arguments.count(threads, "threads")
        made = drafts.extracted(drafts.drafts_of(memories, self._now(now)), self._extract)
        return remembering.remember(
            self._engine, self._scope, self._embedder, made, self._conflicts
        )

    def correct(
        self,
        id: str,
        summary: str,
        *,
        detail: str | None = None,
        keywords: Iterable[str] = (),
        related_to: Iterable[str] = (),
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        source: str | None = None,
        run_id: str | None = None,
        now: Moment | None = None,
    ) -> Remembered:
        """Remember what supersedes a memory: the old one is demoted, never deleted.

        Parameters
        ----------
        id : str
            The memory to correct; if it was corrected before, its newest correction.
        summary : str
            What is true instead.
        importance : float, optional
            In [1, 10]; by default that of the memory it corrects; its type, emotion and
            pin are taken over as well.
        detail, keywords, related_to, metadata, source, run_id
            As for `remember`.
        now : datetime or int or float, optional
            The moment of the correction.

        Returns
        -------
        Remembered
            The new memory.

        Raises
        ------
        UnknownMemory
            If the scope has no memory with that id.
        """
        old = self.get(id)
        one = drafts.draft(
            summary,
            now_us=self._now(now),
            detail=detail,
            keywords=keywords,
            related_to=related_to,
            memory_type=old.memory_type,
            emotional_valence=old.emotional_valence,
            emotional_intensity=old.emotional_intensity,
            pinned=old.pinned,
            importance=old.importance if importance is None else importance,
            metadata=metadata,
            source=source,
            run_id=run_id,
        )
        (made,) = drafts.extracted([one], self._extract)
        return revision.correct(self._engine, self._scope, self._embedder, id, made)
