"""Networks of mixed tables: a variable is a block of inputs, and has a head that suits its kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cosmodag.later import jax
from cosmodag.model.draws import split, uniform
from cosmodag.model.mechanism.base import Mechanism
from cosmodag.model.mechanism.mlp import ACTIVATIONS, ARC_STRENGTHS, hidden_units, start_functions

__all__ = ["InputBlocks", "MixedMLP", "block_outputs"]


@dataclass(frozen=True)
class InputBlocks:
    """How each column of a table becomes a block of inputs of networks.

    A number is one input, as it is. A category of k levels is k − 1 indicators, of all levels but
    the first, times k/√(k − 1): of variance one if levels are equally frequent, so that penalties
    treat levels as they treat standardised numbers. All blocks are padded by zeros to the longest.

    Examples
    --------
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
    """(B, k, o): outputs of k networks with o outputs each, for JAX and NumPy arrays alike.

    Parameters
    ----------
    blocks : (B, m, width) array
        Inputs of m variables.
    weights : (m, k, width · h) array
        From all inputs of each variable to the first hidden layer of each network.
    functions : dict
        As for `hidden_units`, and ``output`` with ``weights`` (k, in, o) and ``biases`` (k, o).
    activation : callable
    """
    rows, m, width = blocks.shape
    k, h = weights.shape[1], weights.shape[2] // width
    by_input = weights.reshape(m, k, width, h).swapaxes(1, 2).reshape(m * width, k, h)
    units = hidden_units(blocks.reshape(rows, m * width), by_input, functions, activation)
    crossed = units.swapaxes(0, 1) @ functions["output"]["weights"]
    return crossed.swapaxes(0, 1) + functions["output"]["biases"]


@dataclass(frozen=True)
class MixedMLP(Mechanism):
    """Each variable is a perceptron of its parents: blocks of inputs, and several outputs.

    W_uv· = H_uv· S_uv holds the weights from all inputs of u to the hidden units of f_v, so that an
    arc has one orientation however many levels its ends have. The outputs of f_v are a number, or
    the utilities of all levels but the first; the loss determines which of them count.
    """

    hidden: tuple[int, ...]
    activation: str
    arc_strength: str  # over all inputs of a variable
    levels: tuple[int, ...]  # of each variable; 0 for numbers
    takes_numpy: ClassVar[bool] = True

    @property
    def blocks(self) -> InputBlocks:
        """How variables become inputs."""
        return InputBlocks(self.levels)

    def start(self, key: Any, d: int) -> tuple[Any, Any]:
        """Suggest H ~ U(±1/√(dh)) as for plain networks, zero where blocks are padded."""
        arcs_key, functions_key = split(key)
        width, h = self.blocks.width, self.hidden[0]
        drawn = uniform(arcs_key, (d, d, width * h), 1 / math.sqrt(d * h))
        used = np.repeat(self.blocks.used(), h, axis=1)[:, None]
        functions = start_functions(functions_key, d, self.hidden, outputs=width)
        return drawn * used.astype(np.float32), functions

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """(B, d, o): outputs of all networks, the first layers masked by W."""
        activation = ACTIVATIONS[self.activation][0]
        return block_outputs(self.blocks.of(x), weights, functions, activation)

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        """One number per arc, from the weights of all inputs to all hidden units."""
        return ARC_STRENGTHS[self.arc_strength](weights)
