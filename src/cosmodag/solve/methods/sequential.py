"""Base of the methods that solve a sequence of sub-problems."""

from cosmodag.solve.minimisers.base import Minimiser, first_that_implements
from cosmodag.solve.recipe import Recipe

__all__ = ["Sequential"]


class Sequential:
    """A method whose sub-problems are solved by minimisers."""

    recipe: Recipe  # the one that is minimised last
    minimisers: tuple[Minimiser, ...]  # candidates, in order of preference

    def minimiser_of(self, recipe: Recipe) -> Minimiser:
        """Return the minimiser that solves the sub-problems of a recipe."""
        return first_that_implements(self.minimisers, recipe)

    @property
    def minimised(self) -> tuple[Recipe, ...]:
        """The recipes that are minimised, in order."""
        return (self.recipe,)

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """The recipes whose minimisers train."""
        return tuple(recipe for recipe in self.minimised if self.minimiser_of(recipe).trains)

    @property
    def working_copies(self) -> int:
        """Largest number of working copies of the minimisers."""
        return max(self.minimiser_of(recipe).working_copies for recipe in self.minimised)

    @property
    def settings_read(self) -> frozenset[str]:
        """Settings that the recipes and their minimisers read."""
        read = (recipe.needs | self.minimiser_of(recipe).needs for recipe in self.minimised)
        return frozenset[str]().union(*read)
