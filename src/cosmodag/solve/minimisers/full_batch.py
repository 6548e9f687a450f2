"""Minimisation by OWL-QN of any recipe's objective on all rows at once, in float64."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import jax
import numpy as np

from cosmodag.model.objective import Decayed, Objective, Penalised
from cosmodag.model.structure import Free, Parameters, with_unit_axes
from cosmodag.runtime.devices import on_device
from cosmodag.solve.minimisers.each_lane import EachLane, Float64, LaneResult
from cosmodag.solve.problems import Batch
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.watch import Watch

Smooth = Callable[[Float64], tuple[float, Float64]]

# Line search: fraction of the predicted decrease that a step must achieve, and smallest step.
_SUFFICIENT_DECREASE = 1e-4
_SMALLEST_STEP = 1e-20

# Magnitude of the steepest slope at which a minimisation ends.
_SLOPE_TOLERANCE = 1e-5

# Number of stored pairs of steps and gradient changes.
_MEMORY = 10


class Minimum(NamedTuple):
    """Result of `minimise_orthant_wise`."""

    x: Float64
    value: float  # of the objective, including the one-norm
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

    Within an orthant, the one-norm is linear. Each step selects the orthant of the direction of
    steepest descent, takes a quasi-Newton step there, and sets coordinates that would leave it to
    zero (OWL-QN: Andrew and Gao, 2007). In contrast to splitting every variable into two bounded
    ones, this adds no variables, and its cost is small compared with evaluating f.

    `smooth` returns f and ∇f; f is infinite at points outside its domain, which steps avoid. The
    `prices` c are zero for variables that are not in the one-norm. The minimisation ends when the
    relative decrease of the objective is at most `tolerance`, or when `is_stopped`, which is called
    before every step, returns True.

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
        if np.max(np.abs(slope), initial=0.0) <= _SLOPE_TOLERANCE:
            converged = True
            break
        step = _search(smooth, x, total, slope, prices, pairs)
        if step is None and pairs:
            # The stored curvature misleads: try steepest descent.
            pairs.clear()
            step = _search(smooth, x, total, slope, prices, pairs)
        if step is None:
            # No step decreases the objective, so up to rounding this is the minimum.
            converged = True
            break
        moved, new_gradient, new_total = step
        change, gradient_change = moved - x, new_gradient - gradient
        curvature = float(change @ gradient_change)
        if curvature > 1e-10 * float(gradient_change @ gradient_change):
            pairs.append((change, gradient_change, 1 / curvature))
        decrease = (total - new_total) / max(abs(total), abs(new_total), 1.0)
        x, gradient, total = moved, new_gradient, new_total
        iterations += 1
        converged = decrease <= tolerance
    return Minimum(x, total, iterations, converged)


def _steepest(x: Float64, gradient: Float64, prices: Float64) -> Float64:
    """Subgradient of the objective of minimum magnitude."""
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - prices, 0)
    return np.where(x == 0, at_zero, gradient + prices * np.sign(x))


def _direction(slope: Float64, pairs: deque[tuple[Float64, Float64, float]]) -> Float64:
    """Quasi-Newton direction: minus the approximate inverse Hessian times the slope."""
    direction = -slope
    weights = []
    for change, gradient_change, inverse in reversed(pairs):
        weight = inverse * float(change @ direction)
        direction -= weight * gradient_change
        weights.append(weight)
    if pairs:
        _, gradient_change, inverse = pairs[-1]
        direction /= inverse * float(gradient_change @ gradient_change)
    for (change, gradient_change, inverse), weight in zip(pairs, reversed(weights), strict=True):
        direction += (weight - inverse * float(gradient_change @ direction)) * change
    return direction


def _search(
    smooth: Smooth,
    x: Float64,
    total: float,
    slope: Float64,
    prices: Float64,
    pairs: deque[tuple[Float64, Float64, float]],
) -> tuple[Float64, Float64, float] | None:
    """Backtracking line search within an orthant; None if no step decreases the objective."""
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
        required = total + _SUFFICIENT_DECREASE * float(slope @ (moved - x))
        if new_total <= required and new_total < total:
            return moved, gradient, new_total
        length *= 0.5
    return None


_STRUCTURES = (Free(), Free(from_zero=False))


@dataclass(frozen=True)
class FullBatch(EachLane):
    """Minimise the objective of a recipe over the weights of arcs and all later layers.

    Everything except λ₁‖W‖₁ is differentiated automatically, for any mechanism and loss; the
    one-norm is handled by the minimiser. Arcs outside the support, and the diagonal, are not
    variables of the minimisation.
    """

    # Relative decrease of the objective in one iteration at which a sub-problem ends. With 1e-9 it
    # took five times as long, and the graphs were no better (ER4, d = 20).
    tolerance: float = 1e-6
    # Ten pairs of vectors, and the arrays of one step.
    working_copies: ClassVar[int] = 30

    def implements(self, recipe: Recipe) -> bool:
        """Whether a recipe has free weights, a one-norm of W, and all rows in each step.

        Mechanism and loss may be any.
        """
        like_this = Recipe(recipe.structure, recipe.mechanism, recipe.objective)
        is_free = recipe.structure in _STRUCTURES
        return is_free and _has_one_norm(recipe.objective) and recipe == like_this

    def solve_one(self, batch: Batch, lane: int, start: Parameters, watch: Watch) -> LaneResult:
        """Minimise over one vector: the arcs of the support, then all other layers."""

        def of(name: str, otherwise: Float64 | None = None) -> Float64:
            return np.asarray(batch.of_lane(name, lane, otherwise), np.float64)

        d, settings, first = batch.variables, batch.settings_of(lane), start["arcs"]
        counted, support = of("counted", np.ones((batch.rows, 1))), of("support", np.ones((d, d)))
        data = of("data")
        places = (support != 0) & ~np.eye(d, dtype=bool)
        prices = settings["lambda1"] * (1 - of("required", np.zeros((d, d))))
        prices = np.broadcast_to(with_unit_axes(prices, first), first.shape)[places].ravel()
        functions = _flat(start["functions"])

        def parameters_of(x: Float64) -> Parameters:
            arcs = np.zeros_like(first)
            arcs[places] = x[: len(prices)].reshape(-1, *arcs.shape[2:])
            layers = _shaped(x[len(prices) :], start["functions"])
            return {**start, "arcs": arcs, "functions": layers}

        def smooth(x: Float64) -> tuple[float, Float64]:
            without = {**settings, "lambda1": 0.0}
            value, gradient = _value_and_gradient(
                batch.recipe, parameters_of(x), data, counted, without, support
            )
            slope = np.asarray(gradient["arcs"])[places].ravel()
            return float(value), np.concatenate([slope, _flat(gradient["functions"])])

        def is_stopped() -> bool:
            watch.advance(1)
            return watch.stop is not None

        with jax.enable_x64(True), on_device(batch.device):
            found = minimise_orthant_wise(
                smooth,
                np.concatenate([first[places].ravel(), functions]),
                np.concatenate([prices, np.zeros(len(functions))]),
                max_iter=int(settings["rounds"]),
                tolerance=self.tolerance,
                is_stopped=is_stopped,
            )
            ended = jax.tree.map(np.asarray, parameters_of(found.x))
        return LaneResult(ended, found.value, found.iterations, found.converged)


def _has_one_norm(objective: Objective) -> bool:
    """Whether an objective is `Penalised`, with or without decay: λ₁ then multiplies only ‖W‖₁."""
    if type(objective) is Decayed:
        return _has_one_norm(objective.objective)
    return type(objective) is Penalised


def _flat(layers: Any) -> Float64:
    """Concatenate all numbers of layers into one vector."""
    return np.concatenate([np.empty(0), *(np.ravel(leaf) for leaf in jax.tree.leaves(layers))])


def _shaped(numbers: Float64, layers: Any) -> Any:
    """Split a vector into arrays shaped like those of `layers`; the inverse of `_flat`."""
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
