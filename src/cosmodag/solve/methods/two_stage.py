"""NOCURL's solver: a penalised problem finds the order, an unconstrained one the weights."""

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosmodag.model.structure import Parameters
from cosmodag.solve.methods.progress import Progress, exactly, of_each, replace_where
from cosmodag.solve.minimisers.base import Minimiser, first_that_implements
from cosmodag.solve.problems import Batch, Solution
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.watch import Watch

__all__ = ["TwoStage", "potentials"]


@dataclass(frozen=True)
class TwoStage:
    r"""Find potentials, then the best DAG that agrees with them (Yu, Gao, Yin and Ji, 2021).

    1. Minimise loss + λ₁‖W‖₁ + α h(W) over free weights, for each α in turn, starting from the
       previous solution.
    2. Drop weak arcs, and project the graph on the gradient flow of a potential φ: `potentials`.
    3. Freeze φ and minimise loss + λ₁‖W‖₁ over K, where W = K ∘ ReLU(φ_v − φ_u).

    If it is stopped early, it returns the weights of stage 1 and their recipe, because K may still
    be close to its random start.

    Attributes
    ----------
    preliminary, recipe
        Recipes of stage 1 and of stage 3.
    minimisers
        Candidates for solving each; the first that implements it is used.
    threshold
        Arcs with \|W\| below it are dropped in stage 2.
    multipliers
        Values of α, in order.
    """

    preliminary: Recipe
    recipe: Recipe
    minimisers: tuple[Minimiser, ...]
    threshold: float = 0.3
    multipliers: tuple[float, ...] = (10.0, 1000.0)

    def _stages(self) -> list[tuple[Recipe, Minimiser]]:
        """Both recipes, each with the minimiser that is used."""
        both = (self.preliminary, self.recipe)
        return [(recipe, first_that_implements(self.minimisers, recipe)) for recipe in both]

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """Those of the two recipes that are trained."""
        return tuple(recipe for recipe, minimiser in self._stages() if minimiser.trains)

    @property
    def working_copies(self) -> int:
        """Largest number of working copies of the minimisers."""
        return max(minimiser.working_copies for _, minimiser in self._stages())

    @property
    def needs(self) -> frozenset[str]:
        """Settings of both recipes and their minimisers, except those that the stages set."""
        read = (recipe.needs | minimiser.needs for recipe, minimiser in self._stages())
        return frozenset[str]().union(*read) - {"multiplier", "penalty", "priority_learning_rate"}

    def solve(self, batch: Batch, watch: Watch) -> list[Solution]:
        """Solve a batch of problems of one shape."""
        batch = batch.with_settings(penalty=0.0, multiplier=0.0, priority_learning_rate=0.0)
        free = replace(batch, recipe=self.preliminary)
        reached = Progress.of(free)
        reached.converged[:] = True
        for multiplier in self.multipliers:
            if reached.stopped is None:
                self._run(reached, free.with_settings(multiplier=multiplier), watch)
        first_weights = reached.parameters
        if reached.stopped is None:
            phi = self._potentials(free, first_weights)
            reached.parameters = {**Progress.of(batch).parameters, "order": phi}
            self._run(reached, batch, watch)
        if reached.stopped is not None:
            reached.parameters = first_weights
            return reached.solutions(self.preliminary)
        return reached.solutions(self.recipe)

    def _run(self, reached: Progress, batch: Batch, watch: Watch) -> None:
        """Solve one problem of the sequence, from the batch's current parameters."""
        minimiser = first_that_implements(self.minimisers, batch.recipe)
        found = minimiser.minimise(
            batch, reached.parameters, reached.active, reached.iterations, watch
        )
        reached.drop(reached.count(found))
        reached.record(loss=found.loss, multiplier=batch.settings["multiplier"])
        reached.parameters = replace_where(reached.active, found.parameters, reached.parameters)
        reached.converged &= reached.active & found.converged

    def _potentials(self, batch: Batch, parameters: Parameters) -> NDArray[np.floating]:
        """φ of every problem, from its weights in stage 1 and the known partial order."""
        found = []
        for lane, own in enumerate(of_each(parameters, batch.size)):
            settings = batch.settings_of(lane)
            support, gaps = batch.of_lane("support", lane), batch.of_lane("gaps", lane)
            with exactly(batch, own):
                allowed = 1.0 if support is None else support
                strengths = _strengths(batch.recipe, own, settings, allowed)
                arcs = np.abs(np.asarray(strengths)) >= self.threshold
                if gaps is None:
                    phi = potentials(arcs)
                else:
                    known = np.asarray(gaps) > 0
                    free = {"order": jnp.asarray(potentials((arcs & ~known.T) | known))}
                    # An arc raises the potential by 1/d: a gap of one would outweigh all arcs.
                    steps = jnp.asarray(gaps) / len(arcs)
                    phi = self.recipe.structure.restrain(free, settings, steps)["order"]
            found.append(np.asarray(phi, batch.dtype))
        return np.stack(found)


_strengths = jax.jit(Recipe.strengths, static_argnums=0)


def potentials(adjacency: ArrayLike) -> NDArray[np.float64]:
    """φ whose differences best approximate the reachability of a graph (Hodge projection).

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
        # Path counts, in a type whose products are fast and exact below 2²⁴.
        reach = reach | ((reach.astype(np.float32) @ reach.astype(np.float32)) > 0)
    flow = 0.5 * (reach.sum(axis=1) - reach.sum(axis=0))
    return (flow[-1] - flow) / d
