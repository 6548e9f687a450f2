"""Non-linear relations: one multilayer perceptron per variable, x̂_v = f_v(x)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from cosmodag.later import jax, jnp
from cosmodag.model.draws import split, uniform
from cosmodag.model.mechanism.base import Mechanism

__all__ = [
    "ACTIVATIONS",
    "ARC_STRENGTHS",
    "MLP",
    "forward",
    "hidden_units",
    "norms",
    "start_functions",
    "sums",
]

ACTIVATIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sigmoid": (lambda values: jax.nn.sigmoid(values), expit),
    "tanh": (lambda values: jnp.tanh(values), np.tanh),
    "relu": (lambda values: jax.nn.relu(values), lambda values: np.maximum(values, 0)),
}
"""Activation functions, each for JAX arrays and for NumPy arrays."""


def norms(weights: Any) -> Any:
    """‖W_uv·‖₂ over hidden units: zero exactly when x_u cannot reach f_v."""
    return (weights**2).sum(axis=-1) ** 0.5


def sums(weights: Any) -> Any:
    """Σ_i W_uvi, the signed sum of the authors' code, in which hidden units may cancel."""
    return weights.sum(axis=-1)


ARC_STRENGTHS: dict[str, Callable[[Any], Any]] = {"norm": norms, "sum": sums}
"""Strengths of an arc from its first-layer weights."""


def forward(x: Any, weights: Any, functions: Any, activation: Callable[[Any], Any]) -> Any:
    """(B, k): x̂ of k networks, for JAX and NumPy arrays alike.

    The parameters are those of :func:`hidden_units`; `functions` also has ``output`` with
    ``weights`` (k, in) and ``biases`` (k,).
    """
    output = functions["output"]
    units = hidden_units(x, weights, functions, activation)
    return (units * output["weights"]).sum(axis=-1) + output["biases"]


def hidden_units(x: Any, weights: Any, functions: Any, activation: Callable[[Any], Any]) -> Any:
    """(B, k, h): last hidden layers of k networks, for JAX and NumPy arrays alike.

    All first layers are one matrix product, (B × d)·(d × k·h), because k small products would be
    dominated by overhead; later layers are locally connected.

    Parameters
    ----------
    x : (B, d) array
    weights : (d, k, h) array
        W: from each input to the first hidden layer of each network.
    functions : dict
        ``biases`` (k, h) of that layer; ``hidden``, further layers with ``weights`` (k, in, out)
        and ``biases`` (k, out).
    activation : callable
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
class MLP(Mechanism):
    """Each variable is a perceptron of its parents; its first layer masks all other inputs.

    With one hidden layer, x̂_v = Σ_i w_vi σ(Σ_u x_u W_uvi + b_vi) + c_v: the non-linear extension
    in the paper's appendix, where W_uv· = H_uv· S_uv masks the weights from u to the hidden units i
    of f_v. If W_uv· = 0, f_v does not depend on x_u.
    """

    hidden: tuple[int, ...] = (10,)  # units in each hidden layer of each network
    activation: str = "sigmoid"  # a name in `ACTIVATIONS`
    arc_strength: str = "norm"  # a name in `ARC_STRENGTHS`
    takes_numpy: ClassVar[bool] = True

    def start(self, key: Any, d: int) -> tuple[Any, Any]:
        """Suggest H ~ U(−1/√(dh), 1/√(dh)), and all other layers."""
        arcs_key, functions_key = split(key)
        limit = 1 / math.sqrt(d * self.hidden[0])
        arcs = uniform(arcs_key, (d, d, self.hidden[0]), limit)
        return arcs, start_functions(functions_key, d, self.hidden)

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """x̂_v = f_v(x), the first layer masked by W."""
        layer, activation = self.first_layer(weights, functions), ACTIVATIONS[self.activation][0]
        return forward(x, layer, functions, activation)

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        """One number per arc, from its weights to all hidden units."""
        layer = self.first_layer(weights, functions)
        return ARC_STRENGTHS[self.arc_strength](layer)
