"""Named, frozen choices of law, weights and limits for recall.

``DEFAULT`` ranks by BM25 and by what its best matches bring up, times a bounded retention.
The others reproduce four published schemes: ``EBBINGHAUS`` (similarity x importance x
exponential forgetting per second), ``ASSOCIATIVE`` (similarity, cascade, retrievability,
strength and emotion added), ``GENERATIVE`` (relevance, recency and importance added) and
``SIMILARITY`` (cosine above a threshold).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Final

from ebbmem import arguments
from ebbmem.decay import (
    Ebbinghaus,
    Law,
    NoForgetting,
    PowerForgetting,
    StorageStrength,
    WeightedSum,
)
from ebbmem.durations import to_duration_us
from ebbmem.errors import InvalidArgument, InvalidType
from ebbmem.reinforcement import Reinforcement
from ebbmem.spreading import SpreadConfig


class Ranking(Enum):
    """How the terms make one score."""

    PRODUCT = "product"
    """``((cos + 1) / 2) * importance * R``: exact over every memory, in the log domain."""
    SUM = "sum"
    """The weighted sum of all terms: exact over every memory."""
    BOUNDED = "bounded"
    """Familiarity and cascade joined, times ``floor + (1 - floor) * R``."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the terms of a sum.

    ``similarity`` multiplies the cosine, ``cascade`` the activation that came through links,
    ``retrievability`` R, ``strength`` S, ``emotion`` the emotional intensity, and
    ``importance`` importance / 10.
    """

    similarity: float = 0.0
    cascade: float = 0.0
    retrievability: float = 0.0
    strength: float = 0.0
    emotion: float = 0.0
    importance: float = 0.0

    def __post_init__(self) -> None:
        for term in fields(self):
            arguments.not_negative(getattr(self, term.name), term.name)


@dataclass(frozen=True, slots=True)
class Guard:
    """What keeps recall from strengthening the wrong memories.

    ``evidence`` is the least similarity at which a hit counts as recalled; ``refractory`` the
    least time since the last access, a duration such as ``"10m"``.
    """

    evidence: float = 0.3
    refractory: str = "10m"
    _refractory_us: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        arguments.number(self.evidence, "evidence", 0.0, 1.0)
        # Every recall asks for it.
        refractory_us = to_duration_us(self.refractory, "refractory")
        object.__setattr__(self, "_refractory_us", refractory_us)

    @property
    def refractory_us(self) -> int:
        """Return the refractory time in microseconds."""
        return self._refractory_us


@dataclass(frozen=True, slots=True)
class SharedNames:
    """How the best match brings up what shares a rare name with it.

    ``weight`` is what it passes on of its activation through a name that two texts have (less
    through a more frequent one), ``most`` the texts beyond which a name says nothing.
    """

    weight: float = 0.6
    most: int = 32

    def __post_init__(self) -> None:
        arguments.number(self.weight, "weight", 0.0, 1.0)
        arguments.count(self.most, "most")


@dataclass(frozen=True, slots=True)
class Precedence:
    """Which of several matches alike comes first: the newer one, or for the past the older.

    Of the ``among`` best, those are alike that have the same terms of the cue (the first 64
    count) and score at least ``near``, in (0, 1], times what the best of them does.
    """

    near: float = 0.65
    among: int = 12

    def __post_init__(self) -> None:
        arguments.positive(self.near, "near")
        arguments.number(self.near, "near", 0.0, 1.0)
        arguments.count(self.among, "among")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How recall ranks.

    Parameters
    ----------
    name : str
        Shown in explanations.
    law : Law
        Gives R of each memory.
    ranking : Ranking
        How the terms make one score.
    weights : Weights
        Of the terms, for sums; ``cascade`` also weighs a bounded ranking's cascade.
    lexical, dense : float
        Weights of the two lanes in familiarity, for a bounded ranking (at least one positive).
        The other rankings use the cosine alone.
    semantic : float or None
        ``dense`` where the embedder is one whose vectors are stored: a model's tell what words do
        not, those of word hashing the same once more.  ``precedence.near`` is then half as far
        from 1.  None: nothing differs, and such an embedder is not asked.
    retention_floor : float
        Least factor forgetting may apply in a bounded ranking, in [0, 1].
    spread : SpreadConfig or None
        How activation spreads from the best matches; None for not at all.
    spread_seeds : int
        How many of the best matches activation starts from.
    names : SharedNames or None
        How the best match brings up, in a bounded ranking, what shares a name with it; None for
        not at all.
    precedence : Precedence or None
        Which matches change places, in a bounded ranking, so that the newer comes first, or the
        older where the cue asks about the past; None for none.
    candidates : int
        How many memories each lane of a bounded ranking puts forward.
    min_score : float
        Hits below it are skipped.
    demote_superseded : bool
        Whether a superseded memory ranks below the one that replaced it.
    reinforcement : Reinforcement
        The update of S and R on recall.
    guard : Guard or None
        What keeps recall from strengthening the wrong memories.
    k1, b : float
        BM25's term saturation and length normalisation.
    """

    name: str
    law: Law
    ranking: Ranking
    weights: Weights = field(default_factory=Weights)
    lexical: float = 0.0
    dense: float = 1.0
    semantic: float | None = None
    retention_floor: float = 1.0
    spread: SpreadConfig | None = None
    spread_seeds: int = 20
    names: SharedNames | None = None
    precedence: Precedence | None = None
    candidates: int = 200
    min_score: float = 0.0
    demote_superseded: bool = False
    reinforcement: Reinforcement = field(default_factory=Reinforcement)
    guard: Guard | None = None
    k1: float = 0.9
    b: float = 0.4
    _plain: Recipe | None = field(default=None, init=False, repr=False, compare=False)
    """Of what `weighed` made: the recipe it was made from."""

    def __post_init__(self) -> None:
        arguments.name(self.name, "name")
        self._check_types()
        if self.ranking is Ranking.PRODUCT and not isinstance(self.law, Ebbinghaus):
            raise InvalidType.of("law", "Ebbinghaus, for a product ranking", self.law)
        for lane in ("lexical", "dense", "k1"):
            arguments.not_negative(getattr(self, lane), lane)
        if self.semantic is not None:
            arguments.not_negative(self.semantic, "semantic")
        if self.lexical + self.dense == 0:
            raise InvalidArgument.of(
                "lexical, dense", "weights of which one is positive", (self.lexical, self.dense)
            )
        arguments.number(self.retention_floor, "retention_floor", 0, 1)
        arguments.number(self.b, "b", 0, 1)
        arguments.finite(self.min_score, "min_score")
        arguments.count(self.spread_seeds, "spread_seeds")
        arguments.count(self.candidates, "candidates")
        arguments.flag(self.demote_superseded, "demote_superseded")

    def _check_types(self) -> None:
        """Refuse parts that are of another kind."""
        if not callable(getattr(self.law, "retrievability", None)) or isinstance(self.law, type):
            raise InvalidType.of("law", "a Law (retrievability)", self.law)
        parts: dict[str, tuple[type, ...]] = {
            "ranking": (Ranking,),
            "weights": (Weights,),
            "spread": (SpreadConfig, type(None)),
            "names": (SharedNames, type(None)),
            "precedence": (Precedence, type(None)),
            "reinforcement": (Reinforcement,),
            "guard": (Guard, type(None)),
        }
        for name, kinds in parts.items():
            if not isinstance(getattr(self, name), kinds):
                raise InvalidType.of(name, f"a {kinds[0].__name__}", getattr(self, name))

    @property
    def uses_terms(self) -> bool:
        """Return whether the lexical lane takes part."""
        return self.ranking is Ranking.BOUNDED and self.lexical > 0

    @property
    def alike(self) -> tuple[int, float]:
        """Return how many of the best may change places, and how near they have to be."""
        first = self.precedence
        return (0, 1.0) if first is None else (first.among, first.near)

    @property
    def tie(self) -> tuple[float, int]:
        """Return what a name of two texts passes on, and the most texts of a name."""
        return (0.0, 0) if self.names is None else (self.names.weight, self.names.most)

    @property
    def uses_vectors(self) -> bool:
        """Return whether the dense lane takes part."""
        return self.ranking is not Ranking.BOUNDED or self.dense > 0


_MOST_WEIGHED: Final = 64
_weighed: Final[dict[int, tuple[Recipe, Recipe]]] = {}
"""Recipes by identity, and what a model's embedder makes of each.  Not by equality: those of two
laws of a class of one's own may be equal and yet say different things."""


def weighed(recipe: Recipe, *, semantic: bool) -> Recipe:
    """Return a recipe as an embedder of either kind needs it: a model's are semantic."""
    if not semantic or recipe.semantic is None:
        return recipe
    known = _weighed.get(id(recipe))
    if known is None or known[0] is not recipe:
        if len(_weighed) >= _MOST_WEIGHED:
            _weighed.clear()
        known = _weighed[id(recipe)] = recipe, _semantic(recipe, recipe.semantic)
    return known[1]


def _semantic(recipe: Recipe, dense: float) -> Recipe:
    """Return a recipe as a model's embedder needs it."""
    # A model's cosines are seldom near 0, so with them scores lie closer together.
    first = recipe.precedence
    if first is not None:
        first = replace(first, near=(1.0 + first.near) / 2.0)
    made = replace(recipe, dense=dense, semantic=None, precedence=first)
    object.__setattr__(made, "_plain", recipe)
    return made


def by_words(recipe: Recipe) -> Recipe | None:
    """Return a recipe that ranks by words and vectors without the vectors; None for others."""
    if not (recipe.uses_terms and recipe.uses_vectors):
        return None
    return replace(recipe._plain or recipe, dense=0.0, semantic=None)


_RELEVANCE = WeightedSum()

EBBINGHAUS = Recipe("ebbinghaus", Ebbinghaus(), Ranking.PRODUCT)

ASSOCIATIVE = Recipe(
    "associative",
    StorageStrength(),
    Ranking.SUM,
    weights=Weights(
        similarity=0.40, cascade=0.25, retrievability=0.25, strength=0.05, emotion=0.05
    ),
    spread=SpreadConfig(hop_decay=0.5, seeds_receive=False, fan_normalise=False),
    demote_superseded=True,
)

GENERATIVE = Recipe(
    "generative",
    _RELEVANCE,
    Ranking.SUM,
    weights=Weights(
        similarity=_RELEVANCE.alpha,
        retrievability=_RELEVANCE.beta,
        importance=_RELEVANCE.gamma,
    ),
)

SIMILARITY = Recipe(
    "similarity", NoForgetting(), Ranking.SUM, weights=Weights(similarity=1.0), min_score=0.15
)

DEFAULT = Recipe(
    "default",
    PowerForgetting(),
    Ranking.BOUNDED,
    weights=Weights(cascade=0.9),
    lexical=1.0,
    dense=0.0,
    semantic=0.3,
    retention_floor=0.8,
    spread=SpreadConfig(depth=2, hop_decay=0.7),
    names=SharedNames(),
    precedence=Precedence(),
    demote_superseded=True,
    guard=Guard(),
)
