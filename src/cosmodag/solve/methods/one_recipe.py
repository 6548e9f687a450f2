"""What solvers share that solve one recipe many times, each time with other settings."""

from dataclasses import dataclass

from cosmodag.solve.minimisers.base import Minimiser, copies_of, trains_any
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
        Candidates for solving a problem; the first that implements it is used.
    """

    recipe: Recipe
    minimisers: tuple[Minimiser, ...]

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """The recipe, if a minimiser trains it."""
        return (self.recipe,) if trains_any(self.minimisers, self.recipe) else ()

    @property
    def working_copies(self) -> int:
        """Largest number of working copies of the minimisers."""
        return copies_of(self.minimisers, self.recipe)
