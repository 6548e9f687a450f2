"""The steps of linear COSMO on a CPU, fused into one compiled loop.

The steps are those of `cosmodag.solve.training.loop` for one recipe: W = H ∘ S, the two matrix
products, the gradients of H and p in closed form, and Adam in one pass over memory. With
G = ∂L/∂W and Q = G ∘ W ∘ (1 − S) / t, the closed forms are

    ∂H = G ∘ S + λ₁ sign(H) + λ₂ H / ‖H‖_F,    ∂p_v = Σ_u Q_uv − Σ_u Q_vu + λ_p p_v / ‖p‖₂,

with S zero outside the support. Residuals are multiplied by the weights `counted`, if given.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.runtime.compiled import compiled, inlined, part
from cosmodag.solve.kernels.cpu.cpu_steps import (
    ONE,
    ZERO,
    adam,
    exp,
    product,
    sign_of,
    transposed_product,
)
from cosmodag.solve.kernels.cpu.rounds import run_rounds
from cosmodag.solve.training.adam import AdamState


class Arrays(NamedTuple):
    """State of one problem, in float32, which is changed in place."""

    arcs: NDArray[np.float32]
    arcs_mean: NDArray[np.float32]
    arcs_square: NDArray[np.float32]
    order: NDArray[np.float32]
    order_mean: NDArray[np.float32]
    order_square: NDArray[np.float32]


class Workspace(NamedTuple):
    """Arrays that every step overwrites."""

    orientation: NDArray[np.float32]
    weights: NDArray[np.float32]
    gradient: NDArray[np.float32]
    order_gradient: NDArray[np.float32]


def gather(state: AdamState, lane: int) -> Arrays:
    """Select the arrays of one problem as views of the state."""
    return Arrays(
        *(
            moment[group][lane]
            for group in ("arcs", "order")
            for moment in (state.parameters, state.mean, state.square)
        )
    )


@part
def _mask(support: Any, orientation: Any, weights: Any) -> None:
    """Set S and W to zero outside the support."""
    for u in range(support.shape[0]):
        for v in range(support.shape[0]):
            orientation[u, v] *= support[u, v]
            weights[u, v] *= support[u, v]


@part
def _weigh(counted: Any, count: Any, residuals: Any) -> Any:
    """Multiply residuals by their weights c, in place, and return Σ c r²."""
    total = ZERO
    for i in range(count):
        for v in range(counted.shape[1]):
            residual = residuals[i, v]
            residuals[i, v] = counted[i, v] * residual
            total += counted[i, v] * residual * residual
    return total


@inlined
def _orient(state: Any, extras: Any, work: Any, scalars: Any) -> None:
    """Compute S and W = H ∘ S in one pass; a second pass would cost 1/20 of a step at d = 30."""
    d = state.order.shape[0]
    inverse = ONE / scalars.temperature
    for u in range(d):
        threshold = state.order[u] + scalars.shift
        for v in range(d):
            s = ONE / (ONE + exp((threshold - state.order[v]) * inverse))
            work.orientation[u, v] = s
            work.weights[u, v] = state.arcs[u, v] * s
        work.orientation[u, u] = ZERO
        work.weights[u, u] = ZERO
    # The support is 0 or 1, so the gradient formulas hold with S ∘ support in place of S.
    if extras is not None:  # noqa: SIM102 (for None, Numba does not compile the inner part)
        if extras.support.shape[0] > 0:
            _mask(extras.support, work.orientation, work.weights)


@inlined
def _subtract(buffers: Any, count: Any, extras: Any) -> Any:
    """Replace x̂ by c (x̂ − x), and return Σ c (x̂ − x)²; c = 1 without weights."""
    rows, residuals = buffers.rows, buffers.outputs
    total = ZERO
    for i in range(count):
        for v in range(rows.shape[1]):
            residual = residuals[i, v] - rows[i, v]
            residuals[i, v] = residual
            total += residual * residual
    if extras is not None:  # noqa: SIM102
        if buffers.counted.shape[0] > 0:
            total = _weigh(buffers.counted, count, residuals)
    return total


@inlined
def _update_arcs(state: Any, work: Any, scalars: Any) -> Any:
    """Add the loss gradient to ∂p, update H, and return the old ‖H‖₁ and the new ‖H‖_F²."""
    d = state.order.shape[0]
    inverse = ONE / scalars.temperature
    magnitudes, squares = ZERO, ZERO
    for u in range(d):
        row_total = ZERO
        for v in range(d):
            h = state.arcs[u, v]
            s = work.orientation[u, v]
            g = work.gradient[u, v] * scalars.loss_scale * s
            q = g * h * (ONE - s) * inverse
            work.order_gradient[v] += q
            row_total += q
            magnitudes += abs(h)
            g = g + scalars.lambda1 * sign_of(h) + scalars.ridge * h
            h, state.arcs_mean[u, v], state.arcs_square[u, v] = adam(
                h, state.arcs_mean[u, v], state.arcs_square[u, v], g, scalars, scalars.rate
            )
            state.arcs[u, v] = h
            squares += h * h
        work.order_gradient[u] -= row_total
    return magnitudes, squares


@inlined
def _take_step(buffers: Any, count: Any, extras: Any, state: Any, work: Any, scalars: Any) -> Any:
    _orient(state, extras, work, scalars)
    product(buffers.rows, work.weights, buffers.outputs, count)
    error = _subtract(buffers, count, extras)
    transposed_product(buffers.rows, buffers.outputs, work.gradient, count)
    magnitudes, squares = _update_arcs(state, work, scalars)
    return 0.5 * scalars.loss_scale * error, magnitudes, squares


def workspace(state: Arrays) -> Workspace:
    """Allocate the arrays that every step overwrites."""
    d = len(state.order)
    shapes = ((d, d), (d, d), (d, d), d)
    return Workspace(*(np.empty(shape, np.float32) for shape in shapes))


@compiled
def run(
    data: Any, extras: Any, state: Any, buffers: Any, work: Any, stretch: Any, settings: Any
) -> tuple[int, float, int]:
    """Train one problem over a stretch of rounds, in place: `run_rounds` with these steps."""
    return run_rounds(_take_step, data, extras, state, buffers, work, stretch, settings)
