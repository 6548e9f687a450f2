"""Arrays of networks with one hidden layer, in the layout of the compiled CPU loops.

Units are stored *unit first*: unit i of network v is at index i·d + v. Arrays over variables (S, r)
then repeat along a row, and every loop over a row is long and has stride one.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.solve.training.adam import AdamState
from cosmodag.solve.trees import lane_of


class Arrays(NamedTuple):
    """State of one problem, float32, changed in place."""

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
    """Arrays that every step overwrites, and whether the loss is the likelihood.

    The likelihood has one variance per variable; otherwise the loss is the squared error.
    """

    orientation: NDArray[np.float32]
    weights: NDArray[np.float32]
    gradient: NDArray[np.float32]
    order_gradient: NDArray[np.float32]
    functions_gradient: NDArray[np.float32]
    repeated: NDArray[np.float32]  # (h, d)
    products: NDArray[np.float32]  # (h, d)
    repeated_row: NDArray[np.float32]  # (h·d,), the same memory
    products_row: NDArray[np.float32]  # (h·d,), the same memory
    residual: NDArray[np.float32]
    squares: NDArray[np.float32]  # (d,): Σ c r² of each network
    factors: NDArray[np.float32]  # (d,): of the gradients of each network
    has_own_variances: bool


def gather(state: AdamState, lane: int) -> Arrays:
    """Copy the arrays of one problem, unit first."""
    moments = [lane_of(moment, lane) for moment in (state.parameters, state.mean, state.square)]
    return Arrays(
        *(_unit_first(moment["arcs"]) for moment in moments),
        *(moment["order"] for moment in moments),
        *(_flat_functions(moment["functions"]) for moment in moments),
    )


def scatter(arrays: Arrays, state: AdamState, lane: int) -> None:
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


def workspace(state: Arrays, has_own_variances: bool = False) -> Workspace:
    """Allocate what steps overwrite, for d networks with h·d hidden units in total."""
    d, wide = state.arcs.shape
    repeated, products = np.empty((2, wide // d, d), np.float32)
    shapes = ((d, d), (d, wide), (d, wide), d, 2 * wide + d)
    fields: list[Any] = [np.empty(shape, np.float32) for shape in shapes]
    fields += [repeated, products, repeated.reshape(-1), products.reshape(-1)]
    fields += [*np.empty((3, d), np.float32), has_own_variances]
    return Workspace(*fields)
