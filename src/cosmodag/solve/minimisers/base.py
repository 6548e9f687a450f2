"""What every minimiser offers: a way to solve one unconstrained sub-problem of a method."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import SettingsError
from cosmodag.model.structure import Parameters
from cosmodag.solve.backend import FEATURES
from cosmodag.solve.problems import Batch
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.watch import Watch

__all__ = [
    "LimitSettings",
    "Mask",
    "Minimised",
    "Minimiser",
    "copies_of",
    "first_that_implements",
    "needs_of",
    "trains_any",
]

Mask = NDArray[np.bool_]


class LimitSettings(TypedDict):
    """How long to go on at most: rounds of training, or iterations over all rows."""

    rounds: float


class Minimised(NamedTuple):
    """What came of one sub-problem for every problem of a batch.

    Attributes
    ----------
    parameters
        Where each problem ended, stacked, in NumPy.
    loss
        (k,) the objective there; not finite where it diverged.
    iterations
        Rounds, or iterations, run: the most of any problem.
    refused
        (k,) whether a problem left the region in which it is defined, so that it has to be solved
        again with other settings.
    converged
        (k,) whether it ended where it should, and not at a limit.
    stopped
        Why all of it ended early, or None.
    """

    parameters: Parameters
    loss: NDArray[np.floating]
    iterations: int
    refused: Mask
    converged: Mask
    stopped: str | None


class Minimiser(Protocol):
    """A way to minimise the objective of a batch's recipe, under its present settings.

    It declares which recipes it implements, matched by equality of their parts, and for which
    features; everything else it needs is in the batch.

    Attributes
    ----------
    trains
        Whether it trains by the reference loop or a kernel, which a plan has to choose.
    working_copies
        Arrays as large as the parameters that it holds beside them, for those that do not train.
    """

    trains: ClassVar[bool]
    working_copies: ClassVar[int]

    @property
    def needs(self) -> frozenset[str]:
        """Names of the settings that it reads beside the recipe's."""
        ...

    def implements(self, recipe: Recipe, features: frozenset[str]) -> bool:
        """Whether it minimises what a recipe says, for problems that give these features."""
        ...

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Solve the sub-problems of the active lanes; what the others return is not used.

        Parameters
        ----------
        batch : Batch
            The problems.
        parameters : dict
            Where each starts, stacked.
        active : (k,) bool
            Which problems matter.
        first : int
            Number of the first round, so that no two sub-problems shuffle the rows alike.
        watch : Watch
            Shows progress and may end it early.
        """
        ...


def first_that_implements(
    minimisers: Sequence[Minimiser], recipe: Recipe, features: frozenset[str]
) -> Minimiser:
    """Choose the first of some minimisers, preferred first, that implements what is asked."""
    for minimiser in minimisers:
        if minimiser.implements(recipe, features):
            return minimiser
    given = ", ".join(sorted(features)) or "nothing"
    raise SettingsError(
        f"None of {', '.join(type(m).__name__ for m in minimisers) or 'no minimisers'} implements "
        f"{recipe} with {given} given: add Stochastic(), which implements everything."
    )


def _candidates(minimisers: Sequence[Minimiser], recipe: Recipe) -> list[Minimiser]:
    """Those that may be chosen for a recipe, whatever its problems will give."""
    found = []
    for minimiser in minimisers:
        if minimiser.implements(recipe, frozenset()):
            found.append(minimiser)
        if minimiser.implements(recipe, FEATURES):
            break
    return found


def needs_of(minimisers: Sequence[Minimiser], recipe: Recipe) -> frozenset[str]:
    """Names of the settings that a recipe, and those who may come to minimise it, read."""
    return recipe.needs.union(*(m.needs for m in _candidates(minimisers, recipe)))


def copies_of(minimisers: Sequence[Minimiser], recipe: Recipe) -> int:
    """Arrays as large as the parameters that those hold who may come to minimise a recipe."""
    return max((m.working_copies for m in _candidates(minimisers, recipe)), default=0)


def trains_any(minimisers: Sequence[Minimiser], recipe: Recipe) -> bool:
    """Whether a recipe may come to be trained, so that a plan has to say how."""
    return any(minimiser.trains for minimiser in _candidates(minimisers, recipe))
