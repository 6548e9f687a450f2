"""DAGMA's minimiser for linear relations: full-gradient Adam on the covariance, in float64."""

import time
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cosmodag.graph.closed_forms import log_determinant_value_and_gradient
from cosmodag.model.mechanism import Linear
from cosmodag.model.objective import Barrier, half_squared_error
from cosmodag.model.structure import Free, Parameters
from cosmodag.runtime.compiled import compiled
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
from cosmodag.solve.recipe import SMALL_RADIUS, Inside, Recipe
from cosmodag.solve.training.adam import EPSILON
from cosmodag.solve.watch import Watch

# Rows per elimination block: small enough for registers, large enough for a matrix product.
_BLOCK = 16


@compiled
def _invert_in_place(matrix: Any) -> bool:
    """Gauss–Jordan elimination without pivoting; return False if a pivot is not positive."""
    d = matrix.shape[0]
    for k in range(d):
        pivot = matrix[k, k]
        # Written so that NaN is refused too.
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
    """Write (sI − W∘W)⁻¹ to `inverse`; return whether sI − W∘W is an M-matrix.

    If it is not, the output is invalid. A matrix without positive off-diagonal entries is an
    M-matrix if and only if all pivots of the elimination are positive. The elimination then needs
    no pivoting and never subtracts: the inverse is a sum of products of non-negative numbers. It
    can therefore proceed by blocks of rows, each a product of thin matrices, which takes half the
    time of a general inverse.
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
        # Loops, because assigning an array to a slice takes two seconds to compile.
        for u in range(end - begin):
            for v in range(end - begin):
                rows[u, begin + v] = pivot[u, v]
        np.dot(columns, rows, product)
        for u in range(d):
            if u < begin or u >= end:
                for v in range(begin, end):
                    inverse[u, v] = 0.0
                for v in range(d):
                    inverse[u, v] -= product[u, v]
        for u in range(end - begin):
            for v in range(d):
                inverse[begin + u, v] = rows[u, v]
    return True


_RECIPES = [
    Recipe(structure, Linear(), Barrier(half_squared_error), guard=guard)
    for structure in (Free(), Free(from_zero=False))
    for guard in (None, Inside())
]

_GOES_ON, _LEFT_THE_DOMAIN, _AT_REST = 0, 1, 2

# Iterations between checks of the objective.
_CHECK_EVERY = 1000

# Relative change at the last check up to which a stage counts as converged although it reached its
# iteration limit. With a constant step length, the objective fluctuates by 1e-5 to 3e-4 (ER4,
# d = 20 and 30), so that meeting the tolerance is a matter of chance.
_SMALL_CHANGE = 1e-3

DESCENT_SETTINGS = frozenset({"learning_rate", "beta1", "beta2", "rounds"})
"""Settings of Adam, and the maximum number of iterations."""


class StageSettings(NamedTuple):
    """Settings of one stage of one problem, as compiled code reads them."""

    score_weight: float
    radius: float
    learning_rate: float
    beta1: float
    beta2: float


@dataclass(frozen=True)
class LinearDescent(EachLane):
    """Minimise μ (‖X − XW‖_F²/2n + λ₁‖W‖₁) − log det(sI − W∘W) + d log s, the diagonal zero.

    Every iteration computes the inverse of sI − W∘W for the gradient, which also shows whether W is
    in the domain. A step that leaves the domain is halved until it does not; if s ≤ 0.9, or in the
    first iteration, the stage is refused instead.
    """

    # Relative change of the objective between two checks at which a stage ends.
    tolerance: float = 1e-6
    working_copies: ClassVar[int] = 8
    needs: ClassVar[frozenset[str]] = DESCENT_SETTINGS
    leaves_python: ClassVar[bool] = True

    def implements(self, recipe: Recipe) -> bool:
        """Whether a recipe is the half squared error of linear relations with a barrier."""
        return recipe in _RECIPES

    def solve_one(self, batch: Batch, lane: int, start: Parameters, watch: Watch) -> LaneResult:
        """Minimise from the given parameters, in pieces between which the watch is checked."""
        settings = batch.settings_of(lane)
        stage = StageSettings(*(settings[name] for name in StageSettings._fields))
        covariances = covariances_of(batch, lane)
        price = stage.score_weight * settings["lambda1"]
        arcs = lane_arcs(batch, lane, 1 - np.eye(batch.variables), price)
        weights = start["arcs"] * arcs.gain
        mean, square, move = np.zeros((3, *weights.shape))
        limit, done = int(settings["rounds"]), 0
        rate, status = stage.learning_rate, _GOES_ON
        value, change, piece = 1e16, np.inf, 1
        is_stopped = False
        while not is_stopped and done < limit and status == _GOES_ON and change > self.tolerance:
            next_check = min(done - done % _CHECK_EVERY + _CHECK_EVERY, limit)
            first, begin = done, time.perf_counter()
            done, rate, status = descend(
                *(covariances, arcs, weights, mean, square, move, stage, rate, done),
                min(done + piece, next_check),
            )
            watch.advance(done - first)
            piece = batch.steps_per_piece(done - first, time.perf_counter() - begin)
            # Read once per piece, so that the objective is computed whenever the run stops.
            is_stopped = watch.stop is not None
            if done == next_check or status != _GOES_ON or is_stopped:
                previous, value = value, _objective(covariances, arcs, weights, stage)
                # On constant data, both values are zero.
                difference, scale = abs(value - previous), max(abs(previous), 1e-300)
                change = 0.0 if value == previous else difference / scale
        return LaneResult(
            parameters={**start, "arcs": weights},
            loss=value,
            iterations=done,
            converged=change <= _SMALL_CHANGE or status == _AT_REST,
            refused=status == _LEFT_THE_DOMAIN,
        )


def _objective(
    covariances: Covariances, arcs: Arcs, weights: Float64, stage: StageSettings
) -> float:
    score = stage.score_weight * half_squared_error_of_moments(covariances, weights)[0]
    barrier = log_determinant_value_and_gradient(weights, stage.radius)[0]
    return float(score + np.sum(arcs.price * np.abs(weights)) + barrier)


@compiled
def _multiply(covariances: Any, weights: Any, product: Any) -> None:
    """Write C_v w_v into column v of the product."""
    if covariances.matrices.shape[0] == 1:
        np.dot(covariances.matrices[0], weights, product)
        return
    for k in range(covariances.matrices.shape[0]):
        group = covariances.members[covariances.bounds[k] : covariances.bounds[k + 1]]
        chosen = np.ascontiguousarray(weights[:, group])
        part = np.dot(covariances.matrices[k], chosen)
        for u in range(part.shape[0]):
            for j in range(group.shape[0]):
                product[u, group[j]] = part[u, j]


@compiled
def descend(
    covariances: Any,
    arcs: Any,
    weights: Any,
    mean: Any,
    square: Any,
    move: Any,
    stage: Any,
    rate: float,
    done: int,
    until: int,
) -> tuple[int, float, int]:
    """Run iterations done + 1 … until in place; return the last one, the rate and the status."""
    d = weights.shape[0]
    inverse = np.empty((d, d))
    product = np.empty((d, d))
    mu = stage.score_weight
    keep1, keep2 = stage.beta1, stage.beta2
    while done < until:
        done += 1
        while not invert_m_matrix(weights, stage.radius, inverse):
            if done == 1 or stage.radius < SMALL_RADIUS:
                return done, rate, _LEFT_THE_DOMAIN
            rate *= 0.5
            if rate <= 1e-16:
                return done, rate, _AT_REST
            for u in range(d):
                for v in range(d):
                    weights[u, v] += rate * move[u, v]
        _multiply(covariances, weights, product)
        mean_scale = 1.0 / (1.0 - keep1**done)
        square_scale = 1.0 / (1.0 - keep2**done)
        for u in range(d):
            for v in range(d):
                w = weights[u, v]
                g = mu * (product[u, v] - covariances.own[u, v]) + arcs.price[u, v] * np.sign(w)
                g += 2.0 * w * inverse[v, u]
                mean[u, v] = keep1 * mean[u, v] + (1.0 - keep1) * g
                square[u, v] = keep2 * square[u, v] + (1.0 - keep2) * g * g
                move[u, v] = arcs.gain[u, v] * (
                    (mean[u, v] * mean_scale) / (np.sqrt(square[u, v] * square_scale) + EPSILON)
                )
                weights[u, v] = w - rate * move[u, v]
    return done, rate, _GOES_ON
