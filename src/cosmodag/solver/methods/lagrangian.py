"""NOTEARS' solver: a sequence of penalised problems, an augmented Lagrangian on h(W) = 0."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosmodag.constraint import Constraint
from cosmodag.solver.methods.rounds import Lanes, select, take_apart, with_settings
from cosmodag.solver.minimisers.stochastic import Minimiser
from cosmodag.solver.problems import Batch, Solution
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.watch import Watch
from cosmodag.structure import Parameters

__all__ = ["Lagrangian"]


@dataclass(frozen=True)
class Lagrangian:
    """Minimise loss + λ₁‖W‖₁ subject to h(W) = 0 (Zheng et al., 2018).

    Each round minimises loss + λ₁‖W‖₁ + α h(W) + ½ρ h(W)² from the weights accepted last. If h has
    not fallen to a quarter, ρ is multiplied by ten and the round repeated from the same weights;
    otherwise the weights are accepted and α grows by ρ h(W). It ends once h is within the tolerance
    or ρ has reached its limit. Every problem of a batch has its own α, ρ and pace; they start from
    the settings ``multiplier`` and ``penalty``.

    Attributes
    ----------
    recipe
        What is minimised.
    minimiser
        How one round is solved.
    constraint
        h.
    max_iter
        Updates of α at most.
    tolerance
        h at or below this counts as zero.
    keeps_last
        Whether the weights of the last round are kept when ρ has reached its limit without enough
        progress (as NOTEARS' authors do), or those accepted before it (as the COSMO paper does).
    progress, growth, limit
        The fraction to which h must fall, the factor of ρ, and its limit.
    """

    recipe: Recipe
    minimiser: Minimiser
    constraint: Constraint
    max_iter: int = 100
    tolerance: float = 1e-8
    keeps_last: bool = True
    progress: float = 0.25
    growth: float = 10.0
    limit: float = 1e16

    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve a batch of problems of one shape, round by round."""
        lanes = Lanes.of(batch)
        multiplier = batch.settings["multiplier"].astype(np.float64)
        penalty = batch.settings["penalty"].astype(np.float64)
        accepted_h = np.full(batch.size, np.inf)
        updates = np.zeros(batch.size, np.int64)
        while lanes.active.any() and lanes.stopped is None:
            now = with_settings(batch, multiplier=multiplier, penalty=penalty)
            found = self.minimiser.minimise(
                now, lanes.parameters, lanes.active, lanes.epochs, watch
            )
            lanes.epochs += found.epochs
            lanes.stopped = found.stopped
            lanes.drop_diverged(found.parameters)
            h = np.array([self._h(lane) for lane in take_apart(found.parameters, batch.size)])
            lanes.record(
                lanes.active, loss=found.loss, acyclicity=h, multiplier=multiplier, penalty=penalty
            )
            too_high = lanes.active & (h > self.progress * accepted_h)
            penalty[too_high] *= self.growth
            exhausted = too_high & (penalty >= self.limit)
            accepted = lanes.active & ~too_high
            is_kept = accepted | (exhausted & self.keeps_last) | (found.stopped is not None)
            lanes.parameters = select(lanes.active & is_kept, found.parameters, lanes.parameters)
            accepted_h = np.where(accepted, h, accepted_h)
            multiplier[accepted] += penalty[accepted] * h[accepted]
            updates += accepted
            is_done = accepted & ((h <= self.tolerance) | (updates >= self.max_iter))
            lanes.active &= ~(is_done | exhausted)
        return lanes.solutions()

    def read_out(self, parameters: Parameters) -> NDArray[np.floating]:
        """Strength of every arc of one problem."""
        return self.minimiser.read_out(self.recipe, parameters)

    def _h(self, parameters: Parameters) -> float:
        return self.constraint.value(self.read_out(parameters))
