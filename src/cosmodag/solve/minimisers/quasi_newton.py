"""Minimisation for linear relations by SciPy's L-BFGS-B, in float64, on the covariance."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from cosmodag.graph.constraint import Constraint, ValueAndGradient
from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import Penalised, half_squared_error
from cosmodag.model.structure import Free, Parameters, Potential
from cosmodag.solve.minimisers.each_lane import (
    Arcs,
    Covariances,
    EachLane,
    Float64,
    LaneResult,
    covariances_of,
    half_squared_error_of_moments,
    lane_arcs,
)
from cosmodag.solve.problems import Batch
from cosmodag.solve.recipe import Recipe
from cosmodag.solve.watch import Watch

_STRUCTURES = (Free(), Free(from_zero=False), Potential(), Potential(from_zero=True))


@dataclass(frozen=True)
class QuasiNewton(EachLane):
    """Minimise ‖X − XW‖_F²/2n + α h(W) + ½ρ h(W)² + λ₁‖W‖₁ over the arcs of a linear structure.

    W is linear in the arcs, W = arcs ∘ G: with free weights, G is one off the diagonal; with fixed
    potentials, it is ReLU(φ_v − φ_u). G is zero outside the support, and arcs with G = 0 are not
    variables of the minimisation. If λ₁ > 0, each arc is the difference of two non-negative
    variables, which makes ‖W‖₁ smooth.
    """

    # Relative decrease of the objective at which a sub-problem ends; None for SciPy's default.
    tolerance: float | None = None
    # L-BFGS-B stores ten pairs of vectors and some more, each twice as long as the parameters.
    working_copies: ClassVar[int] = 80
    leaves_python: ClassVar[bool] = True

    def implements(self, recipe: Recipe) -> bool:
        """Whether a recipe is the penalised half squared error of linear relations, on all rows."""
        constraint = getattr(recipe.objective, "constraint", None)
        objective = Penalised(half_squared_error, constraint)
        like_this = Recipe(recipe.structure, Linear(), objective)
        return recipe.structure in _STRUCTURES and recipe == like_this

    def solve_one(self, batch: Batch, lane: int, start: Parameters, watch: Watch) -> LaneResult:
        """Minimise over the arcs, starting from the given parameters."""
        objective = batch.recipe.objective
        assert isinstance(objective, Penalised)
        first, gain = start["arcs"], 1 - np.eye(batch.variables)
        has_potential = isinstance(batch.recipe.structure, Potential)
        if has_potential:
            # K is skew-symmetric, and only its entries below the diagonal count.
            lower, order = np.tril(first, -1), start["order"]
            first, gain = lower - lower.T, np.maximum(order - order[:, None], 0)
        settings = batch.settings_of(lane)
        arcs = lane_arcs(batch, lane, gain, settings["lambda1"])
        smooth = smooth_part(covariances_of(batch, lane), objective.constraint, settings)
        options: dict[str, float] = {"maxiter": int(settings["rounds"]), "maxfun": 10**9}
        if self.tolerance is not None:
            options["ftol"] = self.tolerance
        found, result = _solve(smooth, arcs, first, options, watch)
        return LaneResult(
            parameters={**start, "arcs": found - found.T if has_potential else found},
            loss=float(result.fun),
            iterations=int(result.nit),
            converged=bool(result.success),
        )


def smooth_part(
    covariances: Covariances, constraint: Constraint | None, settings: dict[str, float]
) -> ValueAndGradient:
    """Return the objective without λ₁‖W‖₁, ℓ(W) + α h(W) + ½ρ h(W)², as value and gradient."""
    if constraint is None:
        return lambda weights: half_squared_error_of_moments(covariances, weights)
    acyclicity = constraint.evaluator()
    multiplier, penalty = settings["multiplier"], settings["penalty"]

    def value_and_gradient(weights: Float64) -> tuple[float, Float64]:
        value, gradient = half_squared_error_of_moments(covariances, weights)
        h, slope = acyclicity(weights)
        value += multiplier * h + 0.5 * penalty * h * h
        return value, gradient + (multiplier + penalty * h) * slope

    return value_and_gradient


def _solve(
    smooth: ValueAndGradient, arcs: Arcs, start: Float64, options: dict[str, float], watch: Watch
) -> tuple[Float64, OptimizeResult]:
    """Minimise smooth(W) + Σ price·|W|, W = arcs ∘ gain, over the arcs with non-zero gain."""
    places = np.nonzero(arcs.gain)
    gains = arcs.gain[places]
    price = arcs.price[places] * gains
    count = len(gains)
    is_split = bool(np.any(price > 0))
    weights = np.zeros_like(arcs.gain)
    if count == 0:
        return weights, OptimizeResult(fun=smooth(weights)[0], nit=0, success=True)

    def join(x: Float64) -> Float64:
        return x[:count] - x[count:] if is_split else x

    def value_and_gradient(x: Float64) -> tuple[float, Float64]:
        weights[places] = join(x) * gains
        value, gradient = smooth(weights)
        slope = gradient[places] * gains
        if not is_split:
            return value, slope
        value += float(price @ (x[:count] + x[count:]))
        return value, np.concatenate([slope + price, price - slope])

    def count_iteration(x: Any) -> None:
        watch.advance(1)
        if watch.stop is not None:
            raise StopIteration

    first = start[places]
    if is_split:
        first = np.concatenate([np.maximum(first, 0), np.maximum(-first, 0)])
    result = minimize(
        value_and_gradient,
        first,
        method="L-BFGS-B",
        jac=True,
        bounds=[(0.0, None)] * len(first) if is_split else None,
        callback=count_iteration,
        options=options,
    )
    found = np.zeros_like(arcs.gain)
    found[places] = join(result.x)
    return found, result
