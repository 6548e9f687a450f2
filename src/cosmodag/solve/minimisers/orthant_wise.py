"""A quasi-Newton method for smooth functions with a one-norm added: OWL-QN."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Minimum", "minimise_orthant_wise"]

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
