"""The simplest solver: one unconstrained problem, its settings constant."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.solver.problems import Batch, Solution
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.training.train import solutions, train
from cosmodag.solver.watch import Watch
from cosmodag.structure import Parameters

__all__ = ["Unconstrained"]


@dataclass(frozen=True)
class Unconstrained:
    """Minimise the objective of a recipe once: for structures that are acyclic by construction.

    Attributes
    ----------
    recipe
        What is minimised.
    """

    recipe: Recipe

    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve a batch of problems of one shape."""
        epochs = int(batch.settings["epochs"][0])
        return solutions(batch, train(batch, batch.start(), epochs, watch))

    def read_out(self, parameters: Parameters) -> NDArray[np.floating]:
        """Strength of every arc of one problem."""
        return np.asarray(self.recipe.read_out(parameters, {}))
