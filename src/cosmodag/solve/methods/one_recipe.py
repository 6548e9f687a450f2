"""Base of the solvers that solve one recipe several times, with different settings."""

from dataclasses import dataclass

from cosmodag.solve.minimisers.base import Minimiser, first_that_implements
from cosmodag.solve.recipe import Recipe

__all__ = ["OneRecipe"]


@dataclass(frozen=True)
class OneRecipe:
    """A sequence of problems of one recipe.

    Attributes
    ----------
    recipe
        What is minimised.
    minimisers
        Candidates for solving a problem; the first that implements the recipe is used.
    """

    recipe: Recipe
    minimisers: tuple[Minimiser, ...]

    @property
    def minimiser(self) -> Minimiser:
        """The one that is used."""
        return first_that_implements(self.minimisers, self.recipe)

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """The recipe, if the minimiser trains it."""
        return (self.recipe,) if self.minimiser.trains else ()

    @property
    def working_copies(self) -> int:
        """Working copies of the minimiser."""
        return self.minimiser.working_copies
