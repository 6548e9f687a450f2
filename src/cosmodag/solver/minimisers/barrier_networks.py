"""DAGMA's sub-problems for networks on a CPU: Adam on all rows, fused into one compiled loop.

The steps that `cosmodag.solver.minimisers.stochastic.Stochastic` takes with one batch of all rows, for one
hidden layer of sigmoid units. With r = x̂ − x, Σ r² = E, ∂W' the gradient of ½E (see
`cosmodag.solver.kernels.cpu.mlp`) and M = (sI − A)⁻¹, A_uv = Σ_i W_uvi²,

    ∂W = μ (d/E ∂W' + λ₁ sign(W) + λ₂ W) + 2 W_uvi M_vu,

and for all other parameters θ, ∂θ = μ (d/E ∂θ' + λ₂ θ).
"""

from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import compiled, inlined
from cosmodag.solver.kernels.cpu.mlp import Arrays, backward, gather, repeat, scatter, workspace
from cosmodag.solver.kernels.cpu.steps import ONE, ZERO, Rates, adam, move, norms
from cosmodag.solver.methods.rounds import Mask
from cosmodag.solver.minimisers.barrier_linear import invert_m_matrix
from cosmodag.solver.minimisers.stochastic import Minimised
from cosmodag.solver.problems import Batch
from cosmodag.solver.recipe import Recipe
from cosmodag.solver.threads import threads_for
from cosmodag.solver.training.adam import fresh_state
from cosmodag.solver.watch import Watch
from cosmodag.structure import Free, Parameters

__all__ = ["NetworkDescent", "descend"]

# Iterations between looks at the watch.
_LOOK_EVERY = 50


class Knobs(NamedTuple):
    """Settings of one stage."""

    score_weight: float
    radius: float
    lambda1: float
    lambda2: float
    learning_rate: float
    beta1: float
    beta2: float


class NetworkDescent:
    """Minimise DAGMA's objective over networks; a stage that leaves the domain is refused."""

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Solve the active lanes one after another."""
        state = jax.tree.map(np.array, jax.vmap(fresh_state)(parameters))
        state.parameters["arcs"] *= Free().gain(batch.variables, parameters["order"])[..., None]
        loss = np.full(batch.size, np.nan)
        refused = np.zeros(batch.size, bool)
        longest = 0
        with threads_for(batch.variables):
            for lane in np.flatnonzero(active).tolist():
                knobs = Knobs(*(float(batch.settings[name][lane]) for name in Knobs._fields))
                arrays = gather(state, lane)
                data = batch.tables[batch.table[lane]]
                limit = int(batch.settings["epochs"][lane])
                iterations, refused[lane], loss[lane] = _descend(data, arrays, knobs, limit, watch)
                scatter(arrays, state, lane)
                longest = max(longest, iterations)
        return Minimised(state.parameters, loss, longest, refused, watch.stop)

    def read_out(self, recipe: Recipe, parameters: Parameters) -> NDArray[np.floating]:
        """Strength of every arc."""
        return np.asarray(recipe.read_out(parameters, {}))


def _descend(
    data: NDArray[np.float32], arrays: Arrays, knobs: Knobs, limit: int, watch: Watch
) -> tuple[int, bool, float]:
    """Change the arrays of one problem; give iterations, whether refused, the objective."""
    done, inside, value = 0, True, np.nan
    while done < limit and inside and watch.stop is None:
        until = min(done + _LOOK_EVERY, limit)
        inside, value = descend(data, arrays, knobs, done, until)
        watch.advance(until - done)
        done = until
    return done, not inside, value


@inlined
def _squares(weights: Any, lengths: Any) -> Any:
    """Write √A, and return ‖W‖₁ and ‖W‖_F²."""
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
                total += abs(w)
        for v in range(d):
            squares += lengths[u, v]
            lengths[u, v] = np.sqrt(lengths[u, v])
    return total, squares


@inlined
def _update_arcs(state: Any, work: Any, inverse: Any, rates: Any, decay: Any, slope: Any) -> None:
    """Move W by Adam, but for its diagonal."""
    d = inverse.shape[0]
    wide = state.arcs.shape[1]
    for u in range(d):
        for v in range(d):
            slope[v] = np.float32(2.0 * inverse[v, u])
        repeat(slope, work.repeated)
        repeated = work.repeated.ravel()
        for k in range(wide):
            w = state.arcs[u, k]
            sign = ONE if w > ZERO else (-ONE if w < ZERO else ZERO)
            g = work.gradient[u, k] * rates.loss_scale + rates.lambda1 * sign
            g += (decay + repeated[k]) * w
            state.arcs[u, k], state.arcs_mean[u, k], state.arcs_square[u, k] = adam(
                w, state.arcs_mean[u, k], state.arcs_square[u, k], g, rates, rates.rate
            )
        for start in range(u, wide, d):
            state.arcs[u, start] = ZERO


@compiled
def descend(data: Any, state: Any, knobs: Any, done: int, until: int) -> tuple[bool, float]:
    """Run iterations done + 1 … until in place; tell whether W stayed inside, and the objective.

    The objective is that before the last step.
    """
    n, d = data.shape
    wide = state.arcs.shape[1]
    work = workspace(d, wide)
    units = np.empty((n, wide), np.float32)
    lengths, inverse = np.empty((d, d)), np.empty((d, d))
    slope = np.empty(d, np.float32)
    mu = knobs.score_weight
    decay = np.float32(mu * knobs.lambda2)
    value = np.nan
    for step in range(done + 1, until + 1):
        one_norm, squares = _squares(state.arcs, lengths)
        if not invert_m_matrix(lengths, knobs.radius, inverse):
            return False, value
        np.dot(data, state.arcs, units)
        error = backward(data, units, state, work)
        np.dot(data.T, units, work.gradient)
        if step == until:
            score = 0.5 * d * np.log(error / n) + knobs.lambda1 * one_norm
            squares += norms(state.functions)[1]
            # log det(sI − A) = −log det M, and M has a positive determinant inside.
            barrier = np.linalg.slogdet(inverse)[1] + d * np.log(knobs.radius)
            value = mu * (score + 0.5 * knobs.lambda2 * squares) + barrier
        rates = Rates(
            ZERO,
            ZERO,
            np.float32(mu * knobs.lambda1),
            ZERO,
            ZERO,
            np.float32(mu * d / error),
            np.float32(knobs.beta1),
            np.float32(knobs.beta2),
            np.float32(knobs.learning_rate / (1 - knobs.beta1**step)),
            ZERO,
            np.float32(1 / (1 - knobs.beta2**step)),
        )
        _update_arcs(state, work, inverse, rates, decay, slope)
        for k in range(state.functions.shape[0]):
            work.functions_gradient[k] *= rates.loss_scale
            work.functions_gradient[k] += decay * state.functions[k]
        move(
            state.functions,
            state.functions_mean,
            state.functions_square,
            work.functions_gradient,
            rates,
            rates.rate,
        )
    return True, value
