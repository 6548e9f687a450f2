"""DAGMA's own sub-solver: Adam on the full gradient, in float64, on the covariance."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.closed_forms import log_determinant_value_and_gradient
from cosmodag.compiled import compiled
from cosmodag.solver.methods.rounds import Mask
from cosmodag.solver.minimisers.covariance import covariance_of, half_squared_error
from cosmodag.solver.minimisers.stochastic import Minimised
from cosmodag.solver.problems import Batch
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.threads import threads_for
from cosmodag.solver.training.adam import EPSILON
from cosmodag.solver.watch import Watch
from cosmodag.structure import Parameters

__all__ = ["Descent", "descend", "invert_m_matrix"]

Float64 = NDArray[np.float64]

# Rows eliminated at once, few enough to stay in registers and enough to be a product.
_BLOCK = 16

_GOES_ON, _LEFT_THE_DOMAIN, _AT_REST = 0, 1, 2


class Knobs(NamedTuple):
    """Settings of one stage."""

    score_weight: float
    radius: float
    lambda1: float
    learning_rate: float
    beta1: float
    beta2: float


@dataclass(frozen=True)
class Descent:
    """Minimise μ (‖X − XW‖_F²/2n + λ₁‖W‖₁) − log det(sI − W∘W) + d log s, the diagonal zero.

    Every iteration needs the inverse of sI − W∘W for the gradient, and reads from it whether W is
    still in the domain. A step that leaves the domain is halved until it does not; where s ≤ 0.9,
    or in the first iteration, the stage is refused instead.

    Attributes
    ----------
    tolerance
        Relative change of the objective, from one look at it to the next, that ends a stage.
    look_every
        Iterations between looks.
    """

    tolerance: float = 1e-6
    look_every: int = 1000

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Solve the active lanes one after another."""
        arcs = np.array(parameters["arcs"], np.float64)
        loss = np.full(batch.size, np.nan)
        refused = np.zeros(batch.size, bool)
        longest = 0
        with threads_for(batch.variables):
            for lane in np.flatnonzero(active).tolist():
                knobs = Knobs(*(float(batch.settings[name][lane]) for name in Knobs._fields))
                covariance = covariance_of(batch, lane)
                limit = int(batch.settings["epochs"][lane])
                iterations, refused[lane], loss[lane] = self._descend(
                    covariance, arcs[lane], knobs, limit, watch
                )
                longest = max(longest, iterations)
        return Minimised({**parameters, "arcs": arcs}, loss, longest, refused, watch.stop)

    def _descend(
        self, covariance: Float64, weights: Float64, knobs: Knobs, limit: int, watch: Watch
    ) -> tuple[int, bool, float]:
        """Change the weights of one problem; give iterations, whether refused, the objective."""
        mean, square, move = np.zeros((3, *weights.shape))
        done, rate, status = 0, knobs.learning_rate, _GOES_ON
        value = previous = 1e16
        while done < limit and status == _GOES_ON and watch.stop is None:
            until = min(done + self.look_every, limit)
            watch.advance(until - done)
            done, rate, status = descend(
                covariance, weights, mean, square, move, knobs, rate, done, until
            )
            value = _objective(covariance, weights, knobs)
            if abs((previous - value) / previous) <= self.tolerance:
                break
            previous = value
        return done, status == _LEFT_THE_DOMAIN, value

    def read_out(self, recipe: Recipe, parameters: Parameters) -> NDArray[np.floating]:
        """W is what is learnt."""
        weights: Float64 = parameters["arcs"]
        return weights


def _objective(covariance: Float64, weights: Float64, knobs: Knobs) -> float:
    score = half_squared_error(covariance, weights)[0] + knobs.lambda1 * np.abs(weights).sum()
    barrier = log_determinant_value_and_gradient(weights, knobs.radius)[0]
    return float(knobs.score_weight * score + barrier)


@compiled
def _invert_in_place(matrix: Any) -> bool:
    """Gauss–Jordan elimination without exchanges; false at a pivot that is not positive."""
    d = matrix.shape[0]
    for k in range(d):
        pivot = matrix[k, k]
        # Also false where it is not a number.
        if not pivot > 0.0:
            return False
        matrix[k, k] = 1.0
        scale = 1.0 / pivot
        for v in range(d):
            matrix[k, v] *= scale
        for u in range(d):
            if u != k:
                factor = matrix[u, k]
                matrix[u, k] = 0.0
                for v in range(d):
                    matrix[u, v] -= factor * matrix[k, v]
    return True


@compiled
def invert_m_matrix(weights: Any, s: float, inverse: Any) -> bool:
    """Write (sI − W∘W)⁻¹; false, with nothing useful written, unless sI − W∘W is an M-matrix.

    A matrix with no positive entry off its diagonal is an M-matrix exactly when elimination meets
    only positive pivots, and then it needs no exchange of rows and never subtracts: the inverse is
    a sum of products of non-negative numbers. So the elimination can go by blocks of rows, each one
    product of thin matrices, which takes half the time of a general inverse.
    """
    d = weights.shape[0]
    for u in range(d):
        for v in range(d):
            inverse[u, v] = -weights[u, v] * weights[u, v]
        inverse[u, u] += s
    product = np.empty((d, d))
    for begin in range(0, d, _BLOCK):
        end = min(begin + _BLOCK, d)
        columns = inverse[:, begin:end].copy()
        pivot = columns[begin:end].copy()
        if not _invert_in_place(pivot):
            return False
        rows = np.dot(pivot, inverse[begin:end])
        rows[:, begin:end] = pivot
        np.dot(columns, rows, product)
        for u in range(d):
            if u < begin or u >= end:
                for v in range(begin, end):
                    inverse[u, v] = 0.0
                for v in range(d):
                    inverse[u, v] -= product[u, v]
        inverse[begin:end] = rows
    return True


@compiled
def descend(
    covariance: Any,
    weights: Any,
    mean: Any,
    square: Any,
    move: Any,
    knobs: Any,
    rate: float,
    done: int,
    until: int,
) -> tuple[int, float, int]:
    """Run iterations done + 1 … until, changing arrays in place; tell the last, the rate, how."""
    d = weights.shape[0]
    inverse = np.empty((d, d))
    product = np.empty((d, d))
    mu = knobs.score_weight
    lambda1 = mu * knobs.lambda1
    keep1, keep2 = knobs.beta1, knobs.beta2
    while done < until:
        done += 1
        while not invert_m_matrix(weights, knobs.radius, inverse):
            if done == 1 or knobs.radius < 0.95:
                return done, rate, _LEFT_THE_DOMAIN
            rate *= 0.5
            if rate <= 1e-16:
                return done, rate, _AT_REST
            for u in range(d):
                for v in range(d):
                    weights[u, v] += rate * move[u, v]
        np.dot(covariance, weights, product)
        mean_scale = 1.0 / (1.0 - keep1**done)
        square_scale = 1.0 / (1.0 - keep2**done)
        for u in range(d):
            for v in range(d):
                w = weights[u, v]
                g = mu * (product[u, v] - covariance[u, v]) + lambda1 * np.sign(w)
                g += 2.0 * w * inverse[v, u]
                mean[u, v] = keep1 * mean[u, v] + (1.0 - keep1) * g
                square[u, v] = keep2 * square[u, v] + (1.0 - keep2) * g * g
                move[u, v] = (mean[u, v] * mean_scale) / (
                    np.sqrt(square[u, v] * square_scale) + EPSILON
                )
                weights[u, v] = w - rate * move[u, v]
            weights[u, u] = 0.0
            move[u, u] = 0.0
    return done, rate, _GOES_ON
