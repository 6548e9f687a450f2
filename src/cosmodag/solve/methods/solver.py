"""The base of all methods."""

from cosmodag.solve.minimisers.base import Minimiser, first_that_implements
from cosmodag.solve.problems import Batch, Solution
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.watch import Watch

__all__ = ["Solver"]


class Solver:
    """A way to solve a batch of problems of one shape, as a sequence of sub-problems."""

    recipe: Recipe  # the one that is minimised last
    minimisers: tuple[Minimiser, ...]  # candidates for the sub-problems, the preferred ones first

    @property
    def needs(self) -> frozenset[str]:
        """Names of the settings that a problem must have."""
        return self.settings_read

    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve the problems of a batch."""
        raise NotImplementedError

    def minimiser_of(self, recipe: Recipe) -> Minimiser:
        """Return the minimiser that solves the sub-problems of a recipe."""
        return first_that_implements(self.minimisers, recipe)

    @property
    def minimised(self) -> tuple[Recipe, ...]:
        """The recipes that are minimised, in order."""
        return (self.recipe,)

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """The recipes whose minimisers train, in order."""
        return tuple(recipe for recipe in self.minimised if self.minimiser_of(recipe).trains)

    @property
    def working_copies(self) -> int:
        """Largest number of parameter-sized arrays of the minimisers that do not train."""
        return max(self.minimiser_of(recipe).working_copies for recipe in self.minimised)

    @property
    def settings_read(self) -> frozenset[str]:
        """Settings that the recipes and their minimisers read."""
        read = (recipe.needs | self.minimiser_of(recipe).needs for recipe in self.minimised)
        return frozenset[str]().union(*read)
