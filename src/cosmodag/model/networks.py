"""Perceptrons, one per variable: blocks of inputs, layers, initial weights.

The forward functions accept JAX and NumPy arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import expit

from cosmodag.model.draws import split, uniform
from cosmodag.runtime.later import jax, jnp

ACTIVATIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sigmoid": (lambda values: jax.nn.sigmoid(values), expit),
    "tanh": (lambda values: jnp.tanh(values), np.tanh),
    "relu": (lambda values: jax.nn.relu(values), lambda values: np.maximum(values, 0)),
}
"""Activation functions, each for JAX arrays and for NumPy arrays."""


def _norms(weights: Any) -> Any:
    """‖W_uv·‖₂ over hidden units: zero exactly when x_u has no weight in f_v."""
    return (weights**2).sum(axis=-1) ** 0.5


# The authors' code uses the signed sum Σ_i W_uvi, in which hidden units may cancel.
ARC_STRENGTHS: dict[str, Callable[[Any], Any]] = {
    "norm": _norms,
    "sum": lambda weights: weights.sum(axis=-1),
}
"""Strengths of an arc from its first-layer weights."""


def forward(x: Any, weights: Any, functions: Any, activation: Callable[[Any], Any]) -> Any:
    """Compute the predictions of k networks with one output each, (B, k), from (B, d) rows x.

    The arguments are those of `hidden_units`; ``functions["output"]`` has weights (k, in) and
    biases (k,).
    """
    output = functions["output"]
    units = hidden_units(x, weights, functions, activation)
    return (units * output["weights"]).sum(axis=-1) + output["biases"]


def hidden_units(x: Any, weights: Any, functions: Any, activation: Callable[[Any], Any]) -> Any:
    """Compute the last hidden layers of k networks, (B, k, h), from (B, d) rows x.

    `weights`, (d, k, h), connect each input to the first hidden layer of each network, whose biases
    are ``functions["biases"]``, (k, h). Each further layer in ``functions["hidden"]`` has weights
    (k, in, out) and biases (k, out). All first layers are computed as one matrix product,
    (B × d)·(d × k·h), because k small products would be dominated by overhead.
    """
    d, k, h = weights.shape
    units = (x @ weights.reshape(d, k * h)).reshape(x.shape[0], k, h) + functions["biases"]
    for layer in functions["hidden"]:
        crossed = activation(units).swapaxes(0, 1) @ layer["weights"]
        units = crossed.swapaxes(0, 1) + layer["biases"]
    return activation(units)


def start_functions(
    key: Any, d: int, hidden: tuple[int, ...], outputs: int | None = None
) -> dict[str, Any]:
    """Draw all parameters except the first-layer weights, each layer from U(±1/√fan-in).

    The fan-in of the first layer is taken as d·h, as in the authors' code, which stores H with the
    input axis first. If `outputs` is None, a network has one output, and the output weights have no
    axis for it.
    """
    first, *later = split(key, len(hidden) + 1)

    def drawn(key: Any, shape: tuple[int, ...], fan_in: int) -> Any:
        return uniform(key, shape, 1 / math.sqrt(fan_in))

    def layer(key: Any, shape: tuple[int, ...]) -> dict[str, Any]:
        weights, biases = split(key)
        return {
            "weights": drawn(weights, shape, shape[1]),
            "biases": drawn(biases, shape[:1] + shape[2:], shape[1]),
        }

    return {
        "biases": drawn(first, (d, hidden[0]), d * hidden[0]),
        "hidden": tuple(
            layer(key, (d, *sizes)) for key, sizes in zip(later, pairwise(hidden), strict=False)
        ),
        "output": layer(later[-1], (d, hidden[-1], *([] if outputs is None else [outputs]))),
    }


@dataclass(frozen=True)
class InputBlocks:
    """Encoding of the columns of a table as blocks of network inputs.

    A numeric column is one input, unchanged. A category of k levels is k − 1 indicators, one for
    each level but the first, multiplied by k/√(k − 1): if levels are equally frequent, they have
    variance one, so that penalties act on them as on standardised numbers. Blocks are padded with
    zeros to the width of the widest one.

    >>> InputBlocks((0, 3)).of(np.array([[0.5, 2.0]])).round(2).tolist()
    [[[0.5, 0.0], [0.0, 2.12]]]
    """

    levels: tuple[int, ...]  # number of levels of each variable; 0 for a numeric one

    @property
    def width(self) -> int:
        """Number of inputs in the widest block, which is also the number of network outputs."""
        return max(1, max(self.levels, default=0) - 1)

    def used(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Mark the inputs, (d, width), that are not padding."""
        counts = np.array([max(1, k - 1) for k in self.levels])
        return np.asarray(np.arange(self.width) < counts[:, None])

    def of(self, x: Any, variables: Any = slice(None)) -> Any:
        """Encode (B, k) rows of the given variables as (B, k, width) blocks.

        A category holds the numbers of its levels: 0, 1, ….
        """
        levels = np.array(self.levels)[variables][:, None]
        sizes, places = np.maximum(levels, 2), np.arange(self.width)
        of_level = np.where(levels > 0, sizes / np.sqrt(sizes - 1.0), 0.0).astype(np.float32)
        of_number = ((levels == 0) & (places == 0)).astype(np.float32)
        values = x[..., None]
        return of_level * (values == places + 1) + of_number * values


def block_outputs(
    blocks: Any, weights: Any, functions: Any, activation: Callable[[Any], Any]
) -> Any:
    """Compute o outputs of each of k networks, (B, k, o), from (B, m, width) blocks of inputs.

    `weights`, (m, k, width · h), connect all inputs of each variable to the first hidden layers.
    `functions` are those of `hidden_units`; their ``output`` has weights (k, in, o) and biases
    (k, o).
    """
    rows, m, width = blocks.shape
    k, h = weights.shape[1], weights.shape[2] // width
    by_input = weights.reshape(m, k, width, h).swapaxes(1, 2).reshape(m * width, k, h)
    units = hidden_units(blocks.reshape(rows, m * width), by_input, functions, activation)
    crossed = units.swapaxes(0, 1) @ functions["output"]["weights"]
    return crossed.swapaxes(0, 1) + functions["output"]["biases"]
