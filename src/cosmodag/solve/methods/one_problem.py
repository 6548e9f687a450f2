"""One unconstrained problem with scheduled settings: COSMO and NOCURL-U."""

from dataclasses import dataclass, field

from cosmodag.solve.methods.solver import Solver
from cosmodag.solve.minimisers.minimiser import Minimiser, Stochastic
from cosmodag.solve.problems import Batch, Solution
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.train import Checkpoint, solutions, train
from cosmodag.solve.watch import Watch

__all__ = ["OneProblem"]


@dataclass(frozen=True)
class OneProblem(Solver):
    """Minimise the objective of a recipe once: for structures that are acyclic by construction.

    COSMO minimises L(W) + λ₁‖H‖₁ + λ₂‖H‖_F + λ_p‖p‖₂ over H and p, with W = H ∘ S_{t,ε}(p). Its
    schedule lowers the temperature t (Section 4.2), and with it the bound of Theorem 2 on the
    distance of S from acyclicity. There is no constraint, and acyclicity is never evaluated.
    """

    has_fixed_length = True

    recipe: Recipe
    minimisers: tuple[Minimiser, ...] = field(default=(Stochastic(),), init=False, repr=False)
    # Folder in which runs save their state.
    checkpoint: Checkpoint | None = field(default=None, compare=False)

    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve a batch of problems of one shape."""
        rounds = int(batch.settings["rounds"][0])
        start = batch.backend.start(batch)
        return solutions(batch, train(batch, start, rounds, watch, checkpoint=self.checkpoint))
