"""Linear COSMO's epochs on a CPU, fused into one compiled loop.

The same steps as `cosmodag.solver.loop`, for one recipe: W = H ∘ S, the two matrix products, the
gradients of H and p in closed form, and Adam in one pass over memory. The closed forms are, with
G = ∂L/∂W and Q = G ∘ W ∘ (1 − S) / t,

    ∂H = G ∘ S + λ₁ sign(H) + λ₂ H / ‖H‖_F,    ∂p_v = Σ_u Q_uv − Σ_u Q_vu + λ_p p_v / ‖p‖₂.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from cosmodag.solver.adam import EPSILON
from cosmodag.solver.compiled import compiled, inlined
from cosmodag.solver.shuffle import fill_row_order

__all__ = ["Arrays", "Knobs", "run_epochs"]

_ONE = np.float32(1)
_ZERO = np.float32(0)


class Arrays(NamedTuple):
    """State of one problem, float32, changed in place."""

    arcs: NDArray[np.float32]
    arcs_mean: NDArray[np.float32]
    arcs_square: NDArray[np.float32]
    order: NDArray[np.float32]
    order_mean: NDArray[np.float32]
    order_square: NDArray[np.float32]


class Knobs(NamedTuple):
    """Settings of one problem, by the names they have everywhere."""

    learning_rate: float
    priority_learning_rate: float
    lambda1: float
    lambda2: float
    lambda_p: float
    shift: float
    temperature_start: float
    temperature_end: float
    epochs: float
    beta1: float
    beta2: float


class _Workspace(NamedTuple):
    """Arrays that every step overwrites."""

    orientation: NDArray[np.float32]
    weights: NDArray[np.float32]
    gradient: NDArray[np.float32]
    order_gradient: NDArray[np.float32]


class _Rates(NamedTuple):
    """Scalars of one step, in single precision."""

    temperature: np.float32
    shift: np.float32
    lambda1: np.float32
    ridge: np.float32
    loss_scale: np.float32
    beta1: np.float32
    beta2: np.float32
    rate: np.float32
    order_rate: np.float32
    square_scale: np.float32


@intrinsic  # type: ignore[untyped-decorator]
def _float_of_bits(typingctx: Any, bits: Any) -> Any:
    """Read a 32-bit integer as the float with the same bits."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), codegen


@inlined
def _exp(x: Any) -> Any:
    """e^x to about one unit in the last place, in a form that vectorises (libm's does not)."""
    x = min(max(x, np.float32(-87.0)), np.float32(87.0))
    power = np.floor(x * np.float32(1.4426950408889634) + np.float32(0.5))
    # ln 2 in two parts, the first with few bits, so that power · ln 2 is subtracted exactly.
    rest = x - power * np.float32(0.693359375) + power * np.float32(2.12194440e-4)
    series = np.float32(1.0 / 5040.0)
    series = series * rest + np.float32(1.0 / 720.0)
    series = series * rest + np.float32(1.0 / 120.0)
    series = series * rest + np.float32(1.0 / 24.0)
    series = series * rest + np.float32(1.0 / 6.0)
    series = series * rest + np.float32(0.5)
    series = (series * rest + _ONE) * rest + _ONE
    return series * _float_of_bits(np.int32((np.int32(power) + np.int32(127)) << np.int32(23)))


@inlined
def _orient(state: Any, work: Any, rates: Any) -> None:
    """S and W = H ∘ S."""
    d = state.order.shape[0]
    inverse = _ONE / rates.temperature
    for u in range(d):
        threshold = state.order[u] + rates.shift
        for v in range(d):
            s = _ONE / (_ONE + _exp((threshold - state.order[v]) * inverse))
            work.orientation[u, v] = s
            work.weights[u, v] = state.arcs[u, v] * s
        work.orientation[u, u] = _ZERO
        work.weights[u, u] = _ZERO


@inlined
def _update_arcs(state: Any, work: Any, rates: Any) -> Any:
    """Add the arcs' part of ∂p, move H by Adam, and return the new ‖H‖_F²."""
    d = state.order.shape[0]
    inverse = _ONE / rates.temperature
    keep1, new1 = rates.beta1, _ONE - rates.beta1
    keep2, new2 = rates.beta2, _ONE - rates.beta2
    squares = _ZERO
    for u in range(d):
        row_total = _ZERO
        for v in range(d):
            h = state.arcs[u, v]
            s = work.orientation[u, v]
            g = work.gradient[u, v] * rates.loss_scale * s
            q = g * h * (_ONE - s) * inverse
            work.order_gradient[v] += q
            row_total += q
            sign = _ONE if h > _ZERO else (-_ONE if h < _ZERO else _ZERO)
            g = g + rates.lambda1 * sign + rates.ridge * h
            mean = keep1 * state.arcs_mean[u, v] + new1 * g
            square = keep2 * state.arcs_square[u, v] + new2 * g * g
            state.arcs_mean[u, v] = mean
            state.arcs_square[u, v] = square
            h -= rates.rate * mean / (np.sqrt(square * rates.square_scale) + np.float32(EPSILON))
            state.arcs[u, v] = h
            squares += h * h
        work.order_gradient[u] -= row_total
    return squares


@inlined
def _update_order(state: Any, work: Any, rates: Any) -> None:
    """Move p by Adam."""
    for v in range(state.order.shape[0]):
        g = work.order_gradient[v]
        mean = rates.beta1 * state.order_mean[v] + (_ONE - rates.beta1) * g
        square = rates.beta2 * state.order_square[v] + (_ONE - rates.beta2) * g * g
        state.order_mean[v] = mean
        state.order_square[v] = square
        state.order[v] -= (
            rates.order_rate * mean / (np.sqrt(square * rates.square_scale) + np.float32(EPSILON))
        )


@inlined
def _subtract(rows: Any, residuals: Any) -> Any:
    """Turn x̂ into x̂ − x in place, and return the sum of squares."""
    total = _ZERO
    for i in range(rows.shape[0]):
        for v in range(rows.shape[1]):
            residual = residuals[i, v] - rows[i, v]
            residuals[i, v] = residual
            total += residual * residual
    return total


@inlined
def _norms(values: Any) -> Any:
    """Sum of magnitudes and sum of squares."""
    total, squares = _ZERO, _ZERO
    for value in values.ravel():
        total += abs(value)
        squares += value * value
    return total, squares


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
    squares = _norms(state.arcs)[1]
    loss, diverged_at = np.nan, -1
    for epoch in range(first, last):
        wave = 1 + np.cos(np.pi * epoch / knobs.epochs)
        span = knobs.temperature_start - knobs.temperature_end
        temperature = np.float32(knobs.temperature_end + 0.5 * span * wave)
        fill_row_order(seed, epoch, order)
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
            order_norm = np.sqrt(_norms(state.order)[1])
            mean_scale = 1 / (1 - knobs.beta1**step)
            rates = _Rates(
                temperature,
                np.float32(knobs.shift),
                np.float32(knobs.lambda1),
                np.float32(knobs.lambda2 / frobenius) if frobenius > 0 else _ZERO,
                np.float32(2.0 / (count * d)),
                np.float32(knobs.beta1),
                np.float32(knobs.beta2),
                np.float32(knobs.learning_rate * mean_scale),
                np.float32(knobs.priority_learning_rate * mean_scale),
                np.float32(1 / (1 - knobs.beta2**step)),
            )
            _orient(state, work, rates)
            np.dot(rows[:count], work.weights, residuals[:count])
            error += _subtract(rows[:count], residuals[:count]) / (count * d)
            np.dot(rows[:count].T, residuals[:count], work.gradient)
            pull = np.float32(knobs.lambda_p / order_norm) if order_norm > 0 else _ZERO
            for v in range(d):
                work.order_gradient[v] = pull * state.order[v]
            penalty += knobs.lambda2 * frobenius + knobs.lambda_p * order_norm
            squares = _update_arcs(state, work, rates)
            _update_order(state, work, rates)
        batches = (n + size - 1) // size
        loss = (error + penalty) / batches + knobs.lambda1 * _norms(state.arcs)[0]
        if diverged_at < 0 and not np.isfinite(loss):
            diverged_at = epoch
    return step, loss, diverged_at
