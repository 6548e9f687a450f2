"""NOCURL's solver: a penalised problem finds the order, an unconstrained one the weights."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.solver.methods.rounds import Lanes, select, take_apart, with_settings
from cosmodag.solver.minimisers.stochastic import Minimiser
from cosmodag.solver.problems import Batch, Solution
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.watch import Watch
from cosmodag.structure import Parameters

__all__ = ["TwoStage", "potentials"]


@dataclass(frozen=True)
class TwoStage:
    r"""Find potentials, then the best DAG that agrees with them (Yu, Gao, Yin and Ji, 2021).

    1. Minimise loss + λ₁‖W‖₁ + α h(W) over free weights, for each α in turn, each from where the
       last one ended.
    2. Drop weak arcs, and project the graph on the gradient flow of a potential φ: `potentials`.
    3. Freeze φ and minimise loss + λ₁‖W‖₁ over K, where W = K ∘ ReLU(φ_v − φ_u).

    Attributes
    ----------
    preliminary, recipe
        What is minimised in stage 1 and in stage 3.
    first, second
        How each is solved.
    threshold
        Arcs with \|W\| below it are dropped in stage 2.
    multipliers
        α, one after the other.
    """

    preliminary: Recipe
    recipe: Recipe
    first: Minimiser
    second: Minimiser
    threshold: float = 0.3
    multipliers: tuple[float, ...] = (10.0, 1000.0)

    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve a batch of problems of one shape."""
        batch = with_settings(batch, penalty=0.0, multiplier=0.0)
        free = replace(batch, recipe=self.preliminary)
        lanes = Lanes.of(free)
        for multiplier in self.multipliers:
            self._run(lanes, self.first, with_settings(free, multiplier=multiplier), watch)
        weights = [
            self.first.read_out(self.preliminary, lane)
            for lane in take_apart(lanes.parameters, batch.size)
        ]
        phi = [potentials(np.abs(lane) >= self.threshold) for lane in weights]
        lanes.parameters = {
            **Lanes.of(batch).parameters,
            "order": np.stack(phi).astype(batch.tables.dtype),
        }
        self._run(lanes, self.second, with_settings(batch, priority_learning_rate=0.0), watch)
        return lanes.solutions()

    def _run(self, lanes: Lanes, minimiser: Minimiser, batch: Batch, watch: Watch) -> None:
        """Solve one problem of the sequence, from where the lanes stand."""
        found = minimiser.minimise(batch, lanes.parameters, lanes.active, lanes.epochs, watch)
        lanes.epochs += found.epochs
        lanes.stopped = found.stopped
        lanes.drop_diverged(found.parameters)
        lanes.record(lanes.active, loss=found.loss, multiplier=batch.settings["multiplier"])
        lanes.parameters = select(lanes.active, found.parameters, lanes.parameters)

    def read_out(self, parameters: Parameters) -> NDArray[np.floating]:
        """Strength of every arc of one problem."""
        return self.second.read_out(self.recipe, parameters)


def potentials(adjacency: ArrayLike) -> NDArray[np.float64]:
    """φ whose differences are nearest to the reachability of a graph (Hodge projection).

    With R_uv = 1 where v is reachable from u and C = (R − Rᵀ)/2, φ minimises Σ (φ_v − φ_u − C_uv)²:
    φ_u = (b_d − b_u)/d, b_u = Σ_v C_uv, so that the last potential is zero. In a DAG every arc
    raises φ by at least 1/d.

    Parameters
    ----------
    adjacency : (d, d) array
        Any entry that is not zero is an arc; cycles are allowed.

    Examples
    --------
    >>> potentials(np.eye(4, k=1)).tolist()
    [-0.75, -0.5, -0.25, 0.0]
    """
    reach = np.asarray(adjacency) != 0
    d = len(reach)
    for _ in range(max(1, d - 1).bit_length()):
        # Counts, in a type whose products are fast and exact: below 2²⁴.
        reach = reach | ((reach.astype(np.float32) @ reach.astype(np.float32)) > 0)
    flow = 0.5 * (reach.sum(axis=1) - reach.sum(axis=0))
    projected: NDArray[np.float64] = (flow[-1] - flow) / d
    return projected
