"""COSMO's solver: one unconstrained problem, the temperature annealed as it is solved."""

from dataclasses import dataclass

from cosmodag.mechanism import Mechanism
from cosmodag.objective import cosmo_objective
from cosmodag.solver.kernels.backends import choose
from cosmodag.solver.problems import Batch, Solution
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.training.schedules import anneal_temperature
from cosmodag.solver.training.train import solutions, train
from cosmodag.solver.watch import Watch
from cosmodag.structure import Priority

__all__ = ["Anneal"]


@dataclass(frozen=True)
class Anneal:
    """Minimise L(W) + λ₁‖H‖₁ + λ₂‖H‖_F + λ_p‖p‖₂ over H and p, with W = H ∘ S_{t,ε}(p).

    The temperature t falls from its start to its end over the epochs (Section 4.2), and with it the
    bound of Theorem 2 on how far S is from acyclic: nothing is constrained, and acyclicity is never
    evaluated.

    Attributes
    ----------
    mechanism
        How variables are predicted from their parents.
    batch_size
        Rows a step.
    """

    mechanism: Mechanism
    batch_size: int = 64

    @property
    def recipe(self) -> Recipe:
        """The parts, put together."""
        return Recipe(
            Priority(), self.mechanism, cosmo_objective, anneal_temperature, self.batch_size
        )

    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve a batch of problems of one shape."""
        epochs = int(batch.settings["epochs"][0])
        return solutions(batch, train(batch, choose(batch).start(batch), epochs, watch))
