"""The interface of minimisers, which solve one unconstrained sub-problem of a method."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import SettingsError
from cosmodag.model.structure import Parameters
from cosmodag.solve.backend import FEATURES
from cosmodag.solve.problems import Batch
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.watch import Watch

__all__ = [
    "Mask",
    "Minimised",
    "Minimiser",
    "copies_of",
    "first_that_implements",
    "needs_of",
    "trains_any",
]

Mask = NDArray[np.bool_]


class Minimised(NamedTuple):
    """Result of one sub-problem for every problem of a batch.

    Attributes
    ----------
    parameters
        Final parameters of each problem, stacked, in NumPy.
    loss
        (k,) final objective; not finite if the problem diverged.
    iterations
        Number of rounds or iterations: the maximum over problems.
    refused
        (k,) whether a problem left the domain of its objective and must be solved again with
        other settings.
    converged
        (k,) whether it converged rather than reached a limit.
    stopped
        Why the run ended early, or None.
    """

    parameters: Parameters
    loss: NDArray[np.floating]
    iterations: int
    refused: Mask
    converged: Mask
    stopped: str | None


class Minimiser(Protocol):
    """A way to minimise the objective of a batch's recipe, under its present settings.

    It declares the recipes that it implements, matched by equality of their parts, and the features
    that it supports; all other inputs are in the batch.

    Attributes
    ----------
    trains
        Whether it trains by the reference loop or a kernel, which the plan must choose.
    working_copies
        Number of parameter-sized arrays beside the parameters, for minimisers that do not train.
    needs
        Names of the settings that it reads in addition to the recipe's; `rounds` is the limit on
        rounds of training, or on iterations over all rows.
    """

    trains: ClassVar[bool]
    working_copies: ClassVar[int]
    needs: ClassVar[frozenset[str]]

    def implements(self, recipe: Recipe, features: frozenset[str]) -> bool:
        """Whether it can minimise a recipe for problems with these features."""
        ...

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Solve the sub-problems of the active lanes; results of other lanes are not used.

        Parameters
        ----------
        batch : Batch
            The problems.
        parameters : dict
            Initial parameters, stacked.
        active : (k,) bool
            Which problems to solve.
        first : int
            Number of the first round; gives every sub-problem another order of rows.
        watch : Watch
            Shows progress and may end it early.
        """
        ...


def first_that_implements(
    minimisers: Sequence[Minimiser], recipe: Recipe, features: frozenset[str]
) -> Minimiser:
    """Return the first minimiser, in order of preference, that implements a recipe."""
    for minimiser in minimisers:
        if minimiser.implements(recipe, features):
            return minimiser
    given = ", ".join(sorted(features)) or "nothing"
    raise SettingsError(
        f"None of {', '.join(type(m).__name__ for m in minimisers) or 'no minimisers'} implements "
        f"{recipe} with {given} given: add Stochastic(), which implements everything."
    )


def _candidates(minimisers: Sequence[Minimiser], recipe: Recipe) -> list[Minimiser]:
    """Minimisers that may be chosen for a recipe, depending on the features of its problems."""
    found = []
    for minimiser in minimisers:
        if minimiser.implements(recipe, frozenset()):
            found.append(minimiser)
        if minimiser.implements(recipe, FEATURES):
            break
    return found


def needs_of(minimisers: Sequence[Minimiser], recipe: Recipe) -> frozenset[str]:
    """Names of the settings that a recipe and its candidate minimisers read."""
    return recipe.needs.union(*(m.needs for m in _candidates(minimisers, recipe)))


def copies_of(minimisers: Sequence[Minimiser], recipe: Recipe) -> int:
    """Largest number of working copies over the candidate minimisers of a recipe."""
    return max((m.working_copies for m in _candidates(minimisers, recipe)), default=0)


def trains_any(minimisers: Sequence[Minimiser], recipe: Recipe) -> bool:
    """Whether a candidate minimiser trains the recipe, so that the plan must choose a backend."""
    return any(minimiser.trains for minimiser in _candidates(minimisers, recipe))
