"""Sub-problems by OWL-QN on the recipe's own objective, in float64, on all rows at once."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import jax
import numpy as np
from numpy.typing import NDArray

from cosmodag.model.objective import Decayed, Objective, Penalised
from cosmodag.model.structure import Free, Parameters, spread
from cosmodag.solve.machine.devices import jax_device
from cosmodag.solve.minimisers.each_lane import EachLane, Ended
from cosmodag.solve.minimisers.orthant_wise import minimise_orthant_wise
from cosmodag.solve.problems import Batch
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.training.schedules import Constant
from cosmodag.solve.watch import Watch

__all__ = ["FullBatch"]

Float64 = NDArray[np.float64]

_STRUCTURES = (Free(), Free(from_zero=False))


@dataclass(frozen=True)
class FullBatch(EachLane):
    """Minimise the objective of a recipe over the weights of arcs and all later layers.

    Everything except λ₁‖W‖₁ is differentiated automatically, for any mechanism and loss; the
    minimiser treats the one-norm. Arcs that may not exist, and a variable's own input, are not
    variables of the problem.
    """

    # Relative decrease of the objective in one iteration that ends a sub-problem. Ending at 1e-9
    # instead took five times as long and found graphs no better (ER4, d = 20).
    tolerance: float = 1e-6
    # Ten pairs of vectors, and the arrays of one step.
    working_copies: ClassVar[int] = 30

    def implements(self, recipe: Recipe) -> bool:
        """Whether a recipe has free weights with a one-norm; the other parts may be any."""
        return (
            recipe.structure in _STRUCTURES
            and _has_one_norm(recipe.objective)
            and recipe.schedule == Constant()
            and recipe.guard is None
        )

    def solve_one(self, batch: Batch, lane: int, start: Parameters, watch: Watch) -> Ended:
        """Minimise from the given parameters, in double precision."""
        with jax.enable_x64(True), jax.default_device(jax_device(batch.device)):
            return _Problem(batch, lane, start).solve(self.tolerance, watch)


def _has_one_norm(objective: Objective) -> bool:
    """Whether λ₁ multiplies only ‖W‖₁: `Penalised`, also with decay."""
    if type(objective) is Decayed:
        return _has_one_norm(objective.objective)
    return type(objective) is Penalised


class _Problem:
    """One problem as a function of one vector: allowed arcs first, then all other layers."""

    def __init__(self, batch: Batch, lane: int, start: Parameters) -> None:
        def of(name: str, otherwise: Float64 | None = None) -> Float64:
            return np.asarray(batch.of_lane(name, lane, otherwise), np.float64)

        d = batch.variables
        self._recipe = batch.recipe
        self._settings = batch.settings_of(lane)
        self._start = start
        self._data = of("data")
        self._counted = of("counted", np.ones((batch.rows, 1)))
        self._support = of("support", np.ones((d, d)))
        self._prices = self._settings["lambda1"] * (1 - of("required", np.zeros((d, d))))
        self._places = (self._support != 0) & ~np.eye(d, dtype=bool)
        self._functions = _flat(start["functions"])

    def solve(self, tolerance: float, watch: Watch) -> Ended:
        """Minimise from the given parameters."""
        arcs = self._start["arcs"]
        prices = np.broadcast_to(spread(self._prices, arcs), arcs.shape)
        weights = arcs[self._places].ravel()

        def is_stopped() -> bool:
            watch.advance(1)
            return watch.stop is not None

        found = minimise_orthant_wise(
            self._smooth,
            np.concatenate([weights, self._functions]),
            np.concatenate([prices[self._places].ravel(), np.zeros(len(self._functions))]),
            max_iter=int(self._settings["rounds"]),
            tolerance=tolerance,
            is_stopped=is_stopped,
        )
        ended = jax.tree.map(np.asarray, self._parameters(found.x))
        return Ended(ended, found.value, found.iterations, found.converged)

    def _parameters(self, x: Float64) -> Parameters:
        arcs = np.zeros_like(self._start["arcs"])
        count = arcs[self._places].size
        arcs[self._places] = x[:count].reshape(-1, *arcs.shape[2:])
        return {
            **self._start,
            "arcs": arcs,
            "functions": _shaped(x[count:], self._start["functions"]),
        }

    def _smooth(self, x: Float64) -> tuple[float, Float64]:
        """Compute the objective without the one-norm, and its gradient."""
        settings = {**self._settings, "lambda1": 0.0}
        value, gradient = _value_and_gradient(
            self._recipe, self._parameters(x), self._data, self._counted, settings, self._support
        )
        slope = np.asarray(gradient["arcs"])[self._places].ravel()
        return float(value), np.concatenate([slope, _flat(gradient["functions"])])


def _flat(layers: Any) -> Float64:
    """Concatenate all numbers of layers into one vector."""
    return np.concatenate([np.empty(0), *(np.ravel(leaf) for leaf in jax.tree.leaves(layers))])


def _shaped(numbers: Float64, layers: Any) -> Any:
    """Split a vector into layers of the given shapes; inverse of `_flat`."""
    leaves, structure = jax.tree.flatten(layers)
    ends = np.cumsum([leaf.size for leaf in leaves])
    parts = np.split(numbers, ends[:-1]) if leaves else []
    pieces = [part.reshape(leaf.shape) for part, leaf in zip(parts, leaves, strict=True)]
    return jax.tree.unflatten(structure, pieces)


@partial(jax.jit, static_argnums=0)
def _value_and_gradient(
    recipe: Recipe, parameters: Any, data: Any, counted: Any, settings: Any, support: Any
) -> Any:
    return jax.value_and_grad(recipe.loss)(parameters, data, counted, settings, support)
