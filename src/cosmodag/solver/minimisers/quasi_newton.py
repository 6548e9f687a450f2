"""Sub-problems by SciPy's L-BFGS-B, in float64, on the covariance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

from cosmodag.constraint import Constraint, ValueAndGradient
from cosmodag.solver.methods.rounds import Mask
from cosmodag.solver.minimisers.covariance import covariance_of, half_squared_error
from cosmodag.solver.minimisers.stochastic import Minimised
from cosmodag.solver.problems import Batch
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.threads import threads_for
from cosmodag.solver.watch import Watch
from cosmodag.structure import Free, Parameters, Potential

__all__ = ["QuasiNewton"]

Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class QuasiNewton:
    """Minimise ‖X − XW‖_F²/2n + α h(W) + ½ρ h(W)² + λ₁‖W‖₁ over the arcs of a linear structure.

    Arcs enter W linearly, W = arcs ∘ G: with free weights G is one off the diagonal, with frozen
    potentials it is ReLU(φ_v − φ_u). Arcs where G is zero are no variables. Where λ₁ > 0, each is
    split in two parts, both bounded by zero, whose difference it is: that makes ‖W‖₁ smooth.

    Attributes
    ----------
    structure
        Says what G is.
    constraint
        h, or None for none.
    tolerance
        Relative decrease of the objective below which a sub-problem is solved; None for SciPy's.
    """

    structure: Free | Potential
    constraint: Constraint | None = None
    tolerance: float | None = None

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Solve the active lanes one after another."""
        arcs = np.array(parameters["arcs"], np.float64)
        loss = np.full(batch.size, np.nan)
        longest = 0
        with threads_for(batch.variables):
            for lane in np.flatnonzero(active).tolist():
                if watch.stop is not None:
                    break
                settings = {name: float(values[lane]) for name, values in batch.settings.items()}
                smooth = self._smooth(covariance_of(batch, lane), settings)
                gain = self.structure.gain(batch.variables, parameters["order"][lane])
                found, result = _solve(smooth, arcs[lane], gain, settings, self.tolerance, watch)
                arcs[lane] = self.structure.complete(found)
                loss[lane] = result.fun
                longest = max(longest, int(result.nit))
        watch.advance(longest)
        refused = np.zeros(batch.size, bool)
        return Minimised({**parameters, "arcs": arcs}, loss, longest, refused, watch.stop)

    def read_out(self, recipe: Recipe, parameters: Parameters) -> NDArray[np.floating]:
        """W = arcs ∘ G."""
        arcs = parameters["arcs"]
        weights: Float64 = arcs * self.structure.gain(len(arcs), parameters["order"])
        return weights

    def _smooth(self, covariance: Float64, settings: dict[str, float]) -> ValueAndGradient:
        multiplier, penalty = settings["multiplier"], settings["penalty"]
        acyclicity = None if self.constraint is None else self.constraint.evaluator()

        def value_and_gradient(weights: Float64) -> tuple[float, Float64]:
            value, gradient = half_squared_error(covariance, weights)
            if acyclicity is None:
                return value, gradient
            h, slope = acyclicity(weights)
            value += multiplier * h + 0.5 * penalty * h * h
            return value, gradient + (multiplier + penalty * h) * slope

        return value_and_gradient


def _solve(
    smooth: ValueAndGradient,
    start: Float64,
    gain: Float64,
    settings: dict[str, float],
    tolerance: float | None,
    watch: Watch,
) -> tuple[Float64, OptimizeResult]:
    """Minimise smooth(arcs ∘ gain) + λ₁‖arcs ∘ gain‖₁ over the arcs whose gain is not zero."""
    places = np.nonzero(gain)
    gains, lambda1 = gain[places], settings["lambda1"]
    is_split = lambda1 > 0
    weights = np.zeros_like(gain)

    def join(x: Float64) -> Float64:
        return x[: len(gains)] - x[len(gains) :] if is_split else x

    def value_and_gradient(x: Float64) -> tuple[float, Float64]:
        weights[places] = join(x) * gains
        value, gradient = smooth(weights)
        slope = gradient[places] * gains
        if not is_split:
            return value, slope
        price = lambda1 * gains
        return (
            value + float(price @ (x[: len(gains)] + x[len(gains) :])),
            np.concatenate([slope + price, price - slope]),
        )

    def look_up(x: Any) -> None:
        if watch.stop is not None:
            raise StopIteration

    first = start[places]
    if is_split:
        first = np.concatenate([np.maximum(first, 0), np.maximum(-first, 0)])
    options: dict[str, float] = {"maxiter": int(settings["epochs"]), "maxfun": 10**9}
    if tolerance is not None:
        options["ftol"] = tolerance
    result = minimize(
        value_and_gradient,
        first,
        method="L-BFGS-B",
        jac=True,
        bounds=[(0.0, None)] * len(first) if is_split else None,
        callback=look_up,
        options=options,
    )
    arcs = np.zeros_like(gain)
    arcs[places] = join(result.x)
    return arcs, result
