"""NOCURL's solver: a penalised problem for the order, then an unconstrained one for the weights."""

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.model.structure import Parameters
from cosmodag.runtime.devices import precision_of
from cosmodag.solve.methods.solver import Progress, Solver
from cosmodag.solve.minimisers.minimiser import Minimiser
from cosmodag.solve.problems import Batch, Solution
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.trees import lane_of, where_lanes
from cosmodag.solve.watch import Watch

# Values of α in step 1, in order.
_MULTIPLIERS = (10.0, 1000.0)

# Arcs with |W| below this are dropped in step 2.
_THRESHOLD = 0.3


@dataclass(frozen=True)
class TwoStage(Solver):
    """Find potentials, then the best DAG that agrees with them (Yu, Gao, Yin and Ji, 2021).

    1. Minimise loss + λ₁‖W‖₁ + α h(W) over free weights, for each α in turn, starting from the
       previous solution.
    2. Drop weak arcs, and project the graph on the gradient flow of a potential φ: `potentials`.
    3. Freeze φ and minimise loss + λ₁‖W‖₁ over K, where W = K ∘ ReLU(φ_v − φ_u).

    If the run is stopped early, the weights of step 1 and their recipe are returned, because K may
    still be close to its random initial values.
    """

    preliminary: Recipe  # of step 1
    recipe: Recipe  # of step 3
    minimisers: tuple[Minimiser, ...]

    @property
    def all_recipes(self) -> tuple[Recipe, ...]:
        """The recipes of steps 1 and 3."""
        return (self.preliminary, self.recipe)

    @property
    def needs(self) -> frozenset[str]:
        """Settings of both recipes and their minimisers, except those that the method sets."""
        return self.settings_read - {"multiplier", "penalty", "priority_learning_rate"}

    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve a batch of problems of one shape."""
        batch = batch.with_settings(penalty=0.0, multiplier=0.0, priority_learning_rate=0.0)
        free = replace(batch, recipe=self.preliminary)
        progress = Progress(free)
        progress.converged[:] = True
        for multiplier in _MULTIPLIERS:
            if progress.stopped is None:
                self._run(progress, free.with_settings(multiplier=multiplier), watch)
        first_weights = progress.parameters
        if progress.stopped is None:
            phi = self._potentials(free, first_weights)
            progress.parameters = {**Progress(batch).parameters, "order": phi}
            self._run(progress, batch, watch)
        if progress.stopped is not None:
            progress.parameters = first_weights
            return progress.solutions(self.preliminary)
        return progress.solutions(self.recipe)

    def _run(self, progress: Progress, batch: Batch, watch: Watch) -> None:
        """Solve one problem of the sequence, from the current parameters."""
        found, not_finite = progress.minimise(self.minimiser_of(batch.recipe), batch, watch)
        progress.drop(not_finite)
        progress.record(loss=found.loss, multiplier=batch.settings["multiplier"])
        progress.parameters = where_lanes(progress.active, found.parameters, progress.parameters)
        progress.converged &= progress.active & found.converged

    def _potentials(self, batch: Batch, parameters: Parameters) -> NDArray[np.floating]:
        """φ of every problem, from its weights of step 1 and the known partial order."""
        found = []
        for lane in range(batch.size):
            own, settings = lane_of(parameters, lane), batch.settings_of(lane)
            support, gaps = batch.of_lane("support", lane, 1.0), batch.of_lane("gaps", lane)
            with precision_of(own, batch.device):
                strengths = _strengths(batch.recipe, own, settings, support)
                arcs = np.abs(np.asarray(strengths)) >= _THRESHOLD
                if gaps is None:
                    phi = potentials(arcs)
                else:
                    known = np.asarray(gaps) > 0
                    free = {"order": jnp.asarray(potentials((arcs & ~known.T) | known))}
                    # An arc raises the potential by 1/d; gaps of one would outweigh all arcs.
                    steps = jnp.asarray(gaps) / len(arcs)
                    phi = self.recipe.structure.restrain(free, settings, steps)["order"]
            found.append(np.asarray(phi, batch.dtype))
        return np.stack(found)


_strengths = jax.jit(Recipe.strengths, static_argnums=0)


def potentials(adjacency: ArrayLike) -> NDArray[np.float64]:
    """φ whose differences best approximate the reachability of a graph (Hodge projection).

    Let R_uv = 1 if v is reachable from u, and C = (R − Rᵀ)/2. φ minimises Σ (φ_v − φ_u − C_uv)²:
    φ_u = (b_d − b_u)/d with b_u = Σ_v C_uv, so that the last potential is zero. In a DAG, every arc
    raises φ by at least 1/d. The graph may have cycles.

    >>> potentials(np.eye(4, k=1)).tolist()
    [-0.75, -0.5, -0.25, 0.0]
    """
    reach = np.asarray(adjacency) != 0
    d = len(reach)
    for _ in range(max(1, d - 1).bit_length()):
        # Path counts, in a type whose products are fast and exact below 2²⁴.
        reach = reach | ((reach.astype(np.float32) @ reach.astype(np.float32)) > 0)
    flow = 0.5 * (reach.sum(axis=1) - reach.sum(axis=0))
    return (flow[-1] - flow) / d
