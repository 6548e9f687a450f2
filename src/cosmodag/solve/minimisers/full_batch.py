"""A quasi-Newton method for smooth functions with a one-norm added: OWL-QN."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from cosmodag.model.objective import Decayed, Objective, Penalised
from cosmodag.model.structure import Free, Parameters, spread
from cosmodag.solve.machine.devices import jax_device
from cosmodag.solve.minimisers.each_lane import EachLane, Ended
from cosmodag.solve.problems import Batch
from cosmodag.solve.recipe import Constant, Recipe
from cosmodag.solve.watch import Watch

__all__ = ["FullBatch", "Minimum", "minimise_orthant_wise"]

Float64 = NDArray[np.float64]
Smooth = Callable[[Float64], tuple[float, Float64]]

_SUFFICIENT = 1e-4
_SMALLEST_STEP = 1e-20

# Steepest slope that ends a minimisation, and number of stored pairs of steps and gradient changes.
_FLAT = 1e-5
_MEMORY = 10


class Minimum(NamedTuple):
    """Result of a minimisation."""

    x: Float64
    value: float  # of the objective, with the one-norm
    iterations: int
    converged: bool  # False if it was stopped, or a limit was reached


def minimise_orthant_wise(
    smooth: Smooth,
    start: Float64,
    prices: Float64,
    *,
    max_iter: int = 15_000,
    tolerance: float = 2e-9,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Minimum:
    """Minimise f(x) + Σ cᵢ|xᵢ| by limited-memory BFGS within one orthant per step.

    Within an orthant the one-norm is linear. Each step selects the orthant of the steepest descent
    direction, takes a quasi-Newton step there, and sets to zero the coordinates that would leave it
    (Andrew and Gao, 2007). Unlike splitting every variable in two with bounds, this adds no
    variables and costs little beside evaluating f.

    Parameters
    ----------
    smooth : callable
        x ↦ f(x) and ∇f(x); an infinite f marks points outside its domain, which steps avoid.
    start : (m,) array
        Initial point, inside the domain.
    prices : (m,) array
        c, none negative; zero for variables outside the one-norm.
    max_iter : int
        Largest number of steps.
    tolerance : float
        Relative decrease of the objective that ends it.
    is_stopped : callable
        Called before every step; True ends the minimisation.

    Examples
    --------
    >>> target = np.array([3.0, 0.2])
    >>> def smooth(x):
    ...     return 0.5 * float(np.sum((x - target) ** 2)), x - target
    >>> minimise_orthant_wise(smooth, np.zeros(2), np.ones(2)).x.tolist()
    [2.0, 0.0]
    """
    x = start.copy()
    value, gradient = smooth(x)
    total = value + float(prices @ np.abs(x))
    pairs: deque[tuple[Float64, Float64, float]] = deque(maxlen=_MEMORY)
    iterations, converged = 0, False
    while not converged and iterations < max_iter and not is_stopped():
        slope = _steepest(x, gradient, prices)
        if np.max(np.abs(slope), initial=0.0) <= _FLAT:
            converged = True
            break
        step = _search(smooth, x, total, slope, prices, pairs)
        if step is None and pairs:
            # The stored curvature is misleading here: retry with steepest descent.
            pairs.clear()
            step = _search(smooth, x, total, slope, prices, pairs)
        if step is None:
            # No step lowers the objective: up to rounding, this is the minimum.
            converged = True
            break
        moved, new_gradient, new_total = step
        change, bend = moved - x, new_gradient - gradient
        curvature = float(change @ bend)
        if curvature > 1e-10 * float(bend @ bend):
            pairs.append((change, bend, 1 / curvature))
        decrease = (total - new_total) / max(abs(total), abs(new_total), 1.0)
        x, gradient, total = moved, new_gradient, new_total
        iterations += 1
        converged = decrease <= tolerance
    return Minimum(x, total, iterations, converged)


def _steepest(x: Float64, gradient: Float64, prices: Float64) -> Float64:
    """Subgradient of the objective with the smallest magnitude."""
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - prices, 0)
    return np.where(x == 0, at_zero, gradient + prices * np.sign(x))


def _direction(slope: Float64, pairs: deque[tuple[Float64, Float64, float]]) -> Float64:
    """Minus the inverse Hessian approximated by the pairs, times the slope."""
    direction = -slope
    weights = []
    for change, bend, inverse in reversed(pairs):
        weight = inverse * float(change @ direction)
        direction -= weight * bend
        weights.append(weight)
    if pairs:
        _, bend, inverse = pairs[-1]
        direction /= inverse * float(bend @ bend)
    for (change, bend, inverse), weight in zip(pairs, reversed(weights), strict=True):
        direction += (weight - inverse * float(bend @ direction)) * change
    return direction


def _search(
    smooth: Smooth,
    x: Float64,
    total: float,
    slope: Float64,
    prices: Float64,
    pairs: deque[tuple[Float64, Float64, float]],
) -> tuple[Float64, Float64, float] | None:
    """Backtracking line search along the direction, within the orthant."""
    priced = prices > 0
    direction = _direction(slope, pairs)
    direction[priced & (direction * slope >= 0)] = 0
    orthant = np.where(x == 0, -np.sign(slope), np.sign(x))
    length = 1.0 if pairs else min(1.0, 1 / float(np.abs(slope).sum()))
    while length > _SMALLEST_STEP:
        moved = x + length * direction
        moved[priced & (moved * orthant < 0)] = 0
        value, gradient = smooth(moved)
        new_total = value + float(prices @ np.abs(moved))
        if new_total <= total + _SUFFICIENT * float(slope @ (moved - x)) and new_total < total:
            return moved, gradient, new_total
        length *= 0.5
    return None


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
