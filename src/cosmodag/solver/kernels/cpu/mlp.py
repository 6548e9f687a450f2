"""Non-linear COSMO's epochs on a CPU, fused into one compiled loop.

The same steps as `cosmodag.solver.training.loop`, for networks with one hidden layer of sigmoid units: one
matrix product to the units, one back to the gradient of W, and one pass over memory for all between
and after them. With z = σ(x W + b), r = x̂ − x and δ = r ∘ w ∘ z ∘ (1 − z), up to the scale 2/(B·d),

    ∂W = xᵀ δ,    ∂b = Σ δ,    ∂w = Σ r z,    ∂c = Σ r    (sums over rows),

and from ∂W to ∂H and ∂p as in `cosmodag.solver.kernels.cpu.linear`, p's part summed over units.

Units are kept *unit first*, unit i of network v at place i·d + v, so that what is said of variables
(S, r) is repeated end to end along a row, and every loop over a row is long and has stride one.
Where units are told apart, a row is read as (h, d), since the compiler cannot know that a computed
place is not negative, and would not vectorise.
"""

from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from cosmodag.compiled import compiled, inlined
from cosmodag.mechanism import MLP, Mechanism
from cosmodag.solver.kernels.cpu.steps import ONE, ZERO, adam, exp, move, norms, rates_of
from cosmodag.solver.training.adam import State
from cosmodag.solver.training.shuffle import fill_row_order

__all__ = [
    "Arrays",
    "Workspace",
    "applies",
    "backward",
    "gather",
    "repeat",
    "run_epochs",
    "scatter",
    "workspace",
]


class Arrays(NamedTuple):
    """State of one problem, float32, changed in place.

    Attributes
    ----------
    arcs, arcs_mean, arcs_square
        (d, h·d): H, unit first.
    order, order_mean, order_square
        (d,): p.
    functions, functions_mean, functions_square
        (2·h·d + d,): b and w, both unit first, then c.
    """

    arcs: NDArray[np.float32]
    arcs_mean: NDArray[np.float32]
    arcs_square: NDArray[np.float32]
    order: NDArray[np.float32]
    order_mean: NDArray[np.float32]
    order_square: NDArray[np.float32]
    functions: NDArray[np.float32]
    functions_mean: NDArray[np.float32]
    functions_square: NDArray[np.float32]


class Workspace(NamedTuple):
    """Arrays that every step overwrites; `repeated` and `products` are (h, d)."""

    orientation: NDArray[np.float32]
    weights: NDArray[np.float32]
    gradient: NDArray[np.float32]
    order_gradient: NDArray[np.float32]
    functions_gradient: NDArray[np.float32]
    repeated: NDArray[np.float32]
    products: NDArray[np.float32]
    residual: NDArray[np.float32]


def applies(mechanism: Mechanism) -> bool:
    """Tell whether this loop is written for a mechanism."""
    return (
        isinstance(mechanism, MLP)
        and len(mechanism.hidden) == 1
        and mechanism.activation == "sigmoid"
    )


def gather(state: State, lane: int) -> Arrays:
    """Copy the arrays of one problem, unit first."""
    moments = [
        jax.tree.map(lambda stacked: stacked[lane], moment)
        for moment in (state.parameters, state.mean, state.square)
    ]
    return Arrays(
        *(_unit_first(moment["arcs"]) for moment in moments),
        *(moment["order"] for moment in moments),
        *(_flat_functions(moment["functions"]) for moment in moments),
    )


def scatter(arrays: Arrays, state: State, lane: int) -> None:
    """Write the arrays of one problem back."""
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


@inlined
def workspace(d: Any, wide: Any) -> Any:
    """Make a workspace for d networks with so many hidden units in all, h·d."""
    return Workspace(
        np.empty((d, d), np.float32),
        np.empty((d, wide), np.float32),
        np.empty((d, wide), np.float32),
        np.empty(d, np.float32),
        np.empty(2 * wide + d, np.float32),
        np.empty((wide // d, d), np.float32),
        np.empty((wide // d, d), np.float32),
        np.empty(d, np.float32),
    )


@inlined
def repeat(values: Any, repeated: Any) -> None:
    """Write a vector over variables once for every unit."""
    for i in range(repeated.shape[0]):
        for v in range(repeated.shape[1]):
            repeated[i, v] = values[v]


@inlined
def _add_up(products: Any, totals: Any) -> None:
    """Add the products of all units to the totals of their variables."""
    for i in range(products.shape[0]):
        for v in range(products.shape[1]):
            totals[v] += products[i, v]


@inlined
def _orient(state: Any, work: Any, rates: Any) -> None:
    """S and W = H ∘ S."""
    d = state.order.shape[0]
    inverse = ONE / rates.temperature
    for u in range(d):
        threshold = state.order[u] + rates.shift
        for v in range(d):
            work.orientation[u, v] = ONE / (ONE + exp((threshold - state.order[v]) * inverse))
        work.orientation[u, u] = ZERO
        repeat(work.orientation[u], work.repeated)
        repeated = work.repeated.ravel()
        for k in range(repeated.shape[0]):
            work.weights[u, k] = state.arcs[u, k] * repeated[k]


@inlined
def backward(rows: Any, units: Any, state: Any, work: Any) -> Any:
    """Turn x W into δ in place, fill the gradients of b, w and c, and return Σ r²."""
    d = rows.shape[1]
    wide = units.shape[1]
    biases, weights = state.functions[:wide], state.functions[wide : 2 * wide]
    constants = state.functions[2 * wide :]
    work.functions_gradient[:] = ZERO
    bias_gradient = work.functions_gradient[:wide]
    weight_gradient = work.functions_gradient[wide : 2 * wide]
    constant_gradient = work.functions_gradient[2 * wide :]
    residual, products, repeated = work.residual, work.products.ravel(), work.repeated.ravel()
    total = ZERO
    for i in range(rows.shape[0]):
        for k in range(wide):
            z = ONE / (ONE + exp(-(units[i, k] + biases[k])))
            units[i, k] = z
            products[k] = z * weights[k]
        for v in range(d):
            residual[v] = constants[v] - rows[i, v]
        _add_up(work.products, residual)
        for v in range(d):
            total += residual[v] * residual[v]
            constant_gradient[v] += residual[v]
        repeat(residual, work.repeated)
        for k in range(wide):
            z = units[i, k]
            r = repeated[k]
            delta = r * weights[k] * z * (ONE - z)
            units[i, k] = delta
            weight_gradient[k] += r * z
            bias_gradient[k] += delta
    return total


@inlined
def _update_arcs(state: Any, work: Any, rates: Any) -> Any:
    """Add the arcs' part of ∂p, move H by Adam, and return the new ‖H‖_F²."""
    d = state.order.shape[0]
    wide = state.arcs.shape[1]
    inverse = ONE / rates.temperature
    repeated, products = work.repeated.ravel(), work.products.ravel()
    totals = work.residual
    squares = ZERO
    for u in range(d):
        repeat(work.orientation[u], work.repeated)
        for k in range(wide):
            h = state.arcs[u, k]
            g = work.gradient[u, k] * rates.loss_scale * repeated[k]
            products[k] = g * h
            sign = ONE if h > ZERO else (-ONE if h < ZERO else ZERO)
            g = g + rates.lambda1 * sign + rates.ridge * h
            h, state.arcs_mean[u, k], state.arcs_square[u, k] = adam(
                h, state.arcs_mean[u, k], state.arcs_square[u, k], g, rates, rates.rate
            )
            state.arcs[u, k] = h
            squares += h * h
        totals[:] = ZERO
        _add_up(work.products, totals)
        row_total = ZERO
        for v in range(d):
            q = totals[v] * (ONE - work.orientation[u, v]) * inverse
            work.order_gradient[v] += q
            row_total += q
        work.order_gradient[u] -= row_total
    return squares


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
    wide = state.arcs.shape[1]
    size = min(batch_size, n)
    work = workspace(d, wide)
    rows, units = np.empty((size, d), np.float32), np.empty((size, wide), np.float32)
    order = np.empty(n, np.uint32)
    loss, diverged_at = np.nan, -1
    for epoch in range(first, last):
        wave = 1 + np.cos(np.pi * epoch / knobs.epochs)
        span = knobs.temperature_start - knobs.temperature_end
        temperature = np.float32(knobs.temperature_end + 0.5 * span * wave)
        fill_row_order(seed, epoch, order)
        # Again in every epoch, so that it does not matter at which of them a run begins.
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
            np.dot(rows[:count], work.weights, units[:count])
            error += backward(rows[:count], units[:count], state, work) / (count * d)
            np.dot(rows[:count].T, units[:count], work.gradient)
            for v in range(d):
                work.order_gradient[v] = rates.pull * state.order[v]
            for k in range(work.functions_gradient.shape[0]):
                work.functions_gradient[k] *= rates.loss_scale
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
            move(
                state.functions,
                state.functions_mean,
                state.functions_square,
                work.functions_gradient,
                rates,
                rates.rate,
            )
        batches = (n + size - 1) // size
        loss = (error + penalty) / batches + knobs.lambda1 * norms(state.arcs)[0]
        # Not np.isfinite: it subtracts, which reordered sums may simplify away.
        if diverged_at < 0 and not abs(loss) < np.inf:
            diverged_at = epoch
    return step, loss, diverged_at
