"""DAGMA's minimiser for networks on a CPU: Adam on all rows, fused into one compiled loop.

The steps are those of `minimiser.Stochastic` with one batch of all rows, for
one hidden layer of sigmoid units. With r = x̂ − x, weights c of the entries, E = Σ c r², ∂W' the
gradient of ½E and M = (sI − A)⁻¹, A_uv = Σ_i W_uvi²,

    ∂W = μ (d/E ∂W' + λ₁ sign(W) + λ₂ W) + 2 W_uvi M_vu,

and for all other parameters θ, ∂θ = μ (d/E ∂θ' + λ₂ θ). The arrays and the backward pass are those
of `cosmodag.solve.kernels.cpu.mlp`.
"""

import time
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.model.objective import Barrier, Decayed, log_squared_error
from cosmodag.model.structure import Free, Parameters
from cosmodag.runtime.compiled import compiled, inlined
from cosmodag.solve.kernels.cpu import is_plain_network
from cosmodag.solve.kernels.cpu.cpu_steps import adam, move, sign_of, sum_of_squares
from cosmodag.solve.kernels.cpu.mlp import backward, gather, scatter, workspace
from cosmodag.solve.minimisers.barrier_linear import DESCENT_SETTINGS, invert_m_matrix
from cosmodag.solve.minimisers.each_lane import EachLane, LaneResult, lane_arcs
from cosmodag.solve.problems import Batch
from cosmodag.solve.recipe import Inside, Recipe
from cosmodag.solve.training.adam import fresh_state
from cosmodag.solve.trees import lane_of, map_arrays
from cosmodag.solve.watch import Watch

Float32 = NDArray[np.float32]

# Largest number of iterations between checks of the watch.
_CHECK_EVERY = 50


class _StageSettings(NamedTuple):
    """Settings of one stage of one problem, as compiled code reads them."""

    score_weight: float
    radius: float
    lambda2: float
    learning_rate: float
    beta1: float
    beta2: float


class _Inputs(NamedTuple):
    """Input arrays of one problem, float32."""

    data: Float32
    counted: Float32  # (n, d): weights of entries; (0, d) if all are one
    support: Float32  # (d, d): one if an arc may exist
    lambda1: Float32  # (d, d): λ₁ of each arc


class _AdamStep(NamedTuple):
    """Scalars of one step of Adam, in single precision, with bias correction."""

    beta1: np.float32
    beta2: np.float32
    rate: np.float32
    square_scale: np.float32


class NetworkDescent(EachLane):
    """Minimise DAGMA's objective over networks; a stage that leaves the domain is refused."""

    working_copies: ClassVar[int] = 8
    needs: ClassVar[frozenset[str]] = DESCENT_SETTINGS
    dtype: ClassVar[Any] = np.float32

    def implements(self, recipe: Recipe) -> bool:
        """Whether a recipe is DAGMA's objective on all rows, for one hidden layer of sigmoids."""
        objective = Decayed(Barrier(log_squared_error), biases=True)
        like_this = Recipe(recipe.structure, recipe.mechanism, objective, guard=Inside())
        is_free = recipe.structure in (Free(), Free(from_zero=False))
        return is_free and is_plain_network(recipe.mechanism) and recipe == like_this

    def solve_one(self, batch: Batch, lane: int, start: Parameters, watch: Watch) -> LaneResult:
        """Minimise from the given parameters, in pieces between which the watch is checked."""
        settings = batch.settings_of(lane)
        given = _given(batch, lane, settings["lambda1"])
        stage = _StageSettings(*(settings[name] for name in _StageSettings._fields))
        start["arcs"] *= given.support[..., None]
        state = fresh_state(map_arrays(lambda leaf: leaf[None].copy(), start), lanes=(1,))
        arrays = gather(state, 0)
        work = workspace(arrays)
        limit, done, inside, value, piece = int(settings["rounds"]), 0, True, np.nan, 1
        is_stopped = False
        while not is_stopped and done < limit and inside:
            # Pieces depend on the speed of the machine, but the reported iterations must not.
            end = min(done - done % _CHECK_EVERY + _CHECK_EVERY, limit)
            until = min(done + piece, end)
            begin = time.perf_counter()
            inside, value = descend(given, arrays, work, stage, done, until)
            piece = batch.steps_per_piece(until - done, time.perf_counter() - begin)
            watch.advance(until - done)
            done = until if inside else end
            is_stopped = watch.stop is not None
        scatter(arrays, state, 0)
        return LaneResult(lane_of(state.parameters, 0), value, done, inside, not inside)


def _given(batch: Batch, lane: int, lambda1: float) -> _Inputs:
    d = batch.variables
    counted = batch.of_lane("counted", lane, np.empty((0, d)))
    counted = np.broadcast_to(counted, (len(counted), d))
    arcs = lane_arcs(batch, lane, 1 - np.eye(d), lambda1)
    arrays = (batch.of_lane("data", lane), counted, *arcs)
    return _Inputs(*(np.ascontiguousarray(array, np.float32) for array in arrays))


@inlined
def _lengths(weights: Any, price: Any, lengths: Any) -> Any:
    """Write √A, and return Σ λ₁|W| and ‖W‖_F²."""
    d = weights.shape[0]
    total, squares = 0.0, 0.0
    for u in range(d):
        for v in range(d):
            lengths[u, v] = 0.0
        row = weights[u].reshape((weights.shape[1] // d, d))
        for i in range(row.shape[0]):
            for v in range(d):
                w = row[i, v]
                lengths[u, v] += w * w
                total += price[u, v] * abs(w)
        for v in range(d):
            squares += lengths[u, v]
            lengths[u, v] = np.sqrt(lengths[u, v])
    return total, squares


@inlined
def _move_arcs(
    given: Any,
    state: Any,
    gradient: Any,
    inverse: Any,
    scale: Any,
    mu: Any,
    decay: Any,
    scalars: Any,
) -> None:
    """Move W by Adam, except arcs that may not exist."""
    d = inverse.shape[0]
    shape = (state.arcs.shape[1] // d, d)
    for u in range(d):
        arcs, means = state.arcs[u].reshape(shape), state.arcs_mean[u].reshape(shape)
        squares, slopes = state.arcs_square[u].reshape(shape), gradient[u].reshape(shape)
        for i in range(shape[0]):
            for v in range(d):
                w = arcs[i, v]
                g = slopes[i, v] * scale + mu * given.lambda1[u, v] * sign_of(w)
                g += (decay + np.float32(2.0 * inverse[v, u])) * w
                w, means[i, v], squares[i, v] = adam(
                    w, means[i, v], squares[i, v], g, scalars, scalars.rate
                )
                arcs[i, v] = w * given.support[u, v]


@compiled
def descend(
    given: Any, state: Any, work: Any, stage: Any, done: int, until: int
) -> tuple[bool, float]:
    """Run iterations done + 1 … until in place.

    Return whether W stayed in the domain, and the objective before the last step.
    """
    n, d = given.data.shape
    wide = state.arcs.shape[1]
    units = np.empty((n, wide), np.float32)
    lengths, inverse = np.empty((d, d)), np.empty((d, d))
    mu = stage.score_weight
    decay = np.float32(mu * stage.lambda2)
    rows = given.counted.sum() / d if given.counted.shape[0] > 0 else float(n)
    value = np.nan
    for step in range(done + 1, until + 1):
        one_norm, squares = _lengths(state.arcs, given.lambda1, lengths)
        if not invert_m_matrix(lengths, stage.radius, inverse):
            return False, value
        np.dot(given.data, state.arcs, units)
        error = backward(given.data, given.counted, units, n, state, work)
        np.dot(given.data.T, units, work.gradient)
        if step == until:
            score = 0.5 * d * np.log(error / rows) + one_norm
            squares += sum_of_squares(state.functions)
            # log det(sI − A) = −log det M, and M has a positive determinant inside.
            barrier = np.linalg.slogdet(inverse)[1] + d * np.log(stage.radius)
            value = mu * (score + 0.5 * stage.lambda2 * squares) + barrier
        scalars = _AdamStep(
            np.float32(stage.beta1),
            np.float32(stage.beta2),
            np.float32(stage.learning_rate / (1 - stage.beta1**step)),
            np.float32(1 / (1 - stage.beta2**step)),
        )
        scale = np.float32(mu * d / error)
        _move_arcs(given, state, work.gradient, inverse, scale, np.float32(mu), decay, scalars)
        for k in range(state.functions.shape[0]):
            work.functions_gradient[k] *= scale
            work.functions_gradient[k] += decay * state.functions[k]
        move(
            state.functions,
            state.functions_mean,
            state.functions_square,
            work.functions_gradient,
            scalars,
            scalars.rate,
        )
    return True, value
