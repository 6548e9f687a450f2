"""Linear COSMO's epochs on a CPU, fused into one compiled loop.

The same steps as `cosmodag.solver.loop`, for one recipe: W = H ∘ S, the two matrix products, the
gradients of H and p in closed form, and Adam in one pass over memory. The closed forms are, with
G = ∂L/∂W and Q = G ∘ W ∘ (1 − S) / t,

    ∂H = G ∘ S + λ₁ sign(H) + λ₂ H / ‖H‖_F,    ∂p_v = Σ_u Q_uv − Σ_u Q_vu + λ_p p_v / ‖p‖₂.

Column v of W says how variable v is predicted, so the columns can be shared out: H is kept as
blocks of columns, and the threads of a large problem take a block each and meet once a step, for p.
A last block that is not full is filled up with variables that are always zero.
"""

from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from cosmodag.mechanism import Linear, Mechanism
from cosmodag.solver.adam import State
from cosmodag.solver.compiled import compiled, compiled_parallel, inlined
from cosmodag.solver.cpu_steps import ONE, ZERO, adam, exp, move, norms, rates_of
from cosmodag.solver.shuffle import fill_row_order

__all__ = ["Arrays", "applies", "gather", "run_epochs", "scatter"]

# A priority so low that no arc leads to a variable that only fills up a block.
_NOWHERE = np.float32(-1e30)


class Arrays(NamedTuple):
    """State of one problem, float32, changed in place; matrices as (blocks, d, width)."""

    arcs: NDArray[np.float32]
    arcs_mean: NDArray[np.float32]
    arcs_square: NDArray[np.float32]
    order: NDArray[np.float32]
    order_mean: NDArray[np.float32]
    order_square: NDArray[np.float32]


class _Workspace(NamedTuple):
    """Arrays that every step overwrites; all but the last two by block."""

    orientation: NDArray[np.float32]
    weights: NDArray[np.float32]
    gradient: NDArray[np.float32]
    residuals: NDArray[np.float32]
    priorities: NDArray[np.float32]
    column_totals: NDArray[np.float32]
    row_totals: NDArray[np.float32]
    sums: NDArray[np.float32]
    rows: NDArray[np.float32]
    order_gradient: NDArray[np.float32]


def applies(mechanism: Mechanism) -> bool:
    """Tell whether this loop is written for a mechanism."""
    return isinstance(mechanism, Linear)


def gather(state: State, lane: int, blocks: int) -> Arrays:
    """Take the arrays of one problem: views if they are one block, else copies."""
    moments = (state.parameters, state.mean, state.square)
    matrices = [_cut(moment["arcs"][lane], blocks) for moment in moments]
    return Arrays(*matrices, *(moment["order"][lane] for moment in moments))


def scatter(arrays: Arrays, state: State, lane: int) -> None:
    """Write the blocks back, where they are not views."""
    if len(arrays.arcs) == 1:
        return
    blocks = (arrays.arcs, arrays.arcs_mean, arrays.arcs_square)
    for moment, matrix in zip((state.parameters, state.mean, state.square), blocks, strict=True):
        d = matrix.shape[1]
        moment["arcs"][lane] = matrix.transpose(1, 0, 2).reshape(d, -1)[:, :d]


def _cut(matrix: NDArray[np.float32], blocks: int) -> NDArray[np.float32]:
    """Columns in blocks of equal width, the last one filled up with zeros."""
    if blocks == 1:
        return matrix[None]
    d = len(matrix)
    width = -(-d // blocks)
    filled = np.zeros((d, blocks * width), np.float32)
    filled[:, :d] = matrix
    return np.ascontiguousarray(filled.reshape(d, blocks, width).transpose(1, 0, 2))


@inlined
def _orient(state: Any, work: Any, rates: Any, b: Any) -> None:
    """S and W = H ∘ S of one block."""
    d, width = state.arcs.shape[1], state.arcs.shape[2]
    inverse = ONE / rates.temperature
    priorities = work.priorities[b]
    for u in range(d):
        threshold = state.order[u] + rates.shift
        for v in range(width):
            s = ONE / (ONE + exp((threshold - priorities[v]) * inverse))
            work.orientation[b, u, v] = s
            work.weights[b, u, v] = state.arcs[b, u, v] * s
    for u in range(b * width, min(d, (b + 1) * width)):
        work.orientation[b, u, u - b * width] = ZERO
        work.weights[b, u, u - b * width] = ZERO


@inlined
def _update_arcs(state: Any, work: Any, rates: Any, b: Any) -> Any:
    """Sum one block's part of ∂p, move its H by Adam, and return its new ‖H‖_F²."""
    d, width = state.arcs.shape[1], state.arcs.shape[2]
    inverse = ONE / rates.temperature
    totals = work.column_totals[b]
    for v in range(width):
        totals[v] = ZERO
    squares = ZERO
    for u in range(d):
        row_total = ZERO
        for v in range(width):
            h = state.arcs[b, u, v]
            s = work.orientation[b, u, v]
            g = work.gradient[b, u, v] * rates.loss_scale * s
            q = g * h * (ONE - s) * inverse
            totals[v] += q
            row_total += q
            sign = ONE if h > ZERO else (-ONE if h < ZERO else ZERO)
            g = g + rates.lambda1 * sign + rates.ridge * h
            h, state.arcs_mean[b, u, v], state.arcs_square[b, u, v] = adam(
                h, state.arcs_mean[b, u, v], state.arcs_square[b, u, v], g, rates, rates.rate
            )
            state.arcs[b, u, v] = h
            squares += h * h
        work.row_totals[b, u] = row_total
    return squares


@inlined
def _subtract(rows: Any, residuals: Any, first: Any) -> Any:
    """Turn x̂ of the columns from `first` into x̂ − x in place, and return the sum of squares."""
    real = min(residuals.shape[1], rows.shape[1] - first)
    total = ZERO
    for i in range(rows.shape[0]):
        for v in range(real):
            residual = residuals[i, v] - rows[i, first + v]
            residuals[i, v] = residual
            total += residual * residual
    return total


@inlined
def _advance_block(state: Any, work: Any, rates: Any, count: Any, b: Any) -> None:
    """Take one step with one block of columns."""
    rows, residuals = work.rows[:count], work.residuals[b, :count]
    _orient(state, work, rates, b)
    np.dot(rows, work.weights[b], residuals)
    work.sums[b, 0] = _subtract(rows, residuals, b * state.arcs.shape[2])
    np.dot(rows.T, residuals, work.gradient[b])
    work.sums[b, 1] = _update_arcs(state, work, rates, b)


@inlined
def _advance_order(state: Any, work: Any, rates: Any) -> None:
    """Add up the blocks' parts of ∂p, and move p by Adam."""
    d, blocks, width = state.order.shape[0], state.arcs.shape[0], state.arcs.shape[2]
    for v in range(d):
        total = rates.pull * state.order[v] + work.column_totals[v // width, v % width]
        for b in range(blocks):
            total -= work.row_totals[b, v]
        work.order_gradient[v] = total
    move(
        state.order,
        state.order_mean,
        state.order_square,
        work.order_gradient,
        rates,
        rates.order_rate,
    )


@inlined
def _workspace(state: Any, size: Any) -> Any:
    blocks, d, width = state.arcs.shape
    return _Workspace(
        np.empty((blocks, d, width), np.float32),
        np.empty((blocks, d, width), np.float32),
        np.empty((blocks, d, width), np.float32),
        np.empty((blocks, size, width), np.float32),
        np.full((blocks, width), _NOWHERE),
        np.empty((blocks, width), np.float32),
        np.empty((blocks, d), np.float32),
        np.empty((blocks, 2), np.float32),
        np.empty((size, d), np.float32),
        np.empty(d, np.float32),
    )


def _run_epochs(
    data: Any, state: Any, step: int, seed: Any, knobs: Any, batch_size: int, first: int, last: int
) -> tuple[int, float, int]:
    n, d = data.shape
    size = min(batch_size, n)
    blocks, width = state.arcs.shape[0], state.arcs.shape[2]
    work = _workspace(state, size)
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
                    work.rows[i, v] = data[row, v]
            for v in range(d):
                work.priorities[v // width, v % width] = state.order[v]
            frobenius = np.sqrt(squares)
            order_norm = np.sqrt(norms(state.order)[1])
            rates = rates_of(knobs, temperature, step, count * d, frobenius, order_norm)
            for b in prange(blocks):
                _advance_block(state, work, rates, count, b)
            _advance_order(state, work, rates)
            squares = ZERO
            for b in range(blocks):
                error += work.sums[b, 0] / (count * d)
                squares += work.sums[b, 1]
            penalty += knobs.lambda2 * frobenius + knobs.lambda_p * order_norm
        batches = (n + size - 1) // size
        loss = (error + penalty) / batches + knobs.lambda1 * norms(state.arcs)[0]
        # Not np.isfinite: it subtracts, which reordered sums may simplify away.
        if diverged_at < 0 and not abs(loss) < np.inf:
            diverged_at = epoch
    return step, loss, diverged_at


_on_one_thread = compiled(_run_epochs)
_on_threads = compiled_parallel(_run_epochs)
_one_at_a_time = Lock()


def run_epochs(
    data: Any,
    state: Arrays,
    step: int,
    seed: Any,
    knobs: Any,
    batch_size: int,
    first: int,
    last: int,
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
    arguments = (data, state, step, seed, knobs, batch_size, first, last)
    if len(state.arcs) == 1:
        return _on_one_thread(*arguments)
    with _one_at_a_time:  # not every one of Numba's thread pools may be entered twice
        return _on_threads(*arguments)
