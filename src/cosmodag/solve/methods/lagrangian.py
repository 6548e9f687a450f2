"""NOTEARS' solver: the augmented Lagrangian method for the constraint h(W) = 0."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from cosmodag.errors import SettingsError
from cosmodag.graph.constraint import Constraint
from cosmodag.model.objective import Objective, arc_squares
from cosmodag.model.structure import Parameters, Settings, Structure
from cosmodag.runtime.devices import precision_of
from cosmodag.solve.methods.solver import Progress, Solver
from cosmodag.solve.minimisers.minimiser import Mask, Minimiser
from cosmodag.solve.problems import Batch, Solution
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.trees import lane_of, where_lanes
from cosmodag.solve.watch import Watch

# Fraction to which a sub-problem must reduce h, and factor by which ρ grows if it does not.
_REQUIRED_DECREASE = 0.25
_PENALTY_GROWTH = 10.0


def constraint_of(objective: Objective) -> Constraint:
    """Return the constraint h of an objective, or of an objective that it wraps."""
    constraint = getattr(objective, "constraint", None)
    if isinstance(constraint, Constraint):
        return constraint
    inner = getattr(objective, "objective", None)
    if inner is None:
        raise SettingsError(f"{objective} has no constraint, which a Lagrangian needs.")
    return constraint_of(inner)


@dataclass(frozen=True)
class Lagrangian(Solver):
    """Minimise loss + λ₁‖W‖₁ subject to h(W) = 0 (Zheng et al., 2018).

    Each sub-problem minimises loss + λ₁‖W‖₁ + α h(W) + ½ρ h(W)², starting from the weights accepted
    last. If h has not fallen to a quarter, ρ is multiplied by ten and the sub-problem is repeated
    from the same weights; otherwise the weights are accepted and α grows by ρ h(W). The sequence
    ends when h is within the tolerance or, without convergence, when ρ reaches its limit or α was
    updated `max_iter` times. Every problem of a batch has its own α and ρ, whose initial values are
    the settings ``multiplier`` and ``penalty``.
    """

    recipe: Recipe
    minimisers: tuple[Minimiser, ...]
    max_iter: int = 100
    tolerance: float = 1e-8  # h at or below it counts as zero
    # Whether, when ρ reaches its limit, the weights of the last sub-problem are returned (as by the
    # authors of NOTEARS) or those accepted before it (as in the COSMO paper).
    keeps_last: bool = True
    limit: float = 1e16  # of ρ

    @property
    def needs(self) -> frozenset[str]:
        """Settings of the recipe and its minimiser, and the initial values of α and ρ."""
        return self.settings_read | {"multiplier", "penalty"}

    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve a batch of problems of one shape, sub-problem by sub-problem."""
        progress = Progress(batch)
        multiplier = batch.settings["multiplier"].astype(np.float64)
        penalty = batch.settings["penalty"].astype(np.float64)
        accepted_h = np.full(batch.size, np.inf)
        updates = np.zeros(batch.size, np.int64)
        while progress.is_running:
            now = batch.with_settings(multiplier=multiplier, penalty=penalty)
            found, not_finite = progress.minimise(self.minimiser_of(self.recipe), now, watch)
            progress.drop(not_finite)
            h = acyclicity(now, found.parameters, progress.active)
            progress.record(loss=found.loss, acyclicity=h, multiplier=multiplier, penalty=penalty)
            too_high = progress.active & ~(h <= _REQUIRED_DECREASE * accepted_h)
            penalty[too_high] *= _PENALTY_GROWTH
            exhausted = too_high & (penalty >= self.limit)
            accepted = progress.active & ~too_high
            is_kept = accepted | (exhausted & self.keeps_last) | (found.stopped is not None)
            progress.parameters = where_lanes(
                progress.active & is_kept, found.parameters, progress.parameters
            )
            accepted_h = np.where(accepted, h, accepted_h)
            multiplier[accepted] += penalty[accepted] * h[accepted]
            updates += accepted
            is_zero = accepted & (h <= self.tolerance)
            progress.converged |= is_zero & found.converged
            progress.active &= ~(is_zero | (updates >= self.max_iter) | exhausted)
        return progress.solutions(self.recipe)


def acyclicity(batch: Batch, parameters: Parameters, active: Mask) -> NDArray[np.float64]:
    """Evaluate h for the active problems of a batch, in their precision; NaN for the others."""
    constraint = constraint_of(batch.recipe.objective)
    h = np.full(batch.size, np.nan)
    for lane in np.flatnonzero(active).tolist():
        own, support = lane_of(parameters, lane), batch.of_lane("support", lane, 1.0)
        with precision_of(own, batch.device):
            settings = batch.settings_of(lane)
            squares = _squared_lengths(batch.recipe.structure, own, settings, support)
        h[lane] = constraint.value(np.sqrt(np.asarray(squares)))
    return h


@partial(jax.jit, static_argnums=0)
def _squared_lengths(
    structure: Structure, parameters: Parameters, settings: Settings, support: Any
) -> jax.Array:
    return arc_squares(structure.orient(parameters, settings, support))
