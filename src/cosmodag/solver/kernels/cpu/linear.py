"""Linear COSMO's epochs on a CPU, fused into one compiled loop.

The same steps as `cosmodag.solver.training.loop`, for one recipe: W = H ∘ S, the two matrix products, the
gradients of H and p in closed form, and Adam in one pass over memory. The closed forms are, with
G = ∂L/∂W and Q = G ∘ W ∘ (1 − S) / t,

    ∂H = G ∘ S + λ₁ sign(H) + λ₂ H / ‖H‖_F,    ∂p_v = Σ_u Q_uv − Σ_u Q_vu + λ_p p_v / ‖p‖₂.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import compiled, inlined
from cosmodag.mechanism import Linear, Mechanism
from cosmodag.solver.kernels.cpu.steps import ONE, ZERO, adam, exp, move, norms, rates_of
from cosmodag.solver.training.adam import State
from cosmodag.solver.training.shuffle import fill_row_order

__all__ = ["Arrays", "applies", "gather", "run_epochs", "scatter"]


class Arrays(NamedTuple):
    """State of one problem, float32, changed in place."""

    arcs: NDArray[np.float32]
    arcs_mean: NDArray[np.float32]
    arcs_square: NDArray[np.float32]
    order: NDArray[np.float32]
    order_mean: NDArray[np.float32]
    order_square: NDArray[np.float32]


class _Workspace(NamedTuple):
    """Arrays that every step overwrites."""

    orientation: NDArray[np.float32]
    weights: NDArray[np.float32]
    gradient: NDArray[np.float32]
    order_gradient: NDArray[np.float32]


def applies(mechanism: Mechanism) -> bool:
    """Tell whether this loop is written for a mechanism."""
    return isinstance(mechanism, Linear)


def gather(state: State, lane: int) -> Arrays:
    """Take views of the arrays of one problem."""
    return Arrays(
        *(
            moment[group][lane]
            for group in ("arcs", "order")
            for moment in (state.parameters, state.mean, state.square)
        )
    )


def scatter(arrays: Arrays, state: State, lane: int) -> None:
    """Do nothing: views need not be written back."""


@inlined
def _orient(state: Any, work: Any, rates: Any) -> None:
    """S and W = H ∘ S."""
    d = state.order.shape[0]
    inverse = ONE / rates.temperature
    for u in range(d):
        threshold = state.order[u] + rates.shift
        for v in range(d):
            s = ONE / (ONE + exp((threshold - state.order[v]) * inverse))
            work.orientation[u, v] = s
            work.weights[u, v] = state.arcs[u, v] * s
        work.orientation[u, u] = ZERO
        work.weights[u, u] = ZERO


@inlined
def _update_arcs(state: Any, work: Any, rates: Any) -> Any:
    """Add the arcs' part of ∂p, move H by Adam, and return the new ‖H‖_F²."""
    d = state.order.shape[0]
    inverse = ONE / rates.temperature
    squares = ZERO
    for u in range(d):
        row_total = ZERO
        for v in range(d):
            h = state.arcs[u, v]
            s = work.orientation[u, v]
            g = work.gradient[u, v] * rates.loss_scale * s
            q = g * h * (ONE - s) * inverse
            work.order_gradient[v] += q
            row_total += q
            sign = ONE if h > ZERO else (-ONE if h < ZERO else ZERO)
            g = g + rates.lambda1 * sign + rates.ridge * h
            h, state.arcs_mean[u, v], state.arcs_square[u, v] = adam(
                h, state.arcs_mean[u, v], state.arcs_square[u, v], g, rates, rates.rate
            )
            state.arcs[u, v] = h
            squares += h * h
        work.order_gradient[u] -= row_total
    return squares


@inlined
def _subtract(rows: Any, residuals: Any) -> Any:
    """Turn x̂ into x̂ − x in place, and return the sum of squares."""
    total = ZERO
    for i in range(rows.shape[0]):
        for v in range(rows.shape[1]):
            residual = residuals[i, v] - rows[i, v]
            residuals[i, v] = residual
            total += residual * residual
    return total


@compiled
def run_epochs(
    data: Any, state: Any, step: int, seed: Any, knobs: Any, batch_size: int, first: int, last: int
) -> tuple[int, float, int]:
    """Train one problem over the epochs first … last − 1, in place.

    Returns
    -------
    step : int
        Steps taken so far.
    loss : float
        Mean objective over the batches of the last epoch.
    diverged_at : int
        First epoch whose objective was not finite, −1 if there was none.
    """
    n, d = data.shape
    size = min(batch_size, n)
    work = _Workspace(
        np.empty((d, d), np.float32),
        np.empty((d, d), np.float32),
        np.empty((d, d), np.float32),
        np.empty(d, np.float32),
    )
    rows, residuals = np.empty((size, d), np.float32), np.empty((size, d), np.float32)
    order = np.empty(n, np.uint32)
    loss, diverged_at = np.nan, -1
    for epoch in range(first, last):
        wave = 1 + np.cos(np.pi * epoch / knobs.epochs)
        span = knobs.temperature_start - knobs.temperature_end
        temperature = np.float32(knobs.temperature_end + 0.5 * span * wave)
        fill_row_order(seed, epoch, order)
        # Summed anew each epoch, so that an epoch is the same wherever a run is cut.
        squares = norms(state.arcs)[1]
        error = 0.0
        penalty = 0.0
        for start in range(0, n, size):
            count = min(size, n - start)
            step += 1
            for i in range(count):
                row = order[start + i]
                for v in range(d):
                    rows[i, v] = data[row, v]
            frobenius = np.sqrt(squares)
            order_norm = np.sqrt(norms(state.order)[1])
            rates = rates_of(knobs, temperature, step, count * d, frobenius, order_norm)
            _orient(state, work, rates)
            np.dot(rows[:count], work.weights, residuals[:count])
            error += _subtract(rows[:count], residuals[:count]) / (count * d)
            np.dot(rows[:count].T, residuals[:count], work.gradient)
            for v in range(d):
                work.order_gradient[v] = rates.pull * state.order[v]
            penalty += knobs.lambda2 * frobenius + knobs.lambda_p * order_norm
            squares = _update_arcs(state, work, rates)
            move(
                state.order,
                state.order_mean,
                state.order_square,
                work.order_gradient,
                rates,
                rates.order_rate,
            )
        batches = (n + size - 1) // size
        loss = (error + penalty) / batches + knobs.lambda1 * norms(state.arcs)[0]
        # Not np.isfinite: it subtracts, which reordered sums may simplify away.
        if diverged_at < 0 and not abs(loss) < np.inf:
            diverged_at = epoch
    return step, loss, diverged_at
