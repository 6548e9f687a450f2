"""Mechanisms: how each variable is predicted from the others, given oriented weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from cosmodag.model.draws import split, uniform
from cosmodag.model.networks import (
    ACTIVATIONS,
    ARC_STRENGTHS,
    InputBlocks,
    block_outputs,
    forward,
    start_functions,
)
from cosmodag.model.structure import with_unit_axes
from cosmodag.runtime.later import jax, jnp

__all__ = ["MLP", "FittedMechanism", "Linear", "MaskedMLP", "Mechanism", "MixedMLP"]

_WEIGHTS = "mechanism.weights"
_FUNCTIONS = "mechanism.functions"


class Mechanism(Protocol):
    """A family of functions x ↦ x̂ that depend on arcs only through W.

    A subclass defines `start` and `predict`. It also defines `strength` if an arc has several
    weights, and `first_layer` if the functions do not use W itself.
    """

    def start(self, key: jax.Array, d: int) -> tuple[jax.Array, Any]:
        """Suggest initial strengths H of the arcs, and draw the parameters of the functions.

        The structure owns the strengths and may choose other initial values.
        """

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """Predict a batch of rows x from the oriented weights W and the other parameters."""

    def first_layer(self, weights: jax.Array, functions: Any) -> jax.Array:
        """Return the weights that multiply x: (d, d), or (d, d, h) for h hidden units."""
        return weights

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        """Reduce the weights of each arc to one number: d × d for any shape of W."""
        return weights


@dataclass(frozen=True)
class Linear(Mechanism):
    """Each variable is a weighted sum of its parents; W is the only parameter."""

    takes_numpy: ClassVar[bool] = True

    def start(self, key: Any, d: int) -> tuple[Any, Any]:
        """Suggest H ~ U(−√(3/d), √(3/d)): entries of variance 1/d."""
        return uniform(key, (d, d), math.sqrt(3.0 / d)), {}

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """x̂ = x W."""
        return x @ weights


@dataclass(frozen=True)
class MLP(Mechanism):
    """Each variable is a perceptron of its parents; W masks all other inputs of its first layer.

    With one hidden layer, x̂_v = Σ_i w_vi σ(Σ_u x_u W_uvi + b_vi) + c_v: the non-linear extension
    in the paper's appendix, where W_uv· = H_uv· S_uv masks the weights from u to the hidden units i
    of f_v. If W_uv· = 0, f_v does not depend on x_u.
    """

    hidden: tuple[int, ...] = (10,)  # units in each hidden layer of each network
    activation: str = "sigmoid"  # a name in `ACTIVATIONS`
    arc_strength: str = "norm"  # a name in `ARC_STRENGTHS`
    takes_numpy: ClassVar[bool] = True

    def start(self, key: Any, d: int) -> tuple[Any, Any]:
        """Suggest H ~ U(−1/√(dh), 1/√(dh)), and draw all other layers."""
        arcs_key, functions_key = split(key)
        limit = 1 / math.sqrt(d * self.hidden[0])
        arcs = uniform(arcs_key, (d, d, self.hidden[0]), limit)
        return arcs, start_functions(functions_key, d, self.hidden)

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """x̂_v = f_v(x), with the first layer masked by W."""
        layer, activation = self.first_layer(weights, functions), ACTIVATIONS[self.activation][0]
        return forward(x, layer, functions, activation)

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        """Reduce the weights from each input to all hidden units to one number per arc."""
        layer = self.first_layer(weights, functions)
        return ARC_STRENGTHS[self.arc_strength](layer)


@dataclass(frozen=True)
class MaskedMLP(MLP):
    """Each variable is a perceptron of all others, with masked inputs instead of masked weights.

    f_v reads x_u W_uv, where W = G ∘ S holds one gate per arc (the paper's appendix, after Ng et
    al., 2022, and Brouillard et al., 2020). The size of a gate alone is not meaningful, because
    the weights that it multiplies could grow as it shrinks. Therefore the first-layer weights A_uv·
    of an arc are scaled to unit length, x̂_v = Σ_i w_vi σ(Σ_u x_u W_uv A_uvi / ‖A_uv·‖₂ + b_vi) +
    c_v, so that the gate is the norm of the arc's weights. A one-norm on the gates is then a group
    lasso, which removes the weights of an arc to all hidden units together.

    The strength ``"norm"`` of an arc equals the magnitude of its gate.
    """

    def start(self, key: jax.Array, d: int) -> tuple[jax.Array, Any]:
        """Draw the directions A and all other layers; every gate starts at 1/√(3d).

        That is the root-mean-square length of the first-layer weights that `MLP` draws.
        """
        directions_key, functions_key = jax.random.split(key)
        functions = start_functions(functions_key, d, self.hidden)
        directions = jax.random.normal(directions_key, (d, d, self.hidden[0]))
        return jnp.full((d, d), 1 / math.sqrt(3 * d)), {**functions, "directions": directions}

    def first_layer(self, weights: jax.Array, functions: Any) -> jax.Array:
        """Return W_uv A_uv· / ‖A_uv·‖₂, (d, d, h): the weights of the *unmasked* inputs."""
        directions = functions["directions"]
        squares = jnp.sum(directions**2, axis=-1, keepdims=True)
        return weights[..., None] * directions * jax.lax.rsqrt(squares)


@dataclass(frozen=True)
class MixedMLP(Mechanism):
    """Each variable is a perceptron of its parents, with blocks of inputs and several outputs.

    W_uv· = H_uv· S_uv holds the weights from all inputs of u to the hidden units of f_v, so an arc
    has one orientation, however many levels its ends have. Every network has as many outputs as the
    variable with the most levels needs. The loss uses the first output of a numeric variable, and
    one utility (log-odds) for each level but the first of a category.
    """

    hidden: tuple[int, ...]
    activation: str
    arc_strength: str  # a name in `ARC_STRENGTHS`; taken over all inputs of a variable
    levels: tuple[int, ...]  # number of levels of each variable; 0 for a numeric one
    takes_numpy: ClassVar[bool] = True

    @property
    def blocks(self) -> InputBlocks:
        """Encoding of the variables as inputs."""
        return InputBlocks(self.levels)

    def start(self, key: Any, d: int) -> tuple[Any, Any]:
        """Suggest H ~ U(±1/√(dh)) as for `MLP`, zero where the blocks of inputs are padded."""
        arcs_key, functions_key = split(key)
        width, h = self.blocks.width, self.hidden[0]
        drawn = uniform(arcs_key, (d, d, width * h), 1 / math.sqrt(d * h))
        used = np.repeat(self.blocks.used(), h, axis=1)[:, None]
        functions = start_functions(functions_key, d, self.hidden, outputs=width)
        return drawn * used.astype(np.float32), functions

    def predict(self, x: jax.Array, weights: jax.Array, functions: Any) -> jax.Array:
        """Compute the outputs of all networks, (B, d, o), with first layers masked by W."""
        activation = ACTIVATIONS[self.activation][0]
        return block_outputs(self.blocks.of(x), weights, functions, activation)

    def strength(self, weights: jax.Array, functions: Any) -> jax.Array:
        """Reduce the weights from all inputs of a variable to one number per arc."""
        return ARC_STRENGTHS[self.arc_strength](weights)


@dataclass(frozen=True, eq=False)
class FittedMechanism:
    """A mechanism, its oriented weights W and the remaining parameters of its functions."""

    mechanism: Mechanism
    weights: NDArray[Any]  # as for `Mechanism.predict`: (d, d), or (d, d, h) for h hidden units
    functions: Any  # a tree of arrays with the structure that `Mechanism.start` returns

    def predict(self, data: NDArray[Any], arcs: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Predict every variable from its parents; W is set to zero outside of `arcs`."""
        weights = jnp.asarray(np.where(with_unit_axes(arcs, self.weights), self.weights, 0))
        x = jnp.asarray(data, weights.dtype)
        return np.asarray(self.mechanism.predict(x, weights, self.functions), np.float64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the parameters as named arrays, for saving."""
        leaves = jax.tree.leaves(self.functions)
        named = {f"{_FUNCTIONS}.{place}": np.asarray(leaf) for place, leaf in enumerate(leaves)}
        return {_WEIGHTS: np.asarray(self.weights), **named}

    @classmethod
    def from_arrays(
        cls, mechanism: Mechanism, arrays: dict[str, NDArray[Any]], d: int
    ) -> FittedMechanism:
        """Rebuild a mechanism from :meth:`arrays`; the mechanism defines the tree and its shapes.

        Raises
        ------
        ValueError
            If an array is missing, is not finite, or has another shape than `Mechanism.start`
            gives it.
        """
        start = jax.eval_shape(lambda: mechanism.start(jax.random.key(0), d))
        places, tree = jax.tree.flatten(start[1])
        names = [_WEIGHTS, *(f"{_FUNCTIONS}.{place}" for place in range(len(places)))]
        for name, expected in zip(names, [start[0], *places], strict=True):
            if name not in arrays or arrays[name].shape != expected.shape:
                raise ValueError(f"{name!r} is missing, or is not of shape {expected.shape}")
            if not np.isfinite(arrays[name]).all():
                raise ValueError(f"{name!r} is not finite")
        leaves = [arrays[name] for name in names[1:]]
        return cls(mechanism, arrays[_WEIGHTS], jax.tree.unflatten(tree, leaves))
