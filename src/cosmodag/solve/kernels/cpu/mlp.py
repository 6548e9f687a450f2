"""The steps of non-linear COSMO on a CPU, fused into one compiled loop.

The steps are those of `cosmodag.solve.training.loop` for networks with one hidden layer of sigmoid
units: one matrix product forward to the units, one back to the gradient of W, and one pass over
memory for everything between and after them. With z = σ(x W + b), r = x̂ − x and
δ = r ∘ w ∘ z ∘ (1 − z), the gradients of the squared error are, up to the scale 2/(B·d),

    ∂W = xᵀ δ,    ∂b = Σ δ,    ∂w = Σ r z,    ∂c = Σ r    (sums over rows).

For the likelihood, (1/d) Σ_v log RSS_v, the factor in network v is 2/(d Σ r_v²) instead. Networks
share no weights, so that the factors can be applied after both products. ∂H and ∂p follow from ∂W
as in `cosmodag.solve.kernels.cpu.linear`, with the contributions to ∂p summed over units. r is
multiplied by the weights `counted`, if given.

Units are stored *unit first*: unit i of network v is at index i·d + v. Arrays over variables (S, r)
then repeat along a row, and every loop over a row is long and has stride one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.model.objective import SMALLEST_VARIANCE
from cosmodag.runtime.compiled import compiled, inlined, part
from cosmodag.solve.kernels.cpu.cpu_steps import (
    ONE,
    ZERO,
    adam,
    exp,
    move,
    product,
    sign_of,
    transposed_product,
)
from cosmodag.solve.kernels.cpu.rounds import run_rounds
from cosmodag.solve.training.adam import AdamState
from cosmodag.solve.trees import lane_of


class Arrays(NamedTuple):
    """State of one problem, in float32, which is changed in place."""

    arcs: NDArray[np.float32]  # (d, h·d): H, unit first
    arcs_mean: NDArray[np.float32]
    arcs_square: NDArray[np.float32]
    order: NDArray[np.float32]  # (d,): p
    order_mean: NDArray[np.float32]
    order_square: NDArray[np.float32]
    functions: NDArray[np.float32]  # (2·h·d + d,): b and w, both unit first, then c
    functions_mean: NDArray[np.float32]
    functions_square: NDArray[np.float32]


class Workspace(NamedTuple):
    """Arrays that every step overwrites, and the kind of the loss."""

    orientation: NDArray[np.float32]
    weights: NDArray[np.float32]
    gradient: NDArray[np.float32]
    order_gradient: NDArray[np.float32]
    functions_gradient: NDArray[np.float32]
    repeated: NDArray[np.float32]  # (h, d)
    products: NDArray[np.float32]  # (h, d)
    repeated_row: NDArray[np.float32]  # (h·d,): the memory of `repeated`
    products_row: NDArray[np.float32]  # (h·d,): the memory of `products`
    residual: NDArray[np.float32]  # (d,)
    squares: NDArray[np.float32]  # (d,): Σ c r² of each network
    factors: NDArray[np.float32]  # (d,): of the gradients of each network
    has_own_variances: bool  # whether the loss is the likelihood, not the squared error


def gather(state: AdamState, lane: int) -> Arrays:
    """Copy the arrays of one problem, unit first."""
    moments = [lane_of(moment, lane) for moment in (state.parameters, state.mean, state.square)]
    return Arrays(
        *(_unit_first(moment["arcs"]) for moment in moments),
        *(moment["order"] for moment in moments),
        *(_flat_functions(moment["functions"]) for moment in moments),
    )


def scatter(arrays: Arrays, state: AdamState, lane: int) -> None:
    """Write the arrays of one problem back to the state."""
    for place, moment in enumerate((state.parameters, state.mean, state.square)):
        d, _, h = moment["arcs"].shape[1:]
        moment["arcs"][lane] = _unit_last(arrays[place], d)
        flat, functions = arrays[6 + place], moment["functions"]
        functions["biases"][lane] = _unit_last(flat[: h * d], d)
        functions["output"]["weights"][lane] = _unit_last(flat[h * d : 2 * h * d], d)
        functions["output"]["biases"][lane] = flat[2 * h * d :]


def _unit_first(array: NDArray[Any]) -> NDArray[Any]:
    """(…, d, h) → (…, h·d)."""
    return np.ascontiguousarray(array.swapaxes(-1, -2)).reshape(*array.shape[:-2], -1)


def _unit_last(array: NDArray[Any], d: int) -> NDArray[Any]:
    """(…, h·d) → (…, d, h)."""
    return array.reshape(*array.shape[:-1], -1, d).swapaxes(-1, -2)


def _flat_functions(functions: Any) -> NDArray[Any]:
    output = functions["output"]
    return np.concatenate(
        [_unit_first(functions["biases"]), _unit_first(output["weights"]), output["biases"]]
    )


def workspace(state: Arrays, has_own_variances: bool = False) -> Workspace:
    """Allocate the arrays that every step overwrites."""
    d, wide = state.arcs.shape
    repeated, products = np.empty((2, wide // d, d), np.float32)
    shapes = ((d, d), (d, wide), (d, wide), d, 2 * wide + d)
    fields: list[Any] = [np.empty(shape, np.float32) for shape in shapes]
    fields += [repeated, products, repeated.reshape(-1), products.reshape(-1)]
    fields += [*np.empty((3, d), np.float32), has_own_variances]
    return Workspace(*fields)


# Smaller than any non-zero number of rows.
_TINY = 1e-30


@inlined
def _repeat(values: Any, repeated: Any) -> None:
    """Write a vector over variables to the row of every unit."""
    for i in range(repeated.shape[0]):
        for v in range(repeated.shape[1]):
            repeated[i, v] = values[v]


@inlined
def _add_up(products: Any, totals: Any) -> None:
    """Add the products of all units to the totals of their networks."""
    for i in range(products.shape[0]):
        for v in range(products.shape[1]):
            totals[v] += products[i, v]


@part
def _orient(state: Any, extras: Any, work: Any, scalars: Any) -> None:
    """Compute S and W = H ∘ S."""
    d = state.order.shape[0]
    inverse = ONE / scalars.temperature
    for u in range(d):
        threshold = state.order[u] + scalars.shift
        for v in range(d):
            s = ONE / (ONE + exp((threshold - state.order[v]) * inverse))
            work.orientation[u, v] = s
        work.orientation[u, u] = ZERO
        # The support is 0 or 1, so the gradient formulas hold with S ∘ support in place of S.
        if extras is not None:  # noqa: SIM102
            if extras.support.shape[0] > 0:
                for v in range(d):
                    work.orientation[u, v] *= extras.support[u, v]
        _repeat(work.orientation[u], work.repeated)
        for k in range(work.repeated_row.shape[0]):
            work.weights[u, k] = state.arcs[u, k] * work.repeated_row[k]


@part
def backward(rows: Any, counted: Any, units: Any, count: Any, state: Any, work: Any) -> Any:
    """Replace x W by δ, compute the gradients of b, w and c, and return Σ r².

    Only the first `count` rows are used; r and r² are multiplied by `counted` if it has rows. Σ r²
    of each network is left in `work.squares`.
    """
    d = rows.shape[1]
    wide = units.shape[1]
    biases, weights = state.functions[:wide], state.functions[wide : 2 * wide]
    constants = state.functions[2 * wide :]
    for k in range(work.functions_gradient.shape[0]):
        work.functions_gradient[k] = ZERO
    bias_gradient = work.functions_gradient[:wide]
    weight_gradient = work.functions_gradient[wide : 2 * wide]
    constant_gradient = work.functions_gradient[2 * wide :]
    residual, products, repeated = work.residual, work.products_row, work.repeated_row
    squares = work.squares
    for v in range(d):
        squares[v] = ZERO
    for i in range(count):
        for k in range(wide):
            z = ONE / (ONE + exp(-(units[i, k] + biases[k])))
            units[i, k] = z
            products[k] = z * weights[k]
        for v in range(d):
            residual[v] = constants[v] - rows[i, v]
        _add_up(work.products, residual)
        if counted.shape[0] > 0:
            for v in range(d):
                squares[v] += counted[i, v] * residual[v] * residual[v]
                residual[v] *= counted[i, v]
                constant_gradient[v] += residual[v]
        else:
            for v in range(d):
                squares[v] += residual[v] * residual[v]
                constant_gradient[v] += residual[v]
        _repeat(residual, work.repeated)
        for k in range(wide):
            z = units[i, k]
            r = repeated[k]
            delta = r * weights[k] * z * (ONE - z)
            units[i, k] = delta
            weight_gradient[k] += r * z
            bias_gradient[k] += delta
    total = ZERO
    for v in range(d):
        total += squares[v]
    return total


@part
def _weigh_networks(counted: Any, count: Any, work: Any, scalars: Any) -> Any:
    """Compute the factors of the gradients of all networks, and return the loss."""
    d = work.squares.shape[0]
    loss = 0.0
    if not work.has_own_variances:
        for v in range(d):
            work.factors[v] = scalars.loss_scale
            loss += work.squares[v]
        return 0.5 * scalars.loss_scale * loss
    for v in range(d):
        rows = float(count)
        if counted.shape[0] > 0:
            rows = 0.0
            for i in range(count):
                rows += counted[i, v]
        variance = float(work.squares[v]) / max(rows, _TINY)
        is_fitted = variance <= SMALLEST_VARIANCE
        work.factors[v] = ZERO if is_fitted else np.float32(2.0 / (d * variance * rows))
        loss += np.log(SMALLEST_VARIANCE if is_fitted else variance)
    return loss / d


@part
def _update_arcs(state: Any, work: Any, scalars: Any) -> Any:
    """Add the loss gradient to ∂p, update H, and return the old ‖H‖₁ and the new ‖H‖_F²."""
    d = state.order.shape[0]
    wide = state.arcs.shape[1]
    inverse = ONE / scalars.temperature
    repeated, products = work.repeated_row, work.products_row
    totals = work.residual
    magnitudes, squares = ZERO, ZERO
    for u in range(d):
        for v in range(d):
            totals[v] = work.orientation[u, v] * work.factors[v]
        _repeat(totals, work.repeated)
        for k in range(wide):
            h = state.arcs[u, k]
            g = work.gradient[u, k] * repeated[k]
            products[k] = g * h
            magnitudes += abs(h)
            g = g + scalars.lambda1 * sign_of(h) + scalars.ridge * h
            h, state.arcs_mean[u, k], state.arcs_square[u, k] = adam(
                h, state.arcs_mean[u, k], state.arcs_square[u, k], g, scalars, scalars.rate
            )
            state.arcs[u, k] = h
            squares += h * h
        for v in range(d):
            totals[v] = ZERO
        _add_up(work.products, totals)
        row_total = ZERO
        for v in range(d):
            q = totals[v] * (ONE - work.orientation[u, v]) * inverse
            work.order_gradient[v] += q
            row_total += q
        work.order_gradient[u] -= row_total
    return magnitudes, squares


@inlined
def _take_step(buffers: Any, count: Any, extras: Any, state: Any, work: Any, scalars: Any) -> Any:
    rows, units = buffers.rows, buffers.outputs
    _orient(state, extras, work, scalars)
    product(rows, work.weights, units, count)
    backward(rows, buffers.counted, units, count, state, work)
    loss = _weigh_networks(buffers.counted, count, work, scalars)
    transposed_product(rows, units, work.gradient, count)
    # Biases, weights and constants: 2 h + 1 numbers for each network.
    d = work.factors.shape[0]
    for first in range(0, work.functions_gradient.shape[0], d):
        for v in range(d):
            work.functions_gradient[first + v] *= work.factors[v]
    magnitudes, squares = _update_arcs(state, work, scalars)
    move(
        state.functions,
        state.functions_mean,
        state.functions_square,
        work.functions_gradient,
        scalars,
        scalars.rate,
    )
    return loss, magnitudes, squares


@compiled
def run(
    data: Any, extras: Any, state: Any, buffers: Any, work: Any, stretch: Any, settings: Any
) -> tuple[int, float, int]:
    """Train one problem over a stretch of rounds, in place: `run_rounds` with these steps."""
    return run_rounds(_take_step, data, extras, state, buffers, work, stretch, settings)
