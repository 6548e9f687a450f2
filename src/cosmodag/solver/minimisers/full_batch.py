"""Sub-problems of networks by a quasi-Newton method, in float64, on all rows at once."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from numpy.typing import NDArray

from cosmodag.solver.methods.rounds import Mask
from cosmodag.solver.minimisers.orthant_wise import Minimum, minimise_orthant_wise
from cosmodag.solver.minimisers.stochastic import Minimised
from cosmodag.solver.problems import Batch
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.watch import Watch
from cosmodag.structure import Parameters

__all__ = ["NetworkNewton"]

Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class NetworkNewton:
    """Minimise the objective of a recipe over the weights of arcs and all later layers.

    Own-variable inputs are no variables.

    Attributes
    ----------
    tolerance
        Relative decrease of the objective in one iteration that ends a sub-problem. Ending at 1e-9
        instead took five times as long and found graphs no better (ER4, d = 20).
    """

    tolerance: float = 1e-6

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Solve the active lanes one after another."""
        found = jax.tree.map(lambda stacked: np.array(stacked, np.float64), parameters)
        loss = np.full(batch.size, np.nan)
        longest = 0
        with jax.enable_x64(True), jax.default_device(batch.device):
            for lane in np.flatnonzero(active).tolist():
                if watch.stop is not None:
                    break
                settings = {name: float(values[lane]) for name, values in batch.settings.items()}
                data = np.asarray(batch.tables[batch.table[lane]], np.float64)
                start = jax.tree.map(lambda stacked, lane=lane: stacked[lane], found)
                ended, result = self._solve(batch.recipe, start, data, settings, watch)
                leaves = jax.tree.leaves(found), jax.tree.leaves(ended)
                for stacked, leaf in zip(*leaves, strict=True):
                    stacked[lane] = leaf
                loss[lane] = result.value
                longest = max(longest, int(result.iterations))
        watch.advance(longest)
        return Minimised(found, loss, longest, np.zeros(batch.size, bool), watch.stop)

    def read_out(self, recipe: Recipe, parameters: Parameters) -> NDArray[np.floating]:
        """Strength of every arc."""
        with jax.enable_x64(True):
            return np.asarray(recipe.read_out(parameters, {}))

    def _solve(
        self,
        recipe: Recipe,
        start: Parameters,
        data: Float64,
        settings: dict[str, float],
        watch: Watch,
    ) -> tuple[Parameters, Minimum]:
        """Minimise from the given parameters of one problem."""
        arcs = start["arcs"]
        places = ~np.eye(len(arcs), dtype=bool)
        weights = arcs[places].ravel()
        functions, restore = ravel_pytree(start["functions"])
        count = len(weights)
        # The minimiser takes care of the one-norm.
        smooth_settings = {**settings, "lambda1": 0.0}

        def parameters_of(x: Float64) -> Parameters:
            full = np.zeros_like(arcs)
            full[places] = x[:count].reshape(-1, arcs.shape[-1])
            return {**start, "arcs": full, "functions": restore(jnp.asarray(x[count:]))}

        def smooth(x: Float64) -> tuple[float, Float64]:
            value, gradient = _loss_and_gradient(recipe, parameters_of(x), data, smooth_settings)
            slope = np.asarray(gradient["arcs"])[places].ravel()
            rest = np.asarray(ravel_pytree(gradient["functions"])[0])
            return float(value), np.concatenate([slope, rest])

        found = minimise_orthant_wise(
            smooth,
            np.concatenate([weights, functions]),
            np.concatenate([np.full(count, settings["lambda1"]), np.zeros(len(functions))]),
            max_iter=int(settings["epochs"]),
            tolerance=self.tolerance,
            is_stopped=lambda: watch.stop is not None,
        )
        return jax.tree.map(np.asarray, parameters_of(found.x)), found


@partial(jax.jit, static_argnums=0)
def _loss_and_gradient(recipe: Recipe, parameters: Any, data: Any, settings: Any) -> Any:
    rows = jnp.ones(data.shape[0], data.dtype)
    return jax.value_and_grad(recipe.loss)(parameters, data, rows, settings)
