"""Networks as functions of arrays, one perceptron per variable: inputs, layers, initial weights.

All of them take JAX and NumPy arrays alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import expit

from cosmodag.later import jax, jnp
from cosmodag.model.draws import split, uniform

ACTIVATIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sigmoid": (lambda values: jax.nn.sigmoid(values), expit),
    "tanh": (lambda values: jnp.tanh(values), np.tanh),
    "relu": (lambda values: jax.nn.relu(values), lambda values: np.maximum(values, 0)),
}
"""Activation functions, each for JAX arrays and for NumPy arrays."""


def _norms(weights: Any) -> Any:
    """‖W_uv·‖₂ over hidden units: zero exactly when x_u cannot reach f_v."""
    return (weights**2).sum(axis=-1) ** 0.5


# The signed sum Σ_i W_uvi is that of the authors' code; hidden units may cancel in it.
ARC_STRENGTHS: dict[str, Callable[[Any], Any]] = {
    "norm": _norms,
    "sum": lambda weights: weights.sum(axis=-1),
}
"""Strengths of an arc from its first-layer weights."""


def forward(x: Any, weights: Any, functions: Any, activation: Callable[[Any], Any]) -> Any:
    """(B, k): x̂ of k networks, as `hidden_units`; ``output`` has weights (k, in), biases (k,)."""
    output = functions["output"]
    units = hidden_units(x, weights, functions, activation)
    return (units * output["weights"]).sum(axis=-1) + output["biases"]


def hidden_units(x: Any, weights: Any, functions: Any, activation: Callable[[Any], Any]) -> Any:
    """(B, k, h): last hidden layers of k networks, from (B, d) rows x.

    `weights`, (d, k, h), lead from each input to the first hidden layer of each network, whose
    biases (k, h) are those of `functions`; further layers, ``hidden``, have weights (k, in, out)
    and biases (k, out). All first layers are one matrix product, (B × d)·(d × k·h), because k small
    products would be dominated by overhead.
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
    """Draw all but the first-layer weights, each layer from U(±1/√fan-in).

    The first layer's fan-in counts as d·h, as in the authors' code, where H is stored input first.
    Without a number of `outputs` a network has one, and its weights no axis for them.
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
    """How each column of a table becomes a block of inputs of networks.

    A number is one input, as it is. A category of k levels is k − 1 indicators, of all levels but
    the first, times k/√(k − 1): of variance one if levels are equally frequent, so that penalties
    treat levels as they treat standardised numbers. All blocks are padded by zeros to the longest.

    >>> InputBlocks((0, 3)).of(np.array([[0.5, 2.0]])).round(2).tolist()
    [[[0.5, 0.0], [0.0, 2.12]]]
    """

    levels: tuple[int, ...]  # of each variable; 0 for numbers

    @property
    def width(self) -> int:
        """Inputs of the variable that has most of them; outputs of a head likewise."""
        return max(1, max(self.levels, default=0) - 1)

    def used(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """(d, width): which inputs of the padded blocks are used."""
        counts = np.array([max(1, k - 1) for k in self.levels])
        return np.asarray(np.arange(self.width) < counts[:, None])

    def of(self, x: Any, some: Any = slice(None)) -> Any:
        """(B, k, width): blocks of rows of some variables, from JAX or NumPy arrays.

        Categories are numbers of levels: 0, 1, ….
        """
        levels = np.array(self.levels)[some][:, None]
        sizes, places = np.maximum(levels, 2), np.arange(self.width)
        of_level = np.where(levels > 0, sizes / np.sqrt(sizes - 1.0), 0.0).astype(np.float32)
        of_number = ((levels == 0) & (places == 0)).astype(np.float32)
        values = x[..., None]
        return of_level * (values == places + 1) + of_number * values


def block_outputs(
    blocks: Any, weights: Any, functions: Any, activation: Callable[[Any], Any]
) -> Any:
    """(B, k, o): outputs of k networks with o outputs each, from (B, m, width) blocks of inputs.

    `weights`, (m, k, width · h), lead from all inputs of each variable to the first hidden layers;
    `functions` are those of `hidden_units`, and ``output`` has weights (k, in, o), biases (k, o).
    """
    rows, m, width = blocks.shape
    k, h = weights.shape[1], weights.shape[2] // width
    by_input = weights.reshape(m, k, width, h).swapaxes(1, 2).reshape(m * width, k, h)
    units = hidden_units(blocks.reshape(rows, m * width), by_input, functions, activation)
    crossed = units.swapaxes(0, 1) @ functions["output"]["weights"]
    return crossed.swapaxes(0, 1) + functions["output"]["biases"]
